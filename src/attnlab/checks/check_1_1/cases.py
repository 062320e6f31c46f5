"""The numbers of exercise 1.1, and what follows from them with and without the scale."""

from typing import NamedTuple

import numpy as np

from attnlab.reference import softmax

Q = np.array([[1.0, 0.0], [0.0, 1.0]])  # (S_q, d_k)
K = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])  # (S_k, d_k)
V = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])  # (S_k, d_v)
ROOT = np.sqrt(2.0)  # of d_k


class Case(NamedTuple):
    """What is right for one divisor of the scores."""

    scores: np.ndarray  # (S_q, S_k), divided
    weights: np.ndarray  # (S_q, S_k)
    output: np.ndarray  # (S_q, d_v)
    terms: np.ndarray  # (S_q, S_k), what the entropy sums up
    entropy: np.ndarray  # (S_q,), in nats


def terms_of(weights: np.ndarray) -> np.ndarray:
    """Give what the entropy of each row sums up."""
    return -weights * np.log(weights)


def case_of(divisor: float) -> Case:
    """Work out what follows where the scores are divided by this."""
    scores = Q @ K.T / divisor
    weights = softmax(scores)
    terms = terms_of(weights)
    return Case(scores, weights, weights @ V, terms, terms.sum(axis=-1))


PLAIN, SCALED = case_of(1), case_of(ROOT)
BOTH = PLAIN.scores, SCALED.scores
