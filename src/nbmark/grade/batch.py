"""A batch from the folder of submissions to the folder of grades."""

import os
import secrets
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from filelock import FileLock, Timeout
from tqdm import tqdm

from nbmark.answers import SEED
from nbmark.doctor import NONE, reaches
from nbmark.grade import book, reports
from nbmark.grade.checks import digest_of_checks, digest_of_original
from nbmark.grade.journal import Journal, JournalError
from nbmark.grade.owners import Owner, plain
from nbmark.grade.plan import Plan, Task, plan
from nbmark.grade.roster import Roster, RosterError, read_roster
from nbmark.grade.stage import Stage
from nbmark.limits import CELL_SECONDS, NOTEBOOK_SECONDS
from nbmark.mark_one import NO_SANDBOX, Job, Result
from nbmark.notebook import Unreadable, number
from nbmark.submission import Original, folder_of_originals, read_originals

Ticket = tuple[Task, dict[str, str]]
Executor = Callable[[Iterable[tuple[Ticket, Job]]], Iterator[tuple[Ticket, Result]]]


class Refusal(ValueError):  # noqa: N818 - said to a person
    """A batch cannot be marked as it was asked for; the message says why and what to do."""


@dataclass(frozen=True)
class Request:
    """What was asked for."""

    folder: Path
    out: Path
    originals: Path | None = None
    roster: Path | None = None
    due: datetime | None = None
    seed: int | None = None
    cell_seconds: float = CELL_SECONDS
    notebook_seconds: float = NOTEBOOK_SECONDS
    sandbox: str = NONE  # the least level of `nbmark.doctor` to mark under
    regrade: tuple[str, ...] = ()
    override: tuple[tuple[str, str, str, str], ...] = ()


def run(request: Request, executor: Executor, say: Callable[[str], object] = print) -> None:
    """Mark a folder and write the grades; what was marked before is not marked again."""
    out = _prepared(request)
    try:
        originals = read_originals(request.originals or folder_of_originals([Path.cwd()]))
        roster = read_roster(request.roster) if request.roster else Roster()
        with _alone(out), tempfile.TemporaryDirectory() as folder:
            journal = Journal(out)
            try:
                _Batch(request, originals, roster, journal, say).go(Path(folder), executor)
            finally:
                journal.close()
    except (Unreadable, RosterError, JournalError) as error:
        raise Refusal(str(error)) from None


def _prepared(request: Request) -> Path:
    """Make the folder of grades, in a place where it disturbs nothing."""
    source, out = request.folder.resolve(), request.out.resolve()
    if not source.exists():
        raise Refusal(f"there is no {request.folder}; name the folder, or zip file, of submissions")
    if out.is_relative_to(source):
        raise Refusal(f"{request.out} lies in the folder of submissions; name another for --out")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refusal(f"{request.out} cannot be made: {error.strerror}; name another") from None
    if not os.access(out, os.W_OK):
        raise Refusal(f"{request.out} cannot be written; name another folder for --out")
    return out


@contextmanager
def _alone(out: Path) -> Iterator[None]:
    """Refuse to mark into a folder into which another call is marking."""
    lock = FileLock(out / ".lock", timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise Refusal(f"another call is marking into {out}; wait for it") from None
    except OSError as error:
        raise Refusal(f"{lock.lock_file} cannot be opened: {error.strerror}; remove it") from None
    try:
        yield
    finally:
        lock.release()


class _Batch:
    """One call."""

    def __init__(
        self,
        request: Request,
        originals: Sequence[Original],
        roster: Roster,
        journal: Journal,
        say: Callable[[str], object],
    ) -> None:
        self.request, self.originals, self.roster = request, originals, roster
        self.journal, self.say = journal, say
        self.by_stem = {original.stem: original for original in originals}
        self._parts: dict[str, dict[str, str]] = {}  # of keys, by exercise

    def go(self, folder: Path, executor: Executor) -> None:
        """Mark what is to be marked, and write the reports."""
        files = Stage(folder).fill(self.request.folder)
        made = plan(files, self.originals, self.roster, self.request.due)
        if not made.tasks and not made.missing:
            said = "; ".join(made.words[:3])
            raise Refusal(f"{self.request.folder} holds no notebooks{said and f' ({said})'}")
        self._note_decisions(made)
        seed = self._seed()
        tasks = [task for task in made.tasks if task.exercise]
        tickets = [(task, self._key(task, seed)) for task in tasks]
        todo = [(task, key) for task, key in tickets if not self._holds(task, key)]
        self._mark(todo, seed, executor, len(tickets))
        done = book.make(made, self.journal, self.roster, self.originals)
        reports.write(self.request.out, done, made, self.journal, self.roster)
        self._sum_up(done, made, len(todo))

    def _holds(self, task: Task, key: dict[str, str]) -> bool:
        """Tell whether a result is known that was marked as it is wanted."""
        place = task.owner.key, task.exercise
        if not self.journal.holds(*place, key):
            return False
        known = self.journal.state.marks[place].result
        return bool(task.fault) or reaches(known.sandbox, self.request.sandbox)

    def _mark(self, todo: Sequence[Ticket], seed: int, executor: Executor, total: int) -> None:
        """Mark, and note each result as soon as it is there."""
        before = total - len(todo)
        with tqdm(total=total, initial=before, unit=" notebooks", disable=None) as bar:
            jobs = []
            for task, key in todo:
                if task.fault:
                    self._note(task, key, Result(fault=task.fault))
                    bar.update()
                else:
                    jobs.append(((task, key), self._job(task, seed)))
            for (task, key), result in executor(jobs):
                if result.fault.startswith(NO_SANDBOX):
                    raise Refusal(result.fault)
                self._note(task, key, result)
                bar.update()

    def _note(self, task: Task, key: dict[str, str], result: Result) -> None:
        self.journal.marked(task.owner.key, task.exercise, key, result)

    def _job(self, task: Task, seed: int) -> Job:
        original = self.by_stem[task.exercise]
        path = original.folder / f"{original.stem}.ipynb"
        how = self.request.cell_seconds, self.request.notebook_seconds, self.request.sandbox
        return Job(str(task.copy), task.name, task.exercise, str(path), seed, *how)

    def _seed(self) -> int:
        """Take the seed that was asked for, else that of the first call, else a new one."""
        given = os.environ.get(SEED)
        if given is not None and not given.isdecimal():
            raise Refusal(f"{SEED}={given!r} is no seed; give a whole number")
        seed, known = self.request.seed, self.journal.state.seed
        seed = int(given) if seed is None and given is not None else seed
        if seed is None:
            seed = secrets.randbelow(2**31) if known is None else known
        if seed != known:
            self.journal.begin(seed)
        return seed

    def _key(self, task: Task, seed: int) -> dict[str, str]:
        """Give all that a mark depends on."""
        if task.exercise not in self._parts:
            original, request = self.by_stem[task.exercise], self.request
            self._parts[task.exercise] = {
                "original": digest_of_original(original),
                "checks": digest_of_checks(original),
                "seed": str(seed),
                "limits": f"{request.cell_seconds:g} {request.notebook_seconds:g}",
            }
        return {"submission": task.digest, **self._parts[task.exercise]}

    def _note_decisions(self, made: Plan) -> None:
        """Note what is to be marked once more, and the points that a person gave."""
        owners = {task.owner.key: task.owner for task in made.tasks}
        owners |= {owner.key: owner for owner in made.missing}
        for wanted in self.request.regrade:
            self._regrade(wanted, made, owners)
        for student, cell, points, reason in self.request.override:
            owner = _student(student, owners)
            worth = self._worth(cell)
            given = None if points == "-" else _points(points, worth, cell)
            known = self.journal.state.overrides.get((owner.key, cell))
            if (known and (known.points, known.reason)) != (given, reason):
                self.journal.override(owner.key, cell, given, reason)

    def _regrade(self, wanted: str, made: Plan, owners: dict[str, Owner]) -> None:
        """Note that a student's results, or all of an exercise, are to be marked once more."""
        exercise = wanted.replace(".", "_")
        stems = {s for s in self.by_stem if exercise in (s, number(s))}
        keys = set() if stems else {_student(wanted, owners).key}
        for task in made.tasks:
            if task.exercise in stems or task.owner.key in keys:
                self.journal.regrade(task.owner.key, task.exercise)

    def _worth(self, cell: str) -> float:
        worth = {c.name: c.points for original in self.originals for c in original.cells}
        if cell not in worth:
            raise Refusal(f"there is no graded cell {cell!r}; choose from: {', '.join(worth)}")
        return worth[cell]

    def _sum_up(self, done: book.Book, made: Plan, count: int) -> None:
        """Say what became of the batch."""
        self.say(reports.in_terminal(done))
        for word in made.words:
            self.say(f"left aside: {reports.printable(word)}")
        for warning in sorted(
            {w for m in self.journal.state.marks.values() for w in m.result.warnings}
        ):
            self.say(f"warning: {reports.printable(warning)}")
        people, total = len(done.rows), sum(bool(task.exercise) for task in made.tasks)
        self.say(f"{people} students, {total} submissions, {count} marked now.")
        self.say(f"The cases were drawn with {SEED}={self.journal.state.seed}.")
        self.say(f"Grades: {self.request.out}{os.sep}gradebook.csv, class.html, feedback{os.sep}")


def _student(name: str, owners: dict[str, Owner]) -> Owner:
    """Find the student whom a person names."""
    wanted = plain(name)
    found = [o for o in owners.values() if wanted in (plain(o.name), plain(o.number), o.email)]
    if len(found) != 1:
        said = "more than one student is" if found else "no student or exercise is"
        raise Refusal(f"{said} called {name!r}; use a name or number of gradebook.csv")
    return found[0]


def _points(text: str, worth: float, cell: str) -> float:
    try:
        points = float(text)
    except ValueError:
        points = -1
    if not 0 <= points <= worth:
        raise Refusal(f"{cell} is worth {worth:g} points, {text!r} cannot be given")
    return points
