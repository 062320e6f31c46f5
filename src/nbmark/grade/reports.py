"""Writes the reports of a batch: tables, pages, and a JUnit file for each student.

Each is made under a new name and then put in its place as a whole, so that nobody reads half a
report, and no link that lies in the place of one is followed.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree

from nbmark.files import put
from nbmark.grade import pages, tables
from nbmark.grade.alike import pairs
from nbmark.grade.book import Book, Row, is_to_be_read
from nbmark.grade.journal import Journal
from nbmark.grade.plan import Plan
from nbmark.grade.roster import Roster

in_terminal, printable = tables.in_terminal, tables.printable


def write(out: Path, book: Book, made: Plan, journal: Journal, roster: Roster) -> None:
    """Write all reports into the folder of grades."""
    alike = pairs([task for task in made.tasks if task.exercise], book.originals)
    with _replaced(out / "feedback") as folder:
        for row in book.rows:
            page = pages.feedback(row, journal)
            (folder / f"{row.slug}.html").write_text(page, encoding="utf-8")
    with _replaced(out / "junit") as folder:
        for row in book.rows:
            (folder / f"{row.slug}.xml").write_bytes(_junit(row))
    put(out / "class.html", pages.of_class(book, made.words, made.missing, alike, journal))
    put(out / "canvas.csv", tables.canvas(book, roster), "utf-8-sig")
    put(out / "moodle.csv", tables.moodle(book, roster), "utf-8-sig")
    put(out / "gradebook.csv", tables.gradebook(book), "utf-8-sig")


@contextmanager
def _replaced(target: Path) -> Iterator[Path]:
    """Give a new folder that takes the place of another once it is full."""
    new = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    old = new.with_name(f"{new.name}.old")
    try:
        yield new
        new.chmod(0o755)
        if os.path.lexists(target):
            os.rename(target, old)
        os.rename(new, target)
    finally:
        for rest in (new, old):
            if rest.is_symlink() or rest.is_file():
                rest.unlink()
            elif rest.exists():
                shutil.rmtree(rest)


def _junit(row: Row) -> bytes:
    """Give a student's marks as JUnit's XML: a suite for each exercise, a case for each cell."""
    suites = ElementTree.Element("testsuites", name=pages.clean(row.owner.name))
    for earned in row.earned:
        marks = earned.marks
        failed = [m for m in marks if not is_to_be_read(m) and m.earned < m.points]
        counts = {"tests": str(len(marks)), "failures": str(len(failed))}
        counts["skipped"] = str(sum(map(is_to_be_read, marks)))
        suite = ElementTree.SubElement(suites, "testsuite", name=earned.exercise, **counts)
        for mark in marks:
            case = ElementTree.SubElement(suite, "testcase", classname=earned.exercise)
            case.set("name", f"{mark.name} ({mark.earned:g} of {mark.points:g})")
            if is_to_be_read(mark):
                ElementTree.SubElement(case, "skipped", message="to be read")
            elif mark in failed:
                said = pages.clean(mark.reason)
                cause = pages.clean(mark.cause) or "failed"
                ElementTree.SubElement(case, "failure", message=said, type=cause)
    return ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True)
