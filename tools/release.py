"""Write exercises/ from solutions/, or check that it is what would be written (`--check`).

The cell `setup` of each notebook, in both folders, is written here: it imports the checks, and
installs this package where it is missing, once the book has an address (see CONTRIBUTING.md).
So are the points of graded cells, and in the text, behind ``<!-- contract: the_check -->``, what
counts as right in them: both stand with their checks.
"""

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import yaml
from files import ROOT
from nbformat import NotebookNode
from tidy import committed_form

from nbmark.files import put
from nbmark.notebook import Unreadable, grade_id, is_graded, is_manual, number, read, settings
from nbmark.release import ReleaseError, student_version

SETUP = "setup"
CONTRACT = re.compile(r"<!-- contract: ([\w ]+) -->\n(?:.+\n)*")

WITHOUT_ADDRESS = """\
try:
    from attnlab.checks import {checks}, last_case
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        f"{{missing}}. Open this notebook with `make lab` in the book's folder, or run "
        "`pip install -r requirements.txt` there with the Python of this kernel."
    ) from None"""

WITH_ADDRESS = """\
try:
    from attnlab.checks import {checks}, last_case
except ModuleNotFoundError:  # in Colab, for example
    %pip install --quiet "attention-book @ git+{address}"
    from attnlab.checks import {checks}, last_case"""


def address() -> str | None:
    """Give the address of the book's repository, once it has one."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    return (config.get("repository") or {}).get("url") or None


def setup_source(stem: str, url: str | None) -> str:
    """Give the text of the cell that imports the checks of exercise 1_3_numpy, say."""
    text = WITH_ADDRESS if url else WITHOUT_ADDRESS
    return text.format(checks=checks_of(stem), address=url)


def checks_of(stem: str) -> str:
    """Give the name of the module with the checks of exercise 1_3_numpy, say."""
    if number(stem) in (None, stem):
        raise ReleaseError(f"solutions/{stem}.ipynb: call it by number and name, as 1_3_numpy")
    return f"check_{number(stem)}"


def with_setup(notebook: NotebookNode, stem: str, url: str | None) -> NotebookNode:
    """Write the cell that imports the checks."""
    found = [cell for cell in notebook.cells if cell.get("id") == SETUP]
    if len(found) != 1:
        raise ReleaseError(f"solutions/{stem}.ipynb: {len(found)} cells have the id {SETUP!r}")
    found[0].source = setup_source(stem, url)
    return notebook


def with_points(notebook: NotebookNode, stem: str) -> NotebookNode:
    """Write into each graded cell what the check that it calls is worth."""
    for cell, points in _worth(notebook, stem):
        if points is not None:
            settings(cell)["points"] = points
    return notebook


def with_contracts(notebook: NotebookNode, stem: str) -> NotebookNode:
    """Write what counts as right in each graded cell into the text that names its check."""
    name, told = checks_of(stem), []
    checks = importlib.import_module(f"attnlab.checks.{name}")

    def line(found: re.Match[str]) -> str:
        named = found[1].split()
        contracts = {str(getattr(getattr(checks, check, None), "contract", "")) for check in named}
        if len(contracts) != 1 or not all(contracts):
            raise ReleaseError(f"solutions/{stem}.ipynb: {found[0]!r} names no one contract")
        told.extend(named)
        return f"<!-- contract: {found[1]} -->\n{contracts.pop()}\n"

    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = CONTRACT.sub(line, cell.source + "\n").removesuffix("\n")
    wanted = [check for check in checks.exercise.points if str(getattr(checks, check).contract)]
    if sorted(told) != sorted(wanted):
        odd = sorted(set(told) ^ set(wanted)) or told
        raise ReleaseError(f"solutions/{stem}.ipynb: the text tells of {odd} not once")
    return notebook


def require_checks(notebook: NotebookNode, stem: str) -> None:
    """Fail where a graded cell calls no check."""
    for cell, points in _worth(notebook, stem):
        if points is None:
            said = f"no check of {checks_of(stem)} is called there, so it is worth nothing"
            raise ReleaseError(f"solutions/{stem}.ipynb, cell {grade_id(cell)}: {said}")


def _worth(notebook: NotebookNode, stem: str) -> Iterator[tuple[NotebookNode, int | None]]:
    """Give each graded cell of code with the points that stand with its check."""
    name = checks_of(stem)
    checks = importlib.import_module(f"attnlab.checks.{name}")
    for cell in notebook.cells:
        if is_graded(cell) and not is_manual(cell):
            called = re.search(rf"^{name}\.(\w+)\(", cell.source, re.MULTILINE)
            check = getattr(checks, called[1], None) if called else None
            yield cell, getattr(check, "points", None)


def wanted() -> dict[Path, str]:
    """Give the text of each notebook of both folders."""
    texts: dict[Path, str] = {}
    for path in sorted((ROOT / "solutions").glob("*.ipynb")):
        try:
            solution = with_setup(read(path), path.stem, address())
            solution = with_points(solution, path.stem)
        except Unreadable as error:
            raise ReleaseError(f"solutions/{path.name} cannot be read: {error}") from None
        student_version(solution, f"solutions/{path.name}")  # what is wrong with cells comes first
        require_checks(solution, path.stem)
        solution = with_contracts(solution, path.stem)
        texts[path] = committed_form(nbformat.writes(solution))
        exercise = student_version(solution, f"solutions/{path.name}")
        texts[ROOT / "exercises" / path.name] = committed_form(nbformat.writes(exercise))
    return texts


def complaints(texts: dict[Path, str]) -> list[str]:
    """Say which files are not what they should be."""
    said = [
        f"{path.relative_to(ROOT)} is not what solutions/ makes of it: run `make release`"
        for path, text in texts.items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]
    for path in sorted((ROOT / "exercises").glob("*.ipynb")):
        if path not in texts:
            said.append(f"{path.relative_to(ROOT)} has no solution: delete it, or write one")
    return said


def write(texts: dict[Path, str]) -> None:
    """Replace the files that differ, each as a whole."""
    for path, text in texts.items():
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        path.parent.mkdir(exist_ok=True)
        put(path, text)
        print(f"wrote {path.relative_to(ROOT)}")


def main(check: bool) -> int:
    """Release the exercises, or name those that are not what a release would write."""
    try:
        texts = wanted()
    except ReleaseError as error:
        print(f"{error}\nNothing was written.", file=sys.stderr)
        return 1
    if not check:
        write(texts)
    said = complaints(texts)
    print("\n".join(said), end="\n" if said else "")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main(check=sys.argv[1:] == ["--check"]))
