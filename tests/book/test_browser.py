"""The rendered pages in a real browser."""

import re
from urllib.parse import quote

import pytest
from figure_table import TABLE
from files import ROOT
from living import expect_said, living, press, traits_on
from sphinx_external_toc.parsing import parse_toc_yaml
from visits import visit

TOC = [f"{page}.html" for page in parse_toc_yaml(ROOT / "_toc.yml")]
FIGURES = "chapters/1_03_scaled_dot_product"
ALL = [*TOC, "genindex.html", "search.html?q=softmax"]
PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 800}


@pytest.fixture(scope="session")
def homes(book, serve, tmp_path_factory) -> dict[str, str]:
    """Give the places from which the book must work."""
    above = tmp_path_factory.mktemp("site")
    above.joinpath("below").symlink_to(book)
    return {
        "root": serve(book),
        "subpath": f"{serve(above)}below/",
        "disk": f"{book.as_uri()}/",
    }


@pytest.mark.parametrize("page", ALL)
def test_page_works_from_the_disk_fits_and_asks_nothing_of_other_hosts(browser, homes, page):
    seen = visit(browser, homes["disk"], page, viewport=DESKTOP)
    for entry in TABLE:
        if page == f"{entry.page}.html":
            root, traits = living(seen.page, entry), traits_on(seen.page, entry)
            press(root, entry.moves[0])
            expect_said(root, entry.figure(**traits | entry.moves[0].changes).describe())
    seen.look()
    seen.leave()


# Pages of the table of contents are seen on a phone, and from a server, by axe.
@pytest.mark.parametrize(
    ("place", "screen", "page"),
    [
        *(("root", PHONE, page) for page in ALL if page not in TOC),
        *(("subpath", DESKTOP, page) for page in ("index.html", f"{FIGURES}.html", ALL[-1])),
    ],
)
def test_page_works_from_a_server(browser, homes, place, screen, page):
    seen = visit(browser, homes[place], page, viewport=screen)
    seen.look()
    seen.leave()


def test_the_pages_of_the_chapter_hold_formulas_and_the_landing_page_a_diagram(browser, homes):
    seen = visit(browser, homes["root"], "chapters/1_00_attention.html")
    assert seen.page.locator(".katex").count() > 3
    assert seen.page.locator(".diagram > svg > title").text_content() != ""
    seen.leave()


def test_the_reader_can_switch_to_the_dark_and_diagrams_follow(browser, homes):
    seen = visit(browser, homes["root"], "chapters/1_00_attention.html", color_scheme="light")
    page = seen.page
    ink = "getComputedStyle(document.querySelector('.diagram text')).fill"
    paper = "getComputedStyle(document.body).backgroundColor"
    before = page.evaluate(f"[{ink}, {paper}]")
    while page.evaluate("document.documentElement.dataset.theme") != "dark":
        page.locator(".theme-switch-button:visible").first.click()
    page.wait_for_function(f"{ink} !== {before[0]!r}", timeout=10_000)
    assert page.evaluate(paper) != before[1]
    seen.leave()


def test_a_page_read_in_the_dark_is_printed_in_the_light(browser, homes):
    seen = visit(browser, homes["root"], f"{FIGURES}.html", color_scheme="dark")
    seen.page.emulate_media(media="print", color_scheme="dark")
    theme = "document.documentElement.dataset.theme"
    themes = [
        seen.page.evaluate(f"dispatchEvent(new Event('{event}')) && {theme}")
        for event in ("beforeprint", "beforeprint", "afterprint")
    ]
    seen.leave()
    assert themes == ["light", "light", "dark"]


def test_figures_stand_on_the_ground_of_the_page_in_the_dark(browser, homes):
    seen = visit(browser, homes["root"], f"{FIGURES}.html", color_scheme="dark")
    grounds = seen.page.evaluate("""() => {
        const found = new Set();
        for (let tag = document.querySelector(".attn-figure svg"); tag; tag = tag.parentElement)
            found.add(getComputedStyle(tag).backgroundColor);
        return [...found];
    }""")
    body = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
    seen.leave()
    assert set(grounds) <= {"rgba(0, 0, 0, 0)", body}


def test_without_javascript_formulas_and_diagrams_are_there(browser, homes):
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(f"{homes['root']}chapters/1_00_attention.html", wait_until="load")
    assert "Causal mask" in page.locator(".diagram > svg").text_content()
    assert page.locator(".katex-html").first.bounding_box()["width"] > 5
    page.context.close()


def test_a_formula_is_copied_as_tex(browser, homes):
    seen = visit(browser, homes["root"], f"{FIGURES}.html")
    copied = seen.page.evaluate("""() => {
        getSelection().selectAllChildren(document.querySelector("article .math"));
        const data = new DataTransfer();
        document.querySelector("article .math").dispatchEvent(
            new ClipboardEvent("copy", { bubbles: true, cancelable: true, clipboardData: data }));
        return data.getData("text/plain");
    }""")
    tex = seen.page.locator("article .math annotation").first.text_content()
    seen.leave()
    assert tex in copied


@pytest.mark.parametrize("page", ["index.html", f"{FIGURES}.html"])
def test_icons_come_from_the_small_font(browser, homes, page):
    seen = visit(browser, homes["root"], page)
    asked = seen.page.evaluate("performance.getEntriesByType('resource').map((r) => r.name)")
    drawn = seen.page.evaluate("""[...document.fonts].filter(
        (f) => f.family.includes("Awesome") && f.status === "loaded").length""")
    seen.leave()
    assert [name for name in asked if "awesome" in name.lower()] == []
    assert drawn == 1


@pytest.mark.parametrize(
    ("word", "formula"), [("softmax", "QK⊤/(√(d_k))"), ("variance", "1/√(d_k)"), ("sqrt", "")]
)
def test_an_excerpt_of_the_search_shows_a_formula_as_a_line_and_no_tex(
    browser, homes, word, formula
):
    seen = visit(browser, homes["root"], f"search.html?q={word}")
    seen.page.locator("#search-results p.context").first.wait_for(timeout=20_000)
    seen.page.wait_for_load_state("networkidle")
    shown = " ".join(seen.page.locator("#search-results p.context").all_text_contents())
    seen.leave()
    assert formula in shown
    assert not re.search(r"\\[a-zA-Z]+", shown)


@pytest.mark.parametrize("place", ["root", "disk"])
def test_search_finds_the_page_of_a_section(browser, homes, place):
    seen = visit(browser, homes[place], "search.html?q=softmax")
    # Results come in one by one, each after the page it is on was read.
    found = seen.page.locator("#search-results a[href*='1_03_scaled_dot_product.html']")
    found.first.wait_for(timeout=20_000)
    seen.leave()


FOUND_FIRST = {
    "d_k": "1_03_scaled_dot_product.html",
    "sqrt(d_k)": "1_03_scaled_dot_product.html",
    "softmax": "glossary.html#term-softmax",
    "MHA": "1_06_multi_head.html",
    "multi-head attention": "glossary.html#term-multi-head-attention",
    "causal mask": "glossary.html#term-causal-mask",
    "Bahdanau": "1_02_additive_attention.html",
    "FlashAttention": "1_10_flash_attention.html",
    "masked_softmax": "api/attention.html#attnlab.attention.masked_softmax",
    "make_causal_mask": "api/attention.html#attnlab.masks.make_causal_mask",
}


def test_search_finds_symbols_words_and_functions_where_they_are_explained(browser, homes):
    page, found = browser.new_page(), {}
    for query in FOUND_FIRST:
        page.goto(f"{homes['root']}search.html?q={quote(query)}")
        first = page.locator("#search-results > ul > li > a").first
        first.wait_for(timeout=20_000)
        found[query] = first.get_attribute("href").removeprefix("chapters/")
    page.close()
    assert found == FOUND_FIRST
