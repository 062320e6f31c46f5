"""Widgets in a page that no kernel serves."""

import pytest
from visits import visit


@pytest.fixture(params=["http", "disk"])
def page(request, browser, serve, tiny):
    """Open the page with widgets, and afterwards look at what it asked and complained of."""
    home = serve(tiny.html) if request.param == "http" else f"{tiny.html.as_uri()}/"
    seen = visit(browser, home, "chapters/1_04_widgets.html")
    yield seen.page
    assert seen.outside == []
    assert seen.problems == []
    seen.page.context.close()


def test_a_slider_moves_the_number_that_it_is_linked_to(page):
    handle = page.locator(".noUi-handle")
    handle.wait_for(timeout=20_000)
    number = page.locator(".widget-text input")
    assert number.input_value() == "3"
    handle.press("ArrowRight")
    assert number.input_value() == "4"
    page.locator(".widget-slider label mjx-container").wait_for(timeout=10_000)


def test_a_widget_with_its_own_script_works(page):
    counter = page.locator("button.counter")
    counter.wait_for(timeout=20_000)
    assert counter.text_content() == "count 7"
    counter.click()
    assert counter.text_content() == "count 8"


def test_a_page_without_widgets_does_not_load_their_manager(tiny):
    assert "widgets.js" in tiny.page("chapters/1_04_widgets.html")
    assert "widgets.js" not in tiny.page("chapters/1_02_numbers.html")
