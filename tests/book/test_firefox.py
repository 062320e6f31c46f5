"""The rendered pages in Firefox: each opens without a complaint, and each figure moves."""

import pytest
from figure_table import TABLE
from files import ROOT
from firefox import start_firefox
from sphinx_external_toc.parsing import parse_toc_yaml

ALL = [*(f"{page}.html" for page in parse_toc_yaml(ROOT / "_toc.yml")), "search.html?q=softmax"]
PHONE = {"width": 390, "height": 844}
SETTLED = """async () => {
  await document.fonts.ready;
  return !location.search || document.querySelector("#search-results li") !== null;
}"""
FACTS = """() => ({
  formulas: document.querySelectorAll("article .math").length,
  typeset: document.querySelectorAll("article .math .katex-html").length,
  overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
})"""
# The traits with which the page made a figure, once it lives.
TRAITS = """(name) => {
  const place = document.querySelector(`.figure-mount[data-module="${name}"]`);
  return place.querySelector(".attn-live") && JSON.parse(place.firstElementChild.textContent);
}"""
SAYS = """(name, text) => {
  const live = document.querySelector(`.figure-mount[data-module="${name}"] .attn-live`);
  return live.querySelector(".attn-said").textContent === text;
}"""


@pytest.fixture(scope="module")
def firefox(tmp_path_factory):
    with start_firefox(tmp_path_factory.mktemp("firefox")) as started:
        yield started


@pytest.mark.parametrize("page", ALL)
def test_page_opens_fits_a_phone_and_asks_nothing_of_other_hosts(firefox, book, serve, page):
    tab = firefox.open(serve(book), **PHONE)
    tab.visit(page)
    tab.wait_for(SETTLED)
    facts = tab.run(FACTS)
    tab.leave()
    assert facts["typeset"] == facts["formulas"]
    assert facts["overflow"] <= 0


@pytest.mark.parametrize("entry", TABLE, ids=lambda entry: entry.name)
def test_each_control_changes_what_a_figure_says_to_what_attnlab_says(firefox, book, serve, entry):
    tab = firefox.open(serve(book))
    tab.visit(f"{entry.page}.html")
    state = tab.wait_for(TRAITS, entry.name)
    traits = {name: state[name] for name in entry.figure.own_traits()}
    tab.wait_for(SAYS, entry.name, entry.figure(**traits).describe())
    for move in entry.moves:
        tab.focus(move.control, within=f".figure-mount[data-module={entry.name}]")
        tab.press(move.key)
        traits |= move.changes
        tab.wait_for(SAYS, entry.name, entry.figure(**traits).describe())
    tab.leave()


def test_what_goes_wrong_on_a_page_is_noted(firefox, tmp_path, serve):
    script = 'console.warn("one"); setTimeout(() => { throw "two"; })'
    page = f'<link rel="icon" href="data:,"><img src="gone.png"><script>{script}</script>'
    tmp_path.joinpath("index.html").write_text(page)
    tab = firefox.open(serve(tmp_path))
    tab.visit("index.html")
    tab.wait_for("() => new Promise((go) => setTimeout(() => go(true)))")
    assert {problem.split(":")[0] for problem in tab.problems} == {"404", "warn", "error"}
    with pytest.raises(AssertionError, match=r"gone\.png"):
        tab.leave()
