"""The exercises are what the solutions make of them, in the repository and in a copy of it."""

import shutil

import nbformat
import pytest
import release
import yaml
from files import ROOT
from IPython.core.inputtransformer2 import TransformerManager

from attnlab.checks import check_1_1
from nbmark.notebook import is_solution

STEM = "1_1_by_hand"
SOLUTIONS = sorted((ROOT / "solutions").glob("*.ipynb"))
ADDRESS = "https://example.org/book"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Copy one solution into a folder that stands for the repository."""
    tmp_path.joinpath("solutions").mkdir()
    shutil.copy(ROOT / "solutions" / f"{STEM}.ipynb", tmp_path / "solutions")
    shutil.copy(ROOT / "_config.yml", tmp_path)
    monkeypatch.setattr(release, "ROOT", tmp_path)
    return tmp_path


def setup_cell(path):
    cells = nbformat.read(path, as_version=4).cells
    return next(cell.source for cell in cells if cell.id == "setup")


def test_exercises_are_what_the_solutions_make_of_them(capsys):
    assert release.main(check=True) == 0, capsys.readouterr().out


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)
def test_no_line_of_a_solution_is_in_a_cell_of_the_exercise(path):
    exercise = {c.id: c for c in nbformat.read(ROOT / "exercises" / path.name, as_version=4).cells}
    answers = [c for c in nbformat.read(path, as_version=4).cells if is_solution(c)]
    code = "\n".join(c.source for c in exercise.values() if c.cell_type == "code" or is_solution(c))
    for cell in answers:
        begun = cell.source.partition("### BEGIN SOLUTION\n")[2] or cell.source
        inside = begun.partition("### END SOLUTION")[0]
        lines = [line.strip() for line in inside.splitlines() if len(line.strip()) > 25]
        assert [line for line in lines if line in code] == []
        assert inside not in exercise[cell.id].source


def test_a_release_repeated_changes_nothing_and_drift_is_named(folder, capsys):
    exercise = folder / "exercises" / f"{STEM}.ipynb"
    assert release.main(check=True) == 1
    assert f"exercises/{STEM}.ipynb is not what" in capsys.readouterr().out
    assert release.main(check=False) == 0
    assert exercise.read_text() == (ROOT / "exercises" / f"{STEM}.ipynb").read_text()
    capsys.readouterr()
    assert release.main(check=False) == 0
    assert capsys.readouterr().out == ""
    exercise.write_text(exercise.read_text().replace("Entropy", "Disorder"))
    folder.joinpath("exercises", "1_9_stray.ipynb").write_text("{}")
    assert release.main(check=True) == 1
    drift, stray = capsys.readouterr().out.splitlines()
    assert "run `make release`" in drift
    assert stray.startswith("exercises/1_9_stray.ipynb has no solution")


def test_where_one_notebook_is_faulty_nothing_is_written(folder, capsys):
    good = folder / "solutions" / f"{STEM}.ipynb"
    bad = folder / "solutions" / "1_2_bad.ipynb"
    bad.write_text(good.read_text().replace("### END SOLUTION", ""))
    assert release.main(check=False) == 1
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("solutions/1_2_bad.ipynb, cell 1_1-weights-unscaled-answer: BEGIN")
    assert said[1:] == ["Nothing was written."]
    assert not folder.joinpath("exercises").exists()


def graded_cell(notebook):
    return next(cell for cell in notebook.cells if cell.metadata.nbgrader.grade)


def test_points_are_those_that_stand_with_the_check(folder):
    path = folder / "solutions" / f"{STEM}.ipynb"
    solution = nbformat.read(path, as_version=4)
    cell = graded_cell(solution)
    assert cell.source.startswith("check_1_1.weights_without_scale(")
    cell.metadata.nbgrader.points = 99
    nbformat.write(solution, path)
    assert release.main(check=False) == 0
    worth = check_1_1.weights_without_scale.points
    for place in ("solutions", "exercises"):
        written = nbformat.read(folder / place / f"{STEM}.ipynb", as_version=4)
        assert graded_cell(written).metadata.nbgrader.points == worth


def test_a_graded_cell_that_calls_no_check_is_named(folder, capsys):
    path = folder / "solutions" / f"{STEM}.ipynb"
    text = path.read_text().replace("check_1_1.weights_without_scale", "check_1_1.weights")
    path.write_text(text)
    assert release.main(check=False) == 1
    said = capsys.readouterr().err
    assert f"solutions/{STEM}.ipynb, cell 1_1-weights-without-scale: no check of check_1_1" in said


@pytest.mark.parametrize("stem", ["1_10_next", "1_3_numpy"])
def test_an_exercise_imports_the_checks_of_its_own_number(stem):
    number = stem.rpartition("_")[0]
    assert f"from attnlab.checks import check_{number}, last_case\n" in release.setup_source(
        stem, None
    )


@pytest.mark.parametrize("stem", ["1_3", "numpy", "1-3_numpy"])
def test_an_exercise_without_number_or_name_is_refused(stem):
    with pytest.raises(release.ReleaseError, match="call it by number and name"):
        release.setup_source(stem, None)


@pytest.mark.parametrize("content", ["", "no json", "[]"])
def test_what_is_no_notebook_is_named(content, folder, capsys):
    folder.joinpath("solutions", "1_2_bad.ipynb").write_text(content)
    assert release.main(check=False) == 1
    assert capsys.readouterr().err.startswith("solutions/1_2_bad.ipynb cannot be read")


def test_without_an_address_the_setup_cell_says_in_one_sentence_what_to_do(folder):
    assert release.address() is None
    release.main(check=False)
    source = setup_cell(folder / "exercises" / f"{STEM}.ipynb")
    assert "pip install" in source
    hidden = source.replace("from attnlab.checks", "from no_such_package.checks")
    with pytest.raises(ModuleNotFoundError) as caught:
        exec(hidden, {})
    assert "No module named 'no_such_package'. Open this notebook with `make lab`" in str(
        caught.value
    )


def test_with_an_address_the_setup_cell_installs_the_package_only_where_it_is_missing(folder):
    config = yaml.safe_load(folder.joinpath("_config.yml").read_text())
    folder.joinpath("_config.yml").write_text(
        yaml.safe_dump(config | {"repository": {"url": ADDRESS}})
    )
    release.main(check=False)
    for place in ("exercises", "solutions"):
        source = setup_cell(folder / place / f"{STEM}.ipynb")
        assert f'%pip install --quiet "attention-book @ git+{ADDRESS}"' in source
    python = TransformerManager().transform_cell(source)
    calls = []

    class Shell:
        def run_line_magic(self, name, line):
            calls.append((name, line))

    exec(python, {"get_ipython": Shell})
    assert calls == []
    missing = python.replace("from attnlab.checks", "from no_such_package.checks", 1)
    exec(missing, {"get_ipython": Shell})
    assert calls == [("pip", f'install --quiet "attention-book @ git+{ADDRESS}"')]
