"""Each page once: what it weighs, and that axe-core finds nothing by day, at night, on a phone."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from figure_table import TABLE
from files import ROOT
from living import living
from page_weight import limit, pages, weight_of
from visits import SETTLED, visit

SCREENS = {  # width, height, and the colours that the reader's system asks for
    "light": (1280, 800, "light"),
    "dark": (1280, 800, "dark"),
    "phone": (390, 844, "light"),
}


# Takes off a page what is slow to walk through: pictures that are hidden from who cannot see them,
# and of the colours of code all but the first word that has them.
THIN = """() => {
  for (const tag of document.querySelectorAll(".attn-figure svg, .katex-html"))
    tag.replaceChildren();
  const seen = new Set();
  for (const word of document.querySelectorAll(".highlight span")) {
    const around = word.closest(".cell_input, .cell_output, details");
    const look = `${around?.className} ${word.parentElement.className} ${word.className}`;
    if (seen.has(look)) word.replaceWith(...word.childNodes);
    seen.add(look);
  }
}"""
COLOURS = ["color-contrast", "link-in-text-block"]
# At night the same page has other colours, and nothing else that is new; on a phone another shape,
# and no colours that are new but those of its buttons, which every page has.
RULES = {
    "dark": {"runOnly": {"type": "rule", "values": COLOURS}},
    "phone": {"rules": {name: {"enabled": False} for name in COLOURS}},
    "buttons on a phone": {"runOnly": {"type": "rule", "values": COLOURS}},
}


# No colour is on its way to another.
AT_REST = "document.getAnimations().every((animation) => animation.playState !== 'running')"


def violations(page, screen="light"):
    """Give what axe finds: each rule with the elements that break it."""
    options = {"resultTypes": ["violations"]} | RULES.get(screen, {})
    found = Axe().run(page, options=options).response["violations"]
    return [
        f"{rule['id']}: {rule['help']}\n  {node['html'][:200]}"
        for rule in found
        for node in rule["nodes"]
    ]


def settle(page, width, height, colours):
    """Show the page so, and wait until nothing on it changes any more."""
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme=colours)
    page.wait_for_function(f"document.documentElement.dataset.theme === '{colours}'")
    page.evaluate(SETTLED)
    page.wait_for_function(AT_REST)


@pytest.fixture(scope="module", params=pages(ROOT))
def seen(request, browser, book, serve):
    """Open a page on a phone; nothing may go wrong on it."""
    opened = visit(browser, serve(book), request.param, viewport={"width": 390, "height": 844})
    opened.name = request.param
    yield opened
    opened.leave()


# These keep to this order: axe gets a page that is thinner.


def test_a_page_weighs_no_more_than_it_may(seen, book, record_property):
    """What counts is what it asks for before its reader does anything."""
    weight = weight_of(seen.page, book, seen.home, seen.asked)
    record_property("bytes", weight.total)
    heaviest = sorted(weight.files.items(), key=lambda item: -item[1])[:8]
    assert weight.total <= limit(seen.name, weight), heaviest


def test_axe_finds_nothing(seen):
    name = seen.name
    for entry in TABLE:
        if name == f"{entry.page}.html":
            living(seen.page, entry)
    settle(seen.page, *SCREENS["phone"])
    seen.look()
    seen.page.evaluate(THIN)
    found = []
    for screen, look in SCREENS.items():
        settle(seen.page, *look)
        found += [f"{screen}: {text}" for text in violations(seen.page, screen)]
    if name == "index.html":
        found += violations(seen.page, "buttons on a phone")
    assert found == [], "\n".join(found)


@pytest.mark.parametrize(
    ("wrong", "screen", "rule"),
    [
        ("<img src='x'>", "light", "image-alt"),
        ("<p style='color: #999; background: #fff'>pale words</p>", "dark", "color-contrast"),
    ],
)
def test_axe_finds_what_is_wrong(browser, wrong, screen, rule):
    page = browser.new_page()
    page.set_content(f"<html lang='en'><title>x</title><main><h1>x</h1>{wrong}</main>")
    assert [text.split(":")[0] for text in violations(page, screen)] == [rule]
    page.close()
