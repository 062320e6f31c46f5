"""Widgets in a page that no kernel serves: those with a module of their own, and what else says."""

import json
from types import SimpleNamespace

import pytest
from docutils import nodes
from docutils.utils import new_document
from extension import extension
from playwright.sync_api import expect
from visits import visit

figure_pages = extension("figure_pages")


@pytest.fixture
def built(tiny):
    """Give the tiny book, built at least once."""
    assert tiny.first[0] == 0, tiny.first[1]
    return tiny


@pytest.fixture(params=["http", "disk"])
def page(request, browser, serve, built):
    """Open the page with widgets, and afterwards look at what it asked and complained of."""
    home = serve(built.html) if request.param == "http" else f"{built.html.as_uri()}/"
    seen = visit(browser, home, "chapters/1_04_widgets.html")
    yield seen.page
    seen.leave()


def test_a_widget_with_its_own_script_works(page):
    counter = page.locator("button.counter")
    counter.wait_for(timeout=20_000)
    expect(counter).to_have_text("count 7")
    counter.click()
    expect(counter).to_have_text("count 8")


def test_its_model_tells_of_changes_alone_and_no_more_once_nobody_listens(page):
    log = page.locator("output.counter-log")
    page.locator("button.counter").click()
    expect(log).to_have_text("change:count 8, change")
    page.locator("button.same").click()
    expect(log).to_have_text("change:count 8, change")
    page.locator("button.stop").click()
    page.locator("button.counter").click()
    expect(log).to_have_text("change:count 8, change")


def test_a_page_without_widgets_loads_nothing_for_them(built):
    assert "figure_host.js" in built.page("chapters/1_04_widgets.html")
    assert "figure_host.js" not in built.page("chapters/1_02_numbers.html")
    assert "widget-state" not in built.page("chapters/1_04_widgets.html")


def take(view: str, models: dict) -> nodes.document:
    """Let the extension take a page that shows one view of some models."""
    state = {"ipywidgets_state": (None, {"body": json.dumps({"state": models})})}
    env = SimpleNamespace(docname="page", nb_metadata={"page": {"js_files": state}})
    page = new_document("page.ipynb")
    page += nodes.paragraph("", "", nodes.raw("", view, format="html"))
    figure_pages.take_widgets(SimpleNamespace(env=env), page)
    assert state == {}
    return page


VIEW = f'{figure_pages.VIEW}{{"model_id": "a"}}</script>'


def test_a_widget_without_a_module_of_its_own_is_a_warning(caplog):
    page = take(VIEW, {"a": {"model_name": "IntSliderModel", "state": {"value": 3}}})
    assert "IntSliderModel cannot live in a page" in caplog.text
    assert list(page.findall(figure_pages.Mount)) == list(page.findall(nodes.raw)) == []


def test_traits_stand_in_the_page_so_that_no_text_ends_the_script():
    traits = {"_esm": "", "_anywidget_id": "x.Thing", "layout": "", "text": "</script>ü"}
    [mount] = take(VIEW, {"a": {"state": traits}}).findall(figure_pages.Mount)
    assert mount.name == "Thing"
    assert mount.traits() == r'{"text":"\u003c/script>ü"}'
    assert json.loads(mount.traits()) == {"text": "</script>ü"}
