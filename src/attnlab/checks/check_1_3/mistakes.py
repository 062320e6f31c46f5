"""The mistakes of exercise 1.3, and what each makes of a case.

Quantities: ``weights``, ``masked`` (weights where keys are blocked), ``output`` (beside weights
that are right) and ``scale`` (the factor on the scores).
"""

import functools

import numpy as np

from attnlab.checks._diagnose import Mistake, Mistakes, differs
from attnlab.checks.check_1_3.cases import Case
from attnlab.reference import softmax

SCALE = "Divide the scores by √d_k, the root of a key's width, once."


def _shares(scores: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    if allowed.shape != scores.shape:  # a mask with swapped axes that has no room
        return np.array(np.nan)
    return softmax(np.where(allowed, scores, -np.inf))


def _own_masks(case: Case, scores: np.ndarray) -> list:
    """Give weights under causal masks that nobody passed in, with or without the one that was."""
    masks = [np.tri(*scores.shape, k, dtype=bool) for k in (0, -1)]
    with_given = [mask & case.allowed for mask in masks]
    return [w for m in (*masks, *with_given) for w in (_shares(scores, m), _finite(scores, m))]


def _finite(scores: np.ndarray, mask: np.ndarray) -> np.ndarray:
    return softmax(np.where(mask, scores, -1e9))


def _divided(parts: np.ndarray) -> np.ndarray:
    return parts / parts.sum(-1, keepdims=True)


MISTAKES = Mistakes(
    # How the function works, and the form of what it returns
    not_numpy="""NumPy alone is asked for: write scores, softmax and weighted mean
        yourself, with numpy and nothing else, and return arrays.""",
    hard_coded="""The weights are the same whatever Q and K hold. Compute them from Q and K, the
        arguments, not from variables of the notebook.""",
    argument_unused="""Nothing changes where {name} does. Use the argument {name}, not a variable of
        the notebook and not what an earlier call has left.""",
    not_repeatable="""Two calls with the same Q, K and V give different results. Leave out dropout
        and all that is random, and keep nothing from call to call: a default such as cache={{}} is
        made once and remembers.""",
    argument_order="""The arguments come as Q, K, V, mask. Your function takes them in another
        order: {order} would be right. (Keras has the value before the key.)""",
    mask_is_none="""Without a mask, mask is None, and None counts as False: np.where(None, ...)
        blocks everything. Mask under a condition alone: if mask is not None.""",
    hard_coded_sizes="""The sizes 5, 7, 4 and 6 stand in your function as numbers. Take all sizes
        from the shapes of Q, K and V.""",
    returns_output_only="Your function returns one {kind}. Return two things: output, weights.",
    wrong_number="Your function returns {number} things. Return two: output, weights.",
    masked_array="""Your {name} is a masked array, whose blocked places hold anything. Put zeros
        there and return a plain array: .filled(0).""",
    wrong_dtype="""Your {name} has dtype {dtype}, too coarse for weights. Keep floating-point
        numbers of float32 or float64.""",
    swapped_outputs="You return the weights first. Return output, weights.",
    wrong_shape="With {case} output must have shape {output} and weights {weights}.",
    # Weights where some keys are blocked
    mask_ignored=Mistake("""Your weights are those without a mask. Set blocked scores to minus
        infinity before the softmax.""").makes(masked=lambda c: softmax(c.scores)),
    mask_inverted=Mistake("""You read what is blocked and block what may be read. True in the mask
        means: may attend.""").makes(masked=lambda c: _shares(c.scores, ~c.allowed)),
    mask_after_softmax=Mistake("""You set weights to zero after the softmax, so the rest of a row no
        longer sums to 1. Mask the scores, before the softmax.
        """).makes(masked=lambda c: softmax(c.scores) * c.allowed),
    mask_zero_score=Mistake("""A blocked key keeps a share: its score is 0, and exp(0) = 1. Set it
        to minus infinity.""").makes(masked=lambda c: softmax(c.scores * c.allowed)),
    mask_added=Mistake("""You add the mask to the scores. True counts as 1 there, which blocks
        nothing: choose with np.where(mask, scores, -np.inf).
        """).makes(masked=lambda c: softmax(c.scores + c.allowed)),
    mask_not_used=Mistake("""A causal mask of its own is at work here. Apply the one that is passed
        in, and none where none is.
        """).makes(
        masked=lambda c: _own_masks(c, c.scores),
        weights=lambda c: [w for s in c.both for w in _own_masks(c, s)],
    ),
    mask_by_key=Mistake("""Whole keys are blocked, for all queries alike. A mask has a row for each
        query: choose place by place, np.where(mask, scores, -np.inf).
        """).makes(
        masked=lambda c: [
            _shares(c.scores, np.broadcast_to(kept, c.raw.shape))
            for kept in (c.allowed.any(0), c.allowed.all(0), c.allowed[0], c.allowed[-1])
        ]
    ),
    mask_by_query=Mistake("""Whole queries are blocked, for all keys alike. A mask has a column for
        each key: choose place by place, np.where(mask, scores, -np.inf).
        """).makes(
        masked=lambda c: [
            _shares(c.scores, np.broadcast_to(kept[:, None], c.raw.shape))
            for kept in (c.allowed.any(1), c.allowed.all(1), c.allowed[:, 0])
        ]
    ),
    mask_infinite_weights=Mistake("""Finished weights are set to minus infinity, or to a large
        negative number. That belongs on the scores: mask them before the softmax.
        """).makes(
        masked=lambda c: [
            np.where(c.allowed, softmax(c.scores), low) for low in (-np.inf, -1e9, -1e10, -1e4)
        ]
    ),
    mask_transposed=Mistake("""You read the mask with its axes swapped. As in the scores, rows are
        queries and columns keys.""").makes(masked=lambda c: _shares(c.scores, c.allowed.T)),
    mask_not_broadcast="""A mask may broadcast: one row for all queries, one column for all keys.
        Use np.where, which broadcasts, or begin with np.broadcast_to(mask, scores.shape).""",
    mask_finite="""Block with minus infinity, -np.inf: a finite number is too small, or cancels
        where all scores have it.""",
    mask_after_softmax_renormalised="""The mask comes too late: a huge score at a blocked key ruins
        its row. Mask the scores before you look for the largest one and take exponentials.""",
    # Weights, whether keys are blocked or not
    softmax_axis=Mistake("""The columns of your weights sum to 1. Each query shares out its own
        weight: take the softmax over the keys, axis=-1.
        """).makes(weights=lambda c: [np.exp(s) / np.exp(s).sum(0) for s in c.both]),
    softmax_both_axes=Mistake("""All your weights together sum to 1. Sum each row: axis=-1,
        keepdims=True.""").makes(weights=lambda c: [np.exp(s) / np.exp(s).sum() for s in c.both]),
    no_softmax=Mistake("""What you return as weights are the scores. Turn each row into shares that
        sum to 1 with a softmax.""").makes(weights=lambda c: list(c.both)),
    not_normalised=Mistake("""Your weights are the exponentials alone. Divide each row by its sum.
        """).makes(weights=lambda c: [np.exp(s) for s in (*c.both, *c.shifted)]),
    no_exponential=Mistake("""You divide the scores by their sum. Take the exponential of each score
        first.""").makes(weights=lambda c: [s / s.sum(-1, keepdims=True) for s in c.both]),
    scale_after_softmax=Mistake("""Your rows sum to 1/√d_k. The scale belongs on the scores, before
        the softmax.""").makes(weights=lambda c: [softmax(s) / c.root for s in c.both]),
    log_softmax=Mistake("""These are the logarithms of the weights, log-softmax. Take the softmax
        itself.""").makes(weights=lambda c: [np.log(softmax(s)) for s in c.both]),
    softmax_twice=Mistake("""The softmax is applied twice. Apply it to the scores, once.
        """).makes(weights=lambda c: [softmax(softmax(s)) for s in c.both]),
    relu_shares=Mistake("""The exponential is missing: scores below 0 are cut off at 0 and the rest
        divided by its sum. Take np.exp of each score, then divide.
        """).makes(weights=lambda c: [_divided(np.maximum(s, 0)) for s in c.both]),
    absolute_shares=Mistake("""The exponential is missing: sizes or squares of the scores are
        divided by their sum. Take np.exp of each score, then divide.
        """).makes(weights=lambda c: [_divided(a) for s in c.both for a in (abs(s), s**2)]),
    reshaped=Mistake("""K.reshape is no transpose: it keeps the numbers in their order and breaks up
        the keys. Write K.T, or np.swapaxes(K, -2, -1).
        """).makes(weights=lambda c: [softmax(s) for s in (c.reshaped, c.reshaped / c.root)]),
    product_of_norms=Mistake("""The scores are divided by the lengths of Q and K, which makes
        cosines of them. Divide by √d_k alone.
        """).makes(weights=lambda c: [softmax(s) for s in (c.cosines, c.cosines / c.root)]),
    distances=Mistake("""The scores are distances between queries and keys. Take dot products,
        Q @ K.T.""").makes(
        weights=lambda c: [
            softmax(-d / r) for d in (c.squares, c.squares**0.5) for r in (1, 2, c.root)
        ]
    ),
    rounded=Mistake("""The weights are rounded. Return them as they are computed.
        """).makes(weights=lambda c: [softmax(c.scores).round(k) for k in (1, 2, 3, 4, 5)]),
    max_of_columns=Mistake("""You subtract the largest score of each column, which changes the
        shares within a row. Subtract that of the row: max(axis=-1, keepdims=True).
        """).makes(weights=lambda c: softmax(c.scores - c.scores.max(0))),
    hard_max=Mistake("""Your queries take their best key alone. A softmax gives every key a share.
        """).makes(weights=lambda c: np.eye(len(c.K))[c.raw.argmax(-1)]),
    row_sums="""Divide the exponentials of each row by the sum of that row and by nothing more; only
        where that sum is 0 divide by 1.""",
    # The factor on the scores of weights that are a softmax
    no_scale=Mistake(f"Your scores are not scaled. {SCALE}").makes(scale=lambda c: 1),
    scale_twice=Mistake(f"""Your scores are divided by d_k: the root is missing, or you scale twice.
        {SCALE}""").makes(scale=lambda c: c.root**-2),
    scale_inverted=Mistake(f"""Your scores are multiplied by √d_k. {SCALE}
        """).makes(scale=lambda c: c.root),
    exponential_base=Mistake("""Another number than e is raised to the scores, such as 2 or 10. The
        softmax takes e to the scores: np.exp.
        """).makes(scale=lambda c: [np.log(b) / r for b in (2, 10) for r in (c.root, 1)]),
    scale_wrong_d=Mistake(f"""You scale by the root of another size: V's width, or how many queries
        or keys there are. {SCALE}
        """).makes(scale=lambda c: [n**-0.5 for n in (c.V.shape[1], len(c.K), len(c.Q))]),
    scores_negated="""Your scores have the wrong sign: keys that point the way of a query get the
        least. Use Q @ K.T as it is.""",
    scale_fixed=f"""Your scale is not 1/√d_k at every size. Take d_k from the shape of K.
        {SCALE}""",
    # Numbers out of range
    nan="""Your weights hold NaN, although no score here is large. Look for a division by a sum that
        is 0, or a root of a negative number.""",
    nan_on_masked_row="""A query that may read nothing gets NaN: its scores are all minus infinity,
        and the softmax divides 0 by 0. Give such a row weights of 0.""",
    zero_times_infinity="""Your mask turns scores into NaN or plus infinity, and the row becomes
        NaN. 0 times infinity is NaN, and plus infinity blocks nothing: choose with np.where(mask,
        scores, -np.inf).""",
    no_max_subtraction="""The exponential of a large score overflows, or all of a row's underflow to
        0. Subtract from each row its largest score first; that leaves the weights as they are.""",
    scores_clipped="""Large scores lose their differences, as if cut off at a limit. Subtract from
        each row its largest score instead.""",
    shift_not_max="""Where a row holds very different scores, it is its largest score that has to be
        subtracted, not the mean, the least or the first: then no exponential exceeds 1.""",
    global_max="""You subtract one number from all rows, so a row far below it underflows to 0 / 0.
        Subtract from each row its own largest score: max(axis=-1, keepdims=True).""",
    # The output beside weights that are right
    keys_for_values=Mistake("""Your output mixes the rows of K. The weights come from the keys; what
        they mix are the values: weights @ V.""").makes(output=lambda c, weights: weights @ c.K),
    output_from_scores=Mistake("""Your output multiplies V by the scores. Multiply it by the
        weights.""").makes(output=lambda c, weights: [s @ c.V for s in c.both]),
    output_elementwise=Mistake("""The output is not the matrix product of weights and values. Write
        weights @ V: each row a mean of all values.
        """).makes(
        output=lambda c, weights: [
            np.repeat(weights.sum(-1, keepdims=True), c.V.shape[1], 1),
            np.repeat(c.V.mean(0, keepdims=True), len(weights), 0),
            np.repeat(c.V.sum(0, keepdims=True), len(weights), 0),
        ]
    ),
    best_value=Mistake("""The output is the value of each query's best key. It is the mean of all
        values by their weights: weights @ V.
        """).makes(output=lambda c, weights: c.V[weights.argmax(-1)]),
    output_ignores_mask=Mistake("""Your weights follow the mask, but your output does not. Compute
        it from the masked weights.""").makes(output=lambda c, weights: softmax(c.scores) @ c.V),
    output_scaled=Mistake("""Your output is a fraction of the weighted mean. The weights sum to 1
        already: return weights @ V, not divided by anything.
        """).makes(output=lambda c, weights: [weights @ c.V / n for n in (c.root, *c.V.shape)]),
    transposed=Mistake("""You return a transposed matrix. Queries are the rows, of the weights and
        of the output.""").makes(output=lambda c, weights: (weights @ c.V).T),
    output_value="""Your weights are right, but your output is not their weighted mean of the
        values. Return weights @ V.""",
    # What fits no other cause
    imprecise="Close, but not to 1e-5. Do not round, and work in float32 or float64.",
    value="""Your weights are not the softmax of QKᵀ / √d_k. Compare the scores of the case below
        with yours first, then the softmax of one row.""",
)


def wrong_scale(case: Case, weights: np.ndarray) -> str | None:
    """Name the cause where weights are a softmax of the allowed scores, wrongly scaled."""
    factor = _scale_used(case, weights)
    if factor is None or np.isclose(factor, 1 / case.root, rtol=1e-3):
        return None
    if factor < 0:
        return "scores_negated"
    same = functools.partial(np.isclose, rtol=1e-3)
    return MISTAKES.explain("scale", factor, case, same=same) or "scale_fixed"


def _scale_used(case: Case, weights: np.ndarray) -> float | None:
    """Find c where weights are softmax(c QKᵀ) over the allowed keys, or None if no c fits."""
    allowed = case.allowed
    counts = allowed.sum(-1, keepdims=True)
    if (weights[allowed] <= 0).any() or (counts == 0).any():
        return None
    logs = np.log(weights, where=allowed, out=np.zeros_like(weights))
    raw = np.where(allowed, case.raw, 0)
    logs, raw = ((a - a.sum(-1, keepdims=True) / counts) * allowed for a in (logs, raw))
    if not raw.any():
        return None
    factor = float((logs * raw).sum() / (raw**2).sum())
    return None if differs(_shares(factor * case.raw, allowed), weights) else factor
