"""Solutions become exercises: answers and hidden tests go, everything else stays.

The result is that of ``nbgrader generate_assignment``, without its checksums. A solution cell keeps
what stands outside of its region; a Markdown solution cell without a region is replaced as a
whole. Cells that are not to be changed are locked, as nbgrader locks them.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import nbformat
from nbformat import NotebookNode

from nbmark.notebook import grade_id, is_graded, is_manual, is_solution, settings

STUB = {"code": ("# YOUR CODE HERE", "raise NotImplementedError()"), "text": ("YOUR ANSWER HERE",)}
SCHEMA = 3


class ReleaseError(ValueError):
    """A notebook cannot be released; the message names it and the cell."""


def student_version(notebook: NotebookNode, name: str) -> NotebookNode:
    """Make the exercise of a solution; ReleaseError, with the `name`, if that cannot be done."""
    exercise = nbformat.from_dict(notebook)
    problems = (f"cell {label(cell)}: {said}" for cell, said in _problems(exercise.cells))
    if problem := next(problems, None):
        raise ReleaseError(f"{name}, {problem}")
    for cell in exercise.cells:
        _clear(cell)
    return exercise


def label(cell: NotebookNode) -> str:
    """Name a cell for a person."""
    return grade_id(cell) or cell.get("id") or repr(cell.source[:40])


def stub_of(cell: NotebookNode) -> NotebookNode:
    """Give a cell as it is handed out; of an answer that no region marks nothing is left."""
    made = nbformat.from_dict(cell)
    _clear(made)
    if is_solution(cell) and cell.cell_type == "code" and "BEGIN SOLUTION" not in cell.source:
        made.source = cell.source if STUB["code"][-1] in cell.source else "\n".join(STUB["code"])
    return made


def _problems(cells: Sequence[NotebookNode]) -> Iterator[tuple[NotebookNode, str]]:
    """Find what stands in the way of a release, cell by cell."""
    seen: set[Any] = set()
    for cell in cells:
        for region in ("SOLUTION", "HIDDEN TESTS"):
            yield from ((cell, said) for said in _cut(cell.source, region)[1])
        yield from ((cell, said) for said in _misplaced(cell))
        if "nbgrader" not in cell.metadata:
            continue
        yield from ((cell, said) for said in _bad_settings(cell))
        if (own := grade_id(cell)) in seen:
            yield cell, "another cell has the same grade_id; give each its own"
        seen.add(own)


def _misplaced(cell: NotebookNode) -> Iterator[str]:
    """Say which regions stand in a cell of the wrong kind, or are missing in one of the right."""
    begins = "BEGIN SOLUTION" in cell.source
    if begins and not is_solution(cell):
        yield "a solution in a cell that is no solution cell; set `solution` in its metadata"
    if not begins and is_solution(cell) and cell.cell_type == "code":
        yield "a solution cell without BEGIN SOLUTION and END SOLUTION; mark the answer"
    if "BEGIN HIDDEN TESTS" in cell.source and not is_graded(cell):
        yield "hidden tests in a cell that is not graded; set `grade` in its metadata"


def _bad_settings(cell: NotebookNode) -> Iterator[str]:
    """Say what nbgrader's metadata of a cell lack."""
    own = settings(cell)
    if own.get("schema_version") != SCHEMA:
        yield f"schema_version is {own.get('schema_version')!r}; it must be {SCHEMA}"
    for key in ("grade", "solution", "locked"):
        if not isinstance(own.get(key), bool):
            yield f"`{key}` is {own.get(key)!r}; it must be true or false"
    if not re.fullmatch(r"[A-Za-z0-9_-]+", grade_id(cell) or ""):
        yield f"grade_id is {own.get('grade_id')!r}; use letters, digits, - and _"
    if is_graded(cell) and not _is_count(own.get("points")):
        yield f"a graded cell with points {own.get('points')!r}; give a number from 0 on"
    if cell.cell_type != "code" and is_graded(cell) != is_solution(cell):
        yield "a Markdown cell is graded and a solution, or neither"


def _is_count(points: Any) -> bool:
    """Tell whether this is a number of points."""
    return isinstance(points, int | float) and not isinstance(points, bool) and points >= 0


def _clear(cell: NotebookNode) -> None:
    """Turn a cell of the solution into that of the exercise, in place."""
    stub = STUB["code" if cell.cell_type == "code" else "text"]
    if "BEGIN SOLUTION" in cell.source:
        cell.source = _cut(cell.source, "SOLUTION", stub)[0]
    elif is_manual(cell):
        cell.source = "\n".join(stub)
    cell.source = _cut(cell.source, "HIDDEN TESTS")[0]
    if cell.cell_type == "code":
        cell.outputs, cell.execution_count = [], None
    if is_solution(cell) or is_graded(cell) or settings(cell).get("locked"):
        cell.metadata["deletable"] = False
        if not is_solution(cell):
            cell.metadata["editable"] = False


def _cut(source: str, region: str, stub: Sequence[str] = ()) -> tuple[str, list[str]]:
    """Put the stub, indented as the region, in the place of each; say which marker is alone."""
    lines: list[str] = []
    faults: list[str] = []
    inside = False
    for line in source.split("\n"):
        if f"BEGIN {region}" in line:
            if inside:
                faults.append(
                    f"BEGIN {region} stands inside a region that has not ended; add its END"
                )
            inside = True
            indent = line[: len(line) - len(line.lstrip())]
            lines += [indent + part for part in stub]
        elif f"END {region}" in line:
            if not inside:
                faults.append(f"END {region} without BEGIN {region}; add the beginning")
            inside = False
        elif not inside:
            lines.append(line)
    if inside:
        faults.append(f"BEGIN {region} without END {region}; add the end")
    return "\n".join(lines), faults
