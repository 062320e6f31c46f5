"""How all tests run together: in which groups and order, and what the inner loop leaves out.

Under pytest-xdist the tests of a group run one after the other in one process. Each file is a
group, and so is each notebook: its cells share a kernel. The file that tries the answers to all
exercises is a group an exercise. `make test` starts the groups in the order of this file, and of
those that wait more than they work no two at a time, so that the other processes have the cores.
"""

import os
import re
import sys
from collections.abc import Iterable, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests" / "support")]

# What measures time is one group, so that no measurement disturbs another.
TIMED = ("tests/*bench*", "tests/*profil*", "tests/attnlab/checks/*1_5*", "solutions/1_5*")
ANSWERS = "tests/attnlab/checks/test_checks.py"
# Groups that wait for time limits and for kernels more than they work, the longest first.
WAITING = (
    *("tests/nbmark/test_hostile.py", "tests/nbmark/test_points.py"),
    *("tests/nbmark/test_points_runs.py", "tests/nbmark/test_kernels.py"),
    *("tests/book/test_nbgrader.py", "tests/nbmark/test_running.py"),
    *("tests/nbmark/test_mark_one.py", "tests/nbmark/test_grade_resume.py"),
)
# Groups that start first: chapters, whose outputs the book's build then finds, and the long ones,
# so that none is left over at the end. The first test of a page builds the book, and other tests of
# pages would wait for that: between the first file of them and the next stand files without pages.
FIRST = (
    *("chapters/*", "solutions/*", *WAITING),
    *("tests/book/test_figures.py", "tests/book/test_exercises_lab.py", "tests/book/test_build.py"),
    *("tests/book/test_accessibility.py", "tests/book/test_browser.py"),
    *("tests/book/test_figures_lab.py", "tests/attnlab/test_flash_triton.py"),
    *("tests/book/test_exercises.py", ANSWERS),
    *("tests/book/test_exercise_pages.py", "tests/book/test_chapter_outputs.py"),
    *("tests/attnlab/checks/*1_5*", "tests/nbmark/test_plugin.py", "tests/book/test_widgets.py"),
)
# What `make test-fast` leaves out: whatever runs notebooks, marks in another process or compiles,
# whatever needs a browser or builds pages, and the answers that measure time.
SLOW_ANSWERS = (f"{ANSWERS} 1_5",)
SLOW = (
    "tests/book/test_api.py",
    *("*.ipynb", *WAITING, "tests/attnlab/test_flash_triton.py", "tests/nbmark/test_plugin.py"),
    *("tests/nbmark/test_own_kernel.py", "tests/nbmark/test_grade_cluster.py"),
    *("tests/nbmark/test_grade_platforms.py", "tests/attnlab/checks/test_served.py"),
    *("tests/book/test_check.py", "tests/book/test_claims.py", "tests/book/test_exercises.py"),
    *("tests/book/test_firefox.py", "tests/book/test_predict.py"),
)
SLOW_FIXTURES = {"browser", "book", "tiny"}


def pytest_configure(config: pytest.Config) -> None:
    """Let chapters that nbval runs leave their outputs for the book."""
    config.addinivalue_line("markers", "slow: left out by `make test-fast`")
    if config.getoption("nbval", False) or config.getoption("nbval_lax", False):
        from chapter_outputs import Chapters

        config.pluginmanager.register(Chapters(), "chapters")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Run one process more than there are cores: many a test waits for a browser or a kernel.

    Those of `make test-fast` wait for nothing, and each process would import all once more.
    """
    is_fast = config.getoption("markexpr") == "not slow"
    return (os.cpu_count() or 1) + (not is_fast)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark slow tests, and bring the groups in order."""
    for item in items:
        left_out = is_one_of(SLOW, name_of(item)) or is_one_of(SLOW_ANSWERS, unit_of(item.nodeid))
        if left_out or SLOW_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)
    items.sort(key=place)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Hand the groups out under `--dist loadgroup`; pytest 9.2 drops xdist's own marks of them."""
    if config.getvalue("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class Groups(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return group_of(nodeid)

        def _assign_work_unit(self, node: Any) -> None:
            elsewhere = [work for other, work in self.assigned_work.items() if other is not node]
            next_up = choose(self.workqueue, elsewhere)
            self.workqueue.move_to_end(next_up, last=False)
            super()._assign_work_unit(node)

    return Groups(config, log)


def choose(queue: Iterable[str], elsewhere: Iterable[Mapping[str, Mapping[str, bool]]]) -> str:
    """Choose the next group: one that waits if none does in the other processes, else another.

    What those have to do is given by group: the tests, and whether each is done.
    """
    waits = any(
        is_one_of(WAITING, group) and not all(tests.values())
        for work in elsewhere
        for group, tests in work.items()
    )
    groups = sorted(queue, key=lambda group: is_one_of(WAITING, group) == waits)
    return groups[0]


def group_of(nodeid: str) -> str:
    """Name the group of a test."""
    name = unit_of(nodeid)
    return "timed" if is_one_of(TIMED, name) else name


def unit_of(nodeid: str) -> str:
    """Name the file of a test, with its exercise where the answers to all are tried."""
    name, _, test = nodeid.partition("::")
    exercise = re.search(r"\[(1_\d+)[-\]]", test) if name == ANSWERS else None
    return f"{name} {exercise[1]}" if exercise else name


def name_of(item: pytest.Item) -> str:
    """Give the file of a test, from the project's root if it lies below."""
    inside = item.path.is_relative_to(ROOT)
    return (item.path.relative_to(ROOT) if inside else item.path).as_posix()


def is_one_of(patterns: tuple[str, ...], name: str) -> bool:
    """Tell whether a file has one of these names."""
    return any(fnmatch(name, pattern) for pattern in patterns)


def place(item: pytest.Item) -> int:
    """Give the place of a test's file in the order."""
    name = name_of(item)
    return next((at for at, first in enumerate(FIRST) if fnmatch(name, first)), len(FIRST))
