"""Marks one submission: a Job goes in, a Result comes out, and both are plain data.

This is all that a batch knows of running code: it may call `mark` in another process or on another
machine, and send Job and Result there as JSON. The verdict itself is that of `nbmark.marks`.
"""

import base64
import contextlib
import dataclasses
import json
import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from jupyter_client.kernelspec import NoSuchKernel
from nbclient.exceptions import DeadKernelError
from nbformat import NotebookNode

from nbmark.answers import SEED
from nbmark.doctor import FULL, NONE, examine, reaches
from nbmark.kernels import ISOLATED, WARM
from nbmark.key import Key
from nbmark.limits import CELL_SECONDS, NOTEBOOK_SECONDS, Clock
from nbmark.marks import DIED, TOO_LONG, Evidence, Mark
from nbmark.notebook import grade_id, is_graded, read
from nbmark.plan import Plan, plan_of, served
from nbmark.running import run_all
from nbmark.submission import Original, Submission, read_submission
from nbmark.trial import Trial, Verdict, seed_inside, trial
from nbmark.warmth import NoFork

MOST_SAID = 2000  # letters of a reason
MOST_FIGURES, MOST_BYTES = 12, 400_000  # of one submission; of one figure
NO_SANDBOX = "this machine has no sandbox as wanted"  # what a fault begins with
PNG = b"\x89PNG\r\n\x1a\n"
TROUBLES = {DIED: (DIED, "died"), TOO_LONG: (TOO_LONG, "too_long")}


@dataclass(frozen=True)
class Job:
    """A submission to be marked."""

    submission: str  # where the copy lies that is read; its name is that of the exercise
    name: str  # what messages call it
    exercise: str  # the stem of the original, such as 1_3_numpy
    original: str  # where the original lies
    seed: int
    cell_seconds: float = CELL_SECONDS
    notebook_seconds: float = NOTEBOOK_SECONDS
    sandbox: str = NONE  # the level of `nbmark.doctor` that is wanted

    def to_json(self) -> str:
        """Write it as one line."""
        return json.dumps(dataclasses.asdict(self))

    @classmethod
    def from_json(cls, line: str | bytes) -> "Job":
        """Read what `to_json` wrote."""
        return cls(**json.loads(line))


@dataclass(frozen=True)
class CellMark:
    """What one graded cell earned, and why not more."""

    name: str  # its grade_id
    points: float
    earned: float = 0
    reason: str = ""  # in full, as the check says it
    cause: str = ""  # a short name of what went wrong, the same for all who made that mistake
    is_given: bool = True  # false where nobody judged it
    is_manual: bool = False  # a person gives its points


@dataclass(frozen=True)
class Result:
    """What became of one submission."""

    marks: tuple[CellMark, ...] = ()
    fault: str = ""  # why it could not be marked at all
    flags: tuple[str, ...] = ()  # what was restored, and remarks on cells that are not graded
    figures: tuple[tuple[str, str], ...] = ()  # a cell's name, and a PNG file in base 64
    seconds: float = 0
    sandbox: str = NONE  # the level that it ran under
    warnings: tuple[str, ...] = field(default=())  # for the instructor: a solution that fails

    def to_json(self) -> str:
        """Write it as one line."""
        return json.dumps(dataclasses.asdict(self))

    @classmethod
    def from_json(cls, line: str | bytes) -> "Result":
        """Read what `to_json` wrote."""
        return cls.of(json.loads(line))

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> "Result":
        """Make it of the mapping that its JSON holds."""
        marks = tuple(CellMark(**mark) for mark in plain["marks"])
        figures = tuple((name, png) for name, png in plain["figures"])
        lines = {name: tuple(plain[name]) for name in ("flags", "warnings")}
        return cls(**{**plain, **lines, "marks": marks, "figures": figures})


def mark(job: Job) -> Result:
    """Mark one submission; whatever it holds or does, a Result says what became of it."""
    began = time.monotonic()
    original, key = _known(job.original, job.exercise, job.seed)
    submission = read_submission(Path(job.submission), job.name, [original])
    run = _Run(submission)
    health = examine()
    plan = plan_of(original.notebook) if health.level != NONE else Plan()
    if not reaches(health.level, job.sandbox):
        submission.ledger.fault = f"{NO_SANDBOX}: {health.why}"
    elif submission.rebuilt is not None:
        with tempfile.TemporaryDirectory() as folder, _environment(seed_inside(job.seed), folder):
            if len(plan.checks) < len([cell for cell in original.cells if not cell.manual]):
                key.of(original, "")  # runs the solution, the first time
            run.go(Path(folder), job, plan, health.level, key)
    restored = submission.rebuilt.restored if submission.rebuilt else ()
    return Result(
        marks=tuple(run.cell_mark(one) for one in submission.score.marks),
        fault=submission.ledger.fault,
        flags=(*submission.remarks, *(f"restored: {said}" for said in restored)),
        figures=tuple(run.figures),
        seconds=round(time.monotonic() - began, 3),
        sandbox=health.level,
        warnings=tuple(sorted(key.unsolved)),
    )


class _Run:
    """A submission while it runs."""

    def __init__(self, submission: Submission) -> None:
        self.submission = submission
        self.figures: list[tuple[str, str]] = []
        self.evidence: dict[str, Evidence] = {}
        self.verdicts: dict[str, Verdict] = {}

    def go(self, folder: Path, job: Job, plan: Plan, level: str, key: Key) -> None:
        """Run it and judge its graded cells, outside of its process where that can be done."""
        original, rebuilt = self.submission.original, self.submission.rebuilt.notebook
        clock = Clock(job.cell_seconds, job.notebook_seconds)
        try:
            if level == NONE:
                run_all(rebuilt, folder, partial(self._note, None, key), clock)
                return
            kernel = ISOLATED if level == FULL else WARM
            with trial(original.notebook, plan, job.seed, job.cell_seconds) as judged:
                run, note = served(rebuilt, plan, job.seed), partial(self._note, judged, key)
                run_all(run, folder, note, clock, kernel, judged.expect)
        except (DeadKernelError, NoSuchKernel, NoFork) as error:
            self.submission.remarks.append(f"the kernel could not be used: {error}")
        except Exception as error:  # what is left to run earns nothing, and the batch goes on
            self.submission.remarks.append(f"it was not run to its end: {type(error).__name__}")

    def _note(self, judged: Trial | None, key: Key, cell: NotebookNode, evidence: Evidence) -> None:
        """Note how the run of a cell ended."""
        name, outcomes = grade_id(cell) or cell.id, self.submission.ledger.outcomes
        self._keep_figures(name, evidence)
        if judged and name in judged.plan.checks:
            verdict = self.verdicts[name] = judged.verdict(name)
            outcomes[name] = evidence.trouble or verdict.reason
        elif is_graded(cell):
            self.evidence[name] = evidence
            outcomes[name] = evidence.why_not(key.of(self.submission.original, name))
        elif evidence.trouble:
            self.submission.remarks.append(f"{name}: {evidence.trouble}")

    def cell_mark(self, one: Mark) -> CellMark:
        """Give the mark of a cell with all that its check said."""
        cell, said, cause = one.cell, one.reason, ""
        evidence, verdict = self.evidence.get(cell.name), self.verdicts.get(cell.name)
        if verdict is not None and said == verdict.reason:
            cause = verdict.cause
        if evidence is not None and said:
            errors = [o for o in evidence.outputs if o.get("output_type") == "error"]
            said, cause = _said(errors[0]) if errors else (said, "differs")
            said, cause = TROUBLES.get(evidence.trouble, (said, cause))
        said, cause = said[:MOST_SAID], cause[:MOST_SAID]
        return CellMark(cell.name, cell.points, one.earned, said, cause, one.is_given, cell.manual)

    def _keep_figures(self, name: str, evidence: Evidence) -> None:
        """Keep what a cell drew, as far as it is a figure of sane size."""
        for output in evidence.outputs:
            png = output.get("data", {}).get("image/png")
            if len(self.figures) < MOST_FIGURES and isinstance(png, str) and _is_figure(png):
                self.figures.append((name, png.strip()))


def _said(error: Mapping[str, Any]) -> tuple[str, str]:
    """Give what a failed cell said, without the example behind it, and a name of the cause."""
    kind, value = str(error.get("ename", "")), str(error.get("evalue", ""))
    if kind == "NotAttempted":
        return value.partition("\n\n")[0], "not_attempted"
    if kind == "CheckFailed":
        return value.partition("\n\n")[0], ""
    first = value.partition("\n\n")[0]
    return first if kind == "AssertionError" and first else f"{kind}: {first}".rstrip(": "), kind


def _is_figure(png: str) -> bool:
    """Tell whether a text is a PNG file in base 64 and not too large."""
    if len(png) > MOST_BYTES * 4 / 3:
        return False
    try:
        return base64.b64decode("".join(png.split()), validate=True).startswith(PNG)
    except ValueError:
        return False


@lru_cache(maxsize=32)
def _original(path: str, exercise: str, written: int) -> Original:
    """Read an original that was `written` at a time."""
    return Original(exercise, read(Path(path)), Path(path).absolute().parent)


@lru_cache(maxsize=32)
def _key(path: str, exercise: str, written: int, seed: int) -> Key:
    """Give the place for one exercise's answers under one seed."""
    return Key()


def _known(path: str, exercise: str, seed: int) -> tuple[Original, Key]:
    """Give an original and its answers, which this process finds out once."""
    written = os.stat(path).st_mtime_ns
    return _original(path, exercise, written), _key(path, exercise, written, seed)


@contextlib.contextmanager
def _environment(seed: int, folder: str) -> Iterator[None]:
    """Set the variables that a kernel gets, for a while."""
    values = {SEED: str(seed), "PYTHONSAFEPATH": "1"}
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
