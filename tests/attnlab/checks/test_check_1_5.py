"""What is checked of exercise 1.5 alone; see `test_checks` for its right and wrong answers."""

import pytest
from exercise_1_5.right import loglog
from exercise_1_5.wrong import WRONG_MEASURED
from whole import differing

from attnlab.checks import check_1_5
from attnlab.checks.check_1_5.cases import fit
from nbmark.graded import CheckFailed


@pytest.mark.parametrize(("measured", "cause", "words"), WRONG_MEASURED[2:])
def test_a_figure_is_not_compared_with_measurements_that_cannot_be_read(measured, cause, words):
    if cause != "exchanged":
        with pytest.raises(CheckFailed) as caught:
            check_1_5.shows_both_curves(loglog(), measured)
        assert (caught.value.cause, words in " ".join(str(caught.value).split())) == (cause, True)


def test_what_is_recorded_of_the_source_s_sizes_has_exponents_near_2_and_1():
    assert fit(check_1_5.SIZES, check_1_5.RECORDED["naive"]) == pytest.approx(1.944, abs=1e-3)
    assert fit(check_1_5.SIZES, check_1_5.RECORDED["fused"]) == pytest.approx(1.0)


def test_points_add_up_to_those_of_the_exercise():
    assert sum(check_1_5.exercise.points.values()) == 10


def test_each_mistake_costs_what_the_table_says(shown):
    assert differing("1_5") == {}
