"""nbgrader takes the exercises as they are: release, validate, autograde, feedback."""

import functools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from files import ROOT

from nbmark.notebook import is_graded, is_manual, settings

# For each exercise that is tried: cells of the solution that the half-done one keeps, its points.
HALF = {
    "1_1_by_hand": (["1_1-weights-unscaled-answer", "1_1-output-unscaled-answer"], 3),
    "1_2_causal_mask": (["1_2-head"], 2),
    "1_3_numpy": ([], 0),
    "1_4_heads": ([], 0),
    "1_5_profiling": (["1_5-fit"], 2),
    "1_6_multi_head": (["1_6-split"], 3),
    "1_7_online_softmax": (["1_7-score"], 4),
    "1_8_bottleneck": (["1_8-prediction", "1_8-share"], 3),
}
# Each is run five times: two are tried as a rule, and all with NBGRADER=all, in 5 minutes.
STEMS = list(HALF) if os.environ.get("NBGRADER") == "all" else ["1_1_by_hand", "1_6_multi_head"]

READ_MARKS = """
import json
from nbgrader.api import Gradebook
with Gradebook("sqlite:///gradebook.db") as book:
    submissions = book.assignment_submissions("attention")
    notebooks = [(s.student.id, n) for s in submissions for n in s.notebooks]
    print(json.dumps([[student, n.name, n.score, n.max_score] for student, n in notebooks]))
"""


def read(path):
    return nbformat.read(path, as_version=4)


def notebook_file(folder, stem):
    return folder / f"{stem}.ipynb"


def half_done(stem):
    """Fill some cells of the exercise in from the solution."""
    solution = {cell.id: cell.source for cell in read(ROOT / "solutions" / f"{stem}.ipynb").cells}
    notebook = read(ROOT / "exercises" / f"{stem}.ipynb")
    for cell in notebook.cells:
        if cell.id in HALF[stem][0]:
            cell.source = solution[cell.id]
    return notebook


class Course:
    """A folder that nbgrader works in."""

    def __init__(self, root: Path):
        self.root = root
        root.joinpath("nbgrader_config.py").write_text(
            "c = get_config()\nc.CourseDirectory.course_id = 'book'\n"
        )
        source = self.folder("source", "attention")
        for stem in STEMS:
            shutil.copy(notebook_file(ROOT / "solutions", stem), source)

    def folder(self, *names):
        path = self.root.joinpath(*names)
        path.mkdir(parents=True, exist_ok=True)
        return path

    def run(self, *arguments):
        """Run nbgrader as its console script does; it looks for alembic on the PATH."""
        bin_folder = Path(sys.executable).parent
        paths = os.pathsep.join([str(bin_folder), os.environ["PATH"]])
        home = {"HOME": str(self.root), "JUPYTER_PREFER_ENV_PATH": "1"}
        done = subprocess.run(
            [bin_folder / "nbgrader", *arguments],
            cwd=self.root,
            env=os.environ | home | {"PATH": paths},
            capture_output=True,
            text=True,
        )
        return done.stdout + done.stderr

    def submit(self):
        """Hand in the solution, the stub, and something between, each without checksums."""
        for stem in STEMS:
            for student, folder in (("all", "solutions"), ("none", "exercises")):
                into = self.folder("submitted", student, "attention")
                shutil.copy(notebook_file(ROOT / folder, stem), into)
            into = self.folder("submitted", "half", "attention")
            nbformat.write(half_done(stem), notebook_file(into, stem))

    @functools.cached_property
    def marks(self):
        """Give earned and possible points by student and notebook."""
        command = [sys.executable, "-c", READ_MARKS]
        done = subprocess.run(command, cwd=self.root, capture_output=True, text=True, check=True)
        rows = json.loads(done.stdout)
        return {(student, name): (score, best) for student, name, score, best in rows}


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Release an assignment, take three submissions, mark them, and write feedback."""
    course = Course(tmp_path_factory.mktemp("course"))
    course.said = course.run("generate_assignment", "attention")
    course.submit()
    course.said += course.run("autograde", "attention")
    course.said += course.run("generate_feedback", "attention")
    return course


def without_checksums(notebook):
    for cell in notebook.cells:
        settings(cell).pop("checksum", None) if settings(cell) else None
    return notebook


def graded(stem, manual):
    cells = read(ROOT / "exercises" / f"{stem}.ipynb").cells
    return [cell for cell in cells if is_graded(cell) and is_manual(cell) == manual]


def points(cells):
    return sum(settings(cell)["points"] for cell in cells)


@pytest.mark.parametrize("stem", STEMS)
def test_its_release_is_ours_but_for_its_checksums(stem, course):
    theirs = notebook_file(course.root / "release" / "attention", stem)
    assert theirs.is_file(), course.said
    ours = read(notebook_file(ROOT / "exercises", stem))
    assert without_checksums(read(theirs)) == ours


@pytest.mark.parametrize("stem", STEMS)
def test_it_gives_full_marks_to_the_solution_none_to_the_stub_and_part_to_a_part(stem, course):
    marks = course.marks
    auto, by_hand = points(graded(stem, False)), points(graded(stem, True))
    assert marks["all", stem] == (auto, auto + by_hand), course.said
    assert marks["none", stem] == (0, auto + by_hand)
    assert marks["half", stem] == (HALF[stem][1], auto + by_hand)


@pytest.mark.parametrize("stem", STEMS)
@pytest.mark.parametrize("student", ["all", "none", "half"])
def test_its_feedback_shows_what_the_checks_say(student, stem, course):
    page = course.root / "feedback" / student / "attention" / f"{stem}.html"
    assert page.is_file(), course.said
    text = page.read_text(encoding="utf-8")
    assert ("Not attempted yet" in text) == (student != "all")
    assert ("points so far" in text) or student == "none"


@pytest.mark.parametrize("stem", STEMS)
def test_it_validates_the_solution_and_counts_what_the_stub_lacks(stem, course):
    solved = course.run("validate", f"source/attention/{stem}.ipynb")
    assert "Success! Your notebook passes all the tests." in solved
    stub = course.run("validate", f"release/attention/{stem}.ipynb")
    cells = len(graded(stem, False)) + len(graded(stem, True))
    assert f"VALIDATION FAILED ON {cells} CELL(S)" in stub
