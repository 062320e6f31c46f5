"""Pages that teach first: little code in sight, no bare truth values, questions before answers."""

import re

import nbformat
import pytest
from bs4 import BeautifulSoup
from files import ROOT

from attnlab import figures

# What is in sight at 1440 x 900 with all folds closed: the share of code and output in the height
# of the text, and the number of screens.
SIGHT = """() => {
  const article = document.querySelector("article");
  const seen = [...article.querySelectorAll("pre")].filter((pre) => pre.checkVisibility());
  const height = (node) => node.getBoundingClientRect().height;
  const printed = seen.filter((pre) => pre.closest(".cell_output"));
  const lines = printed.flatMap((pre) => pre.innerText.split("\\n"));
  return {
    share: seen.reduce((sum, pre) => sum + height(pre), 0) / height(article),
    screens: document.documentElement.scrollHeight / 900,
    bare: lines.filter((line) => /\\b(True|False)\\s*$/.test(line)),
  };
}"""
TAUGHT = [
    f"chapters/{path.stem}" for path in sorted((ROOT / "chapters").glob("1_[01][0-9]_*.ipynb"))
]
# Pages about code and cost may show more of it.
MOST_CODE = dict.fromkeys(TAUGHT[6:], 0.35)
MOST_SCREENS = {"chapters/1_06_multi_head": 18}


@pytest.mark.parametrize("page", TAUGHT)
def test_a_section_asks_at_least_three_questions_and_says_what_one_can_do_now(book, page):
    html = BeautifulSoup((book / f"{page}.html").read_text(encoding="utf-8"), "html.parser")
    assert len(html.select("article div.predict")) >= 3
    assert "You can now" in html.select_one("article").get_text()
    assert html.select("article details.claims")


CALL = re.compile(rf"^(?:{'|'.join(figures.__all__)})[.(]", re.M)


def told_before_asked(cells):
    """Name the interactive figures before which the text does not ask the reader to predict."""
    text, found = "", []
    for cell in cells:
        if cell.cell_type == "markdown":
            text = cell.source
        elif CALL.search(cell.source) and ":::{predict}" not in text:
            found.append(cell.source)
    return found


@pytest.mark.parametrize("page", TAUGHT)
def test_each_interactive_figure_asks_before_it_tells(page):
    assert told_before_asked(nbformat.read(ROOT / f"{page}.ipynb", 4).cells) == []


def test_a_figure_that_tells_before_it_asks_is_found():
    asks = nbformat.v4.new_markdown_cell(":::{predict} Which?\nThis.\n:::")
    tells = nbformat.v4.new_markdown_cell("Look.")
    figure = nbformat.v4.new_code_cell("MaskPainter()")
    assert told_before_asked([asks, figure]) == []
    assert told_before_asked([asks, tells, figure]) == ["MaskPainter()"]


def test_without_a_gpu_section_1_10_is_a_finished_page(book):
    html = BeautifulSoup(
        (book / "chapters/1_10_flash_attention.html").read_text(encoding="utf-8"), "html.parser"
    )
    article = html.select_one("article")
    for word in ("Skipped", "there is none here", "if the book holds"):
        assert word not in article.get_text()
    assert not [fold for fold in article.select("details") if not fold.select("pre, p, table")]
    assert "Published, not measured here" in article.get_text()


@pytest.fixture(scope="module", params=TAUGHT)
def sight(request, book, browser, serve):
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(f"{serve(book)}{request.param}.html")
    page.wait_for_load_state("networkidle")
    yield request.param, page.evaluate(SIGHT)
    page.close()


def test_code_and_output_take_at_most_their_share_of_the_height(sight):
    page, seen = sight
    assert seen["share"] <= MOST_CODE.get(page, 0.25)


def test_a_page_is_no_longer_than_its_screens(sight):
    page, seen = sight
    assert seen["screens"] <= MOST_SCREENS.get(page, 14)


def test_no_line_in_sight_ends_in_a_bare_truth_value(sight):
    assert sight[1]["bare"] == []
