"""What each graded cell of exercise 1.7 counts as right, and the hints of its text."""

TOLD = {
    "adds_scores": {
        "hints": {
            "Hint 1: what l was summed below": "not_faded starts_again faded_upwards",
            "Hint 2: the two lines": "term_below_old largest_lost not_shifted step_value",
        },
        "takes": (
            "`m` and `l`, numbers that describe the scores so far (at the start minus infinity "
            "and 0), and `s`, the next score, a number"
        ),
        "gives": (
            "two numbers, the new m, the largest score so far, and the new l, the sum of "
            "e^(score - m) over all so far"
        ),
        "tolerance": "$10^{-5}$",
        "free": "floats, NumPy numbers or tensors of one element",
    },
    "survives_extremes": {
        "hints": {
            "Hint 3: nothing read yet": "blocked_first blocked_felt",
        },
        "takes": (
            "besides, scores in the thousands, and scores of minus infinity, as a mask makes "
            "them, the first one included"
        ),
        "gives": (
            "the m that grows with the scores, the l that does not feel it; and what was there "
            "before where the score is minus infinity"
        ),
        "tolerance": "$10^{-5}$",
        "free": "what m and l are for small scores, which the cell before is about",
    },
    "adds_blocks": {
        "hints": {
            "Hint 1: per query": (
                "largest_of_all wrong_shape largest_of_block keepdims_missing max_gives_pair"
            ),
            "Hint 2: three sums, one factor": (
                "l_not_faded O_not_faded none_faded normalised block_value"
            ),
        },
        "takes": (
            "tensors: `m` and `l` (S_q, 1), `O` (S_q, d_v), `S` (S_q, block), the next scores, "
            "scaled already, and `V` (block, d_v), their values"
        ),
        "gives": (
            "three tensors of the shapes of m, l and O: the largest score so far, the sum of "
            "e^(S - m), and the sum of e^(S - m) times the values, not divided by anything"
        ),
        "tolerance": "$10^{-5}$",
        "free": "working in place",
    },
    "matches_attention": {
        "hints": {
            "Hint 1: the loop": "end_lost one_block output_value not_transposed",
            "Hint 2: before and behind it": "not_divided no_scale one_block",
        },
        "takes": (
            "tensors `Q` (S_q, d_k), `K` (S_k, d_k), `V` (S_k, d_v), and `block`, how many keys"
            " one step reads, which need not divide S_k and may be larger"
        ),
        "gives": "the tensor (S_q, d_v) of softmax(QKᵀ/√d_k)V, whatever the block",
        "tolerance": "$10^{-5}$",
        "free": (
            "whether queries come in blocks, too; with a wrong `add_block`, what it makes "
            "counts as right"
        ),
    },
    "holds_no_table": {
        "hints": {
            "Hint 3: what lives at one moment": "table_held grows_like_a_table",
        },
        "takes": "the same function, with S_q = S_k = 256 and 512 and blocks of 32",
        "gives": (
            "the same output, and at no moment a table of all scores: where n doubles, the peak"
            " that `PeakMemory` counts becomes less than 2.3 times as much"
        ),
        "free": "how much memory it takes apart from that",
    },
}
