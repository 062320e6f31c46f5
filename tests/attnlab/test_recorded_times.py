"""The times that pages draw: recorded ones where the book is built."""

import pytest

from attnlab.profiling import USE_OF_TIMES as USE
from attnlab.profiling import steady

TIMES = {"slow": [2.00004, 4.0], "fast": [1.0, 2.0]}
OTHERS = {"slow": [3.0, 5.0], "fast": [2.0, 1.0]}


@pytest.fixture
def record(tmp_path, monkeypatch):
    monkeypatch.setenv(USE, "record")
    path = tmp_path / "times.json"
    assert steady(path, "first", TIMES) == TIMES
    assert steady(path, "second", OTHERS) == OTHERS
    return path


def test_a_run_shows_its_own_times(record, monkeypatch):
    monkeypatch.delenv(USE)
    assert steady(record, "first", OTHERS) == OTHERS


def test_a_build_shows_the_recorded_times_in_the_order_of_the_curves(record, monkeypatch):
    monkeypatch.setenv(USE, "recorded")
    shown = steady(record, "first", OTHERS)
    assert shown == {"slow": [2.0, 4.0], "fast": [1.0, 2.0]}
    assert list(shown) == list(OTHERS)


@pytest.mark.parametrize("measured", [{"slow": [1.0, 2.0]}, {"slow": [1.0], "fast": [1.0, 2.0]}])
def test_a_build_takes_no_record_of_other_curves(record, monkeypatch, measured):
    monkeypatch.setenv(USE, "recorded")
    with pytest.raises(LookupError, match="make times"):
        steady(record, "first", measured)
    with pytest.raises(LookupError, match="make times"):
        steady(record.with_name("none.json"), "first", TIMES)
