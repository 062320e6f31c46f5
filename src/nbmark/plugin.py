"""The pytest plugin: cells, run by nbval, that skip themselves; points for graded ones."""

import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from nbmark.limits import CELL_SECONDS, NOTEBOOK_SECONDS
from nbmark.own_kernel import know_forked_kernels, use_own_kernel
from nbmark.skip import skip_reason

OPTIONS = {
    "--points": {"metavar": "FILE", "help": "Write what each notebook earned to this CSV file."},
    "--points-from": {
        "metavar": "FOLDER",
        "help": "The originals: they say what is worth points (default: solutions/ or exercises/).",
    },
    "--points-cell-limit": {
        "metavar": "SECONDS",
        "type": float,
        "default": CELL_SECONDS,
        "help": "How long a cell may run when marking (default: %(default)g); "
        "--nbval-cell-timeout holds beside it.",
    },
    "--points-notebook-limit": {
        "metavar": "SECONDS",
        "type": float,
        "default": NOTEBOOK_SECONDS,
        "help": "How long a notebook's cells may run together (default: %(default)g).",
    },
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of marking."""
    group = parser.getgroup("nbmark", "points for notebooks run by nbval")
    for name, settings in OPTIONS.items():
        group.addoption(name, **settings)


# What differs from machine to machine, as nbval's --nbval-sanitize-with takes it.
SANITIZE = Path(__file__).with_name("sanitize.cfg")


def pytest_configure(config: pytest.Config) -> None:
    """Start kernels of this interpreter, leave out of comparisons what differs between machines."""
    use_own_kernel()
    know_forked_kernels()
    if getattr(config.option, "nbval_sanitize_with", SANITIZE) is None:
        config.option.nbval_sanitize_with = str(SANITIZE)
    if config.option.points is not None:
        from nbmark import points_plugin

        config.pluginmanager.register(points_plugin.make(config), "nbmark-points")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Let nbval compare outputs without execution counts, and count errors of graded cells."""
    if is_notebook_cell(item) and _is_graded(item):
        item.options["check_exception"] = False  # the tag is for JupyterLab's Run All
    if is_notebook_cell(item) and item.cell.get("outputs"):
        item.cell.execution_count = 0  # nbval takes a missing count for "was never run"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Report a cell that skipped itself as skipped."""
    report = yield
    if call.when == "call" and (reason := reason_of_skipped_cell(item)) is not None:
        report.outcome = "skipped"
        report.longrepr = (f"{item.path}::{item.name}", None, f"Skipped: {reason}")
    return report


def _is_graded(item: pytest.Item) -> bool:
    """Tell whether a cell carries points; nbformat is imported where there is a notebook."""
    from nbmark.notebook import is_graded

    return is_graded(item.cell)


def is_notebook_cell(item: pytest.Item) -> bool:
    """Tell whether a test is a notebook cell that nbval runs, without importing nbval."""
    nbval = sys.modules.get("nbval.plugin")
    return nbval is not None and isinstance(item, nbval.IPyNbCell)


def reason_of_skipped_cell(item: pytest.Item) -> str | None:
    """Tell why a test is a cell that skipped itself; None for any other.

    A cell that showed an error or ran into nbval's time limit is no skipped cell.
    """
    if not is_notebook_cell(item) or item.parent.timed_out:
        return None
    outputs = item.test_outputs or []
    if any(output.output_type == "error" for output in outputs):
        return None
    reasons = (skip_reason(output) for output in outputs)
    return next((reason for reason in reasons if reason is not None), None)
