"""make check: what a student reads in a terminal."""

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


@pytest.fixture
def exercises(tmp_path, monkeypatch):
    """Make a folder of one exercise that a student works on; give what fills in a cell."""
    monkeypatch.setattr(check, "ROOT", tmp_path)
    path = tmp_path / "exercises" / f"{STEM}.ipynb"
    path.parent.mkdir()
    shutil.copy(ROOT / "solutions" / f"{STEM}.ipynb", path)

    def fill_in(name, source):
        notebook = nbformat.read(path, as_version=4)
        next(cell for cell in notebook.cells if cell.id == name).source = source
        nbformat.write(notebook, path)

    return fill_in


def test_a_solved_exercise_says_so_and_ends_with_success(exercises, capsys):
    assert check.main("1.1") == 0
    said = capsys.readouterr().out
    assert said.count("✓") == 6
    end = "1_1_by_hand: 8 of 8 points. A person reads your text and gives up to 4 more."
    assert said.splitlines()[-1] == end


def test_wrong_answers_and_errors_are_told_as_jupyter_tells_them(exercises, capsys):
    exercises("1_1-weights-scaled-answer", "weights_scaled = weights_unscaled")
    exercises("1_1-output-scaled-answer", "output_scaled = 1 / 0")
    exercises("1_1-entropy-scaled-answer", "entropy_scaled = None\nraise NotImplementedError()")
    assert check.main("1_1") == 1
    said = capsys.readouterr().out
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


def test_a_kernel_that_dies_is_told_in_one_line(exercises, capsys):
    exercises("1_1-output-unscaled-answer", "import os\nos._exit(1)")
    assert check.main() == 1
    end = capsys.readouterr().out.splitlines()[-2:]
    assert end[0] == "The kernel died; the next cells were not run."
    assert end[1].startswith("1_1_by_hand: 4 of 8 points.")


def test_what_is_no_notebook_is_told_in_one_line(exercises, tmp_path, capsys):
    tmp_path.joinpath("exercises", f"{STEM}.ipynb").write_text("")
    assert check.main() == 1
    assert "1_1_by_hand.ipynb cannot be checked: it is empty." in capsys.readouterr().out


@pytest.mark.parametrize("name", ["2_1", "11", "1_1_b", "nothing"])
def test_an_unknown_exercise_gets_one_line_with_the_choices(name, exercises, capsys):
    assert check.main(name) == 1
    assert capsys.readouterr().err == (
        f"There is no exercise {name!r}. Choose EX from: 1_1_by_hand\n"
    )


@pytest.mark.parametrize("name", ["1_1", "1.1", "1_1_by_hand", "1_1_by_hand.ipynb", ""])
def test_an_exercise_has_several_names(name):
    paths = [ROOT / "exercises" / f"{stem}.ipynb" for stem in (STEM, "1_11_x")]
    expected = paths if not name else paths[:1]
    assert check.choose(name, paths) == expected


def test_ctrl_c_ends_a_check_quietly(exercises, tmp_path):
    started = tmp_path / "started"
    wait = f"from pathlib import Path\nfrom time import sleep\nPath({str(started)!r}).touch()\n"
    exercises("1_1-output-unscaled-answer", f"{wait}sleep(60)")
    program = f"import sys; sys.path.insert(0, {str(ROOT / 'tools')!r})\nimport check, pathlib\n"
    program += f"check.ROOT = pathlib.Path({str(tmp_path)!r})\nsys.exit(check.main())"
    command = [sys.executable, "-c", program]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(command, start_new_session=True, **streams) as process:
        while not started.exists():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        said = process.stdout.read()
    assert process.returncode == 130
    assert said.endswith("\nInterrupted.\n")
    assert not re.search("Traceback|Kernel", said)
