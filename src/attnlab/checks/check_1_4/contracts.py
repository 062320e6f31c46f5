"""What each graded cell of exercise 1.4 counts as right, and the hints of its text."""

TOLD = {
    "returns_all_maps": {
        "takes": "any `TransformerEncoder` and `x` $(B, S)$",
        "gives": (
            "the weights of all layers, $(\\text{layers}, B, H, S, S)$: tensor, array or "
            "lists of these, with or without gradients"
        ),
        "tolerance": "$10^{-4}$",
        "free": "how you get them",
        "hints": {
            "Hint 1: where the weights are": "wrong_maps no_norm no_positions",
            "Hint 2: which part of it": "returns_pair states_for_maps one_layer",
        },
    },
    "shows_twenty_maps": {
        "gives": (
            "`fig`, which shows the 20 maps of layer 1 (index 0), the weights themselves "
            "or percent, with the first query at the top and one colour scale for all"
        ),
        "tolerance": "$10^{-5}$",
        "free": (
            "images, meshes or points, one figure or several, colours, order and titles; maps "
            "that a wrong `attention_maps` gives count, too"
        ),
        "hints": {
            "Hint 1: a grid": "maps_missing",
            "Hint 2: one map": "no_maps rescaled own_scales upside_down other_maps",
        },
    },
    "scores_relations": {
        "takes": (
            "`maps` $(\\text{layers}, B, H, S, S)$, any sizes, a tensor (an array, if your "
            "function takes no tensor), and `offset`"
        ),
        "gives": (
            "one number for each layer and head, $(\\text{layers}, H)$: tensor, array or lists"
        ),
        "tolerance": "$10^{-4}$, unrounded",
        "free": "how you average",
        "hints": {
            "Hint 1: where these weights stand": "offset_sign off_by_one",
            "Hint 2: a function for it": "counts_outside wraps_around query_dropped",
        },
    },
    "scores_neighbours": {
        "takes": (
            "`maps` $(\\text{layers}, B, H, S, S)$, any sizes, a tensor (an array, if your "
            "function takes no tensor)"
        ),
        "gives": (
            "one number for each layer and head, $(\\text{layers}, H)$: tensor, array or lists"
        ),
        "tolerance": "$10^{-4}$, unrounded",
        "free": "how you compare; with a wrong `relation_score`, the larger that it gives counts",
        "hints": {
            "Hint": "one_side python_max mean_of_both sum_of_both",
        },
    },
    "scores_uniformity": {
        "takes": (
            "`maps` $(\\text{layers}, B, H, S, S)$, any sizes, a tensor (an array, if your "
            "function takes no tensor), zeros included"
        ),
        "gives": (
            "one number for each layer and head, $(\\text{layers}, H)$: tensor, array or lists"
        ),
        "tolerance": "$10^{-3}$, so that up to 1e-4 may be added inside the logarithm",
        "free": "the base of the logarithm, if it is shared",
        "hints": {
            "Hint 1: the order of things": "averaged_first queries_not_averaged",
            "Hint 2: zeros": "nan_at_zero nan_to_zero large_epsilon",
        },
    },
    "names_heads": {
        "gives": "`head_roles`, a dictionary with a name for each `(layer, head)`, both from 0",
        "tolerance": "0.05 of a threshold, within which both names count",
        "free": (
            "typed or computed; capitals; which of two names that both fit; where a function above "
            "is wrong, the names that follow from what it gives"
        ),
        "hints": {
            "Hint 1: print before you name": "overlooked no_relation not_adjacent not_uniform",
            "Hint 2: the largest over the offsets": "adjacent_as_relation",
        },
    },
}
