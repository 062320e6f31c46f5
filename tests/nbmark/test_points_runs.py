"""`pytest --points`: what is marked of a folder, where it is written, and what is refused."""

import csv
import importlib.util
import stat

import nbformat
import pytest
from course import SUBMITTED, make_course, mark, notebook, recorded, rows, run, submitted
from nbformat.v4 import new_notebook

from nbmark.files import put
from nbmark.notebook import Unreadable
from nbmark.points import as_csv
from nbmark.submission import match, read_originals, read_submission

BOM = "utf-8-sig"
HANDED_IN = {
    "ann_9_1_x.ipynb": submitted(),
    "half_9_1_x.ipynb": submitted(one="a = 0"),
    "kay_9_2_k.ipynb": recorded(),
    "zoe_9_1_x.ipynb": submitted(two="b = 0"),
    "broken.ipynb": "{",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return make_course(tmp_path_factory.mktemp("course"), HANDED_IN)


@pytest.fixture(scope="module")
def alone(root):
    """Mark all in one process."""
    return mark(root, "handed-in")[1]


def told(table):
    """Give name, points and the beginning of the reasons of each row."""
    return [
        (name.removeprefix("handed-in/"), row["points"], row["possible points"], row["reasons"])
        for name, row in table.items()
    ]


NO_SELECTED = "is-one: it was not selected"
SELECTIONS = {
    "a file": (["handed-in/ann_9_1_x.ipynb"], [("ann_9_1_x.ipynb", "5", "5", "")]),
    "two files": (
        ["handed-in/ann_9_1_x.ipynb", "handed-in/kay_9_2_k.ipynb"],
        [("ann_9_1_x.ipynb", "5", "5", ""), ("kay_9_2_k.ipynb", "3", "3", "")],
    ),
    "by name": (
        ["handed-in/ann_9_1_x.ipynb", "handed-in/zoe_9_1_x.ipynb", "-k", "ann"],
        [("ann_9_1_x.ipynb", "5", "5", "")],
    ),
    "a cell, which needs those before it": (
        ["handed-in/ann_9_1_x.ipynb::Cell 3"],
        [("ann_9_1_x.ipynb", "3", "3", NO_SELECTED)],
    ),
    "until the first failure": (
        ["handed-in/half_9_1_x.ipynb", "handed-in/zoe_9_1_x.ipynb", "-x"],
        [
            ("half_9_1_x.ipynb", "0", "2", "is-one: a should be 1; is-two: it was not run"),
            ("zoe_9_1_x.ipynb", "0", "0", "is-one: it was not run; is-two: it was not run"),
        ],
    ),
    "a file that cannot be read": (
        ["handed-in/broken.ipynb"],
        [("broken.ipynb", "0", "0", "the notebook cannot be read: it is no notebook: its end is ")],
    ),
}


@pytest.mark.parametrize(("options", "expected"), SELECTIONS.values(), ids=SELECTIONS)
def test_a_selection_gives_rows_for_what_was_selected(options, expected, root):
    _, table = mark(root, *options)
    found = [
        (*row[:3], row[3][: len(wanted[3]) or None])
        for row, wanted in zip(told(table), expected, strict=True)
    ]
    assert found == expected


def test_a_cell_that_was_not_marked_says_so_in_its_column(root):
    done, table = mark(root, "handed-in/half_9_1_x.ipynb", "-x")
    row = table["handed-in/half_9_1_x.ipynb"]
    assert (row["is-one (of 2)"], row["is-two (of 3)"]) == ("0", "not marked")
    assert "half_9_1_x.ipynb: 0 of 2 points (0/2 not marked)" in done.stdout


@pytest.mark.skipif(not importlib.util.find_spec("xdist"), reason="pytest-xdist is not installed")
@pytest.mark.parametrize("dist", ["loadgroup", "loadfile"])
def test_side_by_side_the_table_is_the_same(dist, alone, root):
    done, table = mark(root, "handed-in", "-n2", f"--dist={dist}")
    assert table == alone
    assert "ann_9_1_x.ipynb: 5 of 5 points (2/2 3/3), 4 to be read" in done.stdout
    assert "9_1_x: no answers to compare with" in done.stdout


@pytest.mark.skipif(not importlib.util.find_spec("xdist"), reason="pytest-xdist is not installed")
def test_cells_of_one_notebook_are_not_handed_to_several_processes(root):
    done = run(root, "--nbval-lax", "--points=p.csv", "handed-in", "-n2", "--dist=load")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "add --dist loadfile" in done.stderr


def test_a_notebook_as_a_whole_has_a_limit(root, tmp_path):
    slow = submitted(one="import time\na = 1\ntime.sleep(9)", two="time.sleep(60)\nb = 2")
    nbformat.write(slow, tmp_path / "slow_9_1_x.ipynb")
    limits = ("--points-cell-limit=60", "--points-notebook-limit=12")
    _, table = mark(root, str(tmp_path), *limits)
    (row,) = table.values()
    assert (row["points"], row["reasons"]) == (
        "2",
        "is-two: name 'b' is not defined; two: the time limit was exceeded",
    )


def test_a_solution_that_fails_is_told_and_costs_nobody_points(tmp_path):
    root = make_course(tmp_path, {"kay_9_2_k.ipynb": recorded()})
    nbformat.write(recorded(count="1 / 0"), root / "solutions" / "9_2_k.ipynb")
    done, table = mark(root, "handed-in")
    assert table["handed-in/kay_9_2_k.ipynb"]["points"] == "3"
    assert "9_2_k: the solution itself fails in counts: name 'n' is not defined" in done.stdout


def test_a_planted_link_is_replaced_and_what_it_leads_to_stays(root, tmp_path):
    victim = tmp_path / "solution"
    victim.write_text("precious")
    for name in ("p.csv", ".p.csv.part"):
        (tmp_path / name).symlink_to(victim)
    run(root, "--nbval-lax", "handed-in/broken.ipynb", f"--points={tmp_path / 'p.csv'}")
    assert victim.read_text() == "precious"
    assert not (tmp_path / "p.csv").is_symlink()
    assert list(rows(tmp_path / "p.csv")) == ["handed-in/broken.ipynb"]


def test_a_table_may_be_read_by_whom_the_system_lets(tmp_path):
    put(tmp_path / "p.csv", "x")
    tmp_path.joinpath("other").touch()
    mode, usual = (stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("p.csv", "other"))
    assert mode == usual


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


def test_a_seed_that_is_none_is_refused_before_anybody_is_marked(root):
    done = run(root, "--nbval-lax", "--points=p.csv", "handed-in", NBMARK_SEED="seven")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "NBMARK_SEED='seven' is no seed" in done.stderr


def test_a_name_that_is_no_utf8_costs_nobody_the_table(tmp_path):
    put(tmp_path / "p.csv", "\udcff_9_1_x.ipynb,5", BOM)
    assert (tmp_path / "p.csv").read_text(encoding="utf-8-sig") == "\\udcff_9_1_x.ipynb,5"


def test_settings_of_pytest_among_the_submissions_are_refused(root, tmp_path):
    folder = tmp_path / "settings"
    folder.mkdir()
    folder.joinpath("ann_9_1_x.ipynb").write_text(SUBMITTED)
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
    assert match("ANN_9_1_X.IPYNB", [], originals).stem == "9_1_x"
    assert match("ann.ipynb", ["is-one"], originals) is not None
    assert match("ann.ipynb", ["other"], originals) is None


def test_the_cells_decide_before_the_name(tmp_path):
    nbformat.write(notebook(), tmp_path / "9_1_x.ipynb")
    nbformat.write(recorded(), tmp_path / "9_2_k.ipynb")
    originals = read_originals(tmp_path)
    assert match("9_1_x.ipynb", ["counts"], originals).stem == "9_2_k"
    assert match("9_1_x.ipynb", ["setup"], originals).stem == "9_1_x"


def test_originals_without_graded_cells_are_no_originals(tmp_path):
    nbformat.write(new_notebook(), tmp_path / "x.ipynb")
    with pytest.raises(Unreadable, match="no notebook with graded cells"):
        read_originals(tmp_path)
