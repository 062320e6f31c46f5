"""The gradebook: a row for each student, from the plan of a batch and its journal."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from nbmark.grade.journal import Journal, Override
from nbmark.grade.owners import Owner
from nbmark.grade.plan import Plan, Task
from nbmark.grade.roster import Roster
from nbmark.mark_one import CellMark, Result
from nbmark.marks import GradedCell
from nbmark.submission import Original


@dataclass(frozen=True)
class Earned:
    """What a student earned with one exercise."""

    exercise: str
    file: str  # as it was handed in
    marks: tuple[CellMark, ...]  # with overrides
    fault: str = ""
    flags: tuple[str, ...] = ()
    overridden: tuple[str, ...] = ()  # cells whose points a person gave

    @property
    def total(self) -> float:
        """Add up the points."""
        return sum(mark.earned for mark in self.marks)

    @property
    def possible(self) -> float:
        """Add up what there was to earn."""
        return sum(mark.points for mark in self.marks)

    @property
    def to_be_read(self) -> float:
        """Add up what a person has still to give."""
        return sum(mark.points for mark in self.marks if is_to_be_read(mark))


@dataclass(frozen=True)
class Row:
    """A student, and everything the student earned."""

    owner: Owner
    earned: tuple[Earned, ...] = ()
    flags: tuple[str, ...] = ()
    strays: tuple[str, ...] = ()  # files that answer no exercise, and why they do not
    slug: str = ""  # the name of the student's files

    @property
    def total(self) -> float:
        """Add up all points."""
        return sum(one.total for one in self.earned)

    @property
    def marks(self) -> dict[tuple[str, str], CellMark]:
        """Give the marks of all exercises by exercise and grade_id."""
        return {(one.exercise, mark.name): mark for one in self.earned for mark in one.marks}


@dataclass
class Book:
    """All rows, and what there is to earn."""

    originals: tuple[Original, ...]  # those that anybody answered
    rows: list[Row] = field(default_factory=list)

    @property
    def cells(self) -> list[GradedCell]:
        """Give the graded cells of these exercises, in order."""
        return [cell for original in self.originals for cell in original.cells]

    @property
    def columns(self) -> dict[tuple[str, str], str]:
        """Name each of these cells, by its exercise and grade_id: two may have the same one."""
        times = Counter(cell.name for cell in self.cells)
        places = [(one.stem, cell.name) for one in self.originals for cell in one.cells]
        return {place: ":".join(place) if times[place[1]] > 1 else place[1] for place in places}


def is_to_be_read(mark: CellMark) -> bool:
    """Tell whether a person has still to give the points of a cell."""
    return mark.is_manual and not mark.reason  # a reason says that the text is not there


def make(plan: Plan, journal: Journal, roster: Roster, originals: Sequence[Original]) -> Book:
    """Make the book of a batch."""
    tasks: dict[str, list[Task]] = {}
    owners: dict[str, Owner] = {row.owner.key: row.owner for row in roster.rows}
    for task in plan.tasks:
        tasks.setdefault(task.owner.key, []).append(task)
        owners.setdefault(task.owner.key, task.owner)
    answered = {task.exercise for task in plan.tasks}
    present = tuple(original for original in originals if original.stem in answered)
    slugs = _slugs(owners.values())
    in_order = [row.owner.key for row in roster.rows]
    in_order += sorted(owners.keys() - set(in_order), key=lambda key: (owners[key].name, key))
    book = Book(present)
    for key in in_order:
        row = _row(owners[key], tasks.get(key, []), journal, present)
        book.rows.append(replace(row, slug=slugs[key]))
    return book


def _row(owner: Owner, tasks: Iterable[Task], journal: Journal, present: Sequence[Original]) -> Row:
    """Put a student's row together."""
    overrides = {c: o for (s, c), o in journal.state.overrides.items() if s == owner.key}
    by_exercise = {task.exercise: task for task in tasks if task.exercise}
    earned: list[Earned] = []
    stray = [task for task in tasks if not task.exercise]
    strays = [f"{Path(task.name).name}: {task.fault}" for task in stray]
    flags = [f"{task.name}: {task.fault}" for task in stray]
    for original in present:
        task = by_exercise.get(original.stem)
        if task is None:
            flags.append(f"missing: {original.stem}")
            if not overrides.keys() & {cell.name for cell in original.cells}:
                continue
        one = _earned(task, original, owner, journal, overrides)
        earned.append(one)
        flags += [f"{original.stem}: {said}" for said in one.flags]
    return Row(owner, tuple(earned), tuple(flags), tuple(strays))


def _earned(
    task: Task | None,
    original: Original,
    owner: Owner,
    journal: Journal,
    overrides: dict[str, Override],
) -> Earned:
    """Give what became of one task, with what a person decided."""
    known = journal.state.marks.get((owner.key, original.stem)) if task else None
    result = known.result if known else Result(fault=task.fault if task else "not handed in")
    by_name = {mark.name: mark for mark in result.marks}
    blank = [CellMark(c.name, c.points, 0, result.fault, "", False) for c in original.cells]
    marks = [by_name.get(mark.name, mark) for mark in blank]
    given = tuple(_overridden(mark, overrides.get(mark.name)) for mark in marks)
    said = tuple(mark.name for mark in marks if mark.name in overrides)
    flags = [*(task.flags if task else ()), *filter(None, [result.fault]), *result.flags]
    flags += [f"{n}: points given by a person, {overrides[n].reason}" for n in said]
    to_read = sum(mark.points for mark in given if is_to_be_read(mark))
    flags += [f"{to_read:g} points to be read"] if to_read else []
    name = task.name if task else ""
    return Earned(original.stem, name, given, result.fault, tuple(flags), said)


def _overridden(mark: CellMark, override: Override | None) -> CellMark:
    """Give a mark with the points that a person gave."""
    if override is None:
        return mark
    return replace(mark, earned=override.points, reason=override.reason, is_manual=False)


def _slugs(owners: Iterable[Owner]) -> dict[str, str]:
    """Name the files of each student: by the name, numbered where names are alike."""
    alike: dict[str, list[tuple[str, str]]] = {}
    for owner in owners:
        letters = (c if c.isalnum() or c in "-_" else "_" for c in owner.name)
        slug = "".join(letters).strip("_-")[:60] or "student"
        alike.setdefault(slug.casefold(), []).append((owner.key, slug))
    found: dict[str, str] = {}
    for same in alike.values():
        for place, (key, slug) in enumerate(sorted(same), 1):
            found[key] = slug if len(same) == 1 else f"{slug}-{place}"
    return found
