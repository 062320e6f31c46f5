"""A foreign kernel called python3, in the place where Jupyter looks first."""

import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from jupyter_client.kernelspec import KernelSpecManager

from nbmark.own_kernel import use_own_kernel

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def foreign_kernel(tmp_path, monkeypatch):
    """Let JUPYTER_PATH name a kernel python3 that cannot run."""
    folder = tmp_path / "foreign"
    spec = {"argv": ["/bin/false", "{connection_file}"], "display_name": "P", "language": "python"}
    for name in ("python3", "other"):
        (folder / "kernels" / name).mkdir(parents=True)
        (folder / "kernels" / name / "kernel.json").write_text(json.dumps(spec))
    monkeypatch.setenv("JUPYTER_PATH", str(folder))
    assert KernelSpecManager().get_kernel_spec("python3").argv[0] == "/bin/false"
    return folder


@pytest.fixture
def exercise(tmp_path):
    """Write a notebook whose graded cell tells which interpreter runs it."""
    notebook = nbformat.v4.new_notebook()
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "P", "language": "python"}
    cell = nbformat.v4.new_code_cell(f"import sys; assert sys.prefix == {sys.prefix!r}")
    graded = {"grade": True, "grade_id": "own", "points": 1, "solution": False, "locked": True}
    cell.metadata["nbgrader"] = graded | {"schema_version": 3}
    notebook.cells.append(cell)
    nbformat.write(notebook, tmp_path / "9_1_x.ipynb")
    return tmp_path / "9_1_x.ipynb"


def test_own_kernel_wins_and_others_stay(foreign_kernel):
    use_own_kernel()
    use_own_kernel()
    assert KernelSpecManager().get_kernel_spec("python3").argv[0] != "/bin/false"
    assert KernelSpecManager().get_kernel_spec("other").argv[0] == "/bin/false"
    assert os.environ["JUPYTER_PATH"].split(os.pathsep)[1:] == [str(foreign_kernel)]


@pytest.mark.usefixtures("foreign_kernel")
def test_checking_an_exercise_starts_the_own_kernel():
    command = [sys.executable, "tools/check.py", "1_1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert "1_1_by_hand: 0 of 8 points" in done.stdout


@pytest.mark.usefixtures("foreign_kernel")
def test_nbval_starts_the_own_kernel(exercise):
    command = [sys.executable, "-m", "pytest", "--nbval-lax", "--noconftest", str(exercise)]
    command += ["-p", "no:hypothesispytest"]
    done = subprocess.run(command, cwd=exercise.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
