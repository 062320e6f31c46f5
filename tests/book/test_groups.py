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
