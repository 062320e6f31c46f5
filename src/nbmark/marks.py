"""The verdict: what is worth points, what a submission earned of it, and why not more.

How points count: a check is worth the points of its decorator (`nbmark.graded`), which a release
writes into its graded cell. `nbmark.submission` reads them from the original, never from the
student's file, and puts the student's answers into a copy of the original that is then run. A cell
earns all of its points or none: `Evidence.why_not` says which. What a person reads, or nobody ran,
is neither earned nor lost: `Ledger` tells these apart, and `Score` adds up.

Everybody who gives points asks here: a student's check in a terminal, pytest's `--points`, and the
checks themselves, which tell a student how far the exercise has come.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from nbmark.answers import difference
from nbmark.skip import skip_reason

SHOWN = 200  # letters of an error
TOO_LONG, DIED = "the time limit was exceeded", "the kernel died"
NOT_RUN, NOT_SELECTED = "it was not run", "it was not selected"


@dataclass(frozen=True)
class GradedCell:
    """A cell that carries points, as the original has it."""

    name: str
    points: float
    manual: bool = False  # a person gives its points


@dataclass(frozen=True)
class Mark:
    """What one graded cell of a submission earned, and why not more."""

    cell: GradedCell
    earned: float = 0
    reason: str = ""
    is_given: bool = True  # false where nobody judged it: not run, or for a person to read

    @property
    def is_to_be_read(self) -> bool:
        """Tell whether a person gives the points."""
        return self.cell.manual and not self.reason


@dataclass(frozen=True)
class Score:
    """Points of several marks together."""

    marks: tuple[Mark, ...]

    @cached_property
    def earned(self) -> float:
        """Add up what was earned."""
        return sum(mark.earned for mark in self.marks)

    @cached_property
    def possible(self) -> float:
        """Add up what could be earned, in the cells that were judged."""
        given = (mark for mark in self.marks if mark.is_given and not mark.cell.manual)
        return sum(mark.cell.points for mark in given)

    @cached_property
    def to_be_read(self) -> float:
        """Add up what a person may give."""
        return sum(mark.cell.points for mark in self.marks if mark.is_to_be_read)

    @property
    def is_full(self) -> bool:
        """Tell whether every cell that no person reads was judged and earned all of its points."""
        checked = [mark for mark in self.marks if not mark.cell.manual]
        return all(mark.is_given and mark.earned == mark.cell.points for mark in checked)

    def __str__(self) -> str:
        return f"{self.earned:g} of {self.possible:g} points"


@dataclass(frozen=True)
class Evidence:
    """How a cell's run ended: outputs as nbformat stores them, the kernel's reply."""

    outputs: Sequence[Mapping[str, Any]]
    status: str | None = "ok"
    trouble: str = ""  # why it did not end as cells do

    def why_not(self, key: Sequence[Mapping[str, Any]] | None = None) -> str:
        """Say why a graded cell earned nothing; nothing if it earned its points.

        The `key` has the outputs of the same cell in the solution, run on the same cases.
        """
        errors = [output for output in self.outputs if output.get("output_type") == "error"]
        if self.trouble:
            return self.trouble
        if errors:
            said = str(errors[0].get("evalue") or errors[0].get("ename"))
            return said.partition("\n\n")[0][:SHOWN]
        if any(skip_reason(output) is not None for output in self.outputs):
            return "it was skipped"
        if self.status != "ok":
            return "it ended with an error that it does not show"
        return difference(key, self.outputs) if key is not None else ""


@dataclass
class Ledger:
    """What became of the cells of one submission."""

    cells: tuple[GradedCell, ...] = ()  # what is worth points; none if the exercise is not known
    fault: str = ""  # what is wrong with the submission as a whole
    lacking: frozenset[str] = frozenset()  # cells for a person to read that are not there
    outcomes: dict[str, str] = field(default_factory=dict)  # of a cell: "" for right, else why not
    selected: set[str] | None = None  # the cells that were to be run; None for all

    @property
    def score(self) -> Score:
        """Mark each graded cell."""
        return Score(tuple(map(self._mark, self.cells)))

    def _mark(self, cell: GradedCell) -> Mark:
        if self.fault:
            return Mark(cell, 0, self.fault)
        if cell.manual:
            lacks = cell.name in self.lacking
            return Mark(cell, 0, "the notebook lacks it" if lacks else "", is_given=lacks)
        if cell.name not in self.outcomes:
            is_chosen = self.selected is None or cell.name in self.selected
            return Mark(cell, 0, NOT_RUN if is_chosen else NOT_SELECTED, is_given=False)
        reason = self.outcomes[cell.name]
        return Mark(cell, 0 if reason else cell.points, reason)


def so_far(points: Mapping[str, float], passed: Iterable[str]) -> Score:
    """Give the score of checks that are worth `points` when those in `passed` have passed."""
    outcomes = dict.fromkeys(points, "it has not passed") | dict.fromkeys(passed, "")
    cells = tuple(GradedCell(name, worth) for name, worth in points.items())
    return Ledger(cells, outcomes=outcomes).score
