"""The pages of a batch: one for each student, and one for the class."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import jinja2

from nbmark.grade.alike import Pair
from nbmark.grade.book import Book, Earned, Row, is_to_be_read
from nbmark.grade.journal import Journal, Override
from nbmark.grade.owners import Owner
from nbmark.mark_one import CellMark

SHOWN = 1500  # letters of what a check says
TERMINAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.?)", re.DOTALL)
PATH = re.compile(r"(?<![\w./\\])(?:[A-Za-z]:|~)?(?:[/\\][\w.@+%~-]+)+[/\\]([\w.@+%~-]+)")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def clean(text: str) -> str:
    """Make a text fit for a page: no terminal codes, no control characters, no folders."""
    text = TERMINAL.sub("", text)
    text = "".join(c if c.isprintable() or c == "\n" else " " for c in text)
    text = PATH.sub(r"\1", text)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]} ..."


def feedback(row: Row, journal: Journal) -> str:
    """Give the page of a student."""
    figures = {e.exercise: journal.figures(row.owner.key, e.exercise) for e in row.earned}
    return _template("feedback.html").render(row=row, figures=figures)


@dataclass
class _Check:
    """How a check went in the class."""

    name: str
    points: float
    passed: int = 0
    failed: int = 0
    causes: Counter[str] = field(default_factory=Counter)
    said: dict[str, str] = field(default_factory=dict)  # an example of each cause

    def take(self, mark: CellMark) -> None:
        """Count one student's mark."""
        if is_to_be_read(mark):
            return
        if mark.earned == mark.points:
            self.passed += 1
            return
        self.failed += 1
        cause = mark.cause if mark.cause.isidentifier() else ""
        cause = cause or NUMBER.sub("#", clean(mark.reason))
        self.causes[cause] += 1
        self.said.setdefault(cause, mark.reason)

    @property
    def tried(self) -> int:
        """Count those who were judged."""
        return self.passed + self.failed

    @property
    def common(self) -> list[tuple[int, str, str]]:
        """Give the causes, the most frequent first: how often, its name, an example."""
        in_order = sorted(self.causes.items(), key=lambda item: (-item[1], item[0]))
        return [(count, cause, self.said[cause]) for cause, count in in_order]


def of_class(
    book: Book, words: Sequence[str], missing: Sequence[Owner], alike: Sequence[Pair],
    journal: Journal,
) -> str:  # fmt: skip
    """Give the page of the class: which checks failed how often for which cause, and the rest."""
    checks: dict[str, list[_Check]] = {}
    for original in book.originals:
        by_name = {cell.name: _Check(cell.name, cell.points) for cell in original.cells}
        for earned in _all(book, original.stem):
            for mark in earned.marks:
                by_name[mark.name].take(mark)
        checks[original.stem] = [one for one in by_name.values() if one.tried]
    known = journal.state.marks.values()
    return _template("class.html").render(
        book=book,
        checks=checks,
        words=words,
        missing=missing,
        pairs=alike,
        changes=_changes(journal),
        overrides=_by_student(journal.state.overridden),
        names={row.owner.key: row.owner.name for row in book.rows},
        warnings=sorted({said for one in known for said in one.result.warnings}),
        sandboxes=sorted({one.result.sandbox for one in known if one.result.marks}),
        seed=journal.state.seed,
    )


def _all(book: Book, stem: str) -> Iterable[Earned]:
    """Give what students earned with one exercise, as far as it could be marked."""
    all_of_them = (one for row in book.rows for one in row.earned if one.exercise == stem)
    return (one for one in all_of_them if not one.fault)


@dataclass(frozen=True)
class Change:
    """A mark that is other than it was."""

    student: str
    cell: str
    before: float
    after: float
    why: str
    at: str


def _changes(journal: Journal) -> list[Change]:
    """List the cells whose points changed when something was marked anew."""
    found = []
    for old, new in journal.state.changes:
        before = {mark.name: mark.earned for mark in old.result.marks}
        for mark in new.result.marks:
            if before.get(mark.name, 0) != mark.earned:
                was = before.get(mark.name, 0)
                found.append(Change(new.student, mark.name, was, mark.earned, new.why, new.at))
    return found


def _by_student(overridden: Iterable[Override]) -> Mapping[str, list[Override]]:
    found: dict[str, list[Override]] = defaultdict(list)
    for one in overridden:
        found[one.student].append(one)
    return dict(found)


@cache
def _template(name: str) -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("nbmark.grade"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"clean": clean, "points": lambda points: f"{points:g}"}
    environment.tests["read_by_a_person"] = is_to_be_read
    return environment.get_template(name)
