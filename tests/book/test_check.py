"""make check: what a student reads in a terminal."""

import os
import re
import shutil
import signal
import subprocess
import sys

import check
import nbformat
import pytest
from files import ROOT

STEM = "1_1_by_hand"


class Exercises:
    """A folder of one exercise that a student works on, solved at first."""

    def __init__(self, root):
        self.root = root
        self.path = root / "exercises" / f"{STEM}.ipynb"
        self.path.parent.mkdir()
        shutil.copy(ROOT / "solutions" / f"{STEM}.ipynb", self.path)

    def fill_in(self, name, source):
        """Replace what stands in a cell."""
        notebook = nbformat.read(self.path, as_version=4)
        next(cell for cell in notebook.cells if cell.id == name).source = source
        nbformat.write(notebook, self.path)

    def change(self, change):
        """Do something to all cells."""
        notebook = nbformat.read(self.path, as_version=4)
        change(notebook.cells)
        nbformat.write(notebook, self.path)

    def start(self, name="", **streams):
        """Start a check in a process of its own: nbclient wants an event loop to itself."""
        program = f"import sys; sys.path.insert(0, {str(ROOT / 'tools')!r})\n"
        program += f"import check, pathlib; check.ROOT = pathlib.Path({str(self.root)!r})\n"
        program += "from functools import partial; from nbmark.limits import Clock\n"
        program += "check.tell = partial(check.tell, clock=Clock(20))\n"
        command = [sys.executable, "-c", f"{program}sys.exit(check.main({name!r}))"]
        return subprocess.Popen(command, start_new_session=True, text=True, **streams)

    def check(self, name="", **environment):
        """Check; give the exit status, and what was said on both streams."""
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with self.start(name, env=os.environ | environment, **pipes) as process:
            said, complained = process.communicate()
        return process.returncode, said, complained


@pytest.fixture
def exercises(tmp_path):
    """Make such a folder."""
    return Exercises(tmp_path)


def test_a_solved_exercise_says_so_and_ends_with_success(exercises):
    status, said, _ = exercises.check("1.1")
    assert status == 0
    assert said.count("✓") == 6
    end = "1_1_by_hand: 8 of 8 points. A person reads your text and gives up to 4 more."
    assert said.splitlines()[-1] == end


def test_wrong_answers_and_errors_are_told_as_jupyter_tells_them(exercises):
    exercises.fill_in("1_1-weights-scaled-answer", "weights_scaled = weights_unscaled")
    exercises.fill_in("1_1-output-scaled-answer", "output_scaled = 1 / 0")
    exercises.fill_in(
        "1_1-entropy-scaled-answer", "entropy_scaled = None\nraise NotImplementedError()"
    )
    status, said, _ = exercises.check("1_1")
    assert status == 1
    wrong = "1_1-weights-with-scale\n  `weights_scaled`: the scale is missing. Divide the scores by"
    assert wrong in said
    assert "1_1-output-scaled-answer: this cell failed" in said
    assert "  ZeroDivisionError: division by zero" in said
    assert "1_1-output-with-scale\n" in said
    assert "Not attempted yet: `entropy_scaled` is still None." in said
    assert "NotImplementedError" not in said
    assert "nbmark" not in said
    assert "\x1b" not in said
    assert said.splitlines()[-1].startswith("1_1_by_hand: 4 of 8 points.")


def test_a_cell_that_ends_the_kernel_or_takes_too_long_costs_itself_alone(exercises):
    exercises.fill_in("1_1-output-unscaled-answer", "import os\nos._exit(1)")
    endless = "import time\nweights_scaled = None\nwhile True:\n    time.sleep(0.1)"
    exercises.fill_in("1_1-weights-scaled-answer", endless)
    status, said, complained = exercises.check()
    assert status == 1
    assert "1_1-output-unscaled-answer: this cell failed\n  the kernel died; the next" in said
    assert "1_1-weights-scaled-answer: this cell failed\n  the time limit was exceeded;" in said
    assert said.splitlines()[-1].startswith("1_1_by_hand: 5 of 8 points.")
    assert complained == ""


@pytest.mark.parametrize("folder", ["exercises", "solutions"])
def test_graded_cells_that_were_replaced_earn_what_the_answers_deserve(folder, exercises):
    shutil.copy(ROOT / folder / f"{STEM}.ipynb", exercises.path)

    def replace(cells):
        for cell in cells:
            if cell.cell_type == "code" and cell.metadata.nbgrader.grade:
                cell.source = "1"

    exercises.change(replace)
    status, said, _ = exercises.check()
    earned = 0 if folder == "exercises" else 8
    assert said.splitlines()[-1].startswith(f"1_1_by_hand: {earned} of 8 points.")
    assert status == (1 if earned == 0 else 0)
    assert "Restored: 1_1-output-with-scale (its text was changed)" in said


def test_points_that_the_file_claims_are_not_believed(exercises):
    exercises.change(lambda cells: [c.metadata.nbgrader.update(points=50) for c in cells])
    _, said, _ = exercises.check()
    assert said.splitlines()[-1].startswith("1_1_by_hand: 8 of 8 points.")


def test_a_terminal_without_a_tick_is_told_the_same(exercises):
    status, said, complained = exercises.check(PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert (status, complained) == (0, "")
    assert said.count("? Your") + said.count("? ") >= 6
    assert "1_1_by_hand: 8 of 8 points." in said


def test_what_is_no_notebook_is_told_in_one_line(exercises):
    exercises.path.write_text("")
    status, said, _ = exercises.check()
    assert status == 1
    assert "1_1_by_hand.ipynb: the notebook cannot be read: it is empty." in said


@pytest.mark.parametrize("name", ["2_1", "11", "1_1_b", "nothing"])
def test_an_unknown_exercise_gets_one_line_with_the_choices(name, exercises):
    complaint = f"There is no exercise {name!r}. Choose EX from: 1_1_by_hand\n"
    assert exercises.check(name) == (1, "", complaint)


@pytest.mark.parametrize("name", ["1_1", "1.1", "1_1_by_hand", "1_1_by_hand.ipynb", ""])
def test_an_exercise_has_several_names(name):
    paths = [ROOT / "exercises" / f"{stem}.ipynb" for stem in (STEM, "1_10_y", "1_11_x")]
    expected = paths if not name else paths[:1]
    assert check.choose(name, paths) == expected


@pytest.mark.parametrize("name", ["1_10", "1.10", "1_10_y"])
def test_the_tenth_exercise_is_not_the_first(name):
    paths = [ROOT / "exercises" / f"{stem}.ipynb" for stem in (STEM, "1_10_y", "1_100_z")]
    assert check.choose(name, paths) == paths[1:2]


def test_ctrl_c_ends_a_check_quietly(exercises, tmp_path):
    started = tmp_path / "started"
    wait = f"from pathlib import Path\nfrom time import sleep\nPath({str(started)!r}).touch()\n"
    exercises.fill_in("1_1-output-unscaled-answer", f"{wait}sleep(60)")
    with exercises.start(stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        while not started.exists():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        said = process.stdout.read()
    assert process.returncode == 130
    assert said.endswith("\nInterrupted.\n")
    assert not re.search("Traceback|Kernel", said)
