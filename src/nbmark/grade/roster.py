"""The list of a class: a CSV file of your own, or the one that Canvas or Moodle exports."""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nbmark.grade.owners import Owner, plain

NAMES = ("student", "name", "full name", "username", "login")
NUMBERS = ("id", "identifier", "number", "sid", "student id", "id number")
MAILS = ("email", "email address", "e-mail")
CANVAS_EXTRA = ("sis user id", "sis login id")
MOODLE_NUMBER = "Participant "  # what Moodle writes before the number
NO_STUDENTS = {"points possible", "student, test"}  # rows of Canvas


@dataclass(frozen=True)
class Row:
    """A student of the class, and all that the list says of the student."""

    owner: Owner
    fields: Mapping[str, str]

    @property
    def signs(self) -> set[str]:
        """Give all by which a hand-in may name the student."""
        extra = [self.fields.get(name, "") for name in (*CANVAS_EXTRA, *NAMES)]
        known = [self.owner.name, self.owner.number, self.owner.email, *extra]
        return {plain(sign) for sign in known if sign}


class RosterError(ValueError):
    """A list cannot be used; the message says why."""


class Roster:
    """The students of a class, in the order of the list."""

    def __init__(self, rows: Sequence[Row] = (), titles: Sequence[str] = ()) -> None:
        self.rows, self.titles = rows, titles  # titles as the file writes them
        self._known: dict[str, Row | None] = {}
        for row in rows:
            for sign in row.signs:  # one that two students share is of no use
                self._known[sign] = None if sign in self._known else row

        self._unsure: set[str] = set()  # names that are no help in finding a student
        self._by_number = False

    def learn(self, owners: Sequence[Owner]) -> None:
        """Learn from all who handed something in how far numbers and names can be trusted."""
        count = Counter(plain(name) for _, name in {(o.key, o.name) for o in owners})
        self._unsure = {name for name, times in count.items() if times > 1}
        known = {row.owner.number for row in self.rows}
        self._by_number = any(owner.number in known for owner in owners if owner.number)

    def find(self, owner: Owner) -> Row | None:
        """Find the student that a hand-in names."""
        signs = [owner.number, owner.email]
        is_unsure = plain(owner.name) in self._unsure
        if owner.number:
            is_unsure |= self._by_number  # platform and list number alike
        if not is_unsure:
            signs.append(owner.name)
        found = (self._known.get(plain(sign)) for sign in signs if sign)
        row = next(filter(None, found), None)
        if row is None and not owner.number:
            row = next((row for row in self.rows if row.owner.name == owner.name), None)
        return row

    def owner(self, owner: Owner) -> Owner:
        """Give the student as the list has it, if it has one."""
        row = self.find(owner)
        return row.owner if row else owner


def read_roster(path: Path) -> Roster:
    """Read a list: a CSV file with a column `student`, or plain lines with a name each."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise RosterError(f"{path} cannot be read: {error}") from None
    lines = list(csv.reader(io.StringIO(text, newline=""), _dialect(text)))
    lines = [line for line in lines if any(map(str.strip, line))]
    titles = [title.strip() for title in lines[0]] if lines else []
    lowered = [title.lower() for title in titles]
    if not _first(NAMES, lowered):
        if not lines or max(map(len, lines)) > 1:
            said = f"{path} has no column named student; the first line names the columns"
            raise RosterError(said)
        titles, lowered, lines = ["student"], ["student"], [["student"], *lines]
    rows = [_row(dict(zip(lowered, map(str.strip, line), strict=False))) for line in lines[1:]]
    return Roster([row for row in rows if row is not None], titles)


def _dialect(text: str) -> type[csv.Dialect]:
    """Tell by the first line what stands between columns."""

    class Found(csv.excel):
        delimiter = max(",;\t", key=text.partition("\n")[0].count)

    return Found


def _row(fields: Mapping[str, str]) -> Row | None:
    """Read one student; None where a line is of none."""
    name = fields.get(_first(NAMES, fields), "")
    number = fields.get(_first(NUMBERS, fields), "").removeprefix(MOODLE_NUMBER)
    if not name or name.lower() in NO_STUDENTS:
        return None
    return Row(Owner(name, number, fields.get(_first(MAILS, fields), "")), fields)


def _first(names: Iterable[str], present: Iterable[str]) -> str:
    """Give the first name that is there."""
    there = set(present)
    return next((name for name in names if name in there), "")
