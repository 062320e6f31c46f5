"""Pages that teach first: little code in sight, no bare truth values, questions before answers."""

import pytest
from bs4 import BeautifulSoup
from files import ROOT

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
TAUGHT = [f"chapters/{path.stem}" for path in sorted((ROOT / "chapters").glob("1_0[1-69]_*.ipynb"))]
# Pages about code may show more of it.
MOST_CODE = {"chapters/1_09_complexity": 0.35}
MOST_SCREENS = {"chapters/1_06_multi_head": 18}


@pytest.mark.parametrize("page", TAUGHT)
def test_a_section_asks_at_least_three_questions_and_says_what_one_can_do_now(book, page):
    html = BeautifulSoup((book / f"{page}.html").read_text(encoding="utf-8"), "html.parser")
    assert len(html.select("article div.predict")) >= 3
    assert "You can now" in html.select_one("article").get_text()
    assert html.select("article details.claims")


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
