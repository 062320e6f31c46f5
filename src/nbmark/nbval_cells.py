"""nbval's notebooks and cells, as marking needs them: all that leans on nbval's inner parts.

Written for nbval 0.11.0; `tests/nbmark/test_nbval_cells.py` holds that this is what is installed.
nbval sends a cell to the kernel and reads what it puts out. What is other here: the notebook is
given, not read from the file; no tag or comment changes how a cell is judged; each cell stands
alone, also after one that took too long or that ended the kernel.
"""

import contextlib
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from nbformat import NotebookNode
from nbval.kernel import CURRENT_ENV_KERNEL_NAME, RunningKernel
from nbval.plugin import IPyNbCell, IPyNbFile

from nbmark.limits import Clock
from nbmark.marks import DIED, TOO_LONG, Evidence
from nbmark.notebook import is_code, is_graded
from nbmark.running import SOFT_EXIT


class KernelDied(RuntimeError):  # noqa: N818 - a finding, named as it reads
    """The process that ran the student's code ended."""


class Kernel(RunningKernel):
    """nbval's kernel, which tells when it died and how it replied."""

    reply: str | None = None

    def __init__(self, name: str, folder: Path, startup_timeout: float) -> None:
        super().__init__(name, cwd=str(folder), startup_timeout=startup_timeout)
        self.kc.execute(SOFT_EXIT, silent=True, store_history=False)

    def await_reply(self, msg_id: str, timeout: float | None = None) -> None:
        """Wait for the reply and keep its status; KernelDied or queue.Empty if there is none."""
        self.reply = None
        end = time.monotonic() + timeout
        while True:
            left = end - time.monotonic()
            try:
                message = self.get_message("shell", timeout=max(0.01, min(1.0, left)))
            except Empty:
                if not self.is_alive():
                    raise KernelDied(DIED) from None
                if time.monotonic() >= end:
                    raise
                continue
            if message["parent_header"].get("msg_id") == msg_id:
                self.reply = message["content"]["status"]
                return

    def discard(self) -> None:
        """Leave nothing behind of a kernel that is of no use any more."""
        self.kc.stop_channels()
        if hasattr(self, "km"):
            self.km.shutdown_kernel(now=True)
            self.km.cleanup_resources()
            del self.km


class Cell(IPyNbCell):
    """A cell that is judged by itself."""

    trouble = ""

    def setup(self) -> None:
        """Forget that a cell before took too long."""
        self.parent.timed_out = False

    def runtest(self) -> None:
        """Run the cell, once all before it have run in a kernel that lives."""
        self.parent.prepare(self)
        self.run()

    def run(self) -> None:
        """Run the cell now."""
        notebook = self.parent
        self.config.option.nbval_cell_timeout = min(notebook.most, notebook.clock.limit())
        try:
            super().runtest()
        except KernelDied:
            self.trouble = DIED
            raise
        finally:
            self.trouble = TOO_LONG if notebook.timed_out else self.trouble
            alive = notebook.kernel.is_alive()
            notebook.done.add(self)
            if self.trouble or not alive:
                notebook.stopped.add(self)

    def evidence(self) -> Evidence:
        """Give how the run ended."""
        reply = getattr(self.parent.kernel, "reply", None)
        return Evidence(self.test_outputs or (), reply, self.trouble)


class Notebook(IPyNbFile):
    """A notebook that is not read from its file."""

    kernel: Kernel | None = None
    clock: Clock
    most: float
    cells: list[Cell]  # those of code, whether they were selected or not
    done: set[Cell]  # what has run in this kernel
    stopped: set[Cell]  # what must not be run again

    @classmethod
    def make(
        cls,
        parent: pytest.Collector,
        path: Path,
        source: Callable[[Path], NotebookNode],
        clock: Any,
    ) -> "Notebook":
        """Make one whose notebook `source` gives, or raises why not, when it is collected."""
        made = cls.from_parent(parent, path=path)
        made.source, made.make_clock = source, clock
        return made

    def collect(self) -> Iterator[Cell]:
        """Give a test for each code cell."""
        self.nb = self.source(self.path)
        self.cells = [
            Cell.from_parent(
                self, name=f"Cell {number}", cell_num=number, cell=cell, options=defaultdict(bool)
            )
            for number, cell in enumerate(filter(is_code, self.nb.cells))
        ]
        self.done, self.stopped = set(), set()
        yield from self.cells

    def setup(self) -> None:
        """Start a kernel, and the clock."""
        self.clock, self.most = self.make_clock(), self.config.option.nbval_cell_timeout
        self._start()

    def teardown(self) -> None:
        """End the kernel, and let the next notebook have all of its time."""
        self.config.option.nbval_cell_timeout = self.most
        if self.kernel is not None:
            self.kernel.discard()

    def prepare(self, cell: Cell) -> None:
        """See that the kernel lives and holds what the cells before this one define."""
        before = [other for other in self.cells[: cell.cell_num] if not is_graded(other.cell)]
        while True:
            if not self.kernel.is_alive():
                self.kernel.discard()
                self._start()
            missing = [one for one in before if one not in self.done and one not in self.stopped]
            if not missing:
                break
            with contextlib.suppress(Exception):
                missing[0].run()
        self.timed_out = False

    def _start(self) -> None:
        option = self.config.option
        name = option.nbval_kernel_name or CURRENT_ENV_KERNEL_NAME
        self.kernel = Kernel(name, self.path.parent, option.nbval_kernel_startup_timeout)
        self.done.clear()
