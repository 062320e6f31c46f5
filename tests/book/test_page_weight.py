"""What each page weighs before a reader does anything; `make bench-pages` times them too."""

import pytest
from files import ROOT
from page_weight import KILO, Weight, limit, pages, weigh


@pytest.mark.parametrize("page", pages(ROOT))
def test_a_page_weighs_no_more_than_it_may(browser, book, serve, page, record_property):
    weight = weigh(browser, book, serve(book), page)
    record_property("bytes", weight.total)
    heaviest = sorted(weight.files.items(), key=lambda item: -item[1])[:8]
    assert weight.total <= limit(page, weight), heaviest


def test_a_page_with_figures_may_weigh_more():
    few, many = Weight({"a": 1}, figures=False), Weight({"a": 2, "b": 3}, figures=True)
    assert (limit("x.html", few), limit("x.html", many)) == (250 * KILO, 350 * KILO)
    assert limit("chapters/1_06_multi_head.html", many) == 450 * KILO
    assert many.total == 5
