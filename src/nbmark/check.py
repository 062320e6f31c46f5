"""Runs a notebook and prints what its graded cells say, as Jupyter would show it."""

import asyncio
import atexit
import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jupyter_client.kernelspec import NoSuchKernel
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from nbmark.notebook import Unreadable, grade_id, is_graded, is_manual, read, settings
from nbmark.running import QUIET_KERNEL, Interrupt

CELL_TIMEOUT = 600  # seconds
TRACEBACK_LINES = 8
ENDED = {
    CellTimeoutError: f"A cell took longer than {CELL_TIMEOUT} s; the next ones were not run.",
    DeadKernelError: "The kernel died; the next cells were not run.",
    NoSuchKernel: "The kernel python3 is missing: install ipykernel.",
}
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def check(path: Path, say: Callable[[str], object] = print) -> bool:
    """Run a notebook and say what its graded cells say.

    Parameters
    ----------
    path : Path
        The student's notebook; it is not changed.
    say : callable, optional
        Gets each message once its cell has run.

    Returns
    -------
    complete : bool
        Whether every graded cell earned its points, those aside that a person reads.
    """
    try:
        notebook = read(path)
    except Unreadable as error:
        say(f"{path.name} cannot be checked: {error}.")
        return False
    earned: dict[str, float] = {}

    def note(cell: NotebookNode, cell_index: int, execute_reply: Mapping[str, Any]) -> None:
        ok = execute_reply["content"]["status"] == "ok"
        if is_graded(cell):
            earned[label(cell)] = points_of(cell) if ok else 0
            say(f"{label(cell)}\n{_indented(verdict(cell))}\n")
        elif message := failure(cell):
            say(f"{label(cell)}: this cell failed\n{_indented(message)}\n")

    if ended := _run(notebook, path.parent, note):
        say(ended)
    graded = [cell for cell in notebook.cells if is_graded(cell)]
    say(total(path.stem, graded, earned))
    checked = [cell for cell in graded if not is_manual(cell)]
    return sum(earned.values()) == sum(map(points_of, checked))


def label(cell: NotebookNode) -> str:
    """Name a cell."""
    return grade_id(cell) or cell.get("id") or "a cell without a name"


def points_of(cell: NotebookNode) -> float:
    """Give what a cell is worth."""
    points = settings(cell).get("points", 0)
    return points if isinstance(points, int | float) else 0


def verdict(cell: NotebookNode) -> str:
    """Give what a graded cell shows: the message of its check, passed or failed."""
    for output in cell.outputs:
        if output.output_type == "error":
            return _said(output)
    texts = [output.get("data", {}).get("text/plain", "") for output in cell.outputs]
    return "\n".join(filter(None, texts)) or "It ran without an error."


def failure(cell: NotebookNode) -> str:
    """Give the end of an error in another cell; nothing for a stub, which its check names."""
    errors = [output for output in cell.outputs if output.output_type == "error"]
    if not errors or errors[0].ename == "NotImplementedError":
        return ""
    return _said(errors[0])


def total(name: str, graded: list[NotebookNode], earned: Mapping[str, float]) -> str:
    """Say how many points there are in all."""
    possible = sum(points_of(cell) for cell in graded if not is_manual(cell))
    by_hand = sum(points_of(cell) for cell in graded if is_manual(cell))
    rest = f" A person reads your text and gives up to {by_hand:g} more." if by_hand else ""
    return f"{name}: {sum(earned.values()):g} of {possible:g} points.{rest}"


def _said(error: NotebookNode) -> str:
    """Give the lines of an error that help; a check shows no others."""
    lines = COLOUR.sub("", "\n".join(error.traceback)).strip("\n").splitlines()
    if error.ename in {"CheckFailed", "NotAttempted"}:
        return "\n".join(lines)
    return "\n".join(lines[-TRACEBACK_LINES:]) or f"{error.ename}: {error.evalue}"


def _run(notebook: NotebookNode, folder: Path, note: Callable[..., None]) -> str:
    """Execute all cells, and say in one line why not all of them were, if so."""
    interrupt = Interrupt()
    client = NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT,
        kernel_name="python3",
        config=QUIET_KERNEL,
        allow_errors=True,
        record_timing=False,
        resources={"metadata": {"path": str(folder)}},
        on_notebook_start=interrupt.listen,
        on_cell_executed=note,
    )
    try:
        asyncio.run(client.async_execute(stderr=subprocess.DEVNULL))
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
    except (CellTimeoutError, DeadKernelError, NoSuchKernel) as error:
        if interrupt.pressed:
            raise KeyboardInterrupt from None
        return ENDED[type(error)]
    finally:
        atexit.unregister(client._cleanup_kernel)  # it would complain of what is cleaned up by now
    return ""


def _indented(text: str) -> str:
    return "\n".join(f"  {line}".rstrip() for line in text.splitlines())
