"""The notebook that is run for marks: the original, with the student's own work put into it.

Of a submission only sources enter: those of solution cells, found by name, each into its place;
those of cells that the student added, where they stood; and what was changed in a locked cell, just
before the original of it, which runs all the same. Tags, comments for nbval, stored outputs and all
other metadata stay behind. A graded cell is always the original's.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from nbmark.notebook import grade_id, is_code, is_graded, is_manual, is_solution
from nbmark.release import stub_of

NBVAL_COMMENT = re.compile(r"^(\s*)#[#\s]*(?:NBVAL|PYTEST_VALIDATE)_\w+\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Rebuilt:
    """A notebook to run, and what had to be restored for it."""

    notebook: NotebookNode
    restored: tuple[str, ...] = ()  # such as "is-one (its text was changed)"
    lacking: frozenset[str] = frozenset()  # cells with written answers that are not there


def rebuild(original: NotebookNode, submitted: NotebookNode) -> Rebuilt:
    """Put a student's work, as `nbmark.notebook.read` gives it, into a copy of the original."""
    places = _places(original.cells, submitted.cells)
    own = {place: cell for place, cell in zip(places, submitted.cells, strict=True) if place >= 0}
    before, after = _added(original.cells, submitted.cells, places)
    cells: list[NotebookNode] = []
    for index, cell in enumerate(original.cells):
        cells += [*before.get(index, []), _filled(cell, own.get(index)), *after.get(index, [])]
    cells = [*after.get(-1, []), *cells]
    made = nbformat.from_dict({**original, "cells": cells})
    lacking = {grade_id(c) for i, c in enumerate(original.cells) if is_manual(c) and i not in own}
    return Rebuilt(made, tuple(_restored(original, submitted, own)), frozenset(lacking))


def _places(originals: Sequence[NotebookNode], submitted: Sequence[NotebookNode]) -> list[int]:
    """Give the index of the original of each submitted cell, or -1 for a cell of the student's.

    A cell is known by its grade_id, else by its id, else by its text: some editors drop metadata.
    Of several with one name that counts first which is not as it was handed out.
    """
    places = [-1] * len(submitted)
    handed_out = [stub_of(cell) for cell in originals]
    stubs = {cell.source.strip() for cell in handed_out}
    by_effort = sorted(range(len(submitted)), key=lambda i: submitted[i].source.strip() in stubs)
    for sign in (grade_id, lambda cell: cell.get("id"), lambda cell: cell.source.strip()):
        free: dict[str, int] = {}
        for index, cell in enumerate(handed_out):
            if index not in places and (own := sign(cell)):
                free.setdefault(own, index)
        for i in by_effort:
            if places[i] < 0:
                places[i] = free.pop(sign(submitted[i]), -1)
    for index, cell in enumerate(originals):
        if is_solution(cell) and index not in places:
            _place_what_stands_there(index, cell.cell_type, submitted, places)
    return places


def _place_what_stands_there(
    index: int, kind: str, submitted: Sequence[NotebookNode], places: list[int]
) -> None:
    """Take for a lost answer the only cell of its kind between its neighbours."""
    start = max((i + 1 for i, place in enumerate(places) if 0 <= place < index), default=0)
    end = min((i for i, place in enumerate(places) if place > index), default=len(places))
    there = [i for i in range(start, end) if places[i] < 0 and submitted[i].cell_type == kind]
    if len(there) == 1:
        places[there[0]] = index


def _added(
    originals: Sequence[NotebookNode], submitted: Sequence[NotebookNode], places: Sequence[int]
) -> tuple[dict[int, list[NotebookNode]], dict[int, list[NotebookNode]]]:
    """Give what the student's notebook runs besides, before and after each original cell."""
    before: dict[int, list[NotebookNode]] = {}
    after: dict[int, list[NotebookNode]] = {}
    locked = {grade_id(cell) for cell in originals if not is_solution(cell)} - {None}
    last = -1
    for place, cell in zip(places, submitted, strict=True):
        if place >= 0:
            last = place
            target = originals[place]
            changed = is_code(cell) and not _same_code(cell.source, target.source)
            if changed and is_code(target) and not is_solution(target) and not is_graded(target):
                before.setdefault(place, []).append(_clean(cell.source, f"changed-{place}"))
        elif is_code(cell) and cell.source.strip() and grade_id(cell) not in locked:
            into = after.setdefault(_beyond_lost_answers(originals, places, last), [])
            name = originals[last].get("id", last) if last >= 0 else "start"
            into.append(_clean(cell.source, f"added-{len(into) + 1}-after-{name}"[:64]))
    return before, after


def _beyond_lost_answers(
    originals: Sequence[NotebookNode], places: Sequence[int], index: int
) -> int:
    """Move on over solution cells that are lost: an added cell may hold the answer."""
    while index + 1 < len(originals) and index + 1 not in places and _is_answer(originals, index):
        index += 1
    return index


def _is_answer(originals: Sequence[NotebookNode], index: int) -> bool:
    """Tell whether up to the next answer there is nothing but text."""
    following = originals[index + 1]
    return is_solution(following) or not is_code(following)


def _filled(cell: NotebookNode, own: NotebookNode | None) -> NotebookNode:
    """Copy a cell of the original, with the student's answer if it is for one."""
    made = nbformat.from_dict(cell)
    if is_solution(cell):
        made.source = _clean(own.source).source if own else stub_of(cell).source
    if is_code(made):
        made.outputs, made.execution_count = [], None
    return made


def _clean(source: str, name: str = "") -> NotebookNode:
    """Make a cell of a student's source, without what would tell nbval to do otherwise."""
    return new_code_cell(NBVAL_COMMENT.sub(r"\1#", source), **({"id": name} if name else {}))


def _restored(
    original: NotebookNode, submitted: NotebookNode, own: Mapping[int, NotebookNode]
) -> Iterator[str]:
    """Say which graded cells are not as they were handed out."""
    copies = Counter(grade_id(cell) for cell in submitted.cells)
    for index, cell in enumerate(original.cells):
        if not is_graded(cell) or is_manual(cell):
            continue
        name, found = grade_id(cell), own.get(index)
        if found is None:
            yield f"{name} (the notebook lacked it)"
        elif copies[name] > 1:
            yield f"{name} (the notebook held it {copies[name]} times)"
        elif not is_code(found):
            yield f"{name} (it was no code cell)"
        elif not _same_code(found.source, stub_of(cell).source):
            yield f"{name} (its text was changed)"


def _same_code(one: str, other: str) -> bool:
    """Tell whether two sources differ in blank lines, comments and layout at most."""
    try:
        return ast.dump(ast.parse(one)) == ast.dump(ast.parse(other))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return one.strip() == other.strip()
