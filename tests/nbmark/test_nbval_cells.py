"""nbval is the one that `nbmark.nbval_cells` was written for."""

import inspect
from importlib.metadata import version

import pytest
from nbval.kernel import RunningKernel
from nbval.plugin import IPyNbCell, IPyNbFile

from nbmark import nbval_cells


def test_nbval_is_the_version_whose_inner_parts_are_known():
    assert version("nbval") == "0.11.0"
    assert "0.11.0" in nbval_cells.__doc__


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (nbval_cells.Kernel, RunningKernel),
        (nbval_cells.Cell, IPyNbCell),
        (nbval_cells.Notebook, IPyNbFile),
    ],
)
def test_what_is_replaced_is_there_to_be_replaced(ours, theirs):
    added = {"discard", "run", "evidence", "make", "prepare", "_start"}
    own = {name for name, value in vars(ours).items() if callable(value) or name == "make"}
    own -= added | {"__init__"}
    assert own <= set(dir(theirs))


def test_what_nbval_asks_of_a_kernel_and_a_notebook_is_what_it_gets():
    run = inspect.getsource(IPyNbCell.runtest)
    for used in ("kernel.await_reply(msg_id", "parent.timed_out = True", "nbval_cell_timeout"):
        assert used in run
