"""The pages of exercises: stubs to download, solutions behind a switch, buttons with an address."""

import re

import nbformat
import pytest
import tidy
import yaml
from bs4 import BeautifulSoup
from extension import extension
from files import ROOT
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from tiny import TOC, TinyBook

EXERCISES = sorted((ROOT / "exercises").glob("*.ipynb"))
ADDRESS = "https://github.com/someone/book"
SECRET = "the_secret_of_the_solution"


def texts(folder):
    """Give the text of all that could show a solution, by name."""
    kinds = ("*.html", "*.ipynb", "searchindex.js", "*.inv")
    paths = [path for kind in kinds for path in folder.rglob(kind) if "vendor" not in path.parts]
    return {
        path.relative_to(folder).as_posix(): path.read_bytes().decode("latin-1") for path in paths
    }


def launch_links(folder, page):
    """Give where the page's launch buttons lead."""
    html = BeautifulSoup(folder.joinpath(page).read_text(encoding="utf-8"), "html.parser")
    links = [tag["href"] for tag in html.find_all("a", href=True)]
    return [link for link in links if re.match("https://(colab|mybinder|codespaces)", link)]


@pytest.mark.parametrize("path", EXERCISES, ids=lambda path: path.stem)
def test_the_page_offers_the_notebook_itself_and_no_launch_without_an_address(path, book):
    if extension("launch").found_address(str(ROOT)) is None:
        assert launch_links(book, f"exercises/{path.stem}.html") == []
    page = BeautifulSoup((book / "exercises" / f"{path.stem}.html").read_text(), "html.parser")
    link = page.select_one("a.btn-download-source-button")["href"]
    assert (book / "exercises" / link).resolve().read_bytes() == path.read_bytes()


@pytest.mark.parametrize("path", EXERCISES, ids=lambda path: path.stem)
def test_the_chapter_leads_to_the_page(path, book):
    page = book.joinpath("chapters", "1_11_exercises.html").read_text(encoding="utf-8")
    assert f'href="../exercises/{path.stem}.html"' in page.partition("<article")[2]


def test_no_solution_and_no_link_to_one_is_in_the_book(book):
    assert not (book / "solutions").exists()
    found = texts(book)
    assert [name for name, text in found.items() if "solutions/1" in text] == []
    marks = ("BEGIN SOLUTION", "END SOLUTION", "### BEGIN HIDDEN")
    assert [name for name, text in found.items() if any(mark in text for mark in marks)] == []
    for path in EXERCISES:
        answers = nbformat.read(ROOT / "solutions" / path.name, as_version=4).cells
        stub = nbformat.read(path, as_version=4).cells
        hints = "\n".join(cell.source for cell in stub)  # a hint may hold a line of the answer
        inside = [c.source.partition("BEGIN SOLUTION\n")[2] for c in answers]
        lines = [line.strip() for text in inside for line in text.splitlines()[:-1]]
        long = [line for line in lines if len(line) > 30 and line not in hints]
        assert long
        assert [line for line in long for text in found.values() if line in text] == []


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """Make a book with one exercise and its solution."""
    tiny = TinyBook(tmp_path_factory.mktemp("exercises"))
    inner = "            sections:\n              - file: exercises/1_1_x\n"
    tiny.write("_toc.yml", TOC.replace("1_02_numbers\n", f"1_02_numbers\n{inner}"))
    for folder, code in (("exercises", "raise NotImplementedError()"), ("solutions", SECRET)):
        cells = [new_markdown_cell("# Exercise 1.1: X", id="title"), new_code_cell(code, id="code")]
        notebook = new_notebook(cells=cells, metadata=tidy.METADATA)
        tiny.write(f"{folder}/1_1_x.ipynb", nbformat.writes(notebook))
    return tiny


def holding(tiny, word):
    return [name for name, text in texts(tiny.html).items() if word in text]


def test_the_switch_adds_the_solutions_and_without_it_they_are_gone_again(tiny):
    status, output = tiny.build(SOLUTIONS="1")
    assert status == 0, output
    assert "exercises/" not in output  # neither it nor its solution was executed
    assert "solutions/1_1_x.html" in holding(tiny, SECRET)
    assert "Solution 1.1" in tiny.page("exercises/1_1_x.html")
    status, output = tiny.build()
    assert status == 0, output
    assert holding(tiny, SECRET) == holding(tiny, "solutions/1_1_x") == []
    assert not (tiny.html / "solutions").exists()
    heading = BeautifulSoup(tiny.page("exercises/1_1_x.html"), "html.parser").h1
    assert heading.get_text().startswith("Exercise 1.1: X")


@pytest.mark.parametrize("home", ["configured", "environment"])
def test_with_an_address_notebooks_get_launch_buttons(tiny, home):
    config = yaml.safe_load((tiny.root / "_config.yml").read_text(encoding="utf-8"))
    config["repository"] = {"url": ADDRESS if home == "configured" else "", "branch": "main"}
    tiny.write("_config.yml", yaml.safe_dump(config))
    status, output = tiny.build(BOOK_REPOSITORY="" if home == "configured" else ADDRESS)
    assert status == 0, output
    binder = "https://mybinder.org/v2/gh/someone/book/main?urlpath=lab/tree"
    colab = "https://colab.research.google.com/github/someone/book/blob/main"
    spaces = "https://codespaces.new/someone/book"
    assert launch_links(tiny.html, "chapters/1_02_numbers.html") == [
        f"{binder}/chapters/1_02_numbers.ipynb",
        spaces,
    ]
    installs = [f"{colab}/exercises/1_1_x.ipynb"] if home == "configured" else []
    assert launch_links(tiny.html, "exercises/1_1_x.html") == [
        f"{binder}/exercises/1_1_x.ipynb",
        *installs,
        spaces,
    ]


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        ("https://github.com/someone/book.git", ADDRESS),
        ("git@github.com:someone/book.git", ADDRESS),
        ("https://name:secret@github.com/someone/book", ADDRESS),
        ("ssh://git@gitlab.com/someone/a.book/", "https://gitlab.com/someone/a.book"),
        ("/srv/git/book", None),
        ("https://example.org/someone/book.git", None),
        ("https://notgithub.com/someone/book", None),
        ("", None),
    ],
)
def test_an_address_is_taken_from_a_remote_that_the_services_know(remote, address):
    assert extension("launch").public_address(remote) == address
