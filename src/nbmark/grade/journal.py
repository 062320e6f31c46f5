"""What a batch has done so far: a line for each thing, in a file that only grows.

A line is on the disk before the batch goes on, and a line that was torn when the batch was killed
is left out when it is read again. Figures, which are large, stand in a file for each result.

A mark holds as long as its key does: the digests of the submission, of the original and of the
checks, the seed and the limits. A mark under another key stays in the journal, and `changes` says
what was marked anew and why.
"""

import hashlib
import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nbmark.files import put
from nbmark.mark_one import Result

NAME, RESULTS = "journal.jsonl", "results"
WHY = {
    "submission": "the submission changed",
    "original": "the exercise changed",
    "checks": "the checks changed",
    "seed": "another seed",
    "limits": "other limits",
}


class JournalError(RuntimeError):
    """The journal cannot be used; the message says why."""


@dataclass(frozen=True)
class Marked:
    """A mark that the journal holds."""

    student: str  # the key of its owner
    exercise: str
    key: Mapping[str, str]
    result: Result  # without figures
    at: str
    why: str = ""  # why it was marked anew


@dataclass(frozen=True)
class Override:
    """Points that a person gave in place of a check's."""

    student: str
    cell: str
    points: float | None  # None takes an earlier one back
    reason: str
    at: str


@dataclass
class State:
    """All that a journal says."""

    seed: int | None = None
    marks: dict[tuple[str, str], Marked] = field(default_factory=dict)  # by student and exercise
    void: set[tuple[str, str]] = field(default_factory=set)  # to be marked once more
    overrides: dict[tuple[str, str], Override] = field(default_factory=dict)  # by student and cell
    changes: list[tuple[Marked, Marked]] = field(default_factory=list)  # before, after
    overridden: list[Override] = field(default_factory=list)  # all that ever were, in order


class Journal:
    """The journal of a folder of grades."""

    def __init__(self, folder: Path) -> None:
        self.path, self.results = folder / NAME, folder / RESULTS
        self.results.mkdir(exist_ok=True)
        if not stat.S_ISDIR(os.lstat(self.results).st_mode):
            raise JournalError(f"{self.results} is a link; remove it")
        try:
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
            self._file = os.fdopen(os.open(self.path, flags, 0o644), "r+b", buffering=0)
        except OSError as error:
            raise JournalError(f"{self.path} cannot be opened: {error.strerror}") from None
        self.state = State()
        try:
            for line in self._lines():
                self._take(line)
        except JournalError:
            self.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def begin(self, seed: int) -> None:
        """Note the seed of the batch."""
        self._write({"kind": "seed", "seed": seed})

    def marked(self, student: str, exercise: str, key: Mapping[str, str], result: Result) -> None:
        """Note a mark; its figures come first, so that they are there if the mark is."""
        put(self.figures_of(student, exercise), json.dumps(result.figures))
        told = json.loads(replace(result, figures=()).to_json())
        why = self.why(student, exercise, key)
        told = {"student": student, "exercise": exercise, "key": dict(key), "result": told}
        self._write({"kind": "mark", **told, "why": why})

    def figures(self, student: str, exercise: str) -> list[tuple[str, str]]:
        """Give the figures of a result; none if they cannot be read."""
        path = self.figures_of(student, exercise)
        try:
            return [(name, png) for name, png in json.loads(path.read_text(encoding="utf-8"))]
        except (OSError, ValueError, TypeError):
            return []

    def figures_of(self, student: str, exercise: str) -> Path:
        """Name the file of a result's figures."""
        digest = hashlib.sha256(f"{student}\n{exercise}".encode()).hexdigest()
        return self.results / f"{digest[:32]}.json"

    def regrade(self, student: str, exercise: str) -> None:
        """Note that a result is to be marked once more."""
        self._write({"kind": "regrade", "student": student, "exercise": exercise})

    def override(self, student: str, cell: str, points: float | None, reason: str) -> None:
        """Note points that a person gives."""
        told = {"student": student, "cell": cell, "points": points, "reason": reason}
        self._write({"kind": "override", **told})

    def holds(self, student: str, exercise: str, key: Mapping[str, str]) -> bool:
        """Tell whether a result is known, and still good."""
        return self.why(student, exercise, key) == "" and (student, exercise) in self.state.marks

    def why(self, student: str, exercise: str, key: Mapping[str, str]) -> str:
        """Say why a result that is known is to be marked anew; nothing for a first one."""
        known = self.state.marks.get((student, exercise))
        if known is None:
            return ""
        if (student, exercise) in self.state.void:
            return "asked for"
        return ", ".join(said for part, said in WHY.items() if known.key.get(part) != key[part])

    def _lines(self) -> Iterator[Mapping[str, Any]]:
        """Read what was written whole, and end a line that was torn."""
        data = self._file.read()
        for line in data.split(b"\n"):
            try:
                told = json.loads(line)
            except ValueError:
                continue
            if isinstance(told, dict):
                yield told
        if data and not data.endswith(b"\n"):
            self._append(b"\n")

    def _write(self, told: Mapping[str, Any]) -> None:
        """Add a line, and see it onto the disk."""
        line = {**told, "at": datetime.now(UTC).isoformat(timespec="seconds")}
        self._append(json.dumps(line).encode() + b"\n")
        self._take(line)

    def _append(self, data: bytes) -> None:
        while data:
            data = data[self._file.write(data) :]
        os.fsync(self._file.fileno())

    def _take(self, told: Mapping[str, Any]) -> None:
        """Add what a line says to the state; a line of another kind or form says nothing."""
        take = getattr(self, f"_take_{told.get('kind')}", None)
        try:
            if take is not None:
                take({name: value for name, value in told.items() if name != "kind"})
        except (KeyError, TypeError, ValueError) as error:
            raise JournalError(f"{self.path} holds a line that is none of ours: {error}") from None

    def _take_seed(self, told: Mapping[str, Any]) -> None:
        self.state.seed = int(told["seed"])

    def _take_mark(self, told: Mapping[str, Any]) -> None:
        new = Marked(**{**told, "result": Result.of(told["result"])})
        place = new.student, new.exercise
        old = self.state.marks.get(place)
        if old is not None and old.result.marks != new.result.marks:
            self.state.changes.append((old, new))
        self.state.marks[place] = new
        self.state.void.discard(place)

    def _take_regrade(self, told: Mapping[str, Any]) -> None:
        self.state.void.add((told["student"], told["exercise"]))

    def _take_override(self, told: Mapping[str, Any]) -> None:
        new = Override(**told)
        self.state.overridden.append(new)
        self.state.overrides[new.student, new.cell] = new
        if new.points is None:
            del self.state.overrides[new.student, new.cell]
