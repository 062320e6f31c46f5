"""Checks of exercise 1.3: scaled dot-product attention in NumPy alone.

Each check begins with the smallest case that can fail. Where a result is wrong, it is compared with
what the known mistakes make of the same case.
"""

import contextlib

import numpy as np
import torch
from torch.nn import functional as F

from attnlab.checks._diagnose import ask, differs, require_unchanged, show
from attnlab.checks._settings import Exercise
from attnlab.checks.check_1_3.begin import begin, go_on, masks_are_right
from attnlab.checks.check_1_3.cases import SIZES, Case, draw
from attnlab.checks.check_1_3.compare import Function, attend, compare
from attnlab.checks.check_1_3.contracts import TOLD
from attnlab.checks.check_1_3.follow import DISTRIBUTION, REFERENCE, Given
from attnlab.checks.check_1_3.mistakes import MISTAKES
from attnlab.reference import scaled_dot_product_attention as reference
from nbmark.answers import record
from nbmark.graded import CheckFailed

LARGE = 1e4  # a score whose exponential overflows, and underflows where it is negative

exercise = Exercise("1.3")


@exercise.check(points=2, **TOLD["weights_are_a_distribution"])
def weights_are_a_distribution(function: Function) -> str:
    """Show that output and weights have the right shapes and each row of weights sums to 1."""
    case, _ = begin(function, "weights_are_a_distribution")
    output, weights = attend(function, case)
    sums = weights.sum(-1)  # (S_q,)
    if (weights < 0).any() or differs(sums, np.ones(len(sums))):
        cause, seen = MISTAKES.explain("weights", weights, case), ""
        if cause is None:
            cause, seen = "row_sums", "Weights must be at least 0 and sum to 1 in each row."
        off = np.nan_to_num(np.abs(sums - 1) + 9 * (weights < 0).any(-1), nan=9)
        row = int(off.argmax())
        shown = {f"your_row_{row}": weights[row], "its_sum": sums[row]}
        raise MISTAKES.failure(cause, show(6, **shown), seen)
    record("row_sums", sums)
    record("shapes", [list(output.shape), list(weights.shape)])
    return "Output and weights have the right shapes, and each query shares out a weight of 1."


@exercise.check(points=4, **TOLD["matches_reference"])
def matches_reference(function: Function) -> str:
    """Show that results agree with PyTorch's function to 1e-5, from one key up to full size."""
    given, rng = go_on(function, "matches_reference", [DISTRIBUTION])
    drawn = rng.permutation([3, 5, 7, 11]).tolist()
    for sizes in ((1, 1, 3, 2), (2, 3, 1, 5), (2, 3, 5, 7), drawn, SIZES):
        case = draw(rng, sizes)
        output, weights = compare(given, case)
    if note := given.note():
        output, weights = reference(case.Q, case.K, case.V)
    Q, K, V = (torch.from_numpy(array)[None] for array in (case.Q, case.K, case.V))
    right = F.scaled_dot_product_attention(Q, K, V)[0].numpy()
    seen = "Your output is not that of F.scaled_dot_product_attention."
    MISTAKES.fail_if(differs(output, right), "value", seen=seen)
    record("output", output)
    record("weights", weights)
    return f"""The output equals that of F.scaled_dot_product_attention to 1e-5, and the weights
        are the ones behind it, at the sizes of the exercise and at others.{note}"""


@exercise.check(points=3, **TOLD["masks"])
def masks(function: Function) -> str:
    """Show that a mask blocks where it is False, and that rows with nothing to read are zero."""
    given, rng = go_on(function, "masks", [DISTRIBUTION, REFERENCE])
    second = np.array([[True, False]])
    compare(given, draw(rng))
    compare(given, draw(rng, (1, 2, 4, 3), second), "the second of two keys blocked")
    compare(given, draw(rng, (2, 3, 4, 5), np.ones((2, 3), bool)), "nothing blocked")
    square = np.eye(4, dtype=bool) | (rng.random((4, 4)) < 0.5)
    square[0, 3], square[3, 0] = True, False  # neither causal nor symmetric
    compare(given, draw(rng, (4, 4, 3, 2), square), "a square mask that is not causal")
    mask = rng.random((5, 7)) < 0.5
    mask[range(5), rng.permutation(7)[:5]] = True  # each query may read something
    case = draw(rng, mask=mask)
    compare(given, case, "a mask drawn at random")
    record("weights", reference(*case.arguments().values())[1])
    with MISTAKES.instead_of(raised="mask_not_broadcast"):
        compare(given, draw(rng, mask=mask[:1]), "a mask of one row")
    mask[rng.integers(5)] = False
    case = draw(rng, mask=mask)
    compare(given, case, "one query that may read nothing")
    record("output", reference(*case.arguments().values())[0])
    compare(given, draw(rng, mask=np.zeros((5, 7), bool)), "everything blocked")
    with MISTAKES.instead_of(raised="mask_not_broadcast"):
        compare(given, draw(rng, mask=mask[:, :1]), "a mask of one column")
        compare(given, draw(rng, mask=mask[0] | ~mask[1]), "a mask of one axis, for the keys")
    return f"""Blocked keys get a weight of 0, the others share out 1, and a query that may read
        nothing gets zeros instead of NaN.{given.note()}"""


@exercise.check(points=2, **TOLD["stays_stable"])
def stays_stable(function: Function) -> str:
    """Show that scores of 10,000, blocked ones included, and float32 inputs do no harm."""
    given, rng = go_on(function, "stays_stable", [DISTRIBUTION, REFERENCE])
    masked = masks_are_right(given, "stays_stable")
    compare(given, draw(rng))
    for level in (LARGE, -LARGE):
        case = draw(rng, (2, 3, 4, 5), levels=[level, level])
        words = f"scores near {level:,.0f}"
        compare(given, case, words, "no_max_subtraction", "scores_clipped")
        right, _ = reference(case.Q, case.K, case.V)
        record(f"output at {level:.0f}", right)
    case = draw(rng, (3, 2, 4, 5), levels=[LARGE, -LARGE, 0])
    compare(given, case, "queries with very different scores", "global_max", "global_max")
    mixed = np.array([1.0, -1.0, 0.5, 0.0])
    case = draw(rng, (2, 4, 4, 5), levels=[LARGE, -LARGE], keys=mixed)
    compare(given, case, "very different scores in one row", "shift_not_max", "shift_not_max")
    if masked:
        _require_stable_masks(given, rng)
    single = Case(*(array.astype(np.float32) for array in draw(rng).arguments().values()))
    compare(given, single, "float32 inputs")
    return f"""Scores of 10,000 do no harm, not even at a blocked key, and float32 inputs are
        fine.{given.note()}"""


def _require_stable_masks(given: Given, rng: np.random.Generator) -> None:
    """Fail unless blocked keys stay blocked where scores are very large or very low."""
    compare(given, draw(rng, mask=np.tri(5, 7, dtype=bool)))
    only = np.array([False, True, False, False])  # is blocked and has by far the largest score
    case = draw(rng, (3, 4, 4, 5), np.tile(~only, (3, 1)), [LARGE] * 3, only)
    late = "mask_after_softmax_renormalised"
    compare(given, case, "a huge score at the blocked key", late, late)
    mask = np.array([[True, True, False, False], [False, True, True, False]])
    case = draw(rng, (2, 4, 4, 5), mask, [-LARGE, -2 * LARGE])
    seen = "Blocked keys win where the allowed scores are very low."
    words = "scores near -10,000 and a mask"
    compare(given, case, words, "no_max_subtraction", "mask_finite", seen)


@exercise.check(points=1, **TOLD["leaves_inputs_alone"])
def leaves_inputs_alone(function: Function) -> str:
    """Show that Q, K, V and mask are afterwards what they were before."""
    subject, rng = go_on(function, "leaves_inputs_alone", [DISTRIBUTION, REFERENCE])
    masked = masks_are_right(subject, "leaves_inputs_alone")
    mask = rng.random((5, 7)) < 0.5
    mask[1], mask[:, 2] = False, False  # a query with nothing to read, a key that nobody reads
    square = np.tri(4, dtype=bool)
    for case in (draw(rng), draw(rng, mask=mask), draw(rng, (4, 4, 4, 4), square)):
        given = case.arguments()
        with contextlib.suppress(*([] if masked or case.mask is None else [CheckFailed])):
            ask(subject.function, *given.values(), case=str(case))
        for name, before in case.arguments().items():
            require_unchanged(name, before, given[name])
    record("unchanged", True)
    return f"Q, K, V and mask are after the call what they were before it.{subject.note()}"


__all__ = ["exercise", *exercise.points]
