"""What `make bench-pages` measures of the model in the page, and which bars it calls missed."""

import pytest
from bench_live import BARS, TEXT, row, sentence


@pytest.mark.parametrize("name", BARS)
def test_each_bar_can_be_missed(name):
    assert row(name, BARS[name]).endswith("1.00")
    assert row(name, 1.1 * BARS[name]).endswith("1.10  MISSED")


@pytest.mark.parametrize("words", [16, 62])
def test_the_sentences_are_as_long_as_they_say_and_differ_in_their_last_word(words):
    first, second = (sentence(words, last).split() for last in ("home", "again"))
    assert len(first) == len(second) == words
    assert (first[:-1], first[-1]) == (second[:-1], "home")
    assert first[0] == TEXT.split()[0]
