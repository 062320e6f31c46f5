"""What each graded cell of exercise 1.8 counts as right, and the hints of its text."""

TOLD = {
    "records_a_prediction": {
        "takes": (
            "`prediction`, a dictionary with the keys 'longer', 'wider', 'every step', 'second "
            "seed'"
        ),
        "gives": "for each 'rises', 'falls' or 'stays'",
        "free": "what you predict: any answer earns the point",
    },
    "counts_what_is_right": {
        "hints": {
            "Hint: one number for each place": (
                "over_strings one_share counts shares_value mean_of_truth"
            ),
        },
        "takes": "`written` and `target`, tensors of whole numbers (n, T)",
        "gives": (
            "T numbers between 0 and 1: at each place the share of the n strings that have the "
            "right symbol there"
        ),
        "tolerance": "$10^{-5}$",
        "free": "a tensor, an array or a list",
    },
    "counts_bits": {
        "hints": {
            "Hint 1: from nats to bits": "nats times_ln2 all_nats sent_in_nats",
            "Hint 2: sent, less paid": (
                "cost_only sent_only turned_around length_once a_symbol bits_value"
            ),
        },
        "takes": (
            "`nats`, the loss per symbol, a number; `length`, T, and `n_symbols`, N, whole numbers"
        ),
        "gives": "one number, the bits of a string of T symbols that the decoder has read",
        "tolerance": "$10^{-5}$",
    },
    "names_effects": {
        "takes": "`before`, `after` and `noise`, numbers",
        "gives": (
            "'stays' where before and after are at most `noise` apart, else 'rises' or 'falls'"
        ),
        "free": "capitals; what comes where they are exactly `noise` apart",
    },
    "runs_the_experiment": {
        "takes": (
            "`results`, a dictionary with the five runs 'base', 'second seed', 'wider', "
            "'narrower', 'every step'"
        ),
        "gives": (
            "for each what `tested` gives: two lists, shares right and bits read, at lengths 4,"
            " 8, 12, 16"
        ),
        "free": "how well your models do",
    },
    "findings_follow": {
        "takes": "`findings`, a dictionary with the keys of your prediction, and `results`",
        "gives": (
            "for each the word that your own results say, of the share right: 'longer' for the "
            "base model from 4 to 16 symbols, the others for 16 symbols, from the base model to"
            " the other; the noise is how far the two seeds are apart at 16"
        ),
        "free": "whether your prediction was right",
    },
}
