"""Claims become anchors, links and a table, and one that its cell does not prove is an error."""

import importlib.util
import json
import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

EXTENSIONS = Path(__file__).resolve().parents[2] / "tools" / "sphinx_ext"
spec = importlib.util.spec_from_file_location("claim_cells", EXTENSIONS / "claim_cells.py")
claims = importlib.util.module_from_spec(spec)
spec.loader.exec_module(claims)

HEIGHT = {"says": "Towers are *high*.", "line": "height", "bound": "at least 5"}
HEIGHT |= {"kind": "exact", "condition": "no wind"}


def markdown(text):
    return {"cell_type": "markdown", "id": "text", "metadata": {}, "source": text}


def code(cell_id, output, claim=(), tags=(claims.CHECKED,)):
    stream = {"output_type": "stream", "name": "stdout", "text": output.splitlines(keepends=True)}
    metadata = {"tags": list(tags)} | ({"claim": list(claim)} if claim else {})
    cell = {"cell_type": "code", "id": cell_id, "metadata": metadata, "source": "print()"}
    return cell | {"outputs": [stream], "execution_count": None}


def notebook(*cells):
    metadata = {"language_info": {"name": "python"}}
    return {"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("norm falls: ≈ 4312-fold, 3 seeds; over 1000-fold: True", "4312-fold, 3 seeds"),
        ("width 256: variance within 0.03 of 1/9: True", "True"),
        ("n = 32,768: 4 GiB of weights,   8 MiB of queries", "4 GiB of weights, 8 MiB of queries"),
        ("scores: {'she': 0.0, 'bank': 4.0}", "{'she': 0.0, 'bank': 4.0}"),
        ("rank, over all heads: {4}", "{4}"),
        ("causal           exactly 0", "causal exactly 0"),
        ("tensor[1:3] has (a: 1) ratio: 2", "tensor[1:3] has (a: 1) ratio: 2"),
    ],
)
def test_the_value_stands_after_the_last_colon_or_is_the_whole_line(line, value):
    assert claims.value_in(line) == value


def test_a_claim_carries_the_value_of_the_line_that_begins_as_it_says():
    cell = code("tower", "length: 3\nheight: 7\n", [HEIGHT])
    measured = claims.read_notebook(notebook(markdown("# Towers"), cell))
    (claim,) = measured.claims
    assert claim[:5] == ("tower", "Towers are *high*.", "7", "at least 5", None)
    assert (claim.kind, claim.condition, claim.paper, claim.main) == ("exact", "no wind", "", False)
    assert measured.title == "Towers"
    assert measured.problems == []
    assert measured.cells == ["text", "tower"]


def test_the_value_of_an_expression_is_read_too():
    cell = code("tower", "", [HEIGHT])
    data = {"text/plain": ["height: 7"]}
    cell["outputs"] = [{"output_type": "execute_result", "data": data, "metadata": {}}]
    assert claims.read_notebook(notebook(cell)).claims[0].value == "7"


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (code("tower", "width: 7\n", [HEIGHT]), "0 lines of its output begin with 'height'"),
        (code("tower", "height: 7\nheight: 8\n", [HEIGHT]), "2 lines of its output"),
        (code("tower", "the height: 7\n", [HEIGHT]), "0 lines of its output"),
        (code("tower", "height: 7\n", [HEIGHT], tags=()), "without the tag nbval-check-output"),
        (code("tower", "height: 7\n", [{"says": "High."}]), r"not \['says'\]"),
        (code("tower", "height: 7\n", [HEIGHT | {"colour": "red"}]), "'colour'"),
        (
            code("tower", "height: 7\n", [{"says": "High.", "line": "height"}]),
            r"holds \['condition', 'kind', 'line', 'says'\]",
        ),
        (
            code(
                "tower",
                "height: ≈ 7; over 5: True\nheight over 5: True\n",
                [HEIGHT | {"line": "height over"}],
            ),
            "no value, only True",
        ),
        (code("tower", "height: 7\n", [HEIGHT | {"kind": "sure"}]), "exact, .*timing; not 'sure'"),
        (code("tower", "height: 7\n", [HEIGHT | {"paper": "agrees"}]), "'agrees' needs the source"),
        (
            code("tower", "height: 7\n", [HEIGHT | {"paper": "likes", "source": "babel"}]),
            "agrees, qualifies, contradicts; not 'likes'",
        ),
        (code("tower", "height: 7\n", [HEIGHT | {"condition": " "}]), "condition says nothing"),
        (code("tower", "height: 7\n", [HEIGHT | {"main": "yes"}]), "true or false; not 'yes'"),
    ],
)
def test_a_claim_that_its_cell_does_not_prove_is_a_problem_and_no_claim(cell, message):
    measured = claims.read_notebook(notebook(cell))
    assert measured.claims == []
    (problem,) = measured.problems
    assert problem.startswith("cell tower: ")
    assert re.search(message, problem)


CONF = f"""
import sys
sys.path.insert(0, {str(EXTENSIONS)!r})
extensions = ["myst_nb", "sphinx_external_toc", "sphinxcontrib.bibtex", "section_numbers", "claims"]
external_toc_path = "_toc.yml"
bibtex_bibfiles = ["papers.bib"]
nb_execution_mode = "off"
html_theme = "basic"
"""
TOC = """
format: jb-book
root: index
parts:
  - numbered: 3
    chapters:
      - file: 1_00_building
        sections: [file: 1_02_towers, file: 1_01_bridges]
  - chapters: [file: measured, file: summary]
"""
PAGES = {
    "conf.py": CONF,
    "_toc.yml": TOC,
    "papers.bib": "@misc{babel, author = {Nimrod}, title = {Towers}, year = {1900}}",
    "index.md": "# Book",
    "1_00_building.md": "# Building",
    "measured.md": "# Measured\n\n```{claims-made}\n```\n\n## Main\n\n```{claims}\n:main:\n```\n\n"
    "## All\n\n```{claims}\n```\n\n```{bibliography}\n```",
    "summary.md": "# Summary\n\nHigh ({claim}`tower`), long ({claim}`bridge`), "
    "and {claim}`of height $h$ <tower>`; {claim-value}`bridge: len`.",
}


def write_notebooks(folder, height, length):
    """The second page of the outline stands first, so that its order is seen."""
    high = HEIGHT | {"source": "babel", "paper": "qualifies", "main": True}
    high |= {"unit": "floors"}
    long = {"says": "Bridges are long.", "line": "length", "kind": "timing", "condition": "dry"}
    towers = notebook(markdown("# Towers\n\n## Base\n\n## Top"), code("tower", height, [high]))
    bridges = notebook(markdown("# Bridges"), code("bridge", length, [long]))
    for name, content in (("1_02_towers", towers), ("1_01_bridges", bridges)):
        (folder / f"{name}.ipynb").write_text(json.dumps(content), encoding="utf-8")


def build(folder):
    command = [sys.executable, "-m", "sphinx", "-W", "-n", "--keep-going", "-q", "-b", "html"]
    return subprocess.run(
        [*command, str(folder), str(folder.parent / "html")], capture_output=True, text=True
    )


def page(folder, name):
    text = (folder.parent / "html" / f"{name}.html").read_text(encoding="utf-8")
    return BeautifulSoup(text, "html.parser")


def rows(folder, table="all"):
    found = page(folder, "measured").select(f"table.claims.{table} tbody tr")
    return [[" ".join(cell.get_text(" ").split()) for cell in row.select("td")] for row in found]


def test_table_and_links_follow_the_notebooks_and_a_claim_that_fails_is_a_warning(tmp_path):
    book = tmp_path / "book"
    book.mkdir()
    for name, text in PAGES.items():
        (book / name).write_text(text, encoding="utf-8")

    write_notebooks(book, height="height: 7\n", length="length 9\n")
    done = build(book)
    assert done.returncode == 0, done.stderr
    high = [
        "Towers are high . exact qualifies [ Nim00 ]",
        "7 floors at least 5",
        "no wind",
        "1.2.2",
    ]
    assert rows(book) == [["Bridges are long. timing", "length 9", "dry", "1.1"], high][::-1]
    assert rows(book, "main") == [high]
    measured = page(book, "measured")
    headings = [heading.get_text().strip("¶") for heading in measured.select("section h3")]
    assert headings == ["1.2 Towers", "1.1 Bridges"]
    assert measured.select("table.all tr.kind-exact.paper-qualifies")
    assert f"Python {platform.python_version()}" in measured.select_one(".claims-made").get_text()
    (fold,) = page(book, "1_02_towers").select("#claim-tower")
    said = "Measured Towers are high . 7 floors at least 5 no wind ✓"
    assert " ".join(fold.summary.get_text(" ").split()) == said
    assert "height: 7" in fold.select_one(".cell_output").get_text()
    assert "length 9" in page(book, "1_01_bridges").select_one("details").get_text()
    summary = (tmp_path / "html" / "summary.html").read_text(encoding="utf-8")
    assert re.search(r'href="1_02_towers.html#claim-tower"[^>]*>(<[^>]*>)?1\.2\.2<', summary)
    named = BeautifulSoup(summary, "html.parser").select("a[href='1_02_towers.html#claim-tower']")[
        1
    ]
    assert re.fullmatch(r"of height .*h.*", named.get_text())
    assert named["title"] == "Measured in 1.2.2"
    value = page(book, "summary").select_one(".claim-value")
    assert value.get_text() == "length 9"
    assert value.find_parent("a")["href"] == "1_01_bridges.html#claim-bridge"

    write_notebooks(book, height="height: 8\n", length="width 9\n")
    done = build(book)
    assert done.returncode != 0
    assert "cell bridge: 0 lines of its output begin with 'length'" in done.stderr
    assert "the cell 'bridge' makes a claim nowhere" in done.stderr
    assert [row[1] for row in rows(book)] == ["8 floors at least 5"]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("tunnel", "the cell 'tunnel' makes a claim nowhere"),
        ("tower: depth", r"0 claims of the cell 'tower' .* one of \['height'\]"),
    ],
)
def test_the_value_of_a_claim_that_is_not_there_is_a_warning(tmp_path, asked, message):
    book = tmp_path / "book"
    book.mkdir()
    for name, text in (PAGES | {"summary.md": f"# S\n\n{{claim-value}}`{asked}`"}).items():
        (book / name).write_text(text, encoding="utf-8")
    write_notebooks(book, height="height: 7\n", length="length 9\n")
    done = build(book)
    assert done.returncode != 0
    assert re.search(message, done.stderr), done.stderr
