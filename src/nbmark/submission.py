"""Originals and submissions: which exercise a notebook answers, and what is to be run of it."""

import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from nbformat import NotebookNode

from nbmark.marks import GradedCell, Ledger, Score
from nbmark.notebook import Unreadable, grade_id, is_graded, is_manual, read, settings
from nbmark.rebuild import Rebuilt, rebuild
from nbmark.release import stub_of

FOLDERS = ("solutions", "exercises")  # where originals lie, the better ones first


@dataclass(frozen=True)
class Original:
    """An exercise as the instructor has it."""

    stem: str
    notebook: NotebookNode
    folder: Path = Path()

    @cached_property
    def cells(self) -> tuple[GradedCell, ...]:
        """Give what is worth points."""
        return tuple(
            GradedCell(grade_id(cell) or "", settings(cell).get("points", 0), is_manual(cell))
            for cell in self.notebook.cells
            if is_graded(cell)
        )

    @cached_property
    def signs(self) -> set[str]:
        """Give what tells this exercise from others: names and texts of its graded cells."""
        graded = [cell for cell in self.notebook.cells if is_graded(cell)]
        texts = {stub_of(cell).source.strip() for cell in graded if not is_manual(cell)}
        return texts | {cell.name for cell in self.cells}

    @property
    def is_solved(self) -> bool:
        """Tell whether it holds answers that others can be compared with."""
        return any("BEGIN SOLUTION" in cell.source for cell in self.notebook.cells)


@dataclass
class Submission:
    """A submitted notebook: where it lies, which exercise it answers, what became of its cells."""

    name: str
    original: Original | None = None
    rebuilt: Rebuilt | None = None
    ledger: Ledger = field(default_factory=Ledger)
    remarks: list[str] = field(default_factory=list)  # on cells that are not graded

    @property
    def score(self) -> Score:
        """Give its marks."""
        return self.ledger.score

    def reasons(self) -> str:
        """Say in one line why points are missing, and what was restored."""
        if self.ledger.fault:
            return self.ledger.fault
        said = [f"{m.cell.name}: {m.reason}" for m in self.score.marks if m.reason]
        said += self.remarks
        if self.rebuilt and self.rebuilt.restored:
            said.append(f"restored: {', '.join(self.rebuilt.restored)}")
        return "; ".join(said)


def read_originals(folder: Path) -> list[Original]:
    """Read the solutions, or exercises, of a folder, or raise Unreadable."""
    originals = []
    for path in sorted(folder.glob("*.ipynb")):
        try:
            originals.append(Original(path.stem, read(path), folder.absolute()))
        except Unreadable as error:
            raise Unreadable(f"{path}: {error}") from None
    if not any(original.cells for original in originals):
        raise Unreadable(f"{folder} holds no notebook with graded cells")
    return originals


def folder_of_originals(roots: Sequence[Path]) -> Path:
    """Find the originals below one of some folders; Unreadable if there are none."""
    folders = [root / name for name in FOLDERS for root in roots]
    found = next((folder for folder in folders if folder.is_dir()), None)
    if found is None:
        raise Unreadable(f"there is neither solutions/ nor exercises/ in {roots[0]}; name a folder")
    return found


def read_submission(path: Path, name: str, originals: Sequence[Original]) -> Submission:
    """Read a submitted notebook, whatever it is, and rebuild the exercise that it answers."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            other = "folder" if path.is_dir() else "device"
            is_link = path.is_symlink()
            raise Unreadable(f"it is a {'link; hand in the file itself' if is_link else other}")
        submitted = read(path)
    except (Unreadable, OSError) as error:
        original = match(path.name, (), originals)
        fault = f"the notebook cannot be read: {error}"
        cells = original.cells if original else ()
        return Submission(name, original, ledger=Ledger(cells, fault=fault))
    original = match(path.name, _signs(submitted), originals)
    if original is None:
        fault = "it is none of the exercises, by its name and by its cells"
        return Submission(name, ledger=Ledger(fault=fault))
    rebuilt = rebuild(original.notebook, submitted)
    return Submission(name, original, rebuilt, Ledger(original.cells, lacking=rebuilt.lacking))


def _signs(notebook: NotebookNode) -> set[str]:
    """Give names and texts of all cells."""
    signs = {sign for cell in notebook.cells for sign in (grade_id(cell), cell.get("id"))}
    return (signs | {cell.source.strip() for cell in notebook.cells}) - {None, ""}


def match(name: str, signs: Iterable[str], originals: Sequence[Original]) -> Original | None:
    """Find the original by the cells, whatever the file is called; else by the name of the file."""
    found = set(signs)
    common = {original.stem: len(found & original.signs) for original in originals}
    most = max(common.values(), default=0)
    best = [original for original in originals if common[original.stem] == most]
    named = [original for original in best if original.stem.lower() in name.lower()]
    if named:
        return max(named, key=lambda original: len(original.stem))
    return best[0] if most else None
