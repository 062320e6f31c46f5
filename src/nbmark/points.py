"""Points of submissions as people read them: a line each, and a table for a spreadsheet."""

import csv
import io
from collections.abc import Sequence

from nbmark.marks import Mark
from nbmark.submission import Original, Submission

TO_BE_READ, NOT_MARKED = "to be read", "not marked"


def summary_line(submission: Submission) -> str:
    """Say what a submission earned, in one line."""
    score = submission.score
    if not score.marks:
        return f"{submission.name}: no points, {submission.reasons()}"
    checked = [mark for mark in score.marks if not mark.cell.manual]
    if not any(mark.is_given for mark in checked):
        return f"{submission.name}: {NOT_MARKED}, {checked[0].reason}"
    each = " ".join(_in_line(mark) for mark in checked)
    rest = f", {score.to_be_read:g} {TO_BE_READ}" if score.to_be_read else ""
    fault = f", {submission.ledger.fault}" if submission.ledger.fault else ""
    return f"{submission.name}: {score} ({each}){rest}{fault}"


def as_csv(submissions: Sequence[Submission], originals: Sequence[Original]) -> str:
    """Give a table with one row a notebook and one column a graded cell of an exercise that occurs.

    Totals stand before the cells and reasons behind them, so that the table can be sorted, summed
    and pasted into a gradebook as it is.
    """
    present = [o for o in originals if any(s.original is o for s in submissions)]
    names = [cell.name for original in present for cell in original.cells]
    titles = [f"{c.name} (of {c.points:g})" for original in present for c in original.cells]
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    head = ["notebook", "exercise", "points", "possible points", f"points {TO_BE_READ}"]
    writer.writerow([_safe(field) for field in (*head, *titles, "reasons")])
    for submission in submissions:
        score = submission.score
        fields = {mark.cell.name: _in_table(mark) for mark in score.marks}
        stem = submission.original.stem if submission.original else ""
        totals = (score.earned, score.possible, score.to_be_read)
        row = [submission.name, stem, *(f"{total:g}" for total in totals)]
        row += [fields.get(name, "") for name in names]
        writer.writerow([_safe(field) for field in (*row, submission.reasons())])
    return text.getvalue()


def _in_line(mark: Mark) -> str:
    return f"{mark.earned:g}/{mark.cell.points:g}" if mark.is_given else NOT_MARKED


def _in_table(mark: Mark) -> str:
    if mark.is_to_be_read:
        return TO_BE_READ
    return f"{mark.earned:g}" if mark.is_given else NOT_MARKED


def _safe(field: str) -> str:
    """Keep a spreadsheet from taking a text for a formula."""
    line = " ".join(field.split())
    return f"'{line}" if line.startswith(("=", "+", "-", "@")) else line
