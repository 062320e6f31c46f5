"""What one mistake costs over a whole exercise: the table in costs.md, worked out again."""

import pytest
from exercise_1_3.wrong import WRONG
from test_checks import MODULE, NUMBERS
from whole import differing, listed

from attnlab.checks import check_1_3

ELSEWHERE = {"1_5"}  # what measures time stands with its own tests


@pytest.fixture(autouse=True)
def _no_pictures(monkeypatch):
    monkeypatch.setattr("attnlab.plotting.display", lambda *args, **options: None)


@pytest.mark.parametrize("number", [n for n in NUMBERS if n not in ELSEWHERE])
def test_each_mistake_costs_what_the_table_says(number, shown):
    assert differing(number) == {}


@pytest.mark.parametrize("number", NUMBERS)
def test_the_twenty_most_common_mistakes_cost_a_third_at_most_or_let_nothing_work(number):
    rows = listed(number)
    assert len({(check, label) for check, label, *_ in rows}) == len(rows) >= 20
    assert {check for check, *_ in rows} <= set(MODULE[number].exercise.points)
    for check, label, lost, total, why in rows:
        assert 3 * lost <= total or why, (check, label)


def test_what_was_found_before_is_told_with_the_points(shown):
    check_1_3.masks(WRONG["matches_reference"]["no scale"][0])
    assert "What the second check found is taken as given" in " ".join(
        shown[-1]["text/plain"].split()
    )
