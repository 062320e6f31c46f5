"""Wrong answers to exercise 1.1: what was written, its cause, and words of the message."""

import numpy as np
from exercise_1_1.right import (
    H_SCALED,
    O_SCALED,
    ROOT,
    W_SCALED,
    H,
    K,
    O,
    Q,
    V,
    W,
    entropies,
    weights,
)


def weights_of(scores):
    return np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)


def powers(base, divisor):
    return weights_of(np.log(base) * (Q @ K.T) / divisor)


WRONG = {
    "weights_without_scale": {
        "one decimal": (W.round(1), "too_few_decimals", "three decimals"),
        "one decimal or powers of two": (W.round(1), "too_few_decimals", "Or else: another number"),
        "the first of the best keys": (np.eye(3)[:2], "best_key", "every key a share"),
        "scaled here": (W_SCALED, "scaled_here", "not divided by anything"),
        "scale wrong d": (weights(2), "scale_wrong_d", "divided by 2"),
        "softmax axis": (weights(1, axis=0), "softmax_axis", "each column"),
        "softmax both axes": (weights(1, axis=None), "softmax_both_axes", "whole table"),
        "no softmax": (Q @ K.T, "no_softmax", "scores"),
        "not normalised": (np.exp(Q @ K.T), "not_normalised", "exponentials"),
        "no exponential": ([[0.5, 0, 0.5], [0, 0.5, 0.5]], "no_exponential", "exponential"),
        "transposed": (W.T, "transposed", "swapped"),
        "rows swapped": (W[::-1], "rows_swapped", "query 1"),
        "value": ([[0.422, 0.212, 0.366], [0.155, 0.422, 0.422]], "value", "Row 1 of"),
        "row sums": ([[0.155, 0.422, 0.155], [0.155, 0.422, 0.422]], "row_sums", "sum to 1"),
        "no numbers": ([[1.2, 3], [0.4]], "no_numbers", "list of lists"),
        "decimal comma": (
            [[0, 422, 0, 155, 0, 422], [0, 155, 0, 422, 0, 422]],
            "decimal_comma",
            "with a point",
        ),
        "wrong shape": ("0.422", "wrong_shape", "(2, 3)"),
        "wrong shape 2": (W.ravel(), "wrong_shape", "3 weights"),
        "not finite": (W * np.nan, "not_finite", "nan"),
    },
    "weights_with_scale": {
        "cut off": ([[0.40, 0.19, 0.40], [0.19, 0.40, 0.40]], "too_few_decimals", "rounded"),
        "powers of two": (powers(2, ROOT), "exponential_base", "e = 2.718"),
        "powers of ten": (powers(10, ROOT), "exponential_base", "2 or 10"),
        "logarithms": (np.log(W_SCALED), "log_softmax", "Leave the logarithm out"),
        "softmax twice": (weights_of(W_SCALED), "softmax_twice", "once"),
        "keys counted": (weights(3**0.5), "scale_other", "width of a key"),
        "whole percentages": ([[40, 20, 40], [20, 40, 40]], "percentages", "by 100"),
        "percent signs": ([["40.1%", "19.8%", "40.1%"]] * 2, "number_as_text", "'40.1%'"),
        "decimal commas as text": ([["0,401", "0,198", "0,401"]] * 2, "number_as_text", "point"),
        "the first query twice": (W_SCALED[[0, 0]], "one_query_dropped", "each by itself"),
        "no scale": (W, "no_scale", "scale is missing"),
        "scale wrong d": (np.round(weights(2), 2), "scale_wrong_d", "√d_k"),
        "scale inverted": (weights(1 / ROOT), "scale_inverted", "multiplied"),
        "scale after softmax": (W / ROOT, "scale_after_softmax", "before the softmax"),
        "softmax axis": (weights(ROOT, axis=0), "softmax_axis", "own row"),
        "percentages": ([[40.1, 19.8, 40.1], [19.8, 40.1, 40.1]], "percentages", "by 100"),
        "one row": (W_SCALED[0], "one_row", "two queries"),
        "one row 2": (W_SCALED[:1], "one_row", "two queries"),
    },
    "output_without_scale": {
        "one decimal": (O.round(1), "too_few_decimals", "three decimals"),
        "divided by the keys": (O / 3, "scale_in_output", "sum to 1 already"),
        "mean of the values": (np.tile(V.mean(0), (2, 1)), "unweighted", "its own weight"),
        "value of the best key": (V[:2], "best_value", "Mix all three"),
        "percent": (100 * O, "percentages", "by 100"),
        "scaled here": (O_SCALED, "scaled_here", "with the scale"),
        "transposed": (O.T, "transposed", "swapped"),
        "no softmax": (Q @ K.T @ V, "no_softmax", "softmax"),
        "not normalised": (np.exp(Q @ K.T) @ V, "not_normalised", "own row"),
        "keys for values": (W @ K, "keys_for_values", "rows of K"),
        "value": ([[3, 4], [3.9, 4.5]], "value", "Row 2"),
        "value 2": ([[3.1, 4], [3.9, 4.5]], "value", "Both rows"),
    },
    "output_with_scale": {
        "no scale": (O, "no_scale", "scale is missing"),
        "scale wrong d": (weights(2) @ V, "scale_wrong_d", "√d_k"),
        "one row": ([3, 4], "one_row", "two queries"),
        "softmax axis": (weights(ROOT, axis=0) @ V, "softmax_axis", "each column"),
        "k not transposed": (
            np.exp(Q @ K.reshape(2, 3)) @ V / np.exp(Q @ K.reshape(2, 3)).sum(1, keepdims=True),
            "k_not_transposed",
            "not transposed",
        ),
    },
    "entropy_without_scale": {
        "one decimal": (H.round(1), "too_few_decimals", "three decimals"),
        "largest weight": (W.max(1), "not_entropy", "sum of -p log p"),
        "standard deviation": (W.std(1), "not_entropy", "sum of -p log p"),
        "sum of squares": ((W**2).sum(1), "not_entropy", "sum of squares"),
        "mean of the terms": (H / 3, "averaged", "Add the terms"),
        "decimal comma in text": (["1,017", "1,017"], "number_as_text", "with a point"),
        "bits": (H / np.log(2), "bits", "base e"),
        "scaled here": (H_SCALED, "scaled_here", "weights behind it"),
        "wrong sign": (-H, "wrong_sign", "never negative"),
        "one number": (H[0], "one_number", "each of the two rows"),
        "rows added": (H.sum(), "rows_added", "both rows"),
        "no factor": (-np.log(W).sum(axis=1), "no_factor", "-p log p"),
        "not summed": (-W * np.log(W), "not_summed", "Add up each row"),
        "columns": (-(W * np.log(W)).sum(axis=0), "columns", "Add up each row"),
    },
    "entropy_with_scale": {
        "no scale": (H, "no_scale", "scale is missing"),
        "base ten": (H_SCALED / np.log(10), "base_ten", "base 10"),
        "relative": (H_SCALED / np.log(3), "relative", "log 3"),
        "exponentiated": (np.exp(H_SCALED), "exponentiated", "Leave out"),
        "of the exponentials": (
            -(np.exp(Q @ K.T / ROOT) * (Q @ K.T / ROOT)).sum(1),
            "of_scores",
            "sum to 1",
        ),
        "scale wrong d": (entropies(2), "scale_wrong_d", "√d_k"),
        "value": ([1.05, 1.3], "value", "Row 2"),
    },
}

PASS_BEFORE = False
UNTOLD = set()
