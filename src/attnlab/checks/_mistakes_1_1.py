"""What known mistakes make of exercise 1.1: each is worked out from the formula it stands for."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from attnlab.reference import softmax

Q = np.array([[1.0, 0.0], [0.0, 1.0]])  # (S_q, d_k)
K = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])  # (S_k, d_k)
V = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])  # (S_k, d_v)
PLAIN, ROOT = 1.0, np.sqrt(2.0)  # what scores are divided by without and with the scale

BY_ROW = "Divide each exponential by the sum of its own row."
NO_SOFTMAX = "these are the scores. Turn each row into weights with a softmax."
NO_EXPONENTIAL = "you divided the scores by their sum. Take the exponential of each score first."
TRANSPOSED = "rows and columns are swapped. Give one row for each query, one column for each key."
K_RESHAPED = "K is not transposed. Row i, column j is query i times key j, which is row j of K."


class Mistake(NamedTuple):
    """A known mistake and the values that it leads to."""

    cause: str
    values: np.ndarray
    message: str


def entropy(weights: np.ndarray) -> np.ndarray:
    """Give the entropy of each row, in nats."""
    return -(weights * np.log(weights)).sum(axis=-1)


def wrong_weights(divisor: float) -> Iterator[Mistake]:
    """Give what known mistakes make of the weights."""
    scores, right = Q @ K.T, softmax(Q @ K.T / divisor)
    yield from _wrong_scales(divisor)
    for own in (divisor, PLAIN if divisor == ROOT else ROOT):
        e = np.exp(scores / own)  # (S_q, S_k)
        yield Mistake("softmax_axis", e / e.sum(axis=0), "you normalised each column. " + BY_ROW)
        yield Mistake("softmax_both_axes", e / e.sum(), "the whole table sums to 1. " + BY_ROW)
        yield Mistake("no_softmax", scores / own, NO_SOFTMAX)
        yield Mistake("not_normalised", e, "these are the exponentials. " + BY_ROW)
        yield Mistake("transposed", softmax(scores / own).T, TRANSPOSED)
        yield Mistake("k_not_transposed", softmax(Q @ K.reshape(2, 3) / own), K_RESHAPED)
    yield Mistake("no_exponential", scores / scores.sum(axis=1, keepdims=True), NO_EXPONENTIAL)
    yield Mistake("rows_swapped", right[::-1], "the two rows are swapped. Row 1 is for query 1.")
    yield Mistake("percentages", 100 * right, "these are percentages. Divide by 100.")
    for row in (*right, right[:1], right[1:]):
        yield Mistake("one_row", row, "this is one row. Give one for each of the two queries.")


def _wrong_scales(divisor: float) -> Iterator[Mistake]:
    """Give the weights that follow from another factor before the softmax."""
    other = PLAIN if divisor == ROOT else ROOT
    said = "the scale is missing. Divide the scores by √d_k = √2 before the softmax."
    if divisor == PLAIN:
        said = "these are the numbers with the scale. Here the scores are not divided by anything."
    swapped = "no_scale" if divisor == ROOT else "scaled_here"
    yield Mistake(swapped, softmax(Q @ K.T / other), said)
    said = "you divided by d_k = 2, or by its root twice. Divide by √d_k = 1.414, once."
    if divisor == PLAIN:
        said = "the scores are divided by 2. Here they are not divided by anything."
    yield Mistake("scale_wrong_d", softmax(Q @ K.T / 2), said)
    said = "the scores are multiplied by √d_k. "
    said += "Here they are taken as they are." if divisor == PLAIN else "Divide them by it."
    yield Mistake("scale_inverted", softmax(Q @ K.T * ROOT), said)
    scaled_late = softmax(Q @ K.T) / ROOT
    yield Mistake("scale_after_softmax", scaled_late, "the scale belongs before the softmax.")


def wrong_outputs(divisor: float) -> Iterator[Mistake]:
    """Give what known mistakes make of the output."""
    weights = softmax(Q @ K.T / divisor)
    right = weights @ V  # (S_q, d_v)
    yield Mistake("transposed", right.T, "rows and columns are swapped. Row 1 is for query 1.")
    yield Mistake("keys_for_values", weights @ K, "you mixed the rows of K. Mix those of V.")
    for row in (*right, right[:1], right[1:]):
        yield Mistake("one_row", row, "this is one row. Give one for each of the two queries.")
    for mistake in wrong_weights(divisor):
        if mistake.values.shape == weights.shape:
            said = f"the weights behind it are wrong: {mistake.message}"
            yield Mistake(mistake.cause, mistake.values @ V, said)


def wrong_entropies(divisor: float) -> Iterator[Mistake]:
    """Give what known mistakes make of the entropies."""
    p = softmax(Q @ K.T / divisor)  # (S_q, S_k)
    right = entropy(p)
    yield Mistake("bits", right / np.log(2), "these are bits. Take the logarithm to base e.")
    yield Mistake("base_ten", right / np.log(10), "this is base 10. Take the logarithm to base e.")
    yield Mistake("wrong_sign", -right, "an entropy is never negative. It is minus the sum.")
    yield Mistake("relative", right / np.log(3), "you divided by log 3. Leave that out.")
    yield Mistake("exponentiated", np.exp(right), "this is e to the entropy. Leave out the e.")
    yield Mistake("no_factor", -np.log(p).sum(axis=1), "weigh each log p with its p: -p log p.")
    yield Mistake("not_summed", -p * np.log(p), "these are the terms -p log p. Add up each row.")
    yield Mistake("columns", -(p * np.log(p)).sum(axis=0), "you added up columns. Add up each row.")
    yield Mistake("one_number", right[0], "this is one number. Give one for each of the two rows.")
    yield Mistake("rows_added", right.sum(), "you added both rows. Give one number for each row.")
    for mistake in wrong_weights(divisor):
        if mistake.values.shape == p.shape and (mistake.values > 0).all():
            said = f"the weights behind it are wrong: {mistake.message}"
            yield Mistake(mistake.cause, entropy(mistake.values), said)
