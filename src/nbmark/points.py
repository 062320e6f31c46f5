"""Points of notebooks: what the originals give for each cell, and what a submission earned.

What is worth points, and how many, comes from the originals alone. A graded cell counts only if the
submission holds it once, as a code cell and with the original's text, and if it ran without any
error. Everything else earns 0 and says why.
"""

import csv
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nbmark.notebook import Unreadable, grade_id, is_graded, is_manual, read, settings
from nbmark.release import without_hidden_tests

TO_BE_READ = "to be read"


@dataclass(frozen=True)
class GradedCell:
    """A cell that carries points, as the original has it."""

    name: str
    points: float
    source: str
    manual: bool


@dataclass(frozen=True)
class Original:
    """What is worth points in one exercise."""

    stem: str
    cells: tuple[GradedCell, ...]


@dataclass(frozen=True)
class Mark:
    """What one graded cell of a submission earned, and why not more."""

    cell: GradedCell
    earned: float
    reason: str = ""


@dataclass
class Submission:
    """A submitted notebook: where it lies, which exercise it answers, what became of its cells.

    `outcomes` holds, by name of the cell, "" for a cell that ran without error, else what went
    wrong. `fault` says what is wrong with the notebook as a whole.
    """

    name: str
    original: Original | None
    found: Mapping[str, list[str]] = field(default_factory=dict)
    fault: str = ""
    outcomes: dict[str, str] = field(default_factory=dict)

    def marks(self) -> list[Mark]:
        """Give the mark of each graded cell of the original."""
        cells = self.original.cells if self.original else ()
        return [self._mark(cell) for cell in cells]

    def reasons(self) -> str:
        """Say in one line why points are missing."""
        if self.fault:
            return self.fault
        if self.original is None:
            return "it is none of the exercises, by its name and by its cells"
        return "; ".join(f"{m.cell.name}: {m.reason}" for m in self.marks() if m.reason)

    def _mark(self, cell: GradedCell) -> Mark:
        reason = self.fault or self._structural_fault(cell)
        if not reason and not cell.manual:
            reason = self.outcomes.get(cell.name, "it was not run")
        return Mark(cell, 0 if reason or cell.manual else cell.points, reason)

    def _structural_fault(self, cell: GradedCell) -> str:
        sources = self.found.get(cell.name, [])
        if len(sources) > 1:
            return f"the notebook holds it {len(sources)} times"
        if not sources:
            return "the notebook lacks it"
        if not cell.manual and sources[0].rstrip() != cell.source.rstrip():
            return "its text was changed"
        return ""


def read_originals(folder: Path) -> list[Original]:
    """Read what is worth points in the solutions, or exercises, of a folder.

    Raises
    ------
    Unreadable
        If the folder holds none, or one that cannot be read.
    """
    originals = []
    for path in sorted(folder.glob("*.ipynb")):
        try:
            graded = [cell for cell in read(path).cells if is_graded(cell)]
        except Unreadable as error:
            raise Unreadable(f"{path}: {error}") from None
        cells = tuple(
            GradedCell(
                grade_id(cell) or "",
                settings(cell).get("points", 0),
                without_hidden_tests(cell.source),
                is_manual(cell),
            )
            for cell in graded
        )
        originals.append(Original(path.stem, cells))
    if not any(original.cells for original in originals):
        raise Unreadable(f"{folder} holds no notebook with graded cells")
    return originals


def read_submission(path: Path, name: str, originals: Sequence[Original]) -> Submission:
    """Read a submitted notebook, whatever it is, and find the exercise that it answers."""
    found: dict[str, list[str]] = {}
    fault = ""
    try:
        for cell in read(path).cells:
            if own := grade_id(cell):
                is_code = cell.cell_type == "code"
                found.setdefault(own, []).append(cell.source if is_code else f"text {cell.source}")
    except Unreadable as error:
        fault = f"the notebook cannot be read: {error}"
    return Submission(name, match(path.name, found, originals), found, fault)


def match(name: str, found: Iterable[str], originals: Sequence[Original]) -> Original | None:
    """Find the original by the name of the file, else by the names of the cells."""
    named = [original for original in originals if original.stem in name]
    if named:
        return max(named, key=lambda original: len(original.stem))
    own = set(found)
    common = [(len(own & {cell.name for cell in o.cells}), o) for o in originals]
    best, original = max(common, key=lambda pair: pair[0], default=(0, None))
    return original if best else None


def summary_line(submission: Submission) -> str:
    """Say what a submission earned, in one line."""
    marks = submission.marks()
    if not marks:
        return f"{submission.name}: no points, {submission.reasons()}"
    checked = [mark for mark in marks if not mark.cell.manual]
    each = " ".join(f"{mark.earned:g}/{mark.cell.points:g}" for mark in checked)
    read_by_hand = _points(mark for mark in marks if mark.cell.manual)
    rest = f", {read_by_hand:g} {TO_BE_READ}" if read_by_hand else ""
    fault = f", {submission.fault}" if submission.fault else ""
    earned = sum(mark.earned for mark in checked)
    return f"{submission.name}: {earned:g} of {_points(checked):g} points ({each}){rest}{fault}"


def as_csv(submissions: Sequence[Submission], originals: Sequence[Original]) -> str:
    """Give a table with one row a notebook and one column a graded cell.

    Totals stand before the cells and reasons behind them, so that the table can be sorted, summed
    and pasted into a gradebook as it is. Only exercises that occur have columns.
    """
    present = [o for o in originals if any(s.original is o for s in submissions)]
    names = [cell.name for original in present for cell in original.cells]
    titles = [f"{c.name} (of {c.points:g})" for original in present for c in original.cells]
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    head = ["notebook", "exercise", "points", "possible points", f"points {TO_BE_READ}"]
    writer.writerow([_safe(field) for field in (*head, *titles, "reasons")])
    for submission in submissions:
        marks = submission.marks()
        checked = [mark for mark in marks if not mark.cell.manual]
        fields = {m.cell.name: TO_BE_READ if _is_to_be_read(m) else f"{m.earned:g}" for m in marks}
        stem = submission.original.stem if submission.original else ""
        by_hand = _points(mark for mark in marks if _is_to_be_read(mark))
        totals = (sum(mark.earned for mark in checked), _points(checked), by_hand)
        row = [submission.name, stem, *(f"{total:g}" for total in totals)]
        row += [fields.get(name, "") for name in names]
        writer.writerow([_safe(field) for field in (*row, submission.reasons())])
    return text.getvalue()


def write(path: Path, text: str) -> None:
    """Put a text in the place of a file as a whole; spreadsheets need the mark to see UTF-8.

    What UTF-8 lacks, such as the name of a file in another encoding, is written as an escape.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text(text, encoding="utf-8-sig", errors="backslashreplace", newline="")
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def _points(marks: Iterable[Mark]) -> float:
    return sum(mark.cell.points for mark in marks)


def _is_to_be_read(mark: Mark) -> bool:
    return mark.cell.manual and not mark.reason


def _safe(field: str) -> str:
    """Keep a spreadsheet from taking a text for a formula."""
    line = " ".join(field.split())
    return f"'{line}" if line.startswith(("=", "+", "-", "@")) else line
