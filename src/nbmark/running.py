"""The one way in which nbclient runs a notebook here: limits, Ctrl-C, and kernels that end."""

import asyncio
import atexit
import json
import signal
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.client import CellExecutionComplete
from nbclient.exceptions import CellControlSignal, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from traitlets.config import Config

from nbmark.limits import Clock
from nbmark.marks import DIED, TOO_LONG, Evidence
from nbmark.notebook import is_code, is_graded

MOST_OUTPUT = 32_000_000  # letters of one cell
MOST_KERNELS = 4  # for one notebook; what makes each of them hang stands before its cells
IOPUB_SECONDS = 10  # until a cell that was interrupted counts as one that cannot be
SETTINGS = {
    "kernel_name": "python3",
    # A kernel that talks over an open connection complains of it on the terminal.
    "config": Config({"KernelManager": {"transport_encryption": "auto"}}),
    "record_timing": False,  # times would stand in the metadata, which a cache's key holds
}
# An `exit()` that a student left behind would take the kernel away from all cells after it.
# (IPython takes every line that begins with `exit` for a call, an assignment too.)
SOFT_EXIT = "globals().update(dict.fromkeys(['exit', 'quit'], lambda *args, **options: None))"

Note = Callable[[NotebookNode, Evidence], object]  # gets a code cell, and how its run ended


class Client(NotebookClient):
    """Keeps of what a cell puts out what has a sane size and form; the rest is a stranger's."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.output_size: Counter[int] = Counter()  # by cell

    def process_message(
        self, msg: dict[str, Any], cell: NotebookNode, cell_index: int
    ) -> NotebookNode | None:
        """Take in a message of the kernel, unless it is too much or none at all."""
        try:
            self.output_size[cell_index] += len(json.dumps(msg["content"]))
            if self.output_size[cell_index] > MOST_OUTPUT and msg["msg_type"] != "status":
                return None
            return super().process_message(msg, cell, cell_index)
        except (CellExecutionComplete, CellControlSignal):
            raise
        except Exception:  # forged, or nested without end
            return None


class Interrupt:
    """Ctrl-C while a notebook runs; nbclient's own handler would call it a dead kernel."""

    def __init__(self):
        self.pressed = False

    def listen(self) -> None:
        """Replace nbclient's handler, once the notebook has started."""
        if threading.current_thread() is not threading.main_thread():
            return  # where signals do not arrive
        task = asyncio.current_task()

        def press() -> None:
            self.pressed = True
            task.cancel()

        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, press)


def _run(task: Coroutine[Any, Any, Any]) -> None:
    """Run a task to its end, also from a notebook or where else a loop of events is running."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(task)
    else:
        with ThreadPoolExecutor(1) as aside:
            aside.submit(asyncio.run, task).result()


def execute(
    notebook: NotebookNode,
    folder: Path,
    log: Any = subprocess.DEVNULL,
    before: str = "",
    **options: Any,
) -> None:
    """Execute all cells of a notebook in place, in a folder, after the code `before`.

    The log gets what the kernel itself says; options are nbclient's, and so are errors, but for a
    KeyboardInterrupt on Ctrl-C.
    """
    interrupt = Interrupt()

    def start(notebook: NotebookNode) -> None:
        interrupt.listen()
        if before:
            client.kc.execute(before, silent=True, store_history=False)

    resources = {"metadata": {"path": str(folder)}}
    options |= {"resources": resources, "on_notebook_start": start}
    client = Client(notebook, **SETTINGS | options)
    try:
        _run(client.async_execute(stderr=log))
    except (asyncio.CancelledError, Exception) as error:
        if interrupt.pressed or isinstance(error, asyncio.CancelledError):
            raise KeyboardInterrupt from None
        raise
    finally:
        atexit.unregister(client._cleanup_kernel)  # it would complain of what is cleaned up by now


def run_all(
    notebook: NotebookNode,
    folder: Path,
    note: Note,
    clock: Clock,
    kernel: str = SETTINGS["kernel_name"],
    begin: Callable[[NotebookNode], object] = lambda cell: None,
) -> None:
    """Run every cell of a student's notebook, whatever becomes of the others.

    A cell that takes too long is interrupted. Where that is no use, or the kernel died, a new
    kernel runs all cells once more, without the graded ones before and without those that had to
    be stopped. `note` gets each code cell with its outputs, once; `begin` gets it before it runs.
    """
    turns = _Turns(notebook, note, begin, {"kernel_name": kernel})
    for _ in range(MOST_KERNELS):
        if turns.all_had(folder, clock):
            return
    turns.give_up()


class _Turns:
    """Which cells of a notebook have had their turn, over several kernels."""

    def __init__(
        self,
        notebook: NotebookNode,
        note: Note,
        begin: Callable[[NotebookNode], object],
        options: Mapping[str, Any],
    ) -> None:
        self.notebook, self.note, self.begin, self.options = notebook, note, begin, options
        self.stopped: set[int] = set()  # cells not to be run again
        self.noted = self.at = -1  # the last cell that was told of; the one that is running

    def all_had(self, folder: Path, clock: Clock) -> bool:
        """Run what is left in a new kernel; tell whether it lived to the end."""
        run, self.at = nbformat.from_dict(self.notebook), -1
        for index, cell in enumerate(run.cells):
            if index in self.stopped or (index <= self.noted and is_graded(cell)):
                cell.source = ""
        hooks = {"on_cell_start": self._start, "on_cell_executed": self._end}
        try:
            execute(run, folder, **hooks, **_lenient(clock), **self.options)
        except (CellTimeoutError, DeadKernelError) as error:
            if self.at < 0 or self.at in self.stopped:
                raise
            trouble = DIED if isinstance(error, DeadKernelError) else TOO_LONG
            self._tell(run.cells[self.at], Evidence((), "error", trouble))
            return False
        return True

    def give_up(self) -> None:
        """Tell of the cells that were not run."""
        for index, cell in enumerate(self.notebook.cells):
            if is_code(cell) and index > self.noted:
                self.at = index
                self._tell(cell, Evidence((), "error", TOO_LONG))

    def _start(self, cell: NotebookNode, cell_index: int) -> None:
        self.at = cell_index
        if cell_index > self.noted:
            self.begin(cell)

    def _end(self, cell: NotebookNode, cell_index: int, execute_reply: Mapping[str, Any]) -> None:
        content = execute_reply["content"]
        too_long = TOO_LONG if content.get("ename") == TOO_LONG else ""
        self._tell(cell, Evidence(cell.outputs, content["status"], too_long))

    def _tell(self, cell: NotebookNode, evidence: Evidence) -> None:
        """Tell of the running cell, unless an earlier kernel ran it."""
        if evidence.trouble:
            self.stopped.add(self.at)
        if self.at > self.noted:
            self.noted = self.at
            self.note(cell, evidence)


def _lenient(clock: Clock) -> dict[str, Any]:
    """Give options of `execute` for cells of which none may stop the others."""
    return {
        "allow_errors": True,
        "timeout_func": lambda cell: clock.limit(),
        "interrupt_on_timeout": True,
        "error_on_timeout": {"ename": TOO_LONG, "evalue": "", "traceback": []},
        "raise_on_iopub_timeout": True,
        "iopub_timeout": IOPUB_SECONDS,
        "before": SOFT_EXIT,
        "shutdown_kernel": "immediate",  # one that does not listen would be waited for
    }
