"""Untouched, an exercise fails in its graded cells alone, and each says "not attempted yet"."""

import os
import subprocess
import sys
from xml.etree import ElementTree

import nbformat
import pytest
from files import ROOT

from nbmark.notebook import is_graded

EXERCISES = sorted((ROOT / "exercises").glob("*.ipynb"))


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    """Run all exercises under nbval; give what failed by notebook and number of the cell."""
    report = tmp_path_factory.mktemp("report") / "junit.xml"
    command = [sys.executable, "-m", "pytest", "--nbval-lax", "exercises", f"--junitxml={report}"]
    command += ["-q", "-p", "no:cacheprovider", "--color=no"]
    environment = os.environ | {"COLUMNS": "200"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 1, f"{done.stdout}\n{done.stderr}"
    found = {}
    for case in ElementTree.parse(report).iter("testcase"):
        stem = case.get("classname").split(".")[1]
        said = " ".join(f"{part.tag}: {part.text}" for part in case)
        found[stem, int(case.get("name").removeprefix("Cell "))] = said
    return found


@pytest.mark.parametrize("path", EXERCISES, ids=lambda path: path.stem)
def test_exactly_the_graded_cells_fail_each_as_not_attempted_yet(path, cases):
    cells = nbformat.read(path, as_version=4).cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    graded = {number for number, cell in enumerate(code) if is_graded(cell)}
    said = {number: cases[path.stem, number] for number in range(len(code))}
    failed = {number for number, text in said.items() if text and "skipped: " not in text}
    assert failed == graded  # a cell for a GPU may be skipped
    for number in graded:
        assert said[number].startswith("failure: ")
        assert "Not attempted yet: " in said[number], code[number].source


def test_there_are_exercises():
    assert EXERCISES
