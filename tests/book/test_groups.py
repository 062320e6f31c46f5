"""The tables of conftest.py name tests that exist."""

import importlib.util
from fnmatch import fnmatch

import pytest
from files import ROOT

spec = importlib.util.spec_from_file_location("groups", ROOT / "conftest.py")
groups = importlib.util.module_from_spec(spec)
spec.loader.exec_module(groups)

TESTS = [
    path.relative_to(ROOT).as_posix()
    for folder in ("tests", "chapters", "solutions")
    for kind in ("test_*.py", "*.ipynb")
    for path in (ROOT / folder).rglob(kind)
]


@pytest.mark.parametrize("pattern", sorted({*groups.TIMED, *groups.FIRST, *groups.SLOW}))
def test_each_pattern_names_a_file_of_tests(pattern):
    assert [name for name in TESTS if fnmatch(name, pattern)]


@pytest.mark.parametrize(
    ("nodeid", "group"),
    [
        ("tests/attnlab/test_masks.py::test_a[1_3-x]", "tests/attnlab/test_masks.py"),
        ("chapters/1_01_motivation.ipynb::Cell 3", "chapters/1_01_motivation.ipynb"),
        (f"{groups.ANSWERS}::test_right[1_3-masks-loop-0]", f"{groups.ANSWERS} 1_3"),
        (f"{groups.ANSWERS}::test_right[1_5-fits_powers-a-0]", "timed"),
        (f"{groups.ANSWERS}::test_every_row", groups.ANSWERS),
        ("solutions/1_5_profiling.ipynb::Cell 0", "timed"),
        ("tests/book/test_bench.py::test_a", "timed"),
    ],
)
def test_a_group_is_a_file_an_exercise_or_all_that_measures_time(nodeid, group):
    assert groups.group_of(nodeid) == group


LONG, SHORT = groups.WAITING[:2]


@pytest.mark.parametrize(
    ("elsewhere", "chosen"),
    [
        ([], SHORT),
        ([{"tests/a.py": {"::a": False}}], SHORT),
        ([{LONG: {"::a": True, "::b": False}}], "tests/b.py"),
        ([{LONG: {"::a": True}}], SHORT),
        ([{"tests/a.py": {"::a": False}}, {LONG: {"::a": False}}], "tests/b.py"),
    ],
)
def test_no_two_groups_that_wait_run_at_a_time(elsewhere, chosen):
    assert groups.choose(["tests/b.py", SHORT, "tests/c.py"], elsewhere) == chosen
    assert groups.choose([SHORT], elsewhere) == SHORT


def test_the_inner_loop_leaves_out_the_answers_that_measure_time():
    assert groups.is_one_of(groups.SLOW_ANSWERS, groups.unit_of(f"{groups.ANSWERS}::test_a[1_5-x]"))
    assert not groups.is_one_of(
        groups.SLOW_ANSWERS, groups.unit_of(f"{groups.ANSWERS}::test_a[1_3-x]")
    )
