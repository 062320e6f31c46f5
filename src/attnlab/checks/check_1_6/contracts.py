"""What each graded cell of exercise 1.6 counts as right, and the hints of its text."""

TOLD = {
    "splits_heads": {
        "hints": {
            "Hint 1: what to cut": (
                "split_viewed split_batch_joined split_by_size hard_coded_size"
            ),
            "Hint 2: the two steps": "split_not_transposed split_heads_first",
            "Hint 3: a view that PyTorch refuses": "view_after_transpose",
        },
        "takes": (
            "`x`, a float tensor (B, S, d_model), and `n_heads`, a whole number H that divides "
            "d_model"
        ),
        "gives": (
            "a tensor (B, H, S, d_k) with d_k = d_model / H; head h has the components h·d_k to"
            " (h + 1)·d_k of every token"
        ),
        "tolerance": "$10^{-5}$",
        "free": "views, copies, loops over heads",
    },
    "merges_heads": {
        "hints": {
            "Hint 1: what to cut": "merge_viewed merge_not_flattened merge_interleaved",
            "Hint 2: the two steps": "merge_too_far merge_value",
            "Hint 3: a view that PyTorch refuses": "view_after_transpose",
        },
        "takes": "`x`, a float tensor (B, H, S, d_k)",
        "gives": "a tensor (B, S, H·d_k), the heads of a token side by side, head 0 first",
        "tolerance": "$10^{-5}$",
    },
    "gives_weights": {
        "hints": {
            "Hint 1: four axes": (
                "keys_not_transposed weights_wrong_axis not_transposed shapes_differ wrong_method"
            ),
            "Hint 2: the mask": (
                "mask_none mask_ignored mask_inverted mask_not_broadcast mask_late mask_zero_score"
            ),
            "Hint 3: a query that may read nothing": "mask_nan mask_finite",
        },
        "takes": "`Q` (B, H, S_q, d_k) and `K` (B, H, S_k, d_k), float tensors, and no mask",
        "gives": (
            "one tensor (B, H, S_q, S_k), the softmax over the keys of the scores divided by √d_k"
        ),
        "tolerance": "$10^{-5}$",
    },
    "follows_masks": {
        "hints": {
            "Hint 1: four axes": (
                "keys_not_transposed weights_wrong_axis not_transposed shapes_differ wrong_method"
            ),
            "Hint 2: the mask": (
                "mask_none mask_ignored mask_inverted mask_not_broadcast mask_late mask_zero_score"
            ),
            "Hint 3: a query that may read nothing": "mask_nan mask_finite",
        },
        "takes": (
            "besides, `mask`, a boolean tensor that broadcasts to (B, H, S_q, S_k), such as "
            "(S_q, S_k) or (B, 1, 1, S_k); True means: may attend"
        ),
        "gives": (
            "weights of 0 at blocked keys, the others in the proportions that they have without"
            " a mask, summing to 1; zeros for a query that may read nothing"
        ),
        "tolerance": "$10^{-5}$",
        "free": (
            "how you block, and what the weights are without a mask, which the cell before is about"
        ),
    },
    "holds_the_projections": {
        "takes": "`MultiHeadAttention(d_model, n_heads, dropout=0.0)`",
        "gives": (
            "an nn.Module with the layers `W_q`, `W_k`, `W_v`, `W_o`, each nn.Linear(d_model, "
            "d_model) with a bias, and no other parameters; a ValueError where n_heads does not"
            " divide d_model"
        ),
        "free": "all other attributes",
    },
    "computes_attention": {
        "hints": {
            "Hint 1: the order of things": (
                "module_value reshape_bug no_output_map map_missing map_exchanged shapes_differ"
            ),
            "Hint 2: dropout": "dropped_at_rest weights_wrong",
        },
        "takes": (
            "`query` (B, S_q, d_model), `key` and `value` (B, S_k, d_model), and `mask` as "
            "above, which may be left out"
        ),
        "gives": (
            "output (B, S_q, d_model) and weights (B, H, S_q, S_k), in this order, such that "
            "the loss reaches all parameters"
        ),
        "tolerance": "$10^{-5}$",
        "free": (
            "whether you use your three functions; where you do and one is wrong, what the "
            "module makes of it counts as right"
        ),
    },
    "drops_weights": {
        "hints": {
            "Hint 2: dropout": (
                "no_dropout dropped_weights_returned dropout_elsewhere dropout_not_scaled "
                "dropout_probability dropped_at_rest"
            ),
        },
        "takes": "a module made with some `dropout`, in training and after `.eval()`",
        "gives": (
            "in training an output whose weights are 0 with this probability and else divided "
            "by 1 less it, and returned weights from before that; after `.eval()` nothing "
            "dropped"
        ),
        "tolerance": "0.1 in the share that is dropped",
    },
    "takes_over_pytorch": {
        "hints": {
            "Hint": "state_order state_shape state_value",
        },
        "takes": "the `state_dict()` of an nn.MultiheadAttention",
        "gives": (
            "a dictionary with the eight entries of yours, W_q.weight, W_q.bias and so on, that"
            " leaves theirs as it is"
        ),
        "tolerance": "$10^{-5}$",
    },
}
