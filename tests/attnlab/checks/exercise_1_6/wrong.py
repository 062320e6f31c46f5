"""Wrong answers to exercise 1.6: which check finds each, its cause, and words of the message.

A label begins with the cause.
"""

import math

import torch
from exercise_1_6.right import (
    FromAnEmptyFile,
    masked_fill,
    module,
    thirds,
    transpose_and_flatten,
    view_and_transpose,
    with_parts,
)
from torch import nn
from torch.nn import functional as F


def viewed(x, n_heads):
    B, S, d_model = x.shape
    return x.view(B, n_heads, S, d_model // n_heads)


def interleaved(x, n_heads):
    B, S, d_model = x.shape
    return x.view(B, S, d_model // n_heads, n_heads).permute(0, 3, 1, 2)


def joined(x, n_heads):
    x = x.reshape(x.shape[0], x.shape[1], n_heads, -1).permute(0, 2, 1, 3)
    return x.reshape(-1, x.shape[2], x.shape[3])


def in_place(x, n_heads):
    x *= 1.5
    return view_and_transpose(x, n_heads) / 1.5


WRONG_SPLITS = {
    "split_viewed positional": (
        lambda x, n_heads: x.reshape(len(x), n_heads, x.shape[1], x.shape[2] // n_heads),
        "deals out the tokens",
    ),
    "split_heads_first list": (lambda x, n_heads: list(x.chunk(n_heads, -1)), "axis 1"),
    "split_too_far turned": (
        lambda x, n_heads: x.view(*x.shape[:2], n_heads, -1).permute(3, 2, 1, 0),
        "or all of them",
    ),
    "split_viewed": (viewed, "deals out the tokens"),
    "split_viewed reshape": (
        lambda x, n_heads: torch.reshape(x, (x.shape[0], n_heads, x.shape[1], -1)),
        "then .transpose(1, 2)",
    ),
    "split_not_transposed": (
        lambda x, n_heads: x.view(*x.shape[:2], n_heads, -1),
        "Swap axes 1 and 2 at the end",
    ),
    "split_interleaved": (interleaved, "every H-th component"),
    "split_interleaved by steps": (
        lambda x, n_heads: torch.stack([x[..., h::n_heads] for h in range(n_heads)], 1),
        "in this order",
    ),
    "split_heads_first": (lambda x, n_heads: list(x.chunk(n_heads, -1)), "torch.stack(parts, 1)"),
    "split_heads_first stacked": (
        lambda x, n_heads: torch.stack(x.chunk(n_heads, -1)),
        "on axis 0 here",
    ),
    "split_batch_joined": (joined, "one axis of B·H"),
    "split_too_far": (
        lambda x, n_heads: view_and_transpose(x, n_heads).transpose(-2, -1),
        "Leave the width last",
    ),
    "split_by_size": (
        lambda x, n_heads: view_and_transpose(x, x.shape[-1] // n_heads),
        "change places",
    ),
    "split_by_size torch.split": (
        lambda x, n_heads: torch.stack(x.split(n_heads, dim=-1), dim=1),
        "d_model // n_heads",
    ),
    "split_copies": (
        lambda x, n_heads: x.unsqueeze(1).repeat(1, n_heads, 1, 1),
        "its own d_k components",
    ),
    "split_same_slice": (
        lambda x, n_heads: torch.stack([x[..., : x.shape[-1] // n_heads]] * n_heads, 1),
        "slice move with the head",
    ),
    "split_not_done": (lambda x, n_heads: x, "as it was given"),
    "split_value": (lambda x, n_heads: view_and_transpose(x, n_heads).flip(1), "in their order"),
    "hard_coded_size": (
        lambda x, n_heads: x.view(x.shape[0], x.shape[1], 8, 64),
        "invalid for input",
    ),
    "returns_nothing": (lambda x, n_heads: None, "return statement"),
    "mutates_input": (in_place, "changes its input x"),
    "not_callable": (torch.ones(2), "needs your function"),
}
WRONG_MERGES = {
    "merge_joined": (lambda x: x.flatten(1, 2), "are one axis"),
    "merge_not_flattened squeezed": (lambda x: x.transpose(1, 2).squeeze(), "an axis of their own"),
    "merge_viewed": (
        lambda x: x.reshape(x.shape[0], x.shape[2], -1),
        "before you flatten: x.transpose(1, 2)",
    ),
    "merge_viewed view": (
        lambda x: x.contiguous().view(x.shape[0], x.shape[2], x.shape[1] * x.shape[3]),
        "no shape tells",
    ),
    "merge_interleaved": (
        lambda x: x.permute(0, 2, 3, 1).reshape(x.shape[0], x.shape[2], -1),
        "components alternate",
    ),
    "merge_summed": (lambda x: x.sum(1), "side by side"),
    "merge_summed mean": (lambda x: x.mean(dim=1), "who found what"),
    "merge_not_flattened": (lambda x: x.transpose(1, 2), "an axis of their own"),
    "merge_one_head": (lambda x: x[:, -1], "one comes back alone"),
    "merge_too_far": (lambda x: transpose_and_flatten(x).mT, "tokens on axis 1"),
    "merge_value": (lambda x: transpose_and_flatten(x.flip(1)), "then those of head 1"),
    "view_after_transpose": (
        lambda x: x.transpose(1, 2).view(x.shape[0], x.shape[2], -1),
        ".contiguous() before it",
    ),
}


def weights(scale=None, softmax=lambda s: s.softmax(-1), mask=None, late=None):
    """Make a function of which one part is replaced."""

    def attention_weights(Q, K, given=None):
        scores = Q @ K.mT * (Q.shape[-1] ** -0.5 if scale is None else scale(Q, K))
        if given is not None:
            scores = (mask or (lambda s, m: s.masked_fill(~m, -math.inf)))(scores, given)
        w = softmax(scores).nan_to_num(0.0) if late is None else softmax(scores)
        return w if given is None or late is None else late(w, given)

    return attention_weights


def no_guard(Q, K, mask=None):
    return (Q @ K.mT / Q.shape[-1] ** 0.5).masked_fill(~mask, -math.inf).softmax(-1).nan_to_num(0)


def compares_none(Q, K, mask=None):
    scores = Q @ K.mT / Q.shape[-1] ** 0.5
    return scores.masked_fill(mask == 0, -1e9).softmax(-1)


def always_causal(Q, K, mask=None):
    allowed = torch.ones(Q.shape[2], K.shape[2], dtype=torch.bool).tril()
    return masked_fill(Q, K, allowed if mask is None else mask & allowed)


WRONG_WEIGHTS = {
    "weights_value": (
        weights(softmax=lambda s: (s**2).softmax(-1)),
        "the scores first",
    ),
    "weights_wrong_axis not said": (
        lambda Q, K, mask=None: torch.nn.functional.softmax(Q @ K.mT / Q.shape[-1] ** 0.5),
        "dim=-1",
    ),
    "keys_not_transposed turned": (lambda Q, K, mask=None: Q @ K.permute(3, 2, 1, 0), "last two"),
    "weights_no_scale": (weights(lambda Q, K: 1), "not scaled"),
    "weights_wrong_scale d_k": (weights(lambda Q, K: 1 / Q.shape[-1]), "scaled by something else"),
    "weights_wrong_scale d_model": (
        weights(lambda Q, K: (Q.shape[1] * Q.shape[-1]) ** -0.5),
        "the width of one head",
    ),
    "weights_wrong_scale length": (weights(lambda Q, K: K.shape[2] ** -0.5), "or a length"),
    "weights_wrong_scale of 64": (weights(lambda Q, K: 1 / 8), "√d_k, once"),
    "weights_wrong_axis queries": (weights(softmax=lambda s: s.softmax(-2)), "dim=-1"),
    "weights_wrong_axis heads": (weights(softmax=lambda s: s.softmax(1)), "over the queries"),
    "weights_wrong_axis all": (
        weights(softmax=lambda s: s.flatten().softmax(0).view(s.shape)),
        "all at once",
    ),
    "weights_no_softmax": (weights(softmax=lambda s: s), "are the scores"),
    "weights_logarithms": (weights(softmax=lambda s: s.log_softmax(-1)), "for losses"),
    "weights_not_normalised": (weights(softmax=torch.exp), "sum of their row"),
    "weights_softmax_twice": (
        weights(softmax=lambda s: s.softmax(-1).softmax(-1)),
        "once: here it is taken of weights",
    ),
    "weights_hard": (
        weights(softmax=lambda s: F.one_hot(s.argmax(-1), s.shape[-1]).float()),
        "best key takes all",
    ),
    "weights_causal": (always_causal, "where no mask is given"),
    "weights_random": (weights(softmax=lambda s: F.dropout(s.softmax(-1), 0.3)), "two calls"),
    "weights_sigmoid": (weights(softmax=torch.sigmoid), "not the sigmoid"),
    "weights_rounded": (weights(softmax=lambda s: s.softmax(-1).round(decimals=3)), "Do not round"),
    "mask_none": (no_guard, "if mask is not None"),
    "mask_none compared": (compares_none, "mask is None"),
    "keys_not_transposed": (
        lambda Q, K, mask=None: (Q @ K / Q.shape[-1] ** 0.5).softmax(-1),
        "K.transpose(-2, -1)",
    ),
    "returns_several": (lambda Q, K, mask=None: (masked_fill(Q, K, mask), K), "2 things"),
    "wrong_method": (lambda Q, K: Q @ K.T.T.nothing, "AttributeError"),
}
WRONG_MASKS = {
    "mask_finite 10^4": (weights(mask=lambda s, m: s.masked_fill(~m, -1e4)), "finite stand-in"),
    "mask_ignored": (weights(mask=lambda s, m: s), "those without a mask"),
    "mask_inverted": (weights(mask=lambda s, m: s.masked_fill(m, -math.inf)), "other way round"),
    "mask_late": (
        weights(mask=lambda s, m: s, late=lambda w, m: w * m),
        "the rest of a row no longer",
    ),
    "mask_late_infinite": (
        weights(mask=lambda s, m: s, late=lambda w, m: w.masked_fill(~m, -math.inf)),
        "stands in the weights",
    ),
    "mask_zero_score": (weights(mask=lambda s, m: s * m), "not with 0"),
    "mask_added": (weights(mask=lambda s, m: s + m), "counts as 1"),
    "mask_causal": (
        lambda Q, K, mask=None: masked_fill(Q, K) if mask is None else always_causal(Q, K),
        "that is passed in",
    ),
    "mask_finite": (
        weights(mask=lambda s, m: s.masked_fill(m == 0, -1e9)),
        "a finite stand-in cancels",
    ),
    "mask_nan": (weights(late=lambda w, m: w), ".nan_to_num(0.0)"),
    "mask_not_broadcast": (
        weights(mask=lambda s, m: s.masked_fill(~m.unsqueeze(1), -math.inf)),
        "masked_fill(~mask, ...)",
    ),
    "mask_whole_keys": (
        weights(mask=lambda s, m: s.masked_fill(~m.any(-2, keepdim=True), -math.inf)),
        "for all or for none",
    ),
    "mask_transposed": (
        lambda Q, K, mask=None: masked_fill(
            Q, K, None if mask is None else mask.expand(2, 1, 5, 5).mT
        ),
        "its axes are swapped",
    ),
    "mask_value": (
        weights(late=lambda w, m: (w * m + 0.01 * m).nan_to_num(0.0)),
        "in the proportions of before",
    ),
}


# Modules


def written(forward=None, before=None, after=None, **names):
    """Make a class of which one part is replaced."""

    class MultiHeadAttention(module()):
        def __init__(self, d_model, n_heads, dropout=0.0):
            if before:
                before(d_model, n_heads)
            super().__init__(d_model, n_heads, dropout)
            if after:
                after(self, d_model, n_heads)

    if forward:
        MultiHeadAttention.forward = forward
    return MultiHeadAttention


class NoSuper(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        self.W_q = nn.Linear(d_model, d_model)


class NotAModule:
    def __init__(self, d_model, n_heads, dropout=0.0):
        self.W_q = self.W_k = self.W_v = self.W_o = nn.Linear(d_model, d_model)


class OneMatrix(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.W_o = nn.Linear(d_model, d_model)


class InAList(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        self.layers = {f"W_{x}": nn.Linear(d_model, d_model) for x in "qkvo"}

    def __getattr__(self, name):
        return self.layers[name] if name.startswith("W_") else super().__getattr__(name)


class NotRefused(module()):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__(d_model, 1, dropout)
        self.n_heads = n_heads


class Asserts(module()):
    def __init__(self, d_model, n_heads, dropout=0.0):
        assert d_model % n_heads == 0
        super().__init__(d_model, n_heads, dropout)


def one_for_all(self, d_model, n_heads):
    self.W_q = self.W_k = nn.Linear(d_model, d_model)


def narrow(self, d_model, n_heads):
    self.W_k = nn.Linear(d_model, d_model // n_heads)


def no_bias(self, d_model, n_heads):
    self.W_v = nn.Linear(d_model, d_model, bias=False)


def normed(self, d_model, n_heads):
    self.norm = nn.LayerNorm(d_model)


WRONG_LAYERS = {
    "init_missing": (NoSuper, "first line of `__init__`"),
    "no_module": (NotAModule, "Derive the class from nn.Module"),
    "layer_missing": (OneMatrix, "W_q and W_k and W_v"),
    "layer_shape": (written(after=narrow), "W_k is Linear"),
    "layer_shape no bias": (written(after=no_bias), "biases included"),
    "one_layer_for_all": (written(after=one_for_all), "W_q and W_k are the same one"),
    "extra_parameters": (written(after=normed), "624 parameters, and this module has 648"),
    "not_registered": (InAList, "never be trained"),
    "not_refused": (NotRefused, "no error came"),
    "not_refused assert": (Asserts, "another error came"),
}


def forward(
    order=(0, 1, 2),
    maps=("W_q", "W_k", "W_v"),
    split=view_and_transpose,
    weigh=masked_fill,
    merge=transpose_and_flatten,
    give=lambda output, weights, query: (output, weights),
    finish=True,
):
    """Make a class of whose forward one part is replaced."""

    def run(self, query, key, value, mask=None):
        given = query, key, value
        inputs = [given[i] for i in order]
        Q, K, V = (
            split(x if name is None else getattr(self, name)(x), self.n_heads)
            for name, x in zip(maps, inputs, strict=True)
        )
        weights = weigh(Q, K, mask)
        context = merge(weights @ V)
        return give(self.W_o(context) if finish else context, weights, query)

    return written(run)


def viewed_merge(x):
    return x.reshape(x.shape[0], x.shape[2], -1)


def unguarded(self, query, key, value, mask=None):
    return module().forward(self, query, key, value, mask.bool())


def numpy_inside(self, query, key, value, mask=None):
    output, weights = module().forward(self, query, key, value, mask)
    return output.detach(), weights


def cut_off(self, query, key, value, mask=None):
    with torch.no_grad():
        Q, K = (
            view_and_transpose(f(x), self.n_heads) for f, x in ((self.W_q, query), (self.W_k, key))
        )
        weights = masked_fill(Q, K, mask)
    V = view_and_transpose(self.W_v(value), self.n_heads)
    return self.W_o(transpose_and_flatten(weights @ V)), weights


def always_dropping(self, query, key, value, mask=None):
    output, weights = module().forward(self, query, key, value, mask)
    return F.dropout(output, 0.2), weights


WRONG_MODULES = {
    "forward_returns": (forward(give=lambda o, w, q: o), "one Tensor"),
    "forward_returns three": (forward(give=lambda o, w, q: (o, w, q)), "3 of them"),
    "forward_returns weights first": (forward(give=lambda o, w, q: (w, o)), "the weights first"),
    "weights_averaged": (forward(give=lambda o, w, q: (o, w.mean(1))), "their mean hides"),
    "weights_wrong": (forward(give=lambda o, w, q: (o, w[:, 0])), "The output is right"),
    "weights_wrong numbers": (forward(give=lambda o, w, q: (o, 2 * w)), "of other numbers"),
    "no_gradient": (written(numpy_inside), "no .detach()"),
    "no_gradient queries": (written(cut_off), "W_q and W_k get no gradient"),
    "dropped_at_rest": (written(always_dropping), "training=self.training"),
    "no_output_map": (forward(finish=False), "through W_o at the end"),
    "map_missing": (forward(maps=("W_q", "W_k", None)), "goes in as it is"),
    "map_missing all": (forward(maps=(None, None, None)), "Project before you split"),
    "map_exchanged": (forward(maps=("W_q", "W_k", "W_k")), "used for another"),
    "map_exchanged order": (forward(maps=("W_k", "W_q", "W_v")), "its own map"),
    "input_exchanged": (forward(order=(0, 0, 0)), "may be another sequence"),
    "input_exchanged key": (forward(order=(0, 1, 1)), "what `key` and `value` hold"),
    "reshape_bug": (forward(split=viewed), "famous bug"),
    "reshape_bug merge": (forward(merge=viewed_merge), "Transpose before you merge"),
    "reshape_bug both": (forward(split=viewed, merge=viewed_merge), "mixes tokens"),
    "heads_interleaved": (
        forward(split=interleaved, merge=lambda x: x.permute(0, 2, 3, 1).flatten(2)),
        "Trained weights",
    ),
    "module_scale": (forward(weigh=weights(lambda Q, K: 1)), "root of a head's width"),
    "module_mask_ignored": (
        forward(weigh=lambda Q, K, mask: masked_fill(Q, K)),
        "Hand the mask on",
    ),
    "module_mask_inverted": (
        forward(weigh=weights(mask=lambda s, m: s.masked_fill(m, -math.inf))),
        "other way round",
    ),
    "module_mask_late": (
        forward(weigh=weights(mask=lambda s, m: s, late=lambda w, m: w * m)),
        "before the softmax",
    ),
    "residual_added": (forward(give=lambda o, w, q: (o + q, w)), "the block around it"),
    "module_value": (forward(give=lambda o, w, q: (torch.tanh(o), w)), "the first that differs"),
    "mask_none": (written(unguarded), "if mask is not None"),
}


def dropping(drop):
    """Make a class that drops something else: `drop(self, scores, V, mask)` gives all three."""

    def run(self, query, key, value, mask=None):
        Q, K, V = (
            view_and_transpose(getattr(self, name)(x), self.n_heads)
            for name, x in (("W_q", query), ("W_k", key), ("W_v", value))
        )
        context, weights = drop(self, Q @ K.mT / Q.shape[-1] ** 0.5, V)
        return self.W_o(transpose_and_flatten(context)), weights

    return written(run)


def returned_after(self, s, V):
    weights = self.dropout(s.softmax(-1))
    return weights @ V, weights


def scores_dropped(self, s, V):
    return self.dropout(s).softmax(-1) @ V, s.softmax(-1)


def context_dropped(self, s, V):
    return self.dropout(s.softmax(-1) @ V), s.softmax(-1)


def values_dropped(self, s, V):
    return s.softmax(-1) @ self.dropout(V), s.softmax(-1)


def by_own_mask(self, s, V):
    w = s.softmax(-1)
    keep = torch.rand_like(w) >= self.dropout.p if self.training else 1
    return (w * keep) @ V, w


def keeps_p(self, s, V):
    w = s.softmax(-1)
    return F.dropout(w, 1 - self.dropout.p, self.training) @ V, w


def always_half(self, s, V):
    w = s.softmax(-1)
    return F.dropout(w, 0.5, self.training) @ V, w


def at_rest_too(self, s, V):
    w = s.softmax(-1)
    return F.dropout(w, self.dropout.p) @ V, w


WRONG_DROPOUT = {
    "no_dropout": (dropping(lambda self, s, V: (s.softmax(-1) @ V, s.softmax(-1))), "is dropped"),
    "dropped_weights_returned": (dropping(returned_after), "from before dropout"),
    "dropout_elsewhere scores": (dropping(scores_dropped), "self.dropout(weights) @ V"),
    "dropout_elsewhere context": (dropping(context_dropped), "Drop weights"),
    "dropout_elsewhere values": (dropping(values_dropped), "nothing else"),
    "dropout_not_scaled": (dropping(by_own_mask), "divides what it keeps"),
    "dropout_probability": (dropping(keeps_p), "Hand the probability on"),
    "dropout_probability fixed": (dropping(always_half), "nn.Dropout(dropout)"),
    "dropped_at_rest": (dropping(at_rest_too), "after .eval()"),
    "dropout_unclear": (forward(give=lambda o, w, q: (o + q, w)), "Repair what the check"),
}


# PyTorch's state


def changed(change):
    """Make a state that is right but for one change."""

    def convert_state(state):
        new = thirds(state)
        change(new, state)
        return new

    return convert_state


def exchange(new, state):
    new["W_q.weight"], new["W_v.weight"] = new["W_v.weight"], new["W_q.weight"]


def turn(new, state):
    for name in list(new):
        new[name] = new[name].T if "weight" in name else new[name]


def by_columns(new, state):
    blocks = state["in_proj_weight"].T.reshape(-1, 3, len(state["out_proj.bias"])).unbind(1)
    new |= {f"W_{x}.weight": block.T for x, block in zip("qkv", blocks, strict=True)}


def thirds_of_columns(state):
    new = thirds(state)
    blocks = state["in_proj_weight"].chunk(3, dim=1)
    return new | {f"W_{x}.weight": block for x, block in zip("qkv", blocks, strict=True)}


def shift(new, state):
    d = len(state["out_proj.bias"])
    new["W_k.bias"] = state["in_proj_bias"][d - 1 : 2 * d - 1]


def emptied(state):
    new = thirds(state)
    state["in_proj_weight"].zero_()
    return {name: value.clone() for name, value in new.items()}


WRONG_STATES = {
    "state_value every third": (
        changed(lambda new, s: new.update({"W_q.weight": s["in_proj_weight"][::3]})),
        "d_model rows each",
    ),
    "returns_nothing": (lambda state: state.update({}), "return statement"),
    "state_order": (changed(exchange), "they are exchanged"),
    "state_transposed": (changed(turn), "both hold (out, in)"),
    "state_shape": (thirds_of_columns, "d_model rows each"),
    "state_value": (changed(shift), "W_k.bias does not hold"),
    "state_keys": (lambda state: dict(state), "in_proj_weight"),
    "state_keys no biases": (
        lambda state: {k: v for k, v in thirds(state).items() if "weight" in k},
        "W_o.bias, W_q.bias",
    ),
    "state_keys prefix": (
        lambda state: {f"mha.{k}": v for k, v in thirds(state).items()},
        "mha.W_o.weight",
    ),
    "not_a_state": (lambda state: list(thirds(state).values()), "one of type list"),
    "not_a_state module": (lambda state: FromAnEmptyFile(6, 2), ".state_dict()"),
    "not_a_state changed": (emptied, "leave theirs as it is"),
}


def told(answers, make=lambda answer: answer):
    """Read the cause off the label."""
    return {
        label: (make(answer), label.partition(" ")[0], words)
        for label, (answer, words) in answers.items()
    }


WRONG = {
    "splits_heads": told(WRONG_SPLITS),
    "merges_heads": told(WRONG_MERGES),
    "gives_weights": told(WRONG_WEIGHTS),
    "follows_masks": told(WRONG_MASKS),
    "holds_the_projections": told(WRONG_LAYERS),
    "computes_attention": told(WRONG_MODULES, with_parts),
    "drops_weights": told(WRONG_DROPOUT),
    "takes_over_pytorch": told(WRONG_STATES),
}
PASS_BEFORE = False
UNTOLD = set()
