from fractions import Fraction

import numpy as np
import pytest
import torch
from nbformat import read

from attnlab.checks import check_1_1
from nbmark.answers import SEED
from nbmark.graded import CheckFailed, NotAttempted

ROOT = 2**0.5
Q = np.array([[1.0, 0.0], [0.0, 1.0]])
K = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
V = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def weights(divisor, axis=-1):
    e = np.exp(Q @ K.T / divisor)
    return e / e.sum(axis=axis, keepdims=True)


def entropies(divisor):
    p = weights(divisor)
    return -(p * np.log(p)).sum(axis=1)


W, W_SCALED = weights(1), weights(ROOT)
O, O_SCALED = W @ V, W_SCALED @ V
H, H_SCALED = entropies(1), entropies(ROOT)

CHECKS = {
    "weights_unscaled": check_1_1.weights_without_scale,
    "weights_scaled": check_1_1.weights_with_scale,
    "output_unscaled": check_1_1.output_without_scale,
    "output_scaled": check_1_1.output_with_scale,
    "entropy_unscaled": check_1_1.entropy_without_scale,
    "entropy_scaled": check_1_1.entropy_with_scale,
}
TRUTH = dict(zip(CHECKS, (W, W_SCALED, O, O_SCALED, H, H_SCALED), strict=True))

WRITTEN = {
    "NumPy": lambda x: x,
    "float32": lambda x: x.astype(np.float32),
    "lists": lambda x: x.tolist(),
    "tuples": lambda x: tuple(map(tuple, x)) if x.ndim == 2 else tuple(x),
    "torch": torch.tensor,
    "torch with gradient": lambda x: torch.tensor(x, requires_grad=True),
    "three decimals": lambda x: np.round(x, 3).tolist(),
    "two decimals": lambda x: np.round(x, 2).tolist(),
    "fractions": lambda x: np.vectorize(lambda v: Fraction(round(1000 * v), 1000), [object])(x),
    "a list of arrays": list,
    "a list of tensors": lambda x: list(torch.tensor(x)),
}

# name, what was written, cause, words of the message
WRONG = [
    ("weights_unscaled", W_SCALED, "scaled_here", "not divided by anything"),
    ("weights_unscaled", weights(2), "scale_wrong_d", "divided by 2"),
    ("weights_unscaled", weights(1, axis=0), "softmax_axis", "each column"),
    ("weights_unscaled", weights(1, axis=None), "softmax_both_axes", "whole table"),
    ("weights_unscaled", Q @ K.T, "no_softmax", "scores"),
    ("weights_unscaled", np.exp(Q @ K.T), "not_normalised", "exponentials"),
    ("weights_unscaled", [[0.5, 0, 0.5], [0, 0.5, 0.5]], "no_exponential", "exponential"),
    ("weights_unscaled", W.T, "transposed", "swapped"),
    ("weights_unscaled", W[::-1], "rows_swapped", "query 1"),
    ("weights_unscaled", [[0.422, 0.212, 0.366], [0.155, 0.422, 0.422]], "value", "Row 1 of"),
    ("weights_unscaled", [[0.155, 0.422, 0.155], [0.155, 0.422, 0.422]], "row_sums", "sum to 1"),
    ("weights_unscaled", [[1.2, 3], [0.4]], "no_numbers", "list of lists"),
    (
        "weights_unscaled",
        [[0, 422, 0, 155, 0, 422], [0, 155, 0, 422, 0, 422]],
        "decimal_comma",
        "with a point",
    ),
    ("weights_unscaled", "0.422", "wrong_shape", "(2, 3)"),
    ("weights_unscaled", W.ravel(), "wrong_shape", "3 weights"),
    ("weights_unscaled", W * np.nan, "not_finite", "nan"),
    ("weights_scaled", W, "no_scale", "scale is missing"),
    ("weights_scaled", np.round(weights(2), 2), "scale_wrong_d", "√d_k"),
    ("weights_scaled", weights(1 / ROOT), "scale_inverted", "multiplied"),
    ("weights_scaled", W / ROOT, "scale_after_softmax", "before the softmax"),
    ("weights_scaled", weights(ROOT, axis=0), "softmax_axis", "own row"),
    ("weights_scaled", [[40.1, 19.8, 40.1], [19.8, 40.1, 40.1]], "percentages", "by 100"),
    ("weights_scaled", W_SCALED[0], "one_row", "two queries"),
    ("weights_scaled", W_SCALED[:1], "one_row", "two queries"),
    ("output_unscaled", O_SCALED, "scaled_here", "with the scale"),
    ("output_unscaled", O.T, "transposed", "swapped"),
    ("output_unscaled", Q @ K.T @ V, "no_softmax", "softmax"),
    ("output_unscaled", np.exp(Q @ K.T) @ V, "not_normalised", "own row"),
    ("output_unscaled", W @ K, "keys_for_values", "rows of K"),
    ("output_unscaled", [[3, 4], [3.9, 4.5]], "value", "Row 2"),
    ("output_unscaled", [[3.1, 4], [3.9, 4.5]], "value", "Both rows"),
    ("output_scaled", O, "no_scale", "scale is missing"),
    ("output_scaled", weights(2) @ V, "scale_wrong_d", "√d_k"),
    ("output_scaled", [3, 4], "one_row", "two queries"),
    ("output_scaled", weights(ROOT, axis=0) @ V, "softmax_axis", "each column"),
    (
        "output_scaled",
        np.exp(Q @ K.reshape(2, 3)) @ V / np.exp(Q @ K.reshape(2, 3)).sum(1, keepdims=True),
        "k_not_transposed",
        "not transposed",
    ),
    ("entropy_unscaled", H / np.log(2), "bits", "base e"),
    ("entropy_unscaled", H_SCALED, "scaled_here", "weights behind it"),
    ("entropy_unscaled", -H, "wrong_sign", "never negative"),
    ("entropy_unscaled", H[0], "one_number", "each of the two rows"),
    ("entropy_unscaled", H.sum(), "rows_added", "both rows"),
    ("entropy_unscaled", -np.log(W).sum(axis=1), "no_factor", "-p log p"),
    ("entropy_unscaled", -W * np.log(W), "not_summed", "Add up each row"),
    ("entropy_unscaled", -(W * np.log(W)).sum(axis=0), "columns", "Add up each row"),
    ("entropy_scaled", H, "no_scale", "scale is missing"),
    ("entropy_scaled", H_SCALED / np.log(10), "base_ten", "base 10"),
    ("entropy_scaled", H_SCALED / np.log(3), "relative", "log 3"),
    ("entropy_scaled", np.exp(H_SCALED), "exponentiated", "Leave out"),
    ("entropy_scaled", entropies(2), "scale_wrong_d", "√d_k"),
    ("entropy_scaled", [1.05, 1.3], "value", "Row 2"),
]


@pytest.fixture(params=["0", "1", "2", "12345"])
def _seed(request, monkeypatch):
    monkeypatch.setenv(SEED, request.param)


@pytest.mark.usefixtures("_seed")
@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
@pytest.mark.parametrize("name", CHECKS)
def test_the_right_numbers_pass_however_they_are_written(name, written, capsys):
    CHECKS[name](written(TRUTH[name]))
    assert capsys.readouterr().err == ""


def test_numbers_that_follow_from_weights_of_two_decimals_pass():
    for axis, divisor in enumerate((1, ROOT)):
        rounded = np.round(weights(divisor), 2)
        output, entropy = rounded @ V, -(rounded * np.log(rounded)).sum(axis=1)
        CHECKS[list(CHECKS)[2 + axis]](output)
        CHECKS[list(CHECKS)[4 + axis]](entropy.reshape(2, 1))


@pytest.mark.usefixtures("_seed")
@pytest.mark.parametrize(("name", "written", "cause", "words"), WRONG)
def test_a_wrong_answer_fails_with_its_cause(name, written, cause, words):
    with pytest.raises(CheckFailed) as caught:
        CHECKS[name](written)
    assert caught.value.cause == cause
    assert words in caught.value.message
    assert f"`{name}`" in caught.value.message


@pytest.mark.parametrize("untouched", [None, ..., [[None] * 3, [None] * 3], [[0.4, 0.2, ...]] * 2])
def test_what_is_not_filled_in_is_not_attempted(untouched):
    with pytest.raises(NotAttempted):
        check_1_1.weights_without_scale(untouched)


def test_no_message_gives_the_right_numbers_away():
    for name, written, *_ in WRONG:
        with pytest.raises(CheckFailed) as caught:
            CHECKS[name](written)
        said = caught.value.message
        assert not [n for n in np.unique(TRUTH[name].round(3)) if n % 1 and str(n)[:5] in said]


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
    calls = {f"check_1_1.{check.__name__}({name})": check for name, check in CHECKS.items()}
    points = {source: c.points for source, c in cells.items() if c.grade and not c.solution}
    own = check_1_1.exercise.points
    assert points == {call: own[check.__name__] for call, check in calls.items()}
    assert sum(points.values()) == 8
