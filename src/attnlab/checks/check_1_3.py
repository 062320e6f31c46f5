"""Checks of exercise 1.3: scaled dot-product attention in NumPy alone.

Each check begins with the smallest case that can fail. Where a result is wrong, it is compared with
what the known mistakes make of the same case.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch.nn import functional as F

from attnlab.checks._compare_1_3 import (
    Function,
    attend,
    compare,
    copies,
    known,
    require_own_work,
)
from attnlab.checks._mistakes_1_3 import Case, wrong_weights
from attnlab.checks._shared import call_quietly, differs, show
from nbmark.answers import case_rng, record
from nbmark.graded import CheckFailed, Exercise

SIZES = (5, 7, 4, 6)  # S_q, S_k, d_k, d_v of the exercise: no two are equal
LARGE = 1e4  # a score whose exponential overflows, and underflows where it is negative

ROW_SUMS = (
    "row_sums",
    "A row of your weights is no set of shares: they must be at least 0 and sum to 1. Divide the "
    "exponentials of each row by the sum of that row.",
)
OVERFLOW = (
    "no_max_subtraction",
    "The exponential of a large score overflows, or all of a row's underflow to 0. Subtract from "
    "each row its largest score first; that leaves the weights as they are.",
)
CLIPPED = (
    "scores_clipped",
    "Large scores lose their differences, as if cut off at a limit. Subtract from each row its "
    "largest score instead.",
)
GLOBAL_MAX = (
    "global_max",
    "You subtract one number from all rows, so a row far below it underflows to 0 / 0. Subtract "
    "from each row its own largest score: max(axis=-1, keepdims=True).",
)
LATE_MASK = (
    "mask_after_softmax_renormalised",
    "A huge score at a blocked key ruins its row, so the mask comes too late. Set blocked scores "
    "to minus infinity before you look for the largest score and take exponentials.",
)
STAND_IN = (
    "mask_finite",
    "Blocked keys win where the allowed scores are very low: you block with a finite number. "
    "Block with minus infinity, -np.inf.",
)

exercise = Exercise("1.3")


@exercise.check(points=2)
def weights_are_a_distribution(function: Function) -> str:
    """Show that output and weights have the right shapes and each row of weights sums to 1."""
    case = _begin(function, "weights_are_a_distribution")
    output, weights = attend(function, case)
    sums = weights.sum(-1)  # (S_q,)
    if (weights < 0).any() or differs(sums, np.ones(len(sums))):
        finding = known(wrong_weights(case), weights) or ROW_SUMS
        raise CheckFailed(*finding, show(6, your_row_0=weights[0], its_sum=sums[0]))
    record("row_sums", sums)
    record("shapes", [list(output.shape), list(weights.shape)])
    return "Output and weights have the right shapes, and each query shares out a weight of 1."


@exercise.check(points=4)
def matches_reference(function: Function) -> str:
    """Show that results agree with PyTorch's function to 1e-5, from one key up to full size."""
    _begin(function, "matches_reference")
    rng = case_rng("matches_reference, cases")
    drawn = rng.permutation([3, 5, 7, 11]).tolist()
    for sizes in ((1, 1, 3, 2), (2, 3, 1, 5), (2, 3, 5, 7), drawn, SIZES):
        case = _draw(rng, sizes)
        output, weights = compare(function, case)
    Q, K, V = (torch.from_numpy(array)[None] for array in case[:3])
    if differs(output, F.scaled_dot_product_attention(Q, K, V)[0].numpy()):
        raise CheckFailed("value", "Your output is not that of F.scaled_dot_product_attention.")
    record("output", output)
    record("weights", weights)
    return """Your output equals that of F.scaled_dot_product_attention to 1e-5, and your weights
        are the ones behind it, at the sizes of the exercise and at others."""


@exercise.check(points=3)
def masks(function: Function) -> str:
    """Show that a mask blocks where it is False, and that rows with nothing to read are zero."""
    _begin(function, "masks")
    rng = case_rng("masks, cases")
    compare(function, _draw(rng, SIZES))
    second = np.array([[True, False]])
    compare(function, _draw(rng, (1, 2, 4, 3), second), "the second of two keys blocked")
    compare(function, _draw(rng, (2, 3, 4, 5), np.ones((2, 3), bool)), "nothing blocked")
    square = np.eye(4, dtype=bool) | (rng.random((4, 4)) < 0.5)
    square[0, 3], square[3, 0] = True, False  # neither causal nor symmetric
    compare(function, _draw(rng, (4, 4, 3, 2), square), "a square mask that is not causal")
    mask = rng.random((5, 7)) < 0.5
    mask[range(5), rng.permutation(7)[:5]] = True  # each query may read something
    _, weights = compare(function, _draw(rng, SIZES, mask), "a mask drawn at random")
    record("weights", weights)
    _compare_broadcast(function, _draw(rng, SIZES, mask[:1]))
    mask[rng.integers(5)] = False
    output, _ = compare(function, _draw(rng, SIZES, mask), "one query that may read nothing")
    record("output", output)
    compare(function, _draw(rng, SIZES, np.zeros((5, 7), bool)), "everything blocked")
    return """Blocked keys get a weight of 0, the others share out 1, and a query that may read
        nothing gets zeros instead of NaN."""


@exercise.check(points=2)
def stays_stable(function: Function) -> str:
    """Show that scores of 10,000, blocked ones included, and float32 inputs do no harm."""
    _begin(function, "stays_stable")
    rng = case_rng("stays_stable, cases")
    compare(function, _draw(rng, SIZES))
    compare(function, _draw(rng, SIZES, np.tri(5, 7, dtype=bool)))
    for levels in ([LARGE, LARGE], [-LARGE, -LARGE]):
        case = _raise_scores(_draw(rng, (2, 3, 4, 5)), levels)
        output, _ = compare(function, case, f"scores near {levels[0]:,.0f}", OVERFLOW, CLIPPED)
        record(f"output at {levels[0]:.0f}", output)
    case = _raise_scores(_draw(rng, (3, 2, 4, 5)), [LARGE, -LARGE, 0])
    compare(function, case, "queries with very different scores", GLOBAL_MAX, GLOBAL_MAX)
    only = np.array([False, True, False, False])
    case = _raise_scores(_draw(rng, (3, 4, 4, 5), np.tile(~only, (3, 1))), [LARGE] * 3)
    case.K[:, 0] = only  # the key that is blocked has by far the largest score
    compare(function, case, "a huge score at the blocked key", LATE_MASK, LATE_MASK)
    mask = np.array([[True, True, False, False], [False, True, True, False]])
    case = _raise_scores(_draw(rng, (2, 4, 4, 5), mask), [-LARGE, -2 * LARGE])
    compare(function, case, "scores near -10,000 and a mask", OVERFLOW, STAND_IN)
    single = Case(*(array.astype(np.float32) for array in _draw(rng, SIZES)[:3]))
    compare(function, single, "float32 inputs")
    return "Scores of 10,000 do no harm, not even at a blocked key, and float32 inputs are fine."


@exercise.check(points=1)
def leaves_inputs_alone(function: Function) -> str:
    """Show that Q, K, V and mask are afterwards what they were before."""
    _begin(function, "leaves_inputs_alone")
    rng = case_rng("leaves_inputs_alone, cases")
    mask = rng.random((5, 7)) < 0.5
    mask[1], mask[:, 2] = False, False  # a query with nothing to read, a key that nobody reads
    square = np.tri(4, dtype=bool)
    for case in (_draw(rng, SIZES), _draw(rng, SIZES, mask), _draw(rng, (4, 4, 4, 4), square)):
        given = copies(case)
        call_quietly(function, *given, case=case.sizes())
        for name, before, after in zip(case._fields, case, given, strict=False):
            if not np.array_equal(before, after):
                row = int((before != after).any(-1).argmax())
                said = f"Your function changes its input {name}, and whoever called it goes on "
                said += "with wrong numbers. Make a new array: x = x / y instead of x /= y."
                example = show(before=before[row], after=after[row])
                raise CheckFailed("mutates_input", said, example)
    record("unchanged", True)
    return "Q, K, V and mask are after the call what they were before it."


def _draw(rng: np.random.Generator, sizes: Sequence[int], mask: np.ndarray | None = None) -> Case:
    """Draw a case of the sizes S_q, S_k, d_k, d_v."""
    S_q, S_k, d_k, d_v = sizes
    shapes = ((S_q, d_k), (S_k, d_k), (S_k, d_v))
    return Case(*(rng.standard_normal(shape) for shape in shapes), mask)


def _raise_scores(case: Case, levels: Sequence[float]) -> Case:
    """Raise all scaled scores of query i to about levels[i], in place and exact in float32."""
    for array in (case.Q, case.K):
        array[...] = np.round(8 * array) / 8
    case.K[:, 0] = 1
    case.Q[:, 0] = np.array(levels) * np.sqrt(case.Q.shape[-1])
    return case


def _begin(function: Function, stage: str) -> Case:
    """Require the student's own work in NumPy; give a case of the exercise's sizes."""
    rng = case_rng(stage)
    case = _draw(rng, SIZES)
    require_own_work(function, case, _draw(rng, SIZES))
    return case


def _compare_broadcast(function: Function, case: Case) -> None:
    """Compare where one row of the mask serves all queries."""
    words = f"a mask of shape {case.mask.shape}"
    try:
        compare(function, case, words)
    except CheckFailed as failed:
        if failed.cause != "raised":
            raise
        said = f"Your function fails with {words}, which serves all queries alike. Use np.where, "
        said += "which broadcasts, or begin with np.broadcast_to(mask, scores.shape)."
        raise CheckFailed("mask_not_broadcast", said, failed.example) from None
