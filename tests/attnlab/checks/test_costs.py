"""What one mistake costs over a whole exercise: the table in CONTRIBUTING.md, worked out again."""

import re

import pytest
from exercise_1_3.wrong import WRONG

from attnlab.checks import check_1_3
from nbmark.graded import CheckFailed

ANSWERS = {label: answer for answers in WRONG.values() for label, (answer, *_) in answers.items()}


@pytest.fixture
def table(request):
    text = request.config.rootpath.joinpath("CONTRIBUTING.md").read_text(encoding="utf-8")
    return re.findall(r"^\| 1\.3 \| ([^|]+?) \| (\d+) of (\d+) \|", text, re.MULTILINE)


def cost(function):
    lost = 0
    for check, points in check_1_3.exercise.points.items():
        try:
            getattr(check_1_3, check)(function)
        except CheckFailed:
            lost += points
    return lost


def test_each_mistake_costs_what_the_table_says_and_a_third_at_most(table, shown, monkeypatch):
    monkeypatch.setattr("attnlab.plotting.display", lambda *args, **options: None)
    assert len(table) >= 20
    total = sum(check_1_3.exercise.points.values())
    for label, lost, of in table:
        assert (cost(ANSWERS[label]), total) == (int(lost), int(of)), label
        assert 3 * int(lost) <= total or label in {"no softmax", "K not transposed", "star for @"}


def test_what_was_found_before_is_told_with_the_points(shown):
    check_1_3.masks(ANSWERS["no scale"])
    assert "What the second check found is taken as given" in " ".join(
        shown[-1]["text/plain"].split()
    )
