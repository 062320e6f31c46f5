"""What each graded cell of exercise 1.2 counts as right, and the hints of its text."""

TOLD = {
    "takes_the_weights_of_one_head": {
        "takes": (
            "`mha`, `x` of shape $(1, S, d_\\text{model})$ for any $S$, `mask` of shape "
            "$(1, 1, S, S)$, True = may attend, or None, and `head`, counted from 0"
        ),
        "gives": (
            "the weights of that head, $(S, S)$, a row for each query: tensor, array or "
            "lists, with or without gradients"
        ),
        "tolerance": "$10^{-5}$, or what bfloat16 leaves",
        "free": "how you take them out",
        "hints": {
            "Hint 1": "returns_pair output_for_weights",
            "Hint 2": "wrong_shape needs_detach head_ignored wrong_head",
        },
    },
    "finds_weight_on_the_future": {
        "takes": "`weights`, $(S, S)$, a tensor (an array, if your function takes no tensor)",
        "gives": "one number, the largest weight above the diagonal, or 0",
        "tolerance": "$10^{-5}$, unrounded",
        "free": "how you find it",
        "hints": {
            "Hint 1": "wrong_triangle counts_diagonal whole_matrix",
            "Hint 2": "misses_neighbour misses_entries",
        },
    },
    "mask_hides_the_future": {
        "gives": (
            "`w_causal` and `w_full`, head 0 with the causal mask and without one, $(12, 12)$ each"
        ),
        "tolerance": "$10^{-5}$",
        "free": (
            "tensors, arrays or lists; where your `head_weights` is wrong, what it gives counts"
        ),
    },
    "figure_shows_maps_and_difference": {
        "gives": (
            "`fig`, which shows `w_causal`, `w_full` and their difference, of either sign, "
            "with the first query at the top and axes whose names say query and key"
        ),
        "free": (
            "any way of drawing that holds the numbers: images, meshes, filled contours, "
            "points, bars, blank cells for 0, percent, several figures; colours and titles"
        ),
        "hints": {
            "Hint": "no_heat_maps missing_panel",
        },
    },
    "leak_is_measured": {
        "takes": (
            "a module called as `mha(x, x, x, mask)`, `x` of shape $(1, S, "
            "d_\\text{model})$, `mask` or None"
        ),
        "gives": (
            "one number from 0 on, the largest distance that an output before $t$ moves, "
            "over $t = 1 \\dots S - 1$: larger for a stronger leak"
        ),
        "tolerance": (
            "at most $10^{-5}$ where nothing leaks, at least $10^{-4}$ where something does"
        ),
        "free": (
            "any sensible distance, relative or absolute, over all components; what a "
            "token is changed to; copies of the module"
        ),
        "hints": {
            "Hint 1: one token": ("mutates_input changes_nothing change_too_small changes_several"),
            "Hint 2: which outputs?": "counts_own_position counts_later_positions misses_pairs",
            "Hint 3: the loop": "accumulates_changes misses_mask false_alarm",
        },
    },
}
