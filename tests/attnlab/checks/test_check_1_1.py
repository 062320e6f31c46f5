"""What is checked of exercise 1.1 alone; see `test_checks` for its right and wrong answers."""

import numpy as np
import pytest
from exercise_1_1.right import ROOT, TRUTH, W_SCALED, V, weights
from exercise_1_1.wrong import WRONG
from nbformat import read

from attnlab.checks import check_1_1
from nbmark.graded import CheckFailed

NAMES = {
    "weights_without_scale": "weights_unscaled",
    "weights_with_scale": "weights_scaled",
    "output_without_scale": "output_unscaled",
    "output_with_scale": "output_scaled",
    "entropy_without_scale": "entropy_unscaled",
    "entropy_with_scale": "entropy_scaled",
}


def test_numbers_that_follow_from_weights_of_two_decimals_pass():
    for axis, divisor in enumerate((1, ROOT)):
        rounded = np.round(weights(divisor), 2)
        output, entropy = rounded @ V, -(rounded * np.log(rounded)).sum(axis=1)
        getattr(check_1_1, list(NAMES)[2 + axis])(output)
        getattr(check_1_1, list(NAMES)[4 + axis])(entropy.reshape(2, 1))


def test_a_message_names_the_variable_and_never_gives_the_right_numbers_away():
    for check, answers in WRONG.items():
        for written, *_ in answers.values():
            with pytest.raises(CheckFailed) as caught:
                getattr(check_1_1, check)(written)
            said = caught.value.message
            assert f"`{NAMES[check]}`" in said
            numbers = np.unique(TRUTH[check].round(3))
            assert not [n for n in numbers if n % 1 and str(n)[:5] in said]


def test_answers_to_two_and_to_four_decimals_are_recorded_as_the_same(monkeypatch):
    kept = []
    monkeypatch.setattr(check_1_1, "record", lambda name, value: kept.append((name, value)))
    for decimals in (2, 4):
        check_1_1.weights_with_scale(W_SCALED.round(decimals))
    assert kept[0][0] == "weights_scaled"
    np.testing.assert_allclose(kept[0][1], W_SCALED)
    np.testing.assert_allclose(kept[1][1], W_SCALED)


def test_points_are_those_of_the_notebook(request):
    notebook = read(request.config.rootpath / "solutions" / "1_1_by_hand.ipynb", as_version=4)
    cells = {c.source: c.metadata.nbgrader for c in notebook.cells if "nbgrader" in c.metadata}
    points = {source: c.points for source, c in cells.items() if c.grade and not c.solution}
    for check, name in NAMES.items():
        weights = "" if "weights" in name else f", weights_{name.partition('_')[2]}"
        worth = points[f"check_1_1.{check}({name}{weights})"]  # with what it was made from
        assert worth == check_1_1.exercise.points[check]
    assert sum(points.values()) == 8
