"""Predictions unfold without a script, and come again with their answers at the end of the book."""

import subprocess
import sys
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

EXTENSIONS = Path(__file__).resolve().parents[2] / "tools" / "sphinx_ext"

CONF = f"""
import sys
sys.path.insert(0, {str(EXTENSIONS)!r})
extensions = ["myst_nb", "sphinx_external_toc", "predict"]
external_toc_path = "_toc.yml"
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
nb_execution_mode = "off"
html_theme = "basic"
"""
TOC = """
format: jb-book
root: index
chapters: [file: towers, file: bridges, file: answers]
"""
CHOICE = """
# Towers

:::{predict} How high is a tower of $n$ *floors*?
:right: 2

low
: No: it has floors.

high
: Yes, see [bridges](bridges.md).
:::
"""
OPEN = """
# Bridges

:::{predict} How long?
Long, since it crosses a river.
:::
"""
PAGES = {
    "conf.py": CONF,
    "_toc.yml": TOC,
    "index.md": "# Book",
    "towers.md": CHOICE,
    "bridges.md": OPEN,
    "answers.md": "# Answers\n\n```{answers}\n```\n",
}


def build(folder, **changed):
    folder.mkdir(exist_ok=True)
    for name, text in (PAGES | changed).items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-W", "-n", "--keep-going", "-q", "-b", "html"]
    command += [str(folder), str(folder.parent / "html")]
    return subprocess.run(command, capture_output=True, text=True)


def page(folder, name):
    text = (folder.parent / "html" / f"{name}.html").read_text(encoding="utf-8")
    return BeautifulSoup(text, "html.parser")


def words(tag):
    return " ".join(tag.get_text(" ").split())


def test_each_answer_unfolds_and_the_right_ones_stand_at_the_end_of_the_book_too(tmp_path):
    book = tmp_path / "book"
    done = build(book)
    assert done.returncode == 0, done.stderr

    box = page(book, "towers").select_one("div.predict")
    assert words(box.p).startswith("Predict How high is a tower of")
    folds = box.select("details.answer")
    assert [(words(f.summary), "right" in f["class"]) for f in folds] == [
        ("low", False),
        ("high", True),
    ]
    assert not any(fold.has_attr("open") for fold in folds)
    assert "it has floors" in words(folds[0])
    (fold,) = page(book, "bridges").select("div.predict details")
    assert words(fold.summary) == "Answer"

    answers = page(book, "answers")
    assert [words(item) for item in answers.select(".rubric")] == ["Towers", "Bridges"]
    first, second = answers.select("ol li")
    assert words(first).endswith("↩ high Yes, see bridges .")
    assert first.select_one("a[href='towers.html#predict-1']")
    assert first.select_one("a[href='bridges.html']")
    assert words(second) == "How long? ↩ Long, since it crosses a river."

    done = build(book, **{"bridges.md": OPEN.replace("a river", "a valley")})
    assert done.returncode == 0, done.stderr
    assert "a valley" in words(page(book, "answers"))


@pytest.mark.parametrize(
    "wrong",
    [
        CHOICE.replace(":right: 2", ":right: 3"),
        CHOICE.replace(":right: 2\n", ""),
        CHOICE.replace(":right: 2", ":right: 0"),
        OPEN.replace("How long?", "How long?\n:right: 1"),
        OPEN.replace("Long, since it crosses a river.\n", ""),
    ],
)
def test_a_question_whose_answer_cannot_be_told_is_an_error(tmp_path, wrong):
    done = build(tmp_path / "book", **{"towers.md": wrong})
    assert done.returncode != 0
    assert "towers.md" in done.stderr
