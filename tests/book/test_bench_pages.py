"""The table of `make bench-pages`: what it sees of a page, and which bars it calls missed."""

import pytest
from bench_pages import BARS, best, longest_task, missed, open_slowly, row
from page_weight import KILO, Weight

LIGHT = Weight({"a.html": 100 * KILO}, figures=True)
GOOD = {"equation": 1.5, "figure": None, "shift": 0.0, "task": 150.0}


def test_a_page_that_keeps_within_the_bars_misses_none():
    assert missed("a.html", LIGHT, GOOD) == []
    assert "MISSED" not in row("a.html", LIGHT, GOOD, [])


@pytest.mark.parametrize("name", BARS)
def test_each_bar_can_be_missed(name):
    seen = GOOD | {name: BARS[name] * 1.01}
    assert missed("a.html", LIGHT, seen) == [name]
    assert row("a.html", LIGHT, seen, [name]).endswith(f"MISSED: {name}")


def test_a_heavy_page_misses_its_bar():
    heavy = Weight({"a.html": 300 * KILO, "a.js": 51 * KILO}, figures=True)
    assert missed("a.html", heavy, GOOD) == ["weight"]


def test_the_best_round_counts_and_what_a_page_lacks_stays_open():
    rounds = [
        {"equation": 2.5, "figure": None, "shift": 0.0},
        {"equation": 1.9, "figure": None, "shift": 0.2},
    ]
    assert best(rounds) == {"equation": 1.9, "figure": None, "shift": 0.0}


def test_a_slow_page_is_watched(browser, book, serve):
    address = f"{serve(book)}chapters/1_04_self_and_cross.html"
    seen = open_slowly(browser, address)
    assert seen["equation"] > 0.3  # two journeys over the line at least
    assert seen["figure"] > 0.3
    assert longest_task(browser, address) > 1
