"""What is found in a folder of submissions: whose it is, which exercise, what is left aside."""

import io
import os
import zipfile
from datetime import UTC, datetime

import nbformat
import pytest
from course import make_course, recorded, submitted
from grading import gradebook, run

from nbmark.grade.batch import Refusal
from nbmark.grade.owners import moment, owner_in, version

GRADESCOPE = """\
submission_501:
  :submitters:
  - :name: Ann Archer
    :email: ann@example.org
    :sid: '77'
  :created_at: 2026-11-30 18:00:00.25 Z
submission_502:
  :submitters:
  - :name: Bob Baker
    :email: bob@example.org
    :sid: '78'
  - :name: Cy Cook
    :email: cy@example.org
    :sid: '79'
  :created_at: 2026-12-01 18:00:00 Z
"""
X, K = nbformat.writes(submitted()), nbformat.writes(recorded())
WORSE = nbformat.writes(submitted(one="a = 0"))
TREES = {
    "a folder each": ({"ann/9_1_x.ipynb": X, "bob/deep/any.ipynb": K}, {"ann": "5", "bob": "3"}),
    "a file each": (
        {"ann_9_1_x.ipynb": X, "9_2_k-bob.ipynb": K, "cy.ipynb": X},
        {"ann": "5", "bob": "3", "cy": "5"},
    ),
    "nbgrader": (
        {
            "submitted/ann/9_1_x/9_1_x.ipynb": X,
            "submitted/ann/9_1_x/timestamp.txt": "2026-12-01 18:00:00 UTC",
            "submitted/bob/9_1_x/9_1_x.ipynb": X,
            "source/9_1_x/9_1_x.ipynb": X,
        },
        {"ann": "5", "bob": "5"},
    ),
    "Canvas": (
        {
            "archerann_1001_5001_9_1_x.ipynb": WORSE,
            "archerann_1001_5009_9_1_x-1.ipynb": X,
            "bakerbob_LATE_1002_5002_Untitled (3).ipynb": K,
        },
        {"archerann": "5", "bakerbob": "3"},
    ),
    "Moodle": (
        {
            "Ann Archer_31_assignsubmission_file_/9_1_x.ipynb": X,
            "Ann Archer_32_assignsubmission_file_/9_1_x.ipynb": WORSE,
            "Bob Baker_33_assignsubmission_file_9_2_k.ipynb": K,
        },
        {"Ann Archer (31)": "5", "Ann Archer (32)": "3", "Bob Baker": "3"},
    ),
    "Gradescope": (
        {
            "export/submission_metadata.yml": GRADESCOPE,
            "export/submission_501/9_1_x.ipynb": X,
            "export/submission_502/work/9_2_k.ipynb": K,
        },
        {"Ann Archer": "5", "Bob Baker & Cy Cook": "3"},
    ),
}
LATE = {"nbgrader": {"ann"}, "Canvas": {"bakerbob"}, "Gradescope": {"Bob Baker & Cy Cook"}}
DUE = datetime(2026, 12, 1, tzinfo=UTC)


def totals_of(table):
    return {name: row["total"] for name, row in table.items()}


def zipped(files, wrapper=""):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(wrapper + name, content)
    return data.getvalue()


@pytest.mark.parametrize("way", ["tree", "zip", "folder with the zip"])
@pytest.mark.parametrize("layout", TREES)
def test_each_platform_s_downloads_are_understood(layout, way, tmp_path):
    files, totals = TREES[layout]
    if way == "tree":
        make_course(tmp_path, files)
    else:
        make_course(tmp_path, {"all.zip": zipped(files)})
    folder = "handed-in/all.zip" if way == "zip" else "handed-in"
    run(tmp_path, folder=folder, due=DUE)
    table = gradebook(tmp_path)
    assert totals_of(table) == totals
    late = {name for name, row in table.items() if "late" in row["flags"]}
    assert late == LATE.get(layout, set())


def test_a_student_s_own_archive_is_unpacked(tmp_path):
    inner = zipped({"work/9_1_x.ipynb": X, "__MACOSX/work/._9_1_x.ipynb": "junk"})
    files = {
        "ann/9_1_x.zip": inner,
        "bakerbob_1002_5002_work.zip": inner,
        "moodle.zip": zipped({"Cy Cook_33_assignsubmission_file_/9_1.zip": inner}),
    }
    said = run(make_course(tmp_path, files))
    assert totals_of(gradebook(tmp_path)) == {"ann": "5", "bakerbob": "5", "Cy Cook": "5"}
    assert "left aside" not in said


def strange(root):
    """Put what is no submission beside one."""
    folder = root / "handed-in"
    (folder / "ann" / "link.ipynb").symlink_to(root / "solutions" / "9_1_x.ipynb")
    (folder / "everybody").symlink_to(root / "solutions")
    os.mkfifo(folder / "bob" / "pipe.ipynb")
    (folder / "bob" / "folder.ipynb").mkdir()
    (folder / os.fsdecode(b"caf\xe9.txt")).write_text("x")
    archive = zipfile.ZipFile(folder / "cy.zip", "w", zipfile.ZIP_DEFLATED)
    with archive:
        for name in ("../9_1_x.ipynb", "/etc/9_1_x.ipynb", "..\\9_1_x.ipynb", "C:/9_1_x.ipynb"):
            archive.writestr(name, X)
        link = zipfile.ZipInfo("link.ipynb")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("bomb.ipynb", b" " * 19_000_000)
        inner = zipped({"b.zip": zipped({"9_1_x.ipynb": X})})
        archive.writestr("a.zip", inner)


WORDS = (
    "ann/link.ipynb: it is a link",
    "everybody: it is a link",
    "bob/pipe.ipynb: it is no file",
    "bob/folder.ipynb: it is a folder that is called like a notebook",
    "caf\\udce9.txt: it is no notebook",
    "cy/../9_1_x.ipynb: its path leads out",
    "etc/9_1_x.ipynb: its path leads out",
    "cy/C:/9_1_x.ipynb: its path leads out",
    "cy/link.ipynb: it is a link",
    "cy/bomb.ipynb: it would grow more than 500 times",
    "cy/a/b.zip: it is an archive in an archive in an archive",
    "dan.zip: it is no notebook",
    "bob/report.pdf: it is no notebook",
    "bob/huge.ipynb: it is larger than 20 MB",
)


def test_every_entry_gets_a_row_or_a_word(tmp_path):
    files = {
        "ann/9_1_x.ipynb": X,
        "ann/.ipynb_checkpoints/9_1_x-checkpoint.ipynb": WORSE,
        "bob/report.pdf": "x",
        "bob/huge.ipynb": " " * 20_000_001,
        "eve/9_1_x.ipynb": "<html>log in</html>",
        "fay/shopping.ipynb": nbformat.writes(nbformat.v4.new_notebook()),
    }
    strange(make_course(tmp_path, files))
    (tmp_path / "handed-in" / "dan.zip").write_bytes(b"no archive")
    said = run(tmp_path)
    words = [word for word in WORDS if word not in said]
    assert words == ["dan.zip: it is no notebook"]
    assert "dan: it is a damaged zip file" in said
    table = gradebook(tmp_path)
    assert {name: row["total"] for name, row in table.items()} == {
        "ann": "5",
        "eve": "0",
        "fay": "0",
    }
    assert "it is a web page; download the notebook itself" in table["eve"]["flags"]
    assert "fay/shopping.ipynb: it is none of the exercises" in table["fay"]["flags"]
    page = (tmp_path / "grades" / "feedback" / "fay.html").read_text()
    assert "shopping.ipynb: it is none of the exercises" in page
    assert sorted(path.name for path in tmp_path.iterdir()) == ["grades", "handed-in", "solutions"]


def test_an_archive_that_grows_without_end_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr("nbmark.grade.stage.ARCHIVE_BYTES", len(X) + 10)
    files = {"all.zip": zipped({"ann/9_1_x.ipynb": X, "bob/9_1_x.ipynb": X})}
    said = run(make_course(tmp_path, files))
    assert "bob/9_1_x.ipynb: the archive unpacks to more than any class hands in" in said
    assert list(gradebook(tmp_path)) == ["ann"]


def test_the_last_of_several_versions_counts_and_this_is_said(tmp_path):
    files = {
        "ann/9_1_x.ipynb": WORSE,
        "ann/9_1_x (2).ipynb": X,
        "ann/9_1_x (3).ipynb": "{",
        "bob/a.ipynb": X,
        "bob/b.ipynb": X,
        "cy/old.ipynb": X,
        "cy/new.ipynb": WORSE,
    }
    make_course(tmp_path, files)
    for name, second in {"old": 1, "new": 2}.items():
        os.utime(tmp_path / "handed-in" / "cy" / f"{name}.ipynb", (second, second))
    run(tmp_path)
    table = gradebook(tmp_path)
    assert {name: row["total"] for name, row in table.items()} == {
        "ann": "5",
        "bob": "5",
        "cy": "3",
    }
    flags = {name: row["flags"] for name, row in table.items()}
    assert "3 files: ann/9_1_x (2).ipynb counts, not ann/9_1_x (3).ipynb" in flags["ann"]
    assert "handed in 2 times, all the same" in flags["bob"]
    assert "2 files: cy/new.ipynb counts, not cy/old.ipynb" in flags["cy"]


ROSTERS = {
    "a list of names": "ann\nbob\nzoe\n",
    "a table": "id,student,email\n1,ann,a@x.org\n2,bob,b@x.org\n3,zoe,z@x.org\n",
    "semicolons": "student;group\nann;1\nbob;1\nzoe;2\n",
}


@pytest.mark.parametrize("text", ROSTERS.values(), ids=ROSTERS)
def test_a_roster_says_who_is_missing_and_who_is_not_on_it(text, tmp_path):
    make_course(tmp_path, {"Ann/9_1_x.ipynb": X, "bob/9_1_x.ipynb": X, "eve/9_1_x.ipynb": X})
    (tmp_path / "class.csv").write_text(text, encoding="utf-8-sig")
    run(tmp_path, roster=tmp_path / "class.csv")
    table = gradebook(tmp_path)
    assert list(table) == ["ann", "bob", "zoe", "eve"]
    assert "missing: 9_1_x" in table["zoe"]["flags"]
    assert "not on the roster" in table["eve"]["flags"]
    assert "not on the roster" not in table["ann"]["flags"]


CANVAS_ROSTER = """\
Student,ID,SIS User ID,SIS Login ID,Section
"Archer, Ann",1001,s1,ann,A
"Test Student, Student",1,,t,A
"Baker, Bob",1002,s2,bob,A
"""
MOODLE_ROSTER = """\
Identifier,Full name,Email address,Status,Grade,Maximum Grade,Feedback comments
Participant 31,Ann Archer,ann@example.org,Submitted,,5.00,
Participant 33,Bob Baker,bob@example.org,No submission,,5.00,
"""


def test_the_lists_that_platforms_export_come_back_with_points(tmp_path):
    make_course(tmp_path, {f"canvas/{n}": c for n, c in TREES["Canvas"][0].items()})
    for name, text in TREES["Moodle"][0].items():
        path = tmp_path / "moodle" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for name, text in {"c.csv": CANVAS_ROSTER, "m.csv": MOODLE_ROSTER}.items():
        (tmp_path / name).write_text(text)
    run(tmp_path, folder="handed-in/canvas", roster=tmp_path / "c.csv")
    ann = gradebook(tmp_path, name="canvas.csv")["Archer, Ann"]
    assert ann == {
        **{"Student": "Archer, Ann", "ID": "1001", "SIS User ID": "s1", "SIS Login ID": "ann"},
        **{"Section": "A", "9_1_x": "5", "9_2_k": ""},
    }
    run(tmp_path, folder="moodle", out="other", roster=tmp_path / "m.csv")
    rows = gradebook(tmp_path, out="other", name="moodle.csv")
    assert rows["Participant 31"]["Grade"] == "5"
    assert rows["Participant 31"]["Maximum Grade"] == "5.00"
    assert rows["Participant 33"]["Grade"] == "3"
    assert rows["Participant 32"]["Grade"] == "3", "another Ann Archer"


REFUSED = {
    "nothing there": ({"folder": "nowhere"}, "there is no"),
    "no notebook": ({}, "holds no notebooks"),
    "grades among submissions": ({"out": "handed-in/grades"}, "name another for --out"),
    "no originals": ({"originals": "nowhere"}, "holds no notebook with graded cells"),
    "no roster": ({"roster": "nowhere"}, "cannot be read"),
}


@pytest.mark.parametrize(("request_", "said"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_marked_is_refused_with_the_reason(request_, said, tmp_path):
    make_course(tmp_path, {"ann/report.pdf": "x"})
    request_ = {n: tmp_path / v if n in ("originals", "roster") else v for n, v in request_.items()}
    with pytest.raises(Refusal, match=said):
        run(tmp_path, **request_)


def test_names_and_times_as_platforms_write_them():
    assert [version(n) for n in ("a.ipynb", "a-2.ipynb", "a (3).ipynb", "a.ipynb (4)")] == [
        0,
        2,
        3,
        4,
    ]
    assert owner_in("ann_1_3_numpy (2).ipynb", "1_3_numpy") == "ann"
    assert owner_in("1_3_numpy.ipynb", "1_3_numpy") == "1_3_numpy"
    at = datetime(2015, 2, 2, 23, 58, 23, tzinfo=UTC)
    assert moment("2015-02-02T23:58:23Z") == at
    assert moment("2015-02-02 15:58:23 -0800") == at
    assert moment("2015-02-02 23:58:23.0 UTC").replace(microsecond=0) == at
    assert moment("yesterday") is None
