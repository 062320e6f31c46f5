"""What runs where a platform marks: Gradescope's zip in a bare folder, GitHub's report."""

import base64
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import gradescope
import pytest
import yaml
from course import make_course, submitted
from files import ROOT

from nbmark.grade import platforms

SOLUTION = ROOT / "solutions" / "1_3_numpy.ipynb"


@pytest.fixture(scope="module")
def autograder(tmp_path_factory):
    """Unpack the zip file as Gradescope does, with this environment in the place of its own."""
    home = tmp_path_factory.mktemp("autograder")
    gradescope.write(home / "upload.zip", SOLUTION)
    with zipfile.ZipFile(home / "upload.zip") as archive:
        archive.extractall(home / "source")
    (home / "submission").mkdir()
    return home


def bare(command, **environment):
    """Run a command with nothing but what is named in its environment."""
    settings = [f"{name}={value}" for name, value in environment.items()]
    command = ["env", "-i", "PATH=/usr/bin:/bin", *settings, *command]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, cwd="/")


def test_the_zip_file_holds_what_is_needed_and_no_other_solution(tmp_path):
    for name in ("one.zip", "two.zip"):
        gradescope.write(tmp_path / name, SOLUTION)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        names = archive.namelist()
        modes = {n: archive.getinfo(n).external_attr >> 16 & 0o777 for n in names[:2]}
    assert modes == {"setup.sh": 0o755, "run_autograder": 0o755}
    assert [n for n in names if n.endswith(".ipynb")] == ["solutions/1_3_numpy.ipynb"]
    assert not [n for n in names if n.startswith(("tests/", "exercises/")) or "__pycache__" in n]


def test_the_set_up_takes_a_python_that_is_new_enough(autograder, tmp_path):
    log = tmp_path / "log"
    for name, version in {"python3": 1, "python3.12": 0}.items():
        script = tmp_path / name
        script.write_text(
            f'#!/bin/sh\necho "{name} $*" >> {log}\n[ "$1" != -c ] || exit {version}\n'
        )
        script.chmod(0o755)
    path = f"{tmp_path}:/usr/bin:/bin"
    done = subprocess.run(
        ["env", "-i", f"PATH={path}", "sh", autograder / "source" / "setup.sh"],
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
    assert log.read_text().splitlines()[-1] == "python3.12 tools/install.py"


def test_the_run_marks_a_submission_in_a_bare_folder(autograder):
    interpreter = autograder / "source" / ".venv" / "bin" / "python"
    interpreter.parent.mkdir(parents=True)
    interpreter.write_text(f'#!/bin/sh\nPYTHONPATH=src exec {sys.executable} "$@"\n')
    interpreter.chmod(0o755)
    text = (ROOT / "exercises" / "1_3_numpy.ipynb").read_text(encoding="utf-8")
    (autograder / "submission" / "mine (1).ipynb").write_text(text, encoding="utf-8")
    run = ["sh", str(autograder / "source" / "run_autograder")]
    done = bare(run, AUTOGRADER_HOME=autograder, OMP_NUM_THREADS=1)
    assert done.returncode == 0, done.stderr
    results = json.loads((autograder / "results" / "results.json").read_text(encoding="utf-8"))
    assert results["score"] == 0
    assert sum(test["max_score"] for test in results["tests"]) == 12
    assert all("Not attempted yet" in test["output"] for test in results["tests"])
    assert "mine (1).ipynb was marked" in results["output"]
    assert str(autograder) not in json.dumps(results)


@pytest.fixture
def course(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.path.dirname(__file__))
    files = {"9_1_x.ipynb": submitted(one="a = 0"), "notes.txt": "x"}
    return make_course(tmp_path, files)


def test_github_s_reporter_gets_the_points_of_each_check(course):
    arguments = ["classroom", "handed-in", "solutions", "9_1", "out"]
    paths = [arguments[0], *(str(course / name) for name in arguments[1:3]), "9_1"]
    assert platforms.main([*paths, str(course / "out")], marker="grading:mark") == 0
    name, _, value = (course / "out").read_text().strip().partition("=")
    told = json.loads(base64.b64decode(value))
    assert (name, told["status"], told["max_score"]) == ("result", "fail", 5)
    tests = [(test["name"], test["score"], test["message"]) for test in told["tests"]]
    assert tests == [("is-one", 0, "a should be 1"), ("is-two", 3, "")]


def test_a_folder_without_the_exercise_earns_nothing_and_says_so(course):
    (course / "handed-in" / "9_1_x.ipynb").unlink()
    target = course / "results" / "results.json"
    arguments = [str(course / "handed-in"), str(course / "solutions"), "9.1", str(target)]
    assert platforms.main(["gradescope", *arguments], marker="grading:mark") == 0
    told = json.loads(target.read_text())
    assert told["score"] == 0
    assert "no notebook of 9_1_x is there. notes.txt: it is no notebook" in told["output"]
    assert [test["max_score"] for test in told["tests"]] == [2, 3]


def test_the_workflow_for_github_names_what_there_is():
    text = Path(ROOT / ".github" / "classroom" / "classroom.yml").read_text(encoding="utf-8")
    steps = yaml.safe_load(text)["jobs"]["marks"]["steps"]
    marking = next(step for step in steps if step.get("id") == "exercise_1_3")
    assert "nbmark.grade.platforms classroom" in marking["run"]
    assert "EXERCISE_1_3_RESULTS" in steps[-1]["env"]
