"""Each exercise's notebook calls the checks of its module, one a cell, for their points."""

import importlib
import re
from pathlib import Path

import nbformat
import pytest

import nbmark.notebook
from attnlab.checks._diagnose import COMMON
from attnlab.checks._errors import ERRORS

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
            called = re.fullmatch(rf"check_{number}\.(\w+)\([\w,\s]+\)", cell.source)
            assert called, f"{cell.id} is no single call of a check"
            found[called[1]] = told.points
    assert found == exercise.points


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)
def test_each_graded_cell_has_its_contract_in_the_text_and_the_hints_that_its_check_names(path):
    number = nbmark.notebook.number(path.stem)
    checks = importlib.import_module(f"attnlab.checks.check_{number}")
    text = "\n".join(
        cell.source
        for cell in nbformat.read(path, as_version=4).cells
        if cell.cell_type == "markdown"
    )
    titles = re.findall(r"<summary>(.*?)</summary>", text)
    for name in checks.exercise.points:
        check = getattr(checks, name)
        assert len(re.findall(rf"<!-- contract: [\w ]*\b{name}\b[\w ]*-->", text)) == 1
        assert str(check.contract)
        assert text.count(f"-->\n{check.contract}\n") >= 1
        assert set(check.hints) <= set(titles), name
        table = importlib.import_module(f"attnlab.checks.check_{number}.mistakes").MISTAKES.table
        known = {"raised", *table, *ERRORS, *COMMON.table}
        assert {cause for causes in check.hints.values() for cause in causes.split()} <= known
