"""What each graded cell of exercise 1.1 counts as right, and the hints of its text."""

TOLD = {
    "weights_without_scale": {
        "gives": (
            "two rows (queries) of three weights (keys), numbers to three decimals, or "
            "two, rounded: lists, tuples, arrays or tensors, as shares and not in percent"
        ),
        "tolerance": "0.0055, so that two decimals count",
        "free": "how the numbers are worked out",
        "hints": {
            "Hint 1: where to begin": "k_not_transposed transposed",
            "Hint 2: from scores to weights": (
                "no_softmax not_normalised softmax_axis exponential_base no_exponential"
            ),
            "Hint 3: how to check yourself": "row_sums value",
        },
    },
    "output_without_scale": {
        "gives": "two rows (queries) of two numbers, as lists, tuples, arrays or tensors",
        "tolerance": "0.02, so that rounded weights count",
        "free": "how the numbers are worked out; from wrong weights, what follows from them counts",
        "hints": {
            "Hint 1: one row at a time": "keys_for_values unweighted",
            "Hint 2: half the work": "value",
        },
    },
    "entropy_without_scale": {
        "gives": "two numbers in nats, one for each row",
        "tolerance": "0.01",
        "free": "how the numbers are worked out; from wrong weights, what follows from them counts",
        "hints": {
            "Hint 1: a row at a time": "no_factor wrong_sign columns not_summed",
            "Hint 2: half the work": "value",
        },
    },
    "weights_with_scale": {
        "gives": (
            "two rows (queries) of three weights (keys), numbers to three decimals, or "
            "two, rounded: lists, tuples, arrays or tensors, as shares and not in percent"
        ),
        "tolerance": "0.0055, so that two decimals count",
        "free": "how the numbers are worked out",
        "hints": {
            "Hint 1: where to begin": "k_not_transposed transposed",
            "Hint 2: from scores to weights": (
                "no_softmax not_normalised softmax_axis exponential_base no_exponential"
            ),
            "Hint 3: how to check yourself": "row_sums value",
        },
    },
    "output_with_scale": {
        "gives": "two rows (queries) of two numbers, as lists, tuples, arrays or tensors",
        "tolerance": "0.02, so that rounded weights count",
        "free": "how the numbers are worked out; from wrong weights, what follows from them counts",
        "hints": {
            "Hint 1: one row at a time": "keys_for_values unweighted",
            "Hint 2: half the work": "value",
        },
    },
    "entropy_with_scale": {
        "gives": "two numbers in nats, one for each row",
        "tolerance": "0.01",
        "free": "how the numbers are worked out; from wrong weights, what follows from them counts",
        "hints": {
            "Hint 1: a row at a time": "no_factor wrong_sign columns not_summed",
            "Hint 2: half the work": "value",
        },
    },
}
