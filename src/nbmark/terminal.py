"""Runs a student's notebook and prints what its graded cells say, as Jupyter would show it."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from jupyter_client.kernelspec import NoSuchKernel
from nbclient.exceptions import DeadKernelError
from nbformat import NotebookNode

from nbmark.limits import Clock
from nbmark.marks import Evidence
from nbmark.notebook import grade_id, is_graded
from nbmark.running import run_all
from nbmark.submission import Original, Submission, read_submission

TRACEBACK_LINES = 8
ENDED = {
    DeadKernelError: "The kernel died; no cell could be run.",
    NoSuchKernel: "The kernel python3 is missing: install ipykernel.",
}
Say = Callable[[str], object]
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def tell(
    path: Path, originals: Sequence[Original], say: Say = print, clock: Clock | None = None
) -> bool:
    """Run a student's notebook, and say what its graded cells say as they run.

    The result is whether each of them earned its points, those aside that a person reads.
    """
    submission = read_submission(path, path.name, originals)
    if submission.rebuilt is None:
        say(f"{path.name}: {submission.ledger.fault}.")
        return False

    def note(cell: NotebookNode, evidence: Evidence) -> None:
        name = grade_id(cell) or cell.id
        if is_graded(cell):
            reason = submission.ledger.outcomes[name] = evidence.why_not()
            say(f"{name}\n{_indented(shown(evidence, reason))}\n")
        elif message := failure(evidence):
            say(f"{name}: this cell failed\n{_indented(message)}\n")

    try:
        run_all(submission.rebuilt.notebook, path.parent, note, clock or Clock())
    except (DeadKernelError, NoSuchKernel) as error:
        say(ENDED[type(error)])
    for said in submission.rebuilt.restored:
        say(f"Restored: {said}")
    say(total(path.stem, submission))
    return submission.score.is_full


def shown(evidence: Evidence, reason: str) -> str:
    """Give what a graded cell shows: the message of its check, passed or failed."""
    for output in evidence.outputs:
        if output.output_type == "error":
            return _said(output)
    texts = [output.get("data", {}).get("text/plain", "") for output in evidence.outputs]
    return "\n".join(filter(None, [*texts, reason])) or "It ran without an error."


def failure(evidence: Evidence) -> str:
    """Give the end of an error in another cell; nothing for a stub, which its check names."""
    errors = [output for output in evidence.outputs if output.output_type == "error"]
    if evidence.trouble:
        return f"{evidence.trouble}; the next cells were run all the same."
    if not errors or errors[0].ename == "NotImplementedError":
        return ""
    return _said(errors[0])


def total(name: str, submission: Submission) -> str:
    """Say how many points there are in all."""
    score = submission.score
    by_hand = score.to_be_read
    rest = f" A person reads your text and gives up to {by_hand:g} more." if by_hand else ""
    return f"{name}: {score}.{rest}"


def _said(error: NotebookNode) -> str:
    """Give the lines of an error that help; a check shows no others."""
    lines = COLOUR.sub("", "\n".join(error.traceback)).strip("\n").splitlines()
    if error.ename in {"CheckFailed", "NotAttempted"}:
        return "\n".join(lines)
    return "\n".join(lines[-TRACEBACK_LINES:]) or f"{error.ename}: {error.evalue}"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}".rstrip() for line in text.splitlines())
