"""The mistakes of exercise 1.1, and what each makes of a case.

Quantities: ``weights``, ``output`` and ``entropy``; the last two also follow from wrong weights.
"""

from collections.abc import Callable

import numpy as np

from attnlab.checks._diagnose import Mistake, Mistakes
from attnlab.checks.check_1_1.cases import (
    BOTH,
    PLAIN,
    ROOT,
    SCALED,
    Case,
    K,
    Q,
    V,
    case_of,
    terms_of,
)
from attnlab.reference import softmax

BY_ROW = "Divide each exponential by the sum of its own row."


def _powers(case: Case, base: float) -> np.ndarray:
    return softmax(np.log(base) * case.scores)


def _cut(numbers: np.ndarray, digits: int) -> np.ndarray:
    return np.floor(np.abs(numbers) * 10**digits + 1e-9) / 10**digits


def _places(quantity: str) -> Callable[[Case], list]:
    """Round to one decimal or to none, and cut off."""
    return lambda c: [
        *[getattr(c, quantity).round(digits) for digits in (1, 0)],
        *[_cut(getattr(c, quantity), digits) for digits in (2, 1)],
    ]


MISTAKES = Mistakes(
    too_few_decimals=Mistake("""these are the right numbers with too few decimals, or cut off where
        they had to be rounded. Give three decimals, rounded; two are accepted.
        """).makes(
        weights=_places("weights"), output=_places("output"), entropy=_places("entropy")
    ),
    no_scale=Mistake("""the scale is missing. Divide the scores by √d_k = √2 before the softmax.
        """).makes(weights=lambda c: PLAIN.weights if c is SCALED else []),
    scaled_here=Mistake("""these are the numbers with the scale. Here the scores are not divided by
        anything.""").makes(weights=lambda c: SCALED.weights if c is PLAIN else []),
    scale_wrong_d=Mistake("""the scores are divided by 2, by d_k or twice by its root. Divide once
        by √d_k = 1.414 where the scale is asked for, else by nothing.
        """).makes(weights=lambda c: case_of(2).weights),
    exponential_base=Mistake("""another number than e is raised to the scores, such as 2 or 10. Take
        e = 2.718 to the power of each score.
        """).makes(weights=lambda c: [_powers(c, base) for base in (2, 10)]),
    scale_inverted=Mistake("""the scores are multiplied by √d_k. Divide by it where the scale is
        asked for, else by nothing.""").makes(weights=lambda c: case_of(1 / ROOT).weights),
    scale_after_softmax=Mistake("""the scale belongs before the softmax.
        """).makes(weights=lambda c: PLAIN.weights / ROOT),
    softmax_axis=Mistake(f"""you normalised each column. {BY_ROW}
        """).makes(weights=lambda c: [softmax(s.T).T for s in BOTH]),
    softmax_both_axes=Mistake(f"""the whole table sums to 1. {BY_ROW}
        """).makes(weights=lambda c: [np.exp(s) / np.exp(s).sum() for s in BOTH]),
    no_softmax=Mistake("""these are the scores. Turn each row into weights with a softmax.
        """).makes(weights=lambda c: list(BOTH)),
    not_normalised=Mistake(f"""these are the exponentials. {BY_ROW}
        """).makes(weights=lambda c: [np.exp(s) for s in BOTH]),
    transposed=Mistake("rows and columns are swapped. Give one row for each query.").makes(
        weights=lambda c: [case.weights.T for case in (c, PLAIN, SCALED)],
        output=lambda c: c.output.T,
    ),
    k_not_transposed=Mistake("""K is not transposed. Multiply query i by key j, which is row j of K.
        """).makes(weights=lambda c: [softmax(Q @ K.reshape(2, 3) / d) for d in (1, ROOT)]),
    log_softmax=Mistake("""these are the logarithms of the weights. Leave the logarithm out.
        """).makes(weights=lambda c: [np.log(case.weights) for case in (c, PLAIN, SCALED)]),
    softmax_twice=Mistake("""the softmax is applied twice. Apply it to the scores, once.
        """).makes(weights=lambda c: [softmax(case.weights) for case in (c, PLAIN, SCALED)]),
    scale_other=Mistake("""the scores are divided by another number. The scale is √d_k = √2 = 1.414,
        with d_k the width of a key, not how many keys or queries there are.
        """).makes(weights=lambda c: [case_of(n).weights for n in (3**0.5, 3, 4, 6**0.5)]),
    best_key=Mistake("""only the best keys get a weight. A softmax gives every key a share: take the
        exponentials of all scores.
        """).makes(weights=lambda c: [np.eye(3)[:2], np.eye(3)[[2, 2]], np.eye(3)[[0, 2]]]),
    no_exponential=Mistake("""you divided the scores by their sum. Take their exponentials first.
        """).makes(weights=lambda c: c.scores / c.scores.sum(axis=1, keepdims=True)),
    rows_swapped=Mistake("""the two rows are swapped. Row 1 is for query 1.
        """).makes(weights=lambda c: c.weights[::-1]),
    percentages=Mistake("""these are percentages. Divide by 100.
        """).makes(
        weights=lambda c: 100 * c.weights,
        output=lambda c: 100 * c.output,
        entropy=lambda c: [100 * c.entropy, terms_of(100 * c.weights).sum(-1)],
    ),
    scale_in_output=Mistake("""the result is divided by √d_k, or by how many keys there are. The
        scale belongs on the scores, and the weights sum to 1 already.
        """).makes(
        output=lambda c: [case.output / n for case in (PLAIN, SCALED) for n in (ROOT, 2, 3)]
    ),
    unweighted=Mistake("""every value counts alike. Count each with its own weight.
        """).makes(output=lambda c: [np.tile(V.mean(0), (2, 1)), np.tile(V.sum(0), (2, 1))]),
    best_value=Mistake("""this is the value of the best key alone. Mix all three by their weights.
        """).makes(output=lambda c: [V[:2], V[[2, 2]], V[[0, 2]]]),
    one_query_dropped=Mistake("""both rows are those of one query. Work out each by itself.
        """).makes(
        weights=lambda c: [c.weights[[i, i]] for i in (0, 1)],
        output=lambda c: [c.output[[i, i]] for i in (0, 1)],
    ),
    one_row=Mistake("this is one row. Give one for each of the two queries.").makes(
        weights=lambda c: [*c.weights, c.weights[:1], c.weights[1:]],
        output=lambda c: [*c.output, c.output[:1], c.output[1:]],
    ),
    keys_for_values=Mistake("""you mixed the rows of K. Mix those of V.
        """).makes(output=lambda c: c.weights @ K),
    not_entropy=Mistake("""this is another measure of a row: its largest weight, its standard
        deviation, variance or sum of squares. The entropy is the sum of -p log p.
        """).makes(
        entropy=lambda c: [
            f(w)
            for w in (c.weights, PLAIN.weights, SCALED.weights)
            for f in (
                lambda w: w.max(1),
                lambda w: w.min(1),
                lambda w: w.std(1),
                lambda w: w.std(1, ddof=1),
                lambda w: w.var(1),
                lambda w: (w**2).sum(1),
                lambda w: 1 - (w**2).sum(1),
                lambda w: np.median(w, 1),
                lambda w: 1 - w.max(1),
            )
        ]
    ),
    of_scores=Mistake("""the entropy is that of scores or exponentials. Take it of the weights,
        which sum to 1.""").makes(entropy=lambda c: terms_of(np.exp(c.scores)).sum(-1)),
    averaged=Mistake("""these are means over three terms. Add the terms of a row up.
        """).makes(entropy=lambda c: c.terms.mean(1)),
    bits=Mistake("""these are bits. Take the logarithm to base e.
        """).makes(entropy=lambda c: c.entropy / np.log(2)),
    base_ten=Mistake("""this is base 10. Take the logarithm to base e.
        """).makes(entropy=lambda c: c.entropy / np.log(10)),
    wrong_sign=Mistake("""an entropy is never negative. It is minus the sum.
        """).makes(entropy=lambda c: -c.entropy),
    relative=Mistake("""you divided by log 3. Leave that out.
        """).makes(entropy=lambda c: c.entropy / np.log(3)),
    exponentiated=Mistake("""this is e to the entropy. Leave out the e.
        """).makes(entropy=lambda c: np.exp(c.entropy)),
    no_factor=Mistake("""weigh each log p with its p: -p log p.
        """).makes(entropy=lambda c: -np.log(c.weights).sum(axis=1)),
    not_summed=Mistake("""these are the terms -p log p. Add up each row.
        """).makes(entropy=lambda c: c.terms),
    columns=Mistake("""you added up columns. Add up each row.
        """).makes(entropy=lambda c: c.terms.sum(axis=0)),
    one_number=Mistake("""this is one number. Give one for each of the two rows.
        """).makes(entropy=lambda c: c.entropy[0]),
    rows_added=Mistake("""you added both rows. Give one number for each row.
        """).makes(entropy=lambda c: c.entropy.sum()),
    number_as_text="""`{name}` holds the text {text!r}. Write a number, with a point and without a
        percent sign: 0.5.""",
    decimal_comma="""`{name}` has twice as many numbers as asked for, all of them whole. Write 0.5
        with a point, not with a comma.""",
    wrong_shape="`{name}` has shape {shape}. It should have shape {fits}.",
    row_sums=f"a row does not sum to 1. {BY_ROW}",
    value="{remedy}",
)
