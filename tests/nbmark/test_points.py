import copy
import csv
import os
import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from nbmark.files import put
from nbmark.notebook import Unreadable
from nbmark.points import as_csv
from nbmark.submission import match, read_originals, read_submission

BOM = "utf-8-sig"
KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}


def metadata(name, **settings):
    base = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
    return {"nbgrader": base | {"grade_id": name} | settings}


def graded(name, source, points):
    return new_code_cell(source, id=name, metadata=metadata(name, grade=True, points=points))


def notebook(one="a = 1", two="b = 2", text="Because."):
    """Make a notebook of an exercise with 2 + 3 points by checks and 4 by a person."""
    answers = metadata("one", solution=True), metadata("two", solution=True)
    manual = metadata("why", grade=True, solution=True, points=4)
    cells = [
        new_code_cell(one, id="one", metadata=answers[0]),
        graded("is-one", "assert a == 1, 'a should be 1'", 2),
        new_code_cell(two, id="two", metadata=answers[1]),
        graded(
            "is-two",
            "assert b == 2\n### BEGIN HIDDEN TESTS\nassert b * b == 4\n### END HIDDEN TESTS",
            3,
        ),
        new_markdown_cell(text, id="why", metadata=manual),
    ]
    return new_notebook(cells=cells, metadata=copy.deepcopy(KERNEL))


def submitted(**answers):
    """Make what a student hands in: hidden tests are gone."""
    made = notebook(**answers)
    made.cells[3].source = "assert b == 2"
    return made


def changed(change, **answers):
    """Make what a student hands in, with something done to its cells."""
    made = submitted(**answers)
    change(made.cells)
    return made


def copy_of_one(cells):
    twin = copy.deepcopy(cells[1])
    twin.id = "twin"
    cells.append(twin)


def as_text(cells):
    cells[1] = new_markdown_cell(cells[1].source, id="t", metadata=cells[1].metadata)


EQUALS = "class A:\n    def __eq__(self, other):\n        "
HIDE = "get_ipython().showtraceback = lambda *args, **options: None"
STORED = [new_output("stream", text="left over")]
SLEEP = "import time\ntry:\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    pass"

# file name: (content, points, part of the reason)
SUBMISSIONS = {
    "ann_9_1_x.ipynb": (submitted(), 5, ""),
    "half_9_1_x.ipynb": (submitted(one="a = 0"), 3, "is-one: a should be 1"),
    "by_cells.ipynb": (submitted(), 5, ""),
    "=calc_9_1_x.ipynb": (submitted(), 5, ""),
    "missing_9_1_x.ipynb": (changed(lambda c: c.pop(1)), 3, "is-one: the notebook lacks it"),
    "twice_9_1_x.ipynb": (changed(copy_of_one), 3, "is-one: the notebook holds it 2 times"),
    "edited_9_1_x.ipynb": (changed(lambda c: c[1].update(source="1")), 3, "text was changed"),
    "as_text_9_1_x.ipynb": (
        changed(as_text),
        3,
        "is-one: its text was changed",
    ),
    "tags_9_1_x.ipynb": (
        changed(
            lambda c: [cell.metadata.update(tags=["raises-exception"]) for cell in c], one="a = 0"
        ),
        3,
        "is-one: a should be 1",
    ),
    "skip_tag_9_1_x.ipynb": (
        changed(lambda c: c[1].metadata.update(tags=["nbval-skip"])),
        5,
        "",
    ),
    "points_9_1_x.ipynb": (
        changed(lambda c: c[1].metadata.nbgrader.update(points=99)),
        5,
        "",
    ),
    "not_graded_9_1_x.ipynb": (
        changed(lambda c: c[1].metadata.nbgrader.update(grade=False)),
        5,
        "",
    ),
    "outputs_9_1_x.ipynb": (changed(lambda c: c[1].update(outputs=STORED)), 5, ""),
    "skips_9_1_x.ipynb": (
        submitted(one=f"from nbmark.skip import skip_cell\n{EQUALS}skip_cell('no')\na = A()"),
        3,
        "is-one: it was skipped",
    ),
    "hidden_9_1_x.ipynb": (submitted(one=HIDE, two="a = 1"), 0, "error that it does not show"),
    "slow_9_1_x.ipynb": (submitted(one="a = 1", two=SLEEP + "\nb = 2"), 2, "time limit"),
    "dead_9_1_x.ipynb": (submitted(two="import os\nos._exit(0)"), 2, "is-two: Kernel dead"),
    "dies_9_1_x.ipynb": (
        submitted(two=f"import os\n{EQUALS}os._exit(0)\nb = A()"),
        2,
        "is-two: the kernel died",
    ),
    "no_kernel_9_1_x.ipynb": (submitted(), 5, ""),
    "imports_9_1_x.ipynb": (submitted(one="import yaml\na = yaml.safe_load('1')"), 5, ""),
    "broken_9_1_x.ipynb": ("{", 0, "cannot be read: it is no notebook"),
    "empty_9_1_x.ipynb": ("", 0, "cannot be read: it is empty"),
    "bom_9_1_x.ipynb": ("\ufeff{}", 0, "cannot be read"),
    "utf16_9_1_x.ipynb": ("{}".encode("utf-16"), 0, "it is not encoded as UTF-8"),
    "list_9_1_x.ipynb": ("[]", 0, "cannot be read"),
    "odd_9_1_x.ipynb": (
        '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{'
        '"cell_type": "code", "source": "", "metadata": null}]}',
        0,
        "cannot be read",
    ),
    "stranger.ipynb": (new_notebook(cells=[new_code_cell("1")], metadata=KERNEL), 0, "none of"),
}


def fill(folder):
    for name, (content, *_) in SUBMISSIONS.items():
        path = folder / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif isinstance(content, str):
            path.write_text(content, encoding="utf-8")
        else:
            content = copy.deepcopy(content)
            if name.startswith("no_kernel"):
                content.metadata.kernelspec.name = "alices-own"
            nbformat.write(content, path)
    folder.joinpath("folder.ipynb").mkdir()
    for module in ("test_of_a_student.py", "yaml.py"):
        folder.joinpath(module).write_text("raise SystemExit('it ran')")


def run(root, *options):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=no"]
    return subprocess.run(
        [*command, "--color=no", *options],
        cwd=root,
        env=os.environ | {"COLUMNS": "250"},
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Make a folder with originals in solutions/ and many submissions in handed-in/."""
    root = tmp_path_factory.mktemp("course")
    root.joinpath("solutions").mkdir()
    nbformat.write(notebook(), root / "solutions" / "9_1_x.ipynb")
    root.joinpath("handed-in").mkdir()
    fill(root / "handed-in")
    return root


@pytest.fixture(scope="module")
def marked(root):
    """Mark all submissions in one run."""
    done = run(root, "--nbval-lax", "handed-in", "--points=p.csv", "--nbval-cell-timeout=8")
    with (root / "p.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = {row["notebook"].lstrip("'"): row for row in csv.DictReader(file)}
    return done, rows


@pytest.mark.parametrize("name", SUBMISSIONS)
def test_a_submission_earns_what_it_should_and_says_why_not_more(name, marked):
    _, points, reason = SUBMISSIONS[name]
    row = marked[1][f"handed-in/{name}"]
    assert row["points"] == str(points), row["reasons"]
    assert reason in row["reasons"]
    assert bool(reason) == bool(row["reasons"])
    possible = "0" if name == "stranger.ipynb" else "5"
    assert row["possible points"] == possible


def test_each_cell_has_a_column_and_a_person_reads_the_rest(marked):
    row = marked[1]["handed-in/half_9_1_x.ipynb"]
    assert list(row)[:5] == [
        *("notebook", "exercise", "points", "possible points", "points to be read")
    ]
    assert row["exercise"] == "9_1_x"
    cells = [row["is-one (of 2)"], row["is-two (of 3)"], row["why (of 4)"]]
    assert cells == ["0", "3", "to be read"]
    assert row["points to be read"] == "4"


def test_there_is_a_line_a_notebook_and_no_notebook_ends_the_run(marked):
    done, rows = marked
    lines = done.stdout.partition("= points =")[2].splitlines()
    assert len([line for line in lines if line.startswith("handed-in/")]) == len(SUBMISSIONS) + 1
    assert "handed-in/half_9_1_x.ipynb: 3 of 5 points (0/2 3/3), 4 to be read" in lines
    assert "INTERNALERROR" not in done.stdout + done.stderr
    assert "it ran" not in done.stdout + done.stderr
    assert (
        rows["handed-in/folder.ipynb"]["reasons"] == "the notebook cannot be read: it is a folder"
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--points=p.csv"], "add --nbval-lax"),
        (["--nbval-lax", "--points=nowhere/p.csv"], "name a file in a folder"),
        (["--nbval-lax", "--points=handed-in"], "name a file in a folder"),
        (["--nbval-lax", "--points=p.csv", "--points-from=handed-in"], "is no notebook"),
        (["--nbval-lax", "--points=p.csv", "--points-from=nowhere"], "holds no notebook"),
    ],
)
def test_options_that_cannot_work_are_refused_with_a_remedy(options, said, root):
    done = run(root, *options, "handed-in/ann_9_1_x.ipynb")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert said in done.stderr


def test_a_name_that_is_no_utf8_costs_nobody_the_table(tmp_path):
    put(tmp_path / "p.csv", "\udcff_9_1_x.ipynb,5", BOM)
    assert (tmp_path / "p.csv").read_text(encoding="utf-8-sig") == "\\udcff_9_1_x.ipynb,5"


def test_settings_of_pytest_among_the_submissions_are_refused(root, tmp_path):
    folder = tmp_path / "settings"
    folder.mkdir()
    nbformat.write(submitted(), folder / "ann_9_1_x.ipynb")
    folder.joinpath("pytest.ini").write_text("[pytest]\naddopts = --maxfail=1\n")
    done = run(root, "--nbval-lax", str(folder), f"--points={tmp_path / 'p.csv'}")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "pytest.ini would change how all submissions are marked: delete it" in done.stderr


def test_a_submission_called_solutions_is_no_original(root, tmp_path):
    (tmp_path / "in" / "solutions").mkdir(parents=True)
    forged = submitted(one="a = 0")
    forged.cells[1].metadata.nbgrader.points = 99
    nbformat.write(forged, tmp_path / "in" / "solutions" / "9_1_x.ipynb")
    (tmp_path / "in" / "setup.py").touch()  # makes its folder pytest's root
    done = run(root, "--nbval-lax", str(tmp_path / "in"), f"--points={tmp_path / 'p.csv'}")
    assert "3 of 5 points" in done.stdout


def test_cells_that_were_not_run_earn_nothing(root, tmp_path):
    table = tmp_path / "p.csv"
    run(root, "--nbval-lax", "handed-in/half_9_1_x.ipynb", f"--points={table}", "-x")
    text = table.read_text(encoding="utf-8-sig")
    assert "is-one: a should be 1; is-two: it was not run" in text


def test_a_table_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    table = tmp_path / "p.csv"
    put(table, "old", BOM)
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        put(table, "new", BOM)
    assert table.read_text(encoding="utf-8-sig") == "old"
    assert list(tmp_path.iterdir()) == [table]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", "\r@"])
def test_no_field_begins_as_a_formula(start, tmp_path):
    nbformat.write(notebook(), tmp_path / "9_1_x.ipynb")
    originals = read_originals(tmp_path)
    submission = read_submission(tmp_path / "9_1_x.ipynb", f"{start}1+1", originals)
    submission.ledger.outcomes.update({"is-one": f"{start}2", "is-two": ""})
    rows = list(csv.reader(as_csv([submission], originals).splitlines()))
    assert not [field for row in rows for field in row if field[:1] in "=+-@\t\r" and field]
    assert rows[1][0].startswith("'")


def test_the_longest_stem_in_the_name_decides(tmp_path):
    for stem in ("9_1", "9_1_x"):
        nbformat.write(notebook(), tmp_path / f"{stem}.ipynb")
    originals = read_originals(tmp_path)
    assert match("ann_9_1_x.ipynb", [], originals).stem == "9_1_x"
    assert match("ann_9_1.ipynb", [], originals).stem == "9_1"
    assert match("ann.ipynb", ["is-one"], originals) is not None
    assert match("ann.ipynb", ["other"], originals) is None


def test_originals_without_graded_cells_are_no_originals(tmp_path):
    nbformat.write(new_notebook(), tmp_path / "x.ipynb")
    with pytest.raises(Unreadable, match="no notebook with graded cells"):
        read_originals(tmp_path)
