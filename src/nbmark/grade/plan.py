"""What is to be marked: which exercise each hand-in answers, and which of several counts."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from nbmark.grade.owners import Handed, Owner, owned, owner_in, version
from nbmark.grade.roster import Roster
from nbmark.grade.stage import Staged
from nbmark.notebook import grade_id, is_code, is_solution
from nbmark.submission import Original, Submission, read_submission

LONGEST = 50_000  # letters of an answer that is compared with others


@dataclass(frozen=True)
class Task:
    """A student's answer to an exercise, as it is to be marked."""

    owner: Owner
    exercise: str  # the stem of the original; empty where it is not known
    copy: Path
    name: str  # of the file as it was handed in
    digest: str  # of its bytes
    fault: str = ""  # why it cannot be marked
    flags: tuple[str, ...] = ()
    answers: tuple[tuple[str, str], ...] = ()  # grade_id and source of solution cells of code


@dataclass
class Plan:
    """All tasks, and words on everything that is none."""

    tasks: list[Task] = field(default_factory=list)
    words: list[str] = field(default_factory=list)  # on entries that are left aside
    missing: list[Owner] = field(default_factory=list)  # of the roster, without any hand-in


@dataclass(frozen=True)
class _Candidate:
    """One of a student's files for one exercise."""

    handed: Handed
    task: Task

    @property
    def rank(self) -> tuple[bool, int, datetime | float, str]:
        """Give the order in which files count, the last first: readable ones, later ones."""
        file = self.handed.file
        at = self.handed.at.timestamp() if self.handed.at else file.written
        return (not self.task.fault, version(self.handed.title), at, file.name)


def plan(
    files: Sequence[Staged],
    originals: Sequence[Original],
    roster: Roster,
    due: datetime | None = None,
) -> Plan:
    """Say what is to be marked of the files that were found."""
    made = Plan([], [f"{file.name}: {file.word}" for file in files if file.word])
    hand_ins, words = owned([file for file in files if file.copy is not None])
    made.words += words
    roster.learn([handed.owner for handed in hand_ins])
    candidates: dict[tuple[str, str], list[_Candidate]] = {}
    for handed in hand_ins:
        task = _task(handed, originals, roster, due)
        candidates.setdefault((task.owner.key, task.exercise), []).append(_Candidate(handed, task))
    for (_, exercise), found in sorted(candidates.items()):
        chosen = found if not exercise else [_chosen(found)]
        made.tasks += [one if isinstance(one, Task) else one.task for one in chosen]
    there = {task.owner.key for task in made.tasks}
    made.missing = [row.owner for row in roster.rows if row.owner.key not in there]
    if roster.rows:
        made.tasks = [_named(task, roster) for task in made.tasks]
    return made


def _task(
    handed: Handed, originals: Sequence[Original], roster: Roster, due: datetime | None
) -> Task:
    """Read a hand-in and find the exercise that it answers."""
    copy = handed.file.copy
    digest = hashlib.sha256(copy.read_bytes()).hexdigest()
    submission = _read(copy, handed.title, originals)
    exercise = submission.original.stem if submission.original else ""
    owner = handed.owner
    if not handed.is_owner_sure:
        owner = Owner(owner_in(handed.title, exercise) if exercise else owner.name)
    flags = ("late",) if handed.is_late or _is_late(handed.at, due) else ()
    fault = submission.ledger.fault
    answers = tuple(_answers(submission))
    made = roster.owner(owner)
    return Task(made, exercise, copy, handed.file.name, digest, fault, flags, answers)


def _read(copy: Path, title: str, originals: Sequence[Original]) -> Submission:
    """Read a copy; whatever is wrong with it is its own fault."""
    try:
        return read_submission(copy, title, originals)
    except Exception as error:  # a notebook that no reader expected must not end the batch
        made = Submission(title)
        made.ledger.fault = f"the notebook cannot be read: {type(error).__name__}"
        return made


def _answers(submission: Submission) -> Iterator[tuple[str, str]]:
    """Give the sources that a student wrote into cells of code."""
    for cell in submission.rebuilt.notebook.cells if submission.rebuilt else ():
        if is_solution(cell) and is_code(cell) and len(cell.source) <= LONGEST:
            yield grade_id(cell) or cell.id, cell.source


def _is_late(at: datetime | None, due: datetime | None) -> bool:
    return at is not None and due is not None and at > due


def _chosen(found: Sequence[_Candidate]) -> Task:
    """Take the last of several files, and say which was taken and which were not."""
    *others, last = sorted(found, key=lambda one: one.rank)
    if not others:
        return last.task
    if all(one.task.digest == last.task.digest for one in others):
        said = f"handed in {len(found)} times, all the same"
    else:
        names = ", ".join(one.handed.file.name for one in others)
        said = f"{len(found)} files: {last.handed.file.name} counts, not {names}"
    return replace(last.task, flags=(*last.task.flags, said))


def _named(task: Task, roster: Roster) -> Task:
    """Say of a student who is not on the list that this is so."""
    if roster.find(task.owner) is not None:
        return task
    return replace(task, flags=(*task.flags, "not on the roster"))
