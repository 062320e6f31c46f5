"""The one way in which nbclient runs a notebook here: limits, Ctrl-C, and kernels that end."""

import asyncio
import atexit
import signal
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from traitlets.config import Config

from nbmark.limits import Clock
from nbmark.marks import DIED, TOO_LONG, Evidence
from nbmark.notebook import is_graded

IOPUB_SECONDS = 10  # until a cell that was interrupted counts as one that cannot be
# A kernel that talks over an open connection complains of it on the terminal.
QUIET = Config(
    {"KernelManager": {"transport_encryption": "auto"}, "NotebookClient": {"log_level": 50}}
)
# An `exit()` that a student left behind would take the kernel away from all cells after it.
SOFT_EXIT = "exit = quit = lambda *args, **options: None"


class Interrupt:
    """Ctrl-C while a notebook runs; nbclient's own handler would call it a dead kernel."""

    def __init__(self):
        self.pressed = False

    def listen(self, notebook: NotebookNode) -> None:
        """Replace nbclient's handler, once the notebook has started."""
        task = asyncio.current_task()

        def press() -> None:
            self.pressed = True
            task.cancel()

        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, press)


def execute(
    notebook: NotebookNode,
    folder: Path,
    log: Any = subprocess.DEVNULL,
    env: Mapping[str, str] | None = None,
    **options: Any,
) -> None:
    """Execute all cells of a notebook in place.

    Parameters
    ----------
    notebook : NotebookNode
    folder : Path
        Where the kernel runs.
    log : file, optional
        Gets what the kernel itself says.
    env : mapping, optional
        The kernel's environment; None for this process's own.
    **options
        Of nbclient's `NotebookClient`.

    Raises
    ------
    KeyboardInterrupt
        On Ctrl-C.
    Exception
        What `NotebookClient.execute` raises.
    """
    interrupt = Interrupt()
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        config=QUIET,
        record_timing=False,  # times would stand in the metadata, which a cache's key holds
        resources={"metadata": {"path": str(folder)}},
        on_notebook_start=interrupt.listen,
        **options,
    )
    start = {"stderr": log} | ({"env": dict(env)} if env else {})
    try:
        asyncio.run(client.async_execute(**start))
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
    except Exception:
        if interrupt.pressed:
            raise KeyboardInterrupt from None
        raise
    finally:
        atexit.unregister(client._cleanup_kernel)  # it would complain of what is cleaned up by now


def run_all(
    notebook: NotebookNode,
    folder: Path,
    note: Callable[[NotebookNode, Evidence], object],
    clock: Clock,
    env: Mapping[str, str] | None = None,
) -> None:
    """Run every cell of a student's notebook, whatever becomes of the others.

    A cell that takes too long is interrupted. Where that is no use, or the kernel died, a new
    kernel runs all cells once more, without the graded ones before and without those that had to
    be stopped. `note` gets each code cell with its outputs, once.
    """
    stopped: set[int] = set()
    noted = -1
    while True:
        run = nbformat.from_dict(notebook)
        at = -1
        for index, cell in enumerate(run.cells):
            if index in stopped or (index <= noted and is_graded(cell)):
                cell.source = ""

        def start(cell: NotebookNode, cell_index: int) -> None:
            nonlocal at
            at = cell_index

        def seen(cell: NotebookNode, cell_index: int, execute_reply: Mapping[str, Any]) -> None:
            nonlocal noted
            content = execute_reply["content"]
            too_long = TOO_LONG if content.get("ename") == TOO_LONG else ""
            if too_long:
                stopped.add(cell_index)
            if cell_index > noted:
                noted = cell_index
                note(cell, Evidence(cell.outputs, content["status"], too_long))

        try:
            execute(
                run, folder, env=env, on_cell_start=start, on_cell_executed=seen, **_lenient(clock)
            )
            return
        except (CellTimeoutError, DeadKernelError) as error:
            if at < 0 or at in stopped:
                raise
            stopped.add(at)
            if at > noted:
                noted = at
                died = isinstance(error, DeadKernelError)
                note(run.cells[at], Evidence((), "error", DIED if died else TOO_LONG))


def _lenient(clock: Clock) -> dict[str, Any]:
    """Give nbclient's options for cells of which none may stop the others."""
    return {
        "allow_errors": True,
        "timeout_func": lambda cell: clock.limit(),
        "interrupt_on_timeout": True,
        "error_on_timeout": {"ename": TOO_LONG, "evalue": "", "traceback": []},
        "raise_on_iopub_timeout": True,
        "iopub_timeout": IOPUB_SECONDS,
        "extra_arguments": [f"--IPKernelApp.exec_lines={SOFT_EXIT}"],
    }
