"""What the solutions answer on the cases that submissions are marked with."""

from collections.abc import Mapping, Sequence
from typing import Any

from nbformat import NotebookNode

from nbmark.limits import Clock
from nbmark.marks import Evidence
from nbmark.notebook import grade_id, is_graded
from nbmark.running import run_all
from nbmark.submission import Original

Outputs = Sequence[Mapping[str, Any]]


class Key:
    """Outputs of the solutions' graded cells, each solution run once, in this environment."""

    def __init__(self) -> None:
        self.unsolved: set[str] = set()  # what to tell of solutions that failed
        self._known: dict[str, dict[str, Outputs]] = {}

    def of(self, original: Original, name: str) -> Outputs | None:
        """Give the outputs of a solution's graded cell; None where there is no solution to run."""
        if original.stem not in self._known:
            self._known[original.stem] = self._run(original)
        return self._known[original.stem].get(name)

    def _run(self, original: Original) -> dict[str, Outputs]:
        found: dict[str, Outputs] = {}
        if not original.is_solved:
            self.unsolved.add(f"{original.stem}: no answers to compare with, it holds no solution.")
            return found

        def note(cell: NotebookNode, evidence: Evidence) -> None:
            if not is_graded(cell):
                return
            if reason := evidence.why_not():
                said = f"{original.stem}: the solution itself fails in {grade_id(cell)}: {reason}"
                self.unsolved.add(said)
            else:
                found[grade_id(cell)] = evidence.outputs

        run_all(original.notebook, original.folder, note, Clock())
        return found
