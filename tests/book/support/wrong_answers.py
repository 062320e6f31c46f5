"""Wrong answers that the acceptance test types into each exercise, in JupyterLab.

Each is the solution of one cell with a part replaced. An exercise without an entry fails a test.
"""

from typing import NamedTuple


class Wrong(NamedTuple):
    """What is replaced in which cell's solution, and words that its graded cell must then show."""

    answer: str
    part: str
    replacement: str
    graded: str
    words: str


ROWS = "[[0.422, 0.155, 0.422], [0.155, 0.422, 0.422]]"
SCALED = "[[0.401, 0.198, 0.401], [0.198, 0.401, 0.401]]"

WRONG_ANSWERS = {
    "1_1_by_hand": [
        Wrong(
            "1_1-weights-unscaled-answer",
            ROWS,
            "[[0.731, 0.269, 0.5], [0.269, 0.731, 0.5]]",
            "1_1-weights-without-scale",
            "you normalised each column",
        ),
        Wrong(
            "1_1-weights-scaled-answer", SCALED, ROWS, "1_1-weights-with-scale", "scale is missing"
        ),
        Wrong(
            "1_1-weights-scaled-answer",
            SCALED,
            "[[0.384, 0.233, 0.384], [0.233, 0.384, 0.384]]",
            "1_1-weights-with-scale",
            "divided by 2, by d_k",
        ),
        Wrong(
            "1_1-output-unscaled-answer",
            "[[3.000, 4.000], [3.534, 4.534]]",
            "[[3.000, 3.534], [4.000, 4.534]]",
            "1_1-output-without-scale",
            "rows and columns are swapped",
        ),
        Wrong(
            "1_1-entropy-scaled-answer",
            "[1.053, 1.053]",
            "[1.520, 1.520]",
            "1_1-entropy-with-scale",
            "these are bits",
        ),
    ],
    "1_2_causal_mask": [
        Wrong(
            "1_2-head",
            "weights[0, head]",
            "weights[0].mean(0)",
            "1_2-takes-the-weights-of-one-head",
            "one",
        ),
        Wrong("1_2-future", "triu(1)", "triu()", "1_2-finds-weight-on-the-future", "reads itself"),
        Wrong("1_2-future", "max()", "sum()", "1_2-finds-weight-on-the-future", "Take the largest"),
        Wrong("1_2-leak", "x.clone()", "x", "1_2-leak-is-measured", "x.clone()"),
        Wrong("1_2-leak", "[:, :t]", "", "1_2-leak-is-measured", "output at t itself"),
    ],
    "1_3_numpy": [
        Wrong("1_3-function", " / np.sqrt(K.shape[-1])", "", "1_3-matches-reference", "not scaled"),
        Wrong(
            "1_3-function",
            "axis=-1",
            "axis=-2",
            "1_3-weights-are-a-distribution",
            "axis=-1",
        ),
        Wrong(
            "1_3-function",
            "return weights @ V, weights",
            "return weights @ V",
            "1_3-weights-are-a-distribution",
            "Return two",
        ),
        Wrong(
            "1_3-function",
            "np.where(mask, scores, -np.inf)",
            "np.where(mask, -np.inf, scores)",
            "1_3-masks",
            "may attend",
        ),
        Wrong(
            "1_3-function",
            "return weights @ V, weights",
            "V *= 2\n    return weights @ V / 2, weights",
            "1_3-leaves-inputs-alone",
            "changes its input V",
        ),
    ],
    "1_4_heads": [
        Wrong(
            "1_4-maps",
            "return maps",
            "return maps.transpose(0, 1)",
            "1_4-returns-all-maps",
            "another order",
        ),
        Wrong(
            "1_4-figure",
            "maps[0, i, h]",
            "maps[1, i, h]",
            "1_4-shows-twenty-maps",
            "You show another layer",
        ),
        Wrong("1_4-relation", "(offset,", "(-offset,", "1_4-scores-relations", "the other side"),
        Wrong(
            "1_4-uniformity",
            "torch.special.entr(maps)",
            "(-maps * maps.log())",
            "1_4-scores-uniformity",
            "A computer takes 0 times log 0 for nan",
        ),
        Wrong("1_4-roles", "flat >= 0.9", "flat < 2", "1_4-names-heads", "names do not follow"),
    ],
    "1_5_profiling": [
        Wrong(
            "1_5-profile",
            "return memory.peak",
            "return memory.peak / 2**20",
            "1_5-measures-memory",
            "Give bytes",
        ),
        Wrong(
            "1_5-profile",
            "statistics.median",
            "statistics.mean",
            "1_5-measures-time",
            "One slow call moves your result",
        ),
        Wrong(
            "1_5-profile",
            "(n, None, None)",
            "(n, 0, 0)",
            "1_5-survives-out-of-memory",
            "spoil every fit",
        ),
        Wrong(
            "1_5-fit",
            "np.log(np.array(pairs, dtype=float)).T",
            "np.array(pairs, dtype=float).T",
            "1_5-fits-powers",
            "Take the logarithm of both",
        ),
        Wrong(
            "1_5-exponents",
            "fit_exponent(n[-3:], peaks[-3:])",
            "fit_exponent(n, peaks)",
            "1_5-memory-grows-as-predicted",
            "It includes small n",
        ),
    ],
}
