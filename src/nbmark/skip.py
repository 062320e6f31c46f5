"""Ends a notebook cell early without an error, where the machine lacks what the cell needs."""

import html
import sys
from collections.abc import Mapping
from typing import Any, NoReturn

# A key in the output's metadata: a MIME type of our own would make Jupyter Book warn of it.
REASON = "nbmark_skip_reason"


class CellSkipped(BaseException):
    """The running cell needs something that this machine lacks.

    It is no `Exception`, so that a cell's own ``except Exception`` cannot swallow it.
    """


def skip_cell(reason: str) -> NoReturn:
    """End the running cell here, successfully, and show why in one line.

    The line appears when the exception leaves the cell: after everything else the cell shows,
    and only if the cell really ends. The next cell runs as usual. Outside IPython there is no
    cell to end, and the CellSkipped goes its way with the reason as its message.

    Parameters
    ----------
    reason : str
        What is missing and what the reader can do instead, as plain text on one line.
    """
    if "IPython" in sys.modules and (shell := sys.modules["IPython"].get_ipython()):
        _let_cell_end_quietly(shell)
    raise CellSkipped(" ".join(reason.split()))


def skip_reason(output: Mapping[str, Any]) -> str | None:
    """Read the reason out of a cell's output; None unless it is the line that `skip_cell` shows."""
    metadata = output.get("metadata")
    reason = metadata.get(REASON) if isinstance(metadata, Mapping) else None
    return reason if isinstance(reason, str) else None


def _let_cell_end_quietly(shell: Any) -> None:
    """Prepare IPython for a CellSkipped, until the running cell has ended.

    IPython shows an exception and stores it in the cell's result. The handler replaces the first,
    the callback undoes the second: IPython and ipykernel call it with that result before they
    report success or failure. The callback also shows the line and takes both away again. Under
    ``%%capture`` it is called for the captured cell, and once more after the capture.
    """
    from IPython.core.displaypub import CapturingDisplayPublisher

    if CellSkipped in shell.custom_exceptions:
        return  # an earlier skip of this cell was caught
    previous = shell.custom_exceptions, shell.CustomTB
    reasons = []

    def keep(shell: Any, kind: Any, skipped: CellSkipped, tb: Any, tb_offset: Any = None) -> None:
        reasons.append(str(skipped))

    def end(result: Any) -> None:
        if isinstance(getattr(result, "error_in_exec", None), CellSkipped):
            result.error_in_exec = None
            shell.last_execution_succeeded = True
        if not isinstance(shell.display_pub, CapturingDisplayPublisher):
            shell.events.unregister("post_run_cell", end)
            shell.custom_exceptions, shell.CustomTB = previous
            for reason in reasons:
                shell.display_pub.publish(_line(reason), metadata={REASON: reason})

    shell.set_custom_exc((CellSkipped,), keep)
    shell.events.register("post_run_cell", end)


def _line(reason: str) -> dict[str, str]:
    """Write the line that stands where a cell ended."""
    markup = f"<p><strong>Skipped:</strong> {html.escape(reason)}</p>"
    return {"text/plain": f"Skipped: {reason}", "text/html": markup}
