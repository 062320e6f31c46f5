"""What each graded cell of exercise 1.3 counts as right, and the hints of its text."""

TOLD = {
    "weights_are_a_distribution": {
        "takes": (
            "`Q` $(S_q, d_k)$, `K` $(S_k, d_k)$, `V` $(S_k, d_v)$ in float64 or float32, no mask"
        ),
        "gives": (
            "the pair output $(S_q, d_v)$, weights $(S_q, S_k)$, NumPy arrays of float32 "
            "or float64; the rows of weights sum to 1"
        ),
        "tolerance": "$10^{-5}$",
        "free": (
            "loops, `einsum`, broadcasting, helpers and classes of your own; docstrings "
            "and comments"
        ),
        "hints": {
            "Hint 1: the scores": "not_transposed star_for_matmul",
            "Hint 2: the softmax": (
                "keepdims_missing softmax_axis softmax_both_axes "
                "not_normalised no_softmax no_exponential row_sums"
            ),
            "Hint 3: the mask": "mask_is_none",
        },
    },
    "matches_reference": {
        "takes": (
            "`Q` $(S_q, d_k)$, `K` $(S_k, d_k)$, `V` $(S_k, d_v)$ in float64 or float32, "
            "no mask, at several sizes down to one query and one key"
        ),
        "gives": "output and weights as the formula has them",
        "tolerance": "$10^{-5}$, unrounded",
        "free": "the order of the steps",
        "hints": {
            "Hint 1: which root?": "scale_wrong_d scale_fixed scale_twice",
            "Hint 2: where?": "no_scale scale_inverted scale_after_softmax",
        },
    },
    "masks": {
        "takes": (
            "the same and `mask` boolean, True = may attend, of any shape that broadcasts "
            "to $(S_q, S_k)$, None, or left out"
        ),
        "gives": (
            "0 at blocked keys, the rest sharing out 1; weights and output of 0 for a "
            "query that may read nothing"
        ),
        "tolerance": "$10^{-5}$",
        "free": "how keys are blocked",
        "hints": {
            "Hint 1: before or after the softmax?": (
                "mask_after_softmax mask_ignored mask_infinite_weights"
            ),
            "Hint 2: NaN in a row that may read nothing": "nan_on_masked_row zero_times_infinity",
            "Hint 3: why not a large negative number?": "mask_finite",
        },
    },
    "stays_stable": {
        "takes": (
            "the same with scores up to 10,000 in size, alike or very different in one "
            "row, at blocked keys too, and float32 inputs"
        ),
        "gives": "the same, without NaN",
        "tolerance": "$10^{-5}$",
        "free": "which number is subtracted, as long as no exponential overflows",
        "hints": {
            "Hint 1: which number to add?": "no_max_subtraction scores_clipped shift_not_max",
            "Hint 2: the largest of what?": "global_max mask_after_softmax_renormalised",
        },
    },
    "leaves_inputs_alone": {
        "takes": "the same",
        "gives": "anything, with `Q`, `K`, `V` and `mask` as they were",
        "free": "copies",
    },
}
