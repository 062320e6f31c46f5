"""Wrong answers that the acceptance test types into each exercise, in JupyterLab."""

from typing import NamedTuple


class Wrong(NamedTuple):
    """What is typed into which cell, and words that its graded cell must then show."""

    answer: str
    graded: str
    source: str
    words: str


WRONG_ANSWERS = {
    "1_1_by_hand": [
        Wrong(
            "1_1-weights-unscaled-answer",
            "1_1-weights-without-scale",
            "weights_unscaled = [[0.731, 0.269, 0.5], [0.269, 0.731, 0.5]]",
            "you normalised each column",
        ),
        Wrong(
            "1_1-weights-scaled-answer",
            "1_1-weights-with-scale",
            "weights_scaled = weights_unscaled = [[0.422, 0.155, 0.422], [0.155, 0.422, 0.422]]",
            "the scale is missing",
        ),
        Wrong(
            "1_1-weights-scaled-answer",
            "1_1-weights-with-scale",
            "weights_scaled = [[0.384, 0.233, 0.384], [0.233, 0.384, 0.384]]",
            "you divided by d_k = 2",
        ),
        Wrong(
            "1_1-output-unscaled-answer",
            "1_1-output-without-scale",
            "output_unscaled = [[3, 3.534], [4, 4.534]]",
            "rows and columns are swapped",
        ),
        Wrong(
            "1_1-entropy-scaled-answer",
            "1_1-entropy-with-scale",
            "entropy_scaled = [1.520, 1.520]",
            "these are bits",
        ),
        Wrong(
            "1_1-entropy-scaled-answer",
            "1_1-entropy-with-scale",
            "entropy_scaled = [-1.053, -1.053]",
            "never negative",
        ),
    ],
}
