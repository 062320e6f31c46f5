"""axe-core finds nothing on any page, its figures alive, by day, at night and on a phone."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from figure_table import TABLE
from files import ROOT
from living import living
from sphinx_external_toc.parsing import parse_toc_yaml
from visits import SETTLED, visit

PAGES = [*(f"{page}.html" for page in parse_toc_yaml(ROOT / "_toc.yml")), "search.html"]
SCREENS = {  # width, height, and the colours that the reader's system asks for
    "light": (1280, 800, "light"),
    "dark": (1280, 800, "dark"),
    "phone": (390, 844, "light"),
}


# Hidden from who cannot see them, and slow to walk through.
CONTEXT = {"exclude": [".attn-figure svg", ".katex-html"]}
# At night the same page has other colours, and nothing else that is new.
RULES = {"dark": {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}}


# No colour is on its way to another.
AT_REST = "document.getAnimations().every((animation) => animation.playState !== 'running')"


def violations(page, screen="light"):
    """Give what axe finds: each rule with the elements that break it."""
    options = {"resultTypes": ["violations"]} | RULES.get(screen, {})
    found = Axe().run(page, context=CONTEXT, options=options).response["violations"]
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


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing(browser, book, serve, name):
    seen = visit(browser, serve(book), name)
    for entry in TABLE:
        if name == f"{entry.page}.html":
            living(seen.page, entry)
    found = []
    for screen, look in SCREENS.items():
        settle(seen.page, *look)
        found += [f"{screen}: {text}" for text in violations(seen.page, screen)]
    seen.page.context.close()
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
