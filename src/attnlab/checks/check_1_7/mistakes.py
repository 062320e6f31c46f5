"""The mistakes of exercise 1.7, and what each makes of a case.

Quantities: ``scores`` (m and l after each score), ``blocks`` (m, l and O after each block) and
``output`` (of a whole pass).
"""

import numpy as np

from attnlab.checks._diagnose import Mistake, Mistakes
from attnlab.checks.check_1_7 import made

MISTAKES = Mistakes(
    # The form of what is returned
    wrong_number="Return {right}, in this order: here come {given}.",
    wrong_shape="""Keep the axes, as with amax(-1, keepdim=True) and sum(-1, keepdim=True): {name}
        has shape {given}, where {right} is right.""",
    # One score at a time
    exchanged=Mistake("""Return m first, then l: here they are exchanged.
        """).makes(scores=made.scores(lambda m, l, s: (made.not_faded_right(m, l, s), max(m, s)))),
    largest_lost=Mistake("""Let m be the larger of m and s, max(m, s): here it is the first score
        or the latest one.""").makes(scores=made.scores(made.first_kept, made.last_taken)),
    not_faded=Mistake("""Multiply l by e^(m - m') before you add: its terms were taken below the
        old largest score m, and now count from m'. Here l stays as it is where m grows.
        """).makes(scores=made.scores(made.not_faded)),
    faded_upwards=Mistake("""Multiply l by e^(m - m'), which is at most 1: here the sign is the
        other way round, and l grows.""").makes(scores=made.scores(made.faded_upwards)),
    term_below_old=Mistake("""Take the new term below the new largest score, e^(s - m'): here it is
        taken below the old one.""").makes(scores=made.scores(made.term_below_old)),
    starts_again=Mistake("""Keep what l holds where a larger score comes, e^(m - m') of it: here
        the sum begins again at 1.""").makes(scores=made.scores(made.starts_again)),
    not_shifted=Mistake("""Subtract the largest score in every exponent: l is the sum of e^(s - m),
        and here it is that of e^s.""").makes(
        scores=lambda s: np.stack([np.maximum.accumulate(s), np.cumsum(np.exp(s))], 1)
    ),
    counted_only=Mistake("""Add e^(s - m'), which is less than 1 for all but the largest score:
        here every score counts alike.""").makes(
        scores=lambda s: np.stack([np.maximum.accumulate(s), 1.0 + np.arange(len(s))], 1)
    ),
    rest_counted=Mistake("""Add e^(s - m) where s is not the largest: here it counts as 1, whatever
        it is.""").makes(scores=made.scores(made.rest_counted)),
    rounded=Mistake("""Do not round: what is lost adds up.""").makes(
        scores=made.scores(*[made.rounded(digits) for digits in (1, 2, 3, 4)])
    ),
    as_logarithm=Mistake("""Return m and l themselves: m + log l holds both in one number, and is
        the next step, not this one.""").makes(scores=made.as_logarithm),
    other_base=Mistake("""Take e to the scores, math.exp: here it is another base.
        """).makes(scores=lambda s: _in_base(s, 2, 10)),
    step_value="""After each score m is the largest so far, and l is the sum of e^(s - m) over all
        so far. Compare the table below with yours, from the first row that differs.""",
    overflows="""Subtract the largest score before you take an exponential, e^(s - m'): then no
        exponent is above 0. Here a score of {score:g} is too large for {error}.""",
    shift_felt="""Let scores enter as differences alone, s - m' and m - m': where all scores grow
        by {shift:g}, m has to grow by as much and l to stay as it is.""",
    blocked_first="""Look at the case that nothing was read yet: m and s may both be minus
        infinity, and their difference is NaN. A score of minus infinity changes nothing, l = 0
        included.""",
    blocked_felt="""Let a score of minus infinity change nothing: e to it is 0.""",
    # A block at a time
    l_not_faded=Mistake("""Multiply l by e^(m - m') as well as O: both were summed below the old
        largest score.""").makes(blocks=made.blocks(made.block_step(fade_l=lambda f: 1))),
    O_not_faded=Mistake("""Multiply O by e^(m - m') as well as l: it is a sum with the same
        weights, and its terms were taken below the old largest score.
        """).makes(blocks=made.blocks(made.block_step(fade_O=lambda f: 1))),
    none_faded=Mistake("""Multiply both sums, l and O, by e^(m - m') before you add a block: where
        the largest score grows, what is summed already has to shrink.""").makes(
        blocks=made.blocks(made.block_step(fade_l=lambda f: 1, fade_O=lambda f: 1)),
        output=made.whole({"step": made.block_step(fade_l=lambda f: 1, fade_O=lambda f: 1)}),
    ),
    blocks_faded_upwards=Mistake("""Multiply by e^(m - m'), which is at most 1: here the sign is
        the other way round.""").makes(
        blocks=made.blocks(
            made.block_step(
                fade_l=lambda f: np.where(f > 0, 1 / np.where(f > 0, f, 1), 0),
                fade_O=lambda f: np.where(f > 0, 1 / np.where(f > 0, f, 1), 0),
            )
        )
    ),
    largest_of_block=Mistake("""Take the larger of m and the block's largest score, torch.maximum:
        here the block's own counts, even where a block before had a larger one.""").makes(
        blocks=made.blocks(made.block_step(largest=lambda m, S: S.max(-1, keepdims=True)))
    ),
    largest_of_all=Mistake("""Take the largest score of each query, amax(-1, keepdim=True): here
        one number, that of all queries or of all keys, serves for all rows.""").makes(
        blocks=made.blocks(
            made.block_step(largest=lambda m, S: np.maximum(m, S.max())),
        )
    ),
    below_old=Mistake("""Take the block's exponentials below the new largest score, e^(S - m'):
        here it is the old one, or the block's own.""").makes(
        blocks=made.blocks(
            made.block_step(below=lambda m, new: np.where(np.isneginf(m), new, m)),
            lambda m, l, O, S, V: _below_own(m, l, O, S, V),
        )
    ),
    normalised=Mistake("""Leave O as a sum, and divide by l once, at the very end: here it is
        divided in every step.""").makes(
        blocks=made.blocks(made.normalised_each_time, made.divided_each_time),
        output=made.whole({"step": made.divided_each_time}),
    ),
    shares_of_block=Mistake("""Add e^(S - m') and its product with V: here a softmax of the block
        alone is taken, whose rows sum to 1 however small its scores are.""").makes(
        blocks=made.blocks(
            made.block_step(mix=lambda P, V: P / P.sum(-1, keepdims=True) @ V),
            made.block_step(
                mix=lambda P, V: P / P.sum(-1, keepdims=True) @ V,
                total=lambda P: np.ones((len(P), 1)),
            ),
        )
    ),
    not_mixed=Mistake("""Multiply the exponentials by the values, P @ V: here the values are added
        as they are.""").makes(
        blocks=made.blocks(made.block_step(mix=lambda P, V: np.ones_like(P) @ V))
    ),
    block_value="""After each block m is the largest score of a query so far, l its sum of e^(S -
        m), and O its sum of e^(S - m) times the values. {name} is the first that differs below.""",
    # A whole pass
    no_scale=Mistake("""Divide the scores of each block by √d_k, the root of Q.shape[-1].""").makes(
        output=lambda c: [c.tiled(scale=s) for s in (1, 1 / c.Q.shape[1], c.V.shape[1] ** -0.5)]
    ),
    not_divided=Mistake("""Divide O by l at the end, when all blocks are read: O is a sum.
        """).makes(output=made.whole({"finish": lambda sums: sums.O})),
    end_lost=Mistake("""Read the keys behind the last full block, too: {S_k} keys in blocks of
        {block} leave a shorter block at the end. range(0, S_k, block) begins it.
        """).makes(output=made.full_blocks_only),
    one_block=Mistake("""Carry m, l and O from block to block, and set them up once, before the
        loop: here one block alone comes out.""").makes(output=made.one_block),
    blocks_averaged=Mistake("""Add the blocks up in m, l and O: here each is a softmax of its own,
        and these are averaged or added, although a block with large scores should count for more.
        """).makes(output=made.mean_of_blocks),
    output_value="""The output is that of softmax(Q Kᵀ / √d_k) V, whatever the block. Try the case
        below with one block for all keys first: if that is right, the fault is between blocks.""",
    # Its memory
    table_held="""Let a tile go before you make the next: at S_q = S_k = {n} the pass holds {peak}
        bytes at one moment, {tables:.1f} times what a table of all scores takes. A list of tiles
        that is put together later is a table, too.""",
    grows_like_a_table="""Make everything in the loop from one block: where S_q and S_k double, the
        memory becomes {growth:.1f} times as much, and twice is right. Something has a place for
        each pair, such as a mask or a product of all queries with all keys.""",
    not_in_pytorch="""Work with tensors throughout: PeakMemory sees no memory at all but the
        output's, as if NumPy or lists did the work.""",
)


def _in_base(scores: np.ndarray, *bases: float) -> list[np.ndarray]:
    """Make paths whose exponentials have another base."""
    m = np.maximum.accumulate(scores)
    sums = [[(b ** (scores[: i + 1] - m[i])).sum() for i in range(len(scores))] for b in bases]
    return [np.stack([m, l], 1) for l in sums]


def _below_own(m: np.ndarray, l: np.ndarray, O: np.ndarray, S: np.ndarray, V: np.ndarray) -> tuple:
    """Take a block's exponentials below its own largest score."""
    own = S.max(-1, keepdims=True)
    m_new = np.maximum(m, own)
    P, fade = np.exp(S - own), np.exp(m - m_new)
    return m_new, fade * l + P.sum(-1, keepdims=True), fade * O + P @ V
