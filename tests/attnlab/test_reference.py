"""The oracle against numbers worked out by hand and a loop in plain Python."""

import math

import numpy as np
import pytest

from attnlab.reference import scaled_dot_product_attention, softmax

B, S_q, S_k, d_k, d_v = 2, 3, 5, 7, 11
EPS = np.finfo(np.float64).eps

# Exercise 1.1: the queries score 1, 0, 1 and 0, 1, 1 before scaling.
Q = [[1, 0], [0, 1]]
K = [[1, 0], [0, 1], [1, 1]]
V = [[1, 2], [3, 4], [5, 6]]


def loop_attention(Q, K, V):
    """Follow the formula one number at a time."""
    output = []
    for q in Q:
        scores = [sum(a * b for a, b in zip(q, k, strict=True)) / math.sqrt(len(q)) for k in K]
        exponentials = [math.exp(score) for score in scores]
        weights = [e / sum(exponentials) for e in exponentials]
        columns = zip(*V, strict=True)
        output.append([sum(w * v for w, v in zip(weights, c, strict=True)) for c in columns])
    return output


def test_weights_of_exercise_1_1_are_the_ones_worked_out_by_hand():
    e = math.exp(1 / math.sqrt(2))
    total = 2 * e + 1
    expected = [[e / total, 1 / total, e / total], [1 / total, e / total, e / total]]
    _, weights = scaled_dot_product_attention(Q, K, V)
    np.testing.assert_allclose(weights, expected, rtol=4 * EPS)
    np.testing.assert_allclose(weights[0], [0.401, 0.198, 0.401], atol=5e-4)


def test_output_of_exercise_1_1_is_the_one_worked_out_by_hand():
    e = math.exp(1 / math.sqrt(2))
    first = (1 + 3 * e + 5 * e) / (1 + 2 * e)
    output, _ = scaled_dot_product_attention(Q, K, V)
    np.testing.assert_allclose(output, [[3, 4], [first, first + 1]], rtol=4 * EPS)
    np.testing.assert_allclose(output[1], [3.407, 4.407], atol=5e-4)


def test_masked_weights_of_exercise_1_1_share_out_what_is_left():
    e = math.exp(1 / math.sqrt(2))
    mask = np.array([[True, True, False], [False, True, True]])
    _, weights = scaled_dot_product_attention(Q, K, V, mask)
    expected = [[e / (e + 1), 1 / (e + 1), 0], [0, 1 / 2, 1 / 2]]
    np.testing.assert_allclose(weights, expected, rtol=4 * EPS)


def test_output_equals_a_loop_in_plain_python():
    rng = np.random.default_rng(0)
    Q, K, V = (rng.normal(size=size) for size in ((S_q, d_k), (S_k, d_k), (S_k, d_v)))
    output, _ = scaled_dot_product_attention(Q, K, V)
    expected = loop_attention(Q.tolist(), K.tolist(), V.tolist())
    np.testing.assert_allclose(output, expected, rtol=0, atol=S_k * d_k * EPS)


def test_leading_dimensions_are_independent_of_each_other():
    rng = np.random.default_rng(1)
    Q, K, V = (rng.normal(size=(B, *size)) for size in ((S_q, d_k), (S_k, d_k), (S_k, d_v)))
    output, weights = scaled_dot_product_attention(Q, K, V)
    assert output.shape == (B, S_q, d_v)
    assert weights.shape == (B, S_q, S_k)
    for b in range(B):
        expected = loop_attention(Q[b].tolist(), K[b].tolist(), V[b].tolist())
        np.testing.assert_allclose(output[b], expected, rtol=0, atol=S_k * d_k * EPS)


def test_mask_broadcasts_over_queries_and_leading_dimensions():
    rng = np.random.default_rng(2)
    Q, K, V = (rng.normal(size=(B, *size)) for size in ((S_q, d_k), (S_k, d_k), (S_k, d_v)))
    keys = np.array([True, False, True, True, False])
    output, weights = scaled_dot_product_attention(Q, K, V, keys)
    expected, _ = scaled_dot_product_attention(Q, K[:, keys], V[:, keys])
    assert (weights[..., ~keys] == 0).all()
    np.testing.assert_allclose(output, expected, rtol=0, atol=S_k * EPS)


def test_fully_masked_query_gets_zeros():
    mask = np.array([[True, True, True], [False, False, False]])
    output, weights = scaled_dot_product_attention(Q, K, V, mask)
    np.testing.assert_array_equal(weights[1], [0, 0, 0])
    np.testing.assert_array_equal(output[1], [0, 0])
    np.testing.assert_allclose(output[0], [3, 4], rtol=4 * EPS)


@pytest.mark.parametrize("size", [1e4, -1e4, 1e300])
def test_softmax_survives_scores_whose_exponential_overflows(size):
    np.testing.assert_array_equal(softmax([size, size]), [0.5, 0.5])


def test_softmax_runs_along_the_last_axis():
    weights = softmax(np.log([[1.0, 3.0], [2.0, 2.0]]))
    np.testing.assert_allclose(weights, [[0.25, 0.75], [0.5, 0.5]], rtol=4 * EPS)


def test_float32_inputs_are_computed_with_in_float64():
    rng = np.random.default_rng(3)
    narrow = [rng.normal(size=(S_k, d_k)).astype(np.float32) for _ in range(3)]
    wide = [array.astype(np.float64) for array in narrow]
    results = (*scaled_dot_product_attention(*narrow), softmax(narrow[0]))
    expected = (*scaled_dot_product_attention(*wide), softmax(wide[0]))
    for result, same in zip(results, expected, strict=True):
        assert result.dtype == np.float64
        np.testing.assert_array_equal(result, same)


def test_queries_and_keys_without_width_are_refused():
    with pytest.raises(ValueError, match="width 0: a dot product needs d_k of at least 1"):
        scaled_dot_product_attention(np.zeros((3, 0)), np.zeros((5, 0)), np.zeros((5, 2)))


def test_inputs_stay_as_they_were():
    arrays = [np.array(array, dtype=np.float64) for array in (Q, K, V)]
    mask = np.array([[True, False, True], [False, False, False]])
    before = [array.copy() for array in (*arrays, mask)]
    scaled_dot_product_attention(*arrays, mask)
    softmax(arrays[0])
    for array, copy in zip((*arrays, mask), before, strict=True):
        np.testing.assert_array_equal(array, copy)
