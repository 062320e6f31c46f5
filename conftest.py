"""How all tests run together: in which order and groups, and what the inner loop leaves out.

Under pytest-xdist the tests of a group run one after the other in one process. Each file is a
group, each notebook too: its cells need one kernel, and fixtures of a module are made once.
"""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests" / "support")]

# What measures time runs in one group, so that no measurement disturbs another.
TIMED = (
    "tests/attnlab/test_profiling.py",
    "tests/attnlab/checks/test_check_1_5.py",
    "tests/book/test_bench.py",
    "tests/book/test_profile_gpu.py",
)
# Groups in the order in which they start: chapters, whose outputs the book's build then finds; the
# long ones; all others. The first test of a rendered page builds the book, which the others wait
# for, so these files stand apart.
ORDER = (
    "chapters/",
    "solutions/",
    "tests/book/test_figures.py",
)
# Left out by `make test-fast`, as is everything that needs a browser or a built book.
SLOW = (
    "tests/attnlab/test_flash_triton.py",
    "tests/book/test_check.py",
    "tests/book/test_exercises.py",
    "tests/book/test_nbgrader.py",
    "tests/nbmark/test_plugin.py",
    "tests/nbmark/test_points.py",
)
SLOW_FIXTURES = {"browser", "book", "tiny"}


def pytest_configure(config: pytest.Config) -> None:
    """Let chapters that nbval runs fill the cache of the book's build."""
    config.addinivalue_line("markers", "slow: left out by `make test-fast`")
    if config.getoption("nbval", False) or config.getoption("nbval_lax", False):
        from chapter_outputs import Chapters

        config.pluginmanager.register(Chapters(), "chapters")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark each test with its group and with what it costs, and order the groups."""
    grouped = config.pluginmanager.hasplugin("xdist")
    for item in items:
        name = file_of(item)
        if grouped:
            item.add_marker(pytest.mark.xdist_group("timed" if name in TIMED else name))
        if is_slow(item):
            item.add_marker(pytest.mark.slow)
    items.sort(key=place)


def file_of(item: pytest.Item) -> str:
    """Give the file of a test, relative to the project's root."""
    inside = item.path.is_relative_to(ROOT)
    return item.path.relative_to(ROOT).as_posix() if inside else item.path.name


def is_slow(item: pytest.Item) -> bool:
    """Tell whether a test takes long, or belongs to what does."""
    needs = set(getattr(item, "fixturenames", ()))
    return item.path.suffix == ".ipynb" or file_of(item) in SLOW or bool(needs & SLOW_FIXTURES)


def place(item: pytest.Item) -> int:
    """Give the place of a test's file in the order."""
    name = file_of(item)
    return next((at for at, start in enumerate(ORDER) if name.startswith(start)), len(ORDER))
