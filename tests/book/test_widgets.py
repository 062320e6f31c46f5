"""Widgets in a page that no kernel serves."""

import pytest
from playwright.sync_api import expect
from visits import visit


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


def test_a_slider_moves_the_number_that_it_is_linked_to(page):
    handle = page.locator(".noUi-handle")
    handle.wait_for(timeout=20_000)
    number = page.locator(".widget-text input")
    expect(number).to_have_value("3")
    handle.press("ArrowRight")
    expect(number).to_have_value("4")
    page.locator(".widget-slider label mjx-container").wait_for(timeout=10_000)


def test_a_widget_with_its_own_script_works(page):
    counter = page.locator("button.counter")
    counter.wait_for(timeout=20_000)
    expect(counter).to_have_text("count 7")
    counter.click()
    expect(counter).to_have_text("count 8")


def test_a_page_without_widgets_does_not_load_their_manager(built):
    assert "widgets.js" in built.page("chapters/1_04_widgets.html")
    assert "widgets.js" not in built.page("chapters/1_02_numbers.html")
