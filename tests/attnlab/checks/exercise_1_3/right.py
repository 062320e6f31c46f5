"""Right answers to exercise 1.3, as different students write them."""

import functools
import math
from collections import namedtuple

import numpy as np
from answers import EVERY_SEED, stub
from IPython.display import display
from numpy import exp

from attnlab.checks import check_1_3


def broadcasting(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -2, -1) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    largest = scores.max(axis=-1, keepdims=True)
    e = np.exp(scores - np.where(np.isfinite(largest), largest, 0))
    total = e.sum(axis=-1, keepdims=True)
    weights = e / np.where(total > 0, total, 1)
    return weights @ V, weights


def python_loops(Q, K, V, mask=None):
    S_q, S_k, d_v = len(Q), len(K), len(V[0])
    if mask is not None:
        mask = np.broadcast_to(mask, (S_q, S_k))
    weights = [[0.0] * S_k for _ in range(S_q)]
    for i in range(S_q):
        row = {}
        for j in range(S_k):
            if mask is None or mask[i][j]:
                row[j] = sum(a * b for a, b in zip(Q[i], K[j], strict=True)) / math.sqrt(len(K[j]))
        if not row:
            continue
        top = max(row.values())
        total = sum(math.exp(s - top) for s in row.values())
        for j, s in row.items():
            weights[i][j] = math.exp(s - top) / total
    output = [[sum(w[j] * V[j][c] for j in range(S_k)) for c in range(d_v)] for w in weights]
    return np.array(output), np.array(weights)


def einsum(Q, K, V, mask=None):
    s = np.einsum("...id,...jd->...ij", Q, K) * K.shape[-1] ** -0.5
    allowed = np.ones_like(s, dtype=bool) if mask is None else np.broadcast_to(mask, s.shape)
    with np.errstate(divide="ignore"):
        s = s + np.log(allowed)
    top = np.max(s, axis=-1, keepdims=True, where=allowed, initial=-1e30)
    e = np.exp(s - top) * allowed
    w = np.divide(e, e.sum(-1, keepdims=True), out=np.zeros_like(e), where=e.any(-1, keepdims=True))
    return np.einsum("...ij,...jc->...ic", w, V), w


def single_precision(Q, K, V, mask=None):
    high = [array.astype(np.float64) for array in (Q, K, V)]
    output, weights = broadcasting(*high, mask)
    return output.astype(np.float32), weights.astype(np.float32)


def nan_to_num_at_the_end(Q, K, V, mask=None):
    scores = np.dot(Q, K.T) / np.sqrt(K.shape[1])
    if mask is not None:
        scores[~np.broadcast_to(mask, scores.shape)] = float("-inf")
    scores -= scores.max(axis=1, keepdims=True)  # warns, and gives NaN, where all are -inf
    weights = exp(scores)
    weights /= weights.sum(axis=1, keepdims=True)
    weights = np.nan_to_num(weights)
    return np.dot(weights, V), weights


def stand_in_with_empty_rows_zeroed(Q, K, V, mask=None):
    scores = (Q / Q.shape[-1] ** 0.25) @ (K / Q.shape[-1] ** 0.25).T
    if mask is not None:
        scores = scores + np.where(mask, 0, -1e9)
    e = np.exp(scores - scores.max(-1, keepdims=True))
    weights = e / e.sum(-1, keepdims=True)
    if mask is not None:
        weights = weights * np.any(mask, axis=-1, keepdims=True)
    return [weights @ V, weights]


def _log_sum_exp(scores):
    top = np.maximum(scores.max(-1, keepdims=True), -1e300)
    with np.errstate(divide="ignore"):
        return top + np.log(np.exp(scores - top).sum(-1, keepdims=True))


def log_sum_exp(Q, K, V, mask=None):
    scores = np.inner(Q, K) / np.sqrt(Q.shape[-1])
    scores = scores if mask is None else np.where(mask, scores, -np.inf)
    total = _log_sum_exp(scores)
    weights = np.exp(scores - np.where(np.isneginf(total), 0, total))
    return weights @ V, weights


def masked_array(Q, K, V, mask=None):
    s = Q @ K.T / np.sqrt(Q.shape[-1])
    s = np.ma.masked_array(s, np.zeros(s.shape, bool) if mask is None else ~(mask & (s == s)))
    e = np.ma.exp(s - s.max(axis=-1, keepdims=True))
    weights = (e / e.sum(axis=-1, keepdims=True)).filled(0.0)
    return weights @ V, weights


def row_by_row(Q, K, V, mask=None):
    def softmax(row):
        allowed = np.isfinite(row)
        out = np.zeros(len(row))
        if allowed.any():
            out[allowed] = np.exp(row[allowed] - row[allowed].max())
            out /= out.sum()
        return out

    scores = np.stack([K @ q for q in Q]) / np.sqrt(K.shape[1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = np.apply_along_axis(softmax, 1, scores)
    return np.vstack([w @ V for w in weights]), weights


Result = namedtuple("Result", "output weights")


class Attention:
    """An object that can be called, with a helper of its own."""

    def softmax(self, scores):
        top = scores.max(-1, keepdims=True)
        e = np.exp(scores - np.where(top == -np.inf, 0, top))
        return e / np.maximum(e.sum(-1, keepdims=True), 1e-300)

    def __call__(self, Q, K, V, mask=None):
        scores = Q @ K.T / np.sqrt(K.shape[-1])
        weights = self.softmax(scores if mask is None else np.where(mask, scores, -np.inf))
        return Result(weights @ V, weights)


def counted(function):
    """Decorate as a student who measures does."""

    @functools.wraps(function)
    def run(*args, **kwargs):
        run.calls += 1
        return function(*args, **kwargs)

    run.calls, run.__name__ = 0, "counted"
    return run


def single_precision_inside(Q, K, V, mask=None):
    Q, K, V = (array.astype(np.float32) for array in (Q, K, V))
    return broadcasting(Q, K, V, mask)


@np.errstate(all="ignore")
def matrices(Q, K, V, mask=None):
    Q, K, V = np.asmatrix(Q), np.asmatrix(K), np.asmatrix(V)
    scores = Q * K.T / np.sqrt(K.shape[1])
    if mask is not None:
        scores = np.asmatrix(np.where(mask, scores, -np.inf))
    e = np.exp(scores - scores.max(axis=1))
    weights = np.nan_to_num(e / e.sum(axis=1))
    return weights * V, weights


def shown_while_working(Q, K, V, mask=None):
    if Q.size == 0:
        display(Q)
    return broadcasting(Q, K, V, mask)


def documented(Q, K, V, mask=None):
    """torch.nn.functional does the same; see also attnlab."""
    # F.scaled_dot_product_attention in torch
    return broadcasting(Q, K, V, mask)


def one_query_at_a_time(Q, K, V, mask=None):
    """As in R: apply a function to each row."""
    allowed = (
        np.ones((len(Q), len(K)), bool) if mask is None else np.broadcast_to(mask, (len(Q), len(K)))
    )
    rows = [softmax_of_row(q @ K.T / K.shape[1] ** 0.5, a) for q, a in zip(Q, allowed, strict=True)]
    weights = np.vstack(rows)
    return weights.dot(V), weights


def softmax_of_row(row, allowed):
    e = np.zeros_like(row)
    if allowed.any():
        e[allowed] = np.exp(row[allowed] - row[allowed].max())
        e /= e.sum()
    return e


def mean_of_values_by_einsum(Q, K, V, mask=None):
    _, weights = broadcasting(Q, K, V, mask)
    return np.einsum("qk,kd->qd", weights, V, optimize=True), weights


def scaled_queries(Q, K, V, mask=None):
    """As in nn.MultiheadAttention: the scale on Q."""
    scores = np.matmul(Q * (1.0 / np.sqrt(Q.shape[1])), np.transpose(K))
    bias = np.zeros_like(scores)
    if mask is not None:
        bias = np.where(np.logical_not(mask), -np.inf, bias)
    scores = scores + bias
    top = np.amax(scores, axis=1)[:, None]
    top[top == -np.inf] = 0
    parts = np.exp(scores - top)
    total = np.sum(parts, axis=1)[:, np.newaxis]
    weights = np.divide(parts, total, where=total > 0, out=np.zeros_like(parts))
    return np.matmul(weights, V), weights


def any_order_by_name(Q, K, V, mask=None, *, scale=None):
    return broadcasting(V=V, K=K, Q=Q, mask=mask)


def one_more_than_the_largest(Q, K, V, mask=None):
    scores = Q @ K.T / np.sqrt(K.shape[-1])
    scores = scores if mask is None else np.where(mask, scores, -np.inf)
    top = scores.max(-1, keepdims=True) + 1
    parts = np.exp(scores - np.where(np.isfinite(top), top, 0))
    return (w := parts / np.maximum(parts.sum(-1, keepdims=True), 1e-300)) @ V, w


def helper_with_a_class(Q, K, V, mask=None):
    return Attention()(Q, K, V, mask)


FUNCTIONS = [
    documented,
    one_query_at_a_time,
    mean_of_values_by_einsum,
    scaled_queries,
    any_order_by_name,
    one_more_than_the_largest,
    helper_with_a_class,
    single_precision_inside,
    matrices,
    shown_while_working,
    broadcasting,
    python_loops,
    einsum,
    single_precision,
    nan_to_num_at_the_end,
    stand_in_with_empty_rows_zeroed,
    log_sum_exp,
    masked_array,
    row_by_row,
    Attention(),
    counted(broadcasting),
    functools.partial(einsum),
]

CHECKS = check_1_3.exercise.points
BY_NAME = {getattr(f, "__name__", type(f).__name__): f for f in FUNCTIONS}
RIGHT = dict.fromkeys(CHECKS, BY_NAME)
UNTOUCHED = {check: [stub] for check in CHECKS}
SEEDS = EVERY_SEED
SEEDED = {"matches_reference", "masks", "stays_stable"}
