"""What a page may weigh, and what one weighs where the table of `make bench-pages` asks."""

from page_weight import KILO, Weight, limit, weigh


def test_a_page_weighs_what_it_asks_for(browser, book, serve):
    weight = weigh(browser, book, serve(book), "index.html")
    assert KILO < weight.files["index.html"] < weight.total
    assert any(name.endswith(".css") for name in weight.files)


def test_a_page_with_figures_may_weigh_more():
    few, many = Weight({"a": 1}, figures=False), Weight({"a": 2, "b": 3}, figures=True)
    assert (limit("x.html", few), limit("x.html", many)) == (250 * KILO, 350 * KILO)
    assert limit("chapters/1_06_multi_head.html", many) == 450 * KILO
    assert many.total == 5
