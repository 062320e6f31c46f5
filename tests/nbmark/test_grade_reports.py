"""What students and teachers get: points, reasons, figures; nothing that harms or betrays."""

import base64
import csv
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from course import make_course, recorded, submitted
from grading import gradebook, run

from nbmark.grade.pages import clean
from nbmark.mark_one import CellMark, Result

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\nrest").decode()
EVIL = (
    "</p><script>alert(1)</script>\x1b[31mred\x1b[0m \x07\u202e \ud800 "
    "/root/course/solutions/9_1_x.ipynb"
)
ACTIVE = {"script", "iframe", "object", "embed", "form", "link", "base", "svg", "a", "input"}


def hostile(jobs):
    """Give results as the worst of kernels might."""
    for ticket, job in jobs:
        marks = (
            CellMark("is-one", 2, 0, f"{EVIL} for {job.exercise}", EVIL),
            CellMark("is-two", 3, 3),
            CellMark("why", 4, is_manual=True),
        )
        if job.exercise == "9_2_k":
            marks = (CellMark("doubles", 2, 0, f"row {len(job.name)} is off", "rows"),)
        yield ticket, Result(marks, flags=(EVIL,), figures=(("one", PNG),), seconds=1)


STUDENTS = ("=1+1", "+ann", "-bob", "@cy", "<b>dan</b>", "ann")


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    files = {f"{name}/9_1_x.ipynb".replace("</", "&lt;"): submitted() for name in STUDENTS}
    made = make_course(tmp_path_factory.mktemp("course"), {**files, "ann/k.ipynb": recorded()})
    run(made, executor=hostile)
    return made


def text(path):
    return path.read_text(encoding="utf-8")


class Tags(HTMLParser):
    """Collects a page's elements and the attributes that could run or load something."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.bad = set(), []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        for name, value in attrs:
            loads = name in ("src", "href") and not value.startswith("data:image/png;base64,")
            if name.startswith("on") or loads:
                self.bad.append((tag, name, value))


def test_pages_hold_nothing_that_runs_or_leaves(root):
    paths = [*(root / "grades" / "feedback").iterdir(), root / "grades" / "class.html"]
    assert len(paths) == len(STUDENTS) + 1
    for path in paths:
        page = text(path)
        tags = Tags(page)
        assert not tags.tags & ACTIVE
        assert not tags.bad
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\ud800-\udfff]", page)
        assert "&lt;script&gt;alert(1)&lt;/script&gt;red" in page
        assert "/root/course" not in page
        assert "default-src &#39;none&#39;" in page or "default-src 'none'" in page


def test_feedback_says_what_passed_and_why_not_more_and_shows_figures(root):
    page = text(root / "grades" / "feedback" / "ann-2.html")
    assert "9_1_x: 3 of 9 points" in page
    assert "9_2_k: 0 of 3 points" in page
    assert "gives up to 4 of them" in page
    assert f"data:image/png;base64,{PNG}" in page
    assert all(word in page for word in ("✓ Passed", "✗ Not passed", "To be read", "row 11 is off"))
    assert not [name for name in ("@cy", "bob") if name in page]
    assert str(root) not in page


def test_the_class_page_says_which_checks_failed_for_which_cause(root):
    page = " ".join(text(root / "grades" / "class.html").split())
    assert "<h3>is-one</h3>" in page
    assert "passed by 0 of 6" in page
    assert "<strong>6 ×</strong>" in page
    assert "<strong>1 ×</strong> <code>rows</code>: <span" in page
    assert "Not marked" not in page


def test_no_table_holds_a_formula(root):
    for name in ("gradebook.csv", "canvas.csv", "moodle.csv"):
        with (root / "grades" / name).open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.reader(file))
        assert len({len(row) for row in rows}) == 1
        fields = [field for row in rows for field in row]
        assert not [field for field in fields if field.startswith(("=", "+", "-", "@"))]
        assert not [field for field in fields if not field.isprintable()]
    assert "'=1+1" in gradebook(root)


def test_the_gradebook_has_a_column_for_each_graded_cell(root):
    table = gradebook(root)
    columns = ["student", "total", "is-one", "is-two", "why", "doubles", "counts", "flags"]
    assert list(table["ann"]) == columns
    assert [table["ann"][name] for name in columns[1:-1]] == ["3", "0", "3", "", "0", "0"]


def test_junit_files_can_be_read(root):
    paths = list((root / "grades" / "junit").iterdir())
    assert len(paths) == len(STUDENTS)
    suites = ElementTree.parse(root / "grades" / "junit" / "ann-2.xml").getroot()
    assert [(s.get("name"), s.get("failures"), s.get("skipped")) for s in suites] == [
        ("9_1_x", "1", "1"),
        ("9_2_k", "2", "0"),
    ]


CLEANED = {
    "at /home/x/solutions/9.ipynb, line 3": "at 9.ipynb, line 3",
    "in C:\\Users\\ann\\key.py now": "in key.py now",
    "~/secret/of/mine.txt": "mine.txt",
    "1/2 of Q/K, and/or S_q/S_k": "1/2 of Q/K, and/or S_q/S_k",
    "\x1b]0;title\x07x\x1b[1;31my": "xy",
}


@pytest.mark.parametrize(("given", "expected"), CLEANED.items(), ids=range(len(CLEANED)))
def test_texts_are_made_fit_for_a_page(given, expected):
    assert clean(given) == expected
