"""The gradebook as tables: our own, and those that Canvas and Moodle import.

Canvas ("How do I import grades in the Gradebook?", Canvas Instructor Guide) wants the columns
Student, ID, SIS User ID, SIS Login ID and Section, one for each assignment, and may have a row
`Points Possible` below the titles. Moodle ("Offline grading worksheet", MoodleDocs, Assignment
settings) wants the worksheet that it exports, with Grade filled in; its Identifier is the word
Participant and the number that the folders of a download bear too. With either file as the roster,
the table has what it had.
"""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence

from nbmark.grade.book import Book, Earned, Row, is_to_be_read
from nbmark.grade.roster import MOODLE_NUMBER, Roster
from nbmark.mark_one import CellMark

CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
MOODLE = ("Identifier", "Full name", "Email address", "Grade", "Maximum Grade")
FORMULA = ("=", "+", "-", "@")


def gradebook(book: Book) -> str:
    """Give a row for each student and a column for each graded cell."""
    columns = book.columns
    lines = [["student", "total", *columns.values(), "flags"]]
    alike = Counter(row.owner.name for row in book.rows)
    for row in book.rows:
        points = [_points(row.marks.get(place)) for place in columns]
        name, number = row.owner.name, row.owner.number
        name += f" ({number})" if alike[name] > 1 and number else ""
        lines.append([name, f"{row.total:g}", *points, "; ".join(row.flags)])
    return _csv(lines)


def canvas(book: Book, roster: Roster) -> str:
    """Give what Canvas imports: a column for each exercise."""
    points = [sum(cell.points for cell in original.cells) for original in book.originals]
    titles = [original.stem for original in book.originals]
    lines = [[*CANVAS, *titles], ["Points Possible", "", "", "", "", *(f"{p:g}" for p in points)]]
    for row in book.rows:
        known = roster.find(row.owner)
        fields = dict(known.fields) if known else {}
        fields = {"student": row.owner.name, "id": row.owner.number, **fields}
        total = {one.exercise: f"{one.total:g}" for one in row.earned}
        told = [fields.get(title.lower(), "") for title in CANVAS]
        lines.append([*told, *(total.get(title, "") for title in titles)])
    return _csv(lines)


def moodle(book: Book, roster: Roster) -> str:
    """Give what Moodle imports: the worksheet with the grade, which is the total."""
    most = f"{sum(cell.points for cell in book.cells):g}"
    is_worksheet = set(MOODLE[:2]) <= set(roster.titles)
    titles = list(roster.titles) if is_worksheet else list(MOODLE)
    lines = [titles]
    for row in book.rows:
        known = roster.find(row.owner) if is_worksheet else None
        number = f"{MOODLE_NUMBER}{row.owner.number}" if row.owner.number else ""
        fields = {"identifier": number, "full name": row.owner.name}
        fields |= {"email address": row.owner.email, "maximum grade": most}
        fields |= dict(known.fields) if known else {}
        fields["grade"] = f"{row.total:g}" if row.earned else ""
        lines.append([fields.get(title.lower(), "") for title in titles])
    return _csv(lines)


def in_terminal(book: Book) -> str:
    """Give a table for a terminal: students, points of each exercise, flags."""
    stems = [original.stem for original in book.originals]
    lines = [["student", *stems, "total", ""]]
    for row in book.rows:
        by_stem = {one.exercise: one for one in row.earned}
        points = [_of(by_stem.get(stem)) for stem in stems]
        lines.append([row.owner.name[:40], *points, f"{row.total:g}", _short(row)])
    lines = [[printable(field) for field in line] for line in lines]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)][:-1]
    return "\n".join(
        "  ".join([*map(str.ljust, line, widths), line[-1]]).rstrip() for line in lines
    )


def guarded(text: str) -> str:
    """Keep a spreadsheet from taking a text for a formula, and a row for several."""
    line = " ".join(printable(text).split())
    return f"'{line}" if line.startswith(FORMULA) else line


def _points(mark: CellMark | None) -> str:
    """Give the points of a cell; nothing where nobody gave any."""
    return "" if mark is None or is_to_be_read(mark) else f"{mark.earned:g}"


def _of(earned: Earned | None) -> str:
    return f"{earned.total:g}/{earned.possible:g}" if earned else "-"


def _short(row: Row) -> str:
    said = "; ".join(row.flags)
    return said if len(said) <= 100 else f"{said[:97]}..."


def printable(text: str) -> str:
    """Leave out what no terminal and no spreadsheet should get."""
    return "".join(c if c.isprintable() else " " for c in text)


def _csv(lines: Iterable[Sequence[str]]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text).writerows([guarded(field) for field in line] for line in lines)
    return text.getvalue()
