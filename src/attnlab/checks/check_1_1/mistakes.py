"""The mistakes of exercise 1.1, and what each makes of a case.

Quantities: ``weights``, ``output`` and ``entropy``; the last two also follow from wrong weights.
"""

import numpy as np

from attnlab.checks._diagnose import Mistake, Mistakes
from attnlab.checks.check_1_1.cases import BOTH, PLAIN, ROOT, SCALED, K, Q, case_of
from attnlab.reference import softmax

BY_ROW = "Divide each exponential by the sum of its own row."

MISTAKES = Mistakes(
    no_scale=Mistake("""the scale is missing. Divide the scores by √d_k = √2 before the softmax.
        """).makes(weights=lambda c: PLAIN.weights if c is SCALED else []),
    scaled_here=Mistake("""these are the numbers with the scale. Here the scores are not divided by
        anything.""").makes(weights=lambda c: SCALED.weights if c is PLAIN else []),
    scale_wrong_d=Mistake("""the scores are divided by 2, by d_k or twice by its root. Divide once
        by √d_k = 1.414 where the scale is asked for, else by nothing.
        """).makes(weights=lambda c: case_of(2).weights),
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
    no_exponential=Mistake("""you divided the scores by their sum. Take their exponentials first.
        """).makes(weights=lambda c: c.scores / c.scores.sum(axis=1, keepdims=True)),
    rows_swapped=Mistake("""the two rows are swapped. Row 1 is for query 1.
        """).makes(weights=lambda c: c.weights[::-1]),
    percentages=Mistake("""these are percentages. Divide by 100.
        """).makes(weights=lambda c: 100 * c.weights),
    one_row=Mistake("this is one row. Give one for each of the two queries.").makes(
        weights=lambda c: [*c.weights, c.weights[:1], c.weights[1:]],
        output=lambda c: [*c.output, c.output[:1], c.output[1:]],
    ),
    keys_for_values=Mistake("""you mixed the rows of K. Mix those of V.
        """).makes(output=lambda c: c.weights @ K),
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
    decimal_comma="""`{name}` has twice as many numbers as asked for, all of them whole. Write 0.5
        with a point, not with a comma.""",
    wrong_shape="`{name}` has shape {shape}. It should have shape {fits}.",
    row_sums=f"a row does not sum to 1. {BY_ROW}",
    value="{remedy}",
)
