"""The mistakes of exercise 1.6, and what each makes of a case.

Quantities: ``split`` and ``merge`` (of a tensor), ``weights`` (of queries and keys), ``masked``
(beside weights that were right without a mask), ``output`` (of a whole module), ``state``.
"""

import numpy as np

from attnlab.checks._diagnose import Mistake, Mistakes
from attnlab.checks.check_1_6.cases import scores_of, shares, split
from attnlab.checks.check_1_6.made import (
    by_size,
    inputs_exchanged,
    interleaved_merge,
    interleaved_split,
    outputs,
    over,
    scaled,
    scaled_scores,
    viewed_merge,
    viewed_split,
    with_mask,
)

FROM = "The order is query, key, value: W_q(query), W_k(key), W_v(value)."
THIRDS = "in_proj_weight holds W_q, W_k, W_v below each other, d_model rows each"

MISTAKES = Mistakes(
    # Splitting
    split_viewed=Mistake("""Cut the width first, then swap two axes: x.view(B, S, H, d_k), then
        .transpose(1, 2). A view straight to (B, H, S, d_k) has the right shape and the wrong
        numbers: it deals out the tokens, so a head sees a few tokens whole instead of its d_k
        components of all.""").makes(split=viewed_split),
    split_not_transposed=Mistake("""Swap axes 1 and 2 at the end, .transpose(1, 2): what comes back
        is (B, S, H, d_k), where (B, H, S, d_k) is asked for, so that a matrix product works on
        tokens and not on heads.""").makes(split=lambda x, H: split(x, H).swapaxes(1, 2)),
    split_interleaved=Mistake("""Unfold the width as (H, d_k), in this order. Unfolded as (d_k, H),
        head 0 gets every H-th component; asked for are the first d_k.
        """).makes(split=interleaved_split),
    split_heads_first=Mistake("""Put the heads on axis 1, behind the batch, as with
        torch.stack(parts, 1): they are on axis 0 here.
        """).makes(split=lambda x, H: split(x, H).swapaxes(0, 1)),
    split_batch_joined=Mistake("""Keep the batch and the heads apart, (B, H, S, d_k): here they are
        one axis of B·H, and a mask of (B, 1, 1, S_k) would no longer fit.
        """).makes(split=lambda x, H: split(x, H).reshape(-1, x.shape[1], x.shape[2] // H)),
    split_too_far=Mistake("""Leave the width last, (B, H, S, d_k): here the last two axes are
        swapped, or all of them.
        """).makes(split=lambda x, H: [split(x, H).swapaxes(-2, -1), split(x, H).swapaxes(1, 2).T]),
    split_by_size=Mistake("""The second argument is how many heads there are, and d_k is
        d_model // n_heads: here they change places.""").makes(split=by_size),
    split_copies=Mistake("""Give each head its own d_k components: here each gets all of them.
        """).makes(split=lambda x, H: np.stack([x] * H, 1)),
    split_same_slice=Mistake("""Let the slice move with the head, x[..., h * d_k : (h + 1) * d_k]:
        here all heads get the same components.
        """).makes(split=lambda x, H: np.stack([split(x, H)[:, 0]] * H, 1)),
    split_not_done=Mistake("""Cut the width into heads and return the result: x comes back as it was
        given.""").makes(split=lambda x, H: x),
    split_value="""Head h of token s holds the components h·d_k to (h + 1)·d_k of that token, in
        their order. Compare the case below with yours, number by number.""",
    # Merging
    merge_viewed=Mistake("""Swap axes 1 and 2 back before you flatten: x.transpose(1, 2), then
        .flatten(-2). Flattened as it stands, a row holds several tokens of one head instead of all
        heads of one token, and no shape tells.""").makes(merge=viewed_merge),
    merge_interleaved=Mistake("""Leave (H, d_k) in this order before you flatten: here the heads'
        components alternate instead of following each other head by head.
        """).makes(merge=interleaved_merge),
    merge_summed=Mistake("""Put the heads side by side, so that the width is H·d_k again: adding or
        averaging them throws away who found what.
        """).makes(merge=lambda x: [x.sum(1), x.mean(1)]),
    merge_not_flattened=Mistake("""Flatten the last two axes into one after the transpose,
        .flatten(-2): the heads still have an axis of their own.
        """).makes(merge=lambda x: [x, x.swapaxes(1, 2), x.swapaxes(1, 2).squeeze()]),
    merge_joined=Mistake("""Join the heads with the width, not with the tokens: swap axes 1 and 2,
        then flatten the last two. Here heads and tokens are one axis.
        """).makes(merge=lambda x: x.reshape(len(x), -1, x.shape[-1])),
    merge_one_head=Mistake("""Merge all heads: here one comes back alone.
        """).makes(merge=lambda x: [x[:, 0], x[:, -1]]),
    merge_too_far=Mistake("""Leave the tokens on axis 1, (B, S, d_model): here the last two axes are
        swapped.""").makes(merge=lambda x: np.concatenate([*x.swapaxes(0, 1)], -1).swapaxes(1, 2)),
    merge_value="""Token s gets the d_k components of head 0, then those of head 1, and so on.
        Compare the case below with yours.""",
    view_after_transpose="""Write .reshape or .flatten(-2) instead of .view, or .contiguous() before
        it. After a transpose the numbers of a row no longer lie side by side in memory, and a view
        cannot join them.""",
    # Weights
    returns_several="Return the weights alone, one tensor: here come {number} things.",
    mask_none="""Use the mask only if there is one: `if mask is not None:`. This call gives none, so
        mask is None.""",
    keys_not_transposed="""Swap the last two axes of K, K.transpose(-2, -1), and multiply with @.
        K.T turns all four axes around, and K as it stands does not fit.""",
    weights_no_scale=Mistake("""Divide the scores by √d_k, the root of Q.shape[-1]: they are not
        scaled.""").makes(weights=scaled(lambda Q, K: 1)),
    weights_wrong_scale=Mistake("""Divide the scores by √d_k, once, where d_k is Q.shape[-1], the
        width of one head: here they are scaled by something else, such as d_k itself, d_model or a
        length.""").makes(
        weights=scaled(
            lambda Q, K: 1 / Q.shape[-1],
            lambda Q, K: Q.shape[-1] ** 0.5,
            lambda Q, K: (Q.shape[-1] * Q.shape[1]) ** -0.5,
            lambda Q, K: Q.shape[1] ** -0.5,
            lambda Q, K: Q.shape[0] ** -0.5,
            lambda Q, K: Q.shape[2] ** -0.5,
            lambda Q, K: K.shape[2] ** -0.5,
            lambda Q, K: Q.shape[-1] ** -0.25,
            lambda Q, K: 1 / 8,
        )
    ),
    weights_wrong_axis=Mistake("""Take the softmax over the keys, the last axis: dim=-1. Here the
        weights sum to 1 over the queries, the heads, the batch or all at once.
        """).makes(weights=over(-2, 1, 0, (-2, -1), None)),
    weights_no_softmax=Mistake("""Turn each row of scores into shares, softmax(dim=-1): what comes
        back are the scores.
        """).makes(weights=lambda Q, K: [scaled_scores(Q, K), scores_of(Q, K)]),
    weights_logarithms=Mistake("""Take the softmax, not its logarithm: log_softmax is for losses.
        """).makes(weights=lambda Q, K: np.log(shares(scaled_scores(Q, K)))),
    weights_not_normalised=Mistake("""Divide the exponentials by the sum of their row, with
        keepdim=True: they come back as they are.
        """).makes(weights=lambda Q, K: np.exp(scaled_scores(Q, K))),
    weights_softmax_twice=Mistake("""Take the softmax once: here it is taken of weights.
        """).makes(weights=lambda Q, K: shares(shares(scaled_scores(Q, K)))),
    weights_hard=Mistake("""Let a softmax share out each row: here the best key takes all.
        """).makes(weights=lambda Q, K: np.eye(K.shape[2])[scores_of(Q, K).argmax(-1)]),
    weights_causal=Mistake("""Block nothing where no mask is given: here each query reads the keys
        up to its own place alone.""").makes(
        weights=lambda Q, K: shares(scaled_scores(Q, K), np.tri(Q.shape[2], K.shape[2], dtype=bool))
    ),
    weights_sigmoid=Mistake("""Take the softmax of each row, not the sigmoid of each score: its
        weights share out 1.""").makes(weights=lambda Q, K: 1 / (1 + np.exp(-scaled_scores(Q, K)))),
    weights_rounded=Mistake("""Do not round.""").makes(
        weights=lambda Q, K: [shares(scaled_scores(Q, K)).round(k) for k in (2, 3, 4)]
    ),
    weights_random="""Leave dropout to the module: two calls with the same numbers give different
        weights.""",
    weights_value="""The weights are the softmax over the keys of Q Kᵀ / √d_k, for each head by
        itself. Compare the case below with yours, the scores first.""",
    # Masks, beside weights that are right without one
    mask_ignored=Mistake("""Set blocked scores to minus infinity before the softmax: the weights are
        those without a mask.""").makes(masked=lambda s, ok: shares(s)),
    mask_inverted=Mistake("""True means: may attend. So fill where the mask is False,
        masked_fill(~mask, -math.inf): here it is the other way round.
        """).makes(masked=lambda s, ok: shares(s, ~ok)),
    mask_late=Mistake("""Mask the scores, before the softmax: set to 0 afterwards, the rest of a row
        no longer sums to 1.""").makes(masked=lambda s, ok: shares(s) * ok),
    mask_late_infinite=Mistake("""Put minus infinity into the scores, before the softmax: here it
        stands in the weights.""").makes(masked=lambda s, ok: np.where(ok, shares(s), -np.inf)),
    mask_zero_score=Mistake("""Fill with minus infinity, not with 0: a score of 0 keeps the share of
        e⁰ = 1.""").makes(masked=lambda s, ok: shares(s * ok)),
    mask_added=Mistake("""Choose with masked_fill or torch.where: True counts as 1 in a sum and
        blocks nothing.""").makes(masked=lambda s, ok: [shares(s + ok), shares(s - ok)]),
    mask_causal=Mistake("""Apply the mask that is passed in: here a causal one is applied instead.
        """).makes(
        masked=lambda s, ok: [
            shares(s, np.tri(*s.shape[-2:], dtype=bool)),
            shares(s, np.tri(*s.shape[-2:], dtype=bool) & ok),
        ]
    ),
    mask_whole_keys=Mistake("""Block a key for the queries that may not read it, and for no other:
        here it is blocked for all or for none.""").makes(
        masked=lambda s, ok: [
            shares(s, ok.any(-2, keepdims=True) & np.ones(ok.shape, bool)),
            shares(s, ok.all(-2, keepdims=True) & np.ones(ok.shape, bool)),
        ]
    ),
    mask_transposed=Mistake("""Rows of the mask are queries and columns keys: here its axes are
        swapped.""").makes(masked=lambda s, ok: shares(s, ok.swapaxes(-2, -1))),
    mask_finite="""Fill with minus infinity, and give a query that may read nothing weights of 0: a
        finite stand-in cancels in such a row, and all its keys get alike.""",
    mask_nan="""Give a query that may read nothing weights of 0, for example by .nan_to_num(0.0)
        behind the softmax: all its scores are minus infinity, and the softmax divides 0 by 0.""",
    mask_not_broadcast="""Let the mask broadcast: masked_fill(~mask, ...) and torch.where take
        (S_q, S_k), (B, 1, 1, S_k) and (B, 1, S_q, S_k) as they are. This call fails with {shape}.
        """,
    mask_value="""A blocked key gets 0, and the allowed ones share out 1 in the proportions of
        before. Compare the case below with yours.""",
    # The module's parts
    no_module="Derive the class from nn.Module: what it makes is of type {kind}.",
    init_missing="""Let `super().__init__()` be the first line of `__init__`. Without it nn.Module
        cannot take up any layer.""",
    layer_missing="Assign {names} in `__init__`, as self.W_q = nn.Linear(d_model, d_model).",
    layer_shape="""Make each projection nn.Linear(d_model, d_model), biases included: all heads
        together in one map. {name} is {given}.""",
    not_registered="""Assign each layer to an attribute of its own. What stands in a list or a
        dictionary is not found by .parameters(), and so it would never be trained.""",
    extra_parameters="""Keep to the four projections: with d_model={width} they have {right:,}
        parameters, and this module has {given:,}.""",
    one_layer_for_all="""Make a layer of its own for each projection: {names} are the same one, so
        queries and keys could not differ.""",
    not_refused="""Raise a ValueError where n_heads does not divide d_model: 10 components do not
        make 4 heads of equal width, and {what}.""",
    # The module as a whole
    forward_returns="Return two things, output and weights, in this order: here comes {what}.",
    weights_averaged="""Return the weights of each head, (B, H, S_q, S_k): their mean hides what the
        heads do.""",
    weights_wrong="""Return the weights that the softmax gave, (B, H, S_q, S_k): these are {given},
        with {case}. The output is right.""",
    no_gradient="""Keep every step in PyTorch, with no .detach(), .data, .numpy() or no_grad:
        {names} get no gradient and would never learn.""",
    dropped_at_rest="""Drop nothing after .eval(): two calls with the same input differ. nn.Dropout
        knows by itself; F.dropout needs training=self.training.""",
    no_output_map=Mistake("""Send the merged heads through W_o at the end: without it no head knows
        of another.""").makes(output=outputs({"finish": False})),
    map_missing=Mistake(f"""Project before you split: one of query, key and value goes in as it is.
        {FROM}""").makes(
        output=outputs(
            {"maps": (None, "W_k", "W_v")},
            {"maps": ("W_q", None, "W_v")},
            {"maps": ("W_q", "W_k", None)},
            {"maps": (None, None, None)},
        )
    ),
    map_exchanged=Mistake(f"""Give each input its own map: one of W_q, W_k, W_v is used for another.
        {FROM}""").makes(
        output=outputs(
            {"maps": ("W_k", "W_q", "W_v")},
            {"maps": ("W_q", "W_k", "W_k")},
            {"maps": ("W_q", "W_q", "W_q")},
            {"maps": ("W_q", "W_v", "W_k")},
            {"maps": ("W_q", "W_q", "W_v")},
            {"maps": ("W_v", "W_k", "W_q")},
        )
    ),
    input_exchanged=Mistake(f"""Take keys and values from what `key` and `value` hold, which may be
        another sequence than `query`. {FROM}""").makes(output=inputs_exchanged),
    reshape_bug=Mistake("""Transpose before you merge, and after you split: this is the famous bug.
        .view(B, H, S, d_k) or .view(B, S, d_model) where an axis should move first has the right
        shape, trains, and mixes tokens.""").makes(
        output=outputs(
            {"split": viewed_split},
            {"merge": viewed_merge},
            {"split": viewed_split, "merge": viewed_merge},
        )
    ),
    heads_interleaved=Mistake("""Cut the width into (H, d_k), in this order: here head 0 takes every
        H-th component. Trained weights from elsewhere would not fit.
        """).makes(output=outputs({"split": interleaved_split, "merge": interleaved_merge})),
    module_scale=Mistake("""Divide the scores by √d_k, the root of a head's width, once.
        """).makes(
        output=lambda c: [
            c.forward(scale=s)[0] for s in (1, c.width**-0.5, 1 / c.d_k, c.d_k**0.5, c.H**-0.5)
        ]
    ),
    module_mask_ignored=Mistake("""Hand the mask on to the weights: the output is that without a
        mask.""").makes(output=with_mask(lambda s, ok: shares(s))),
    module_mask_inverted=Mistake("""True means: may attend. Here the mask is read the other way
        round.""").makes(output=with_mask(lambda s, ok: shares(s, ~ok))),
    module_mask_late=Mistake("""Mask the scores, before the softmax.
        """).makes(output=with_mask(lambda s, ok: shares(s) * ok)),
    residual_added=Mistake("""Return the attention alone: the block around it adds its input, not
        this module.""").makes(output=lambda c: c.output + c.inputs["query"]),
    module_value="""The output is W_o(merge(weights @ V)), with weights from split(W_q(query)) and
        split(W_k(key)), and V from split(W_v(value)). Go through these steps in the case below: the
        first that differs is the place.""",
    # Dropout
    no_dropout="""Send the weights through self.dropout = nn.Dropout(dropout) before they meet V: in
        training, with dropout={p}, nothing is dropped.""",
    dropped_weights_returned="""Return the weights from before dropout: what comes back has zeros
        and rows that no longer sum to 1.""",
    dropout_elsewhere="""Drop weights, and nothing else: self.dropout(weights) @ V. Here the output
        does not come from weights that are 0 or divided by 1 - p.""",
    dropout_not_scaled="""Use nn.Dropout, which divides what it keeps by 1 - p, so that the mean
        stays: here the kept weights stay as they were.""",
    dropout_probability="""Hand the probability on, nn.Dropout(dropout): with dropout={p} a share of
        {given:.2f} is dropped.""",
    dropout_unclear="""Repair what the check of the whole module finds, then come back: with nothing
        dropped, the output is not the mean of the values by the weights returned.""",
    # PyTorch's state
    not_a_state="""Return a dictionary of tensors: {what}.""",
    state_keys="""Name the entries as your module does: {missing} {are} missing{odd}.""",
    state_order=Mistake(f"""Take the thirds in their order, queries, keys, values: {THIRDS}, and
        here they are exchanged.""").makes(
        state=lambda W: [
            W | {f"W_{x}.weight": W[f"W_{y}.weight"] for x, y in zip("qkv", order, strict=True)}
            for order in ("qvk", "kqv", "kvq", "vqk", "vkq", "qqq")
        ]
    ),
    state_transposed=Mistake("""Copy the matrices as they are: nn.Linear and nn.MultiheadAttention
        both hold (out, in). Here some are transposed.""").makes(
        state=lambda W: [
            {n: w.T if n in which else w for n, w in W.items()}
            for which in (set(W), set(W) - {"W_o.weight"}, {"W_o.weight"})
        ]
    ),
    state_shape="""Give {name} the shape {right}: {given} comes. {thirds}.""",
    state_value="""Copy the numbers as they are: {name} does not hold what it should. {thirds}.""",
)
