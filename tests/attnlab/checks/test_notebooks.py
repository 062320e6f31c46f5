"""Each exercise's notebook calls the checks of its module, one a cell, for their points."""

import importlib
import re
from pathlib import Path

import nbformat
import pytest

import nbmark.notebook

SOLUTIONS = sorted((Path(__file__).resolve().parents[3] / "solutions").glob("*.ipynb"))


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)
def test_graded_cells_are_the_checks_with_their_points(path):
    number = nbmark.notebook.number(path.stem)
    exercise = importlib.import_module(f"attnlab.checks.check_{number}").exercise
    found = {}
    for cell in nbformat.read(path, as_version=4).cells:
        told = cell.metadata.get("nbgrader", {})
        assert told.get("grade_id", cell.id) == cell.id
        if told.get("grade") and not told.solution:
            called = re.fullmatch(rf"check_{number}\.(\w+)\([\w, ]+\)", cell.source)
            assert called, f"{cell.id} is no single call of a check"
            found[called[1]] = told.points
    assert found == exercise.points
