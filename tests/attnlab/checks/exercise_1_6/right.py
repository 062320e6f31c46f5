"""Right answers to exercise 1.6, as different students write them."""

import math

import numpy as np
import torch
from answers import EVERY_SEED, Call, stub
from torch import nn
from torch.nn import functional as F

# Splitting


def view_and_transpose(x, n_heads):
    B, S, d_model = x.shape
    return x.view(B, S, n_heads, d_model // n_heads).transpose(1, 2)


def permuted(x, n_heads):
    return x.reshape(*x.shape[:2], n_heads, -1).permute(0, 2, 1, 3).contiguous()


def unflattened(x, n_heads):
    return x.unflatten(-1, (n_heads, -1)).movedim(2, 1)


def chunked(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1), dim=1)


def by_slices(x, n_heads):
    d_k = x.size(-1) // n_heads
    parts = []
    for h in range(n_heads):
        parts.append(x[:, :, h * d_k : (h + 1) * d_k].unsqueeze(1))
    return torch.cat(parts, dim=1)


def by_einsum(x, n_heads):
    return torch.einsum("bshd->bhsd", x.reshape(x.shape[0], x.shape[1], n_heads, -1))


def number_by_number(x, n_heads):
    B, S, d_model = x.shape
    d_k = d_model // n_heads
    heads = torch.zeros(B, n_heads, S, d_k)
    for h in range(n_heads):
        for c in range(d_k):
            heads[:, h, :, c] = x[:, :, h * d_k + c]
    return heads


def joined_and_apart(x, n_heads):
    """Split as d2l does, with batch and heads as one axis, and take them apart again."""
    B, S, d_model = x.shape
    x = x.reshape(B, S, n_heads, -1).permute(0, 2, 1, 3)
    x = x.reshape(-1, x.shape[2], x.shape[3])
    return x.reshape(B, n_heads, S, d_model // n_heads)


SPLITS = [
    view_and_transpose,
    permuted,
    unflattened,
    chunked,
    by_slices,
    by_einsum,
    number_by_number,
    joined_and_apart,
]


# Merging


def transpose_and_flatten(x):
    return x.transpose(1, 2).flatten(-2)


def contiguous_view(x):
    B, H, S, d_k = x.shape
    return x.transpose(1, 2).contiguous().view(B, S, H * d_k)


def concatenated(x):
    return torch.cat([x[:, h] for h in range(x.shape[1])], dim=-1)


def unbound(x):
    return torch.cat(x.unbind(1), 2)


def permuted_back(x):
    return torch.permute(x, (0, 2, 1, 3)).reshape(x.size(0), x.size(2), -1)


def swapped(x):
    return torch.flatten(torch.swapaxes(x, 1, 2), start_dim=2)


MERGES = [
    transpose_and_flatten,
    contiguous_view,
    concatenated,
    unbound,
    permuted_back,
    swapped,
]


# Weights


def masked_fill(Q, K, mask=None):
    scores = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return scores.softmax(dim=-1).nan_to_num(0.0)


def where(Q, K, mask=None):
    scores = torch.matmul(Q, K.mT) * K.size(-1) ** -0.5
    if mask is None:
        return F.softmax(scores, -1)
    weights = F.softmax(torch.where(mask, scores, float("-inf")), -1)
    return torch.where(mask.any(-1, keepdim=True), weights, torch.zeros(()))


def by_hand(Q, K, mask=None):
    scores = torch.einsum("bhid,bhjd->bhij", Q, K) / Q.shape[-1] ** 0.5
    e = torch.exp(scores - scores.amax(-1, keepdim=True))
    if mask is not None:
        e = e * mask
    total = e.sum(-1, keepdim=True)
    return e / torch.where(total == 0, torch.ones_like(total), total)


def stand_in(Q, K, mask=None):
    """Fill with a finite number, as the annotated transformer does, and clear empty rows."""
    scores = (Q / Q.shape[-1] ** 0.5) @ K.transpose(2, 3)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    weights = scores.softmax(-1)
    return weights if mask is None else weights * mask


def added(Q, K, mask=None):
    bias = torch.zeros(())
    if mask is not None:
        bias = torch.zeros(mask.shape).masked_fill(mask.logical_not(), float("-inf"))
    weights = torch.softmax(Q @ K.transpose(3, 2) / np.sqrt(Q.shape[3]) + bias, dim=3)
    return torch.where(weights.isnan(), 0.0, weights)


def of_the_fused_function(Q, K, mask=None):
    """Let PyTorch mix the rows of an identity matrix: what comes out are the weights."""
    eye = torch.eye(K.shape[2]).expand(*K.shape[:2], -1, -1)
    return F.scaled_dot_product_attention(Q, K, eye, mask)


def head_by_head(Q, K, mask=None):
    B, H, S_q, _ = Q.shape
    allowed = torch.ones(B, H, S_q, K.shape[2], dtype=torch.bool) if mask is None else mask
    allowed = allowed.expand(B, H, S_q, K.shape[2])
    weights = torch.zeros(allowed.shape)
    for b in range(B):
        for h in range(H):
            scores = Q[b, h] @ K[b, h].T / Q.shape[-1] ** 0.5
            for i in range(S_q):
                keys = allowed[b, h, i]
                if keys.any():
                    weights[b, h, i, keys] = torch.softmax(scores[i, keys], 0)
    return weights


WEIGHTS = [masked_fill, where, by_hand, stand_in, added, of_the_fused_function, head_by_head]


# Modules


def module(split=view_and_transpose, weigh=masked_fill, merge=transpose_and_flatten, drop=None):
    """Make a class out of parts."""

    class MultiHeadAttention(nn.Module):
        def __init__(self, d_model, n_heads, dropout=0.0):
            super().__init__()
            if d_model % n_heads != 0:
                raise ValueError("n_heads must divide d_model")
            self.n_heads = n_heads
            self.W_q = nn.Linear(d_model, d_model)
            self.W_k = nn.Linear(d_model, d_model)
            self.W_v = nn.Linear(d_model, d_model)
            self.W_o = nn.Linear(d_model, d_model)
            self.dropout = nn.Dropout(dropout)

        def forward(self, query, key, value, mask=None):
            Q = split(self.W_q(query), self.n_heads)
            K = split(self.W_k(key), self.n_heads)
            V = split(self.W_v(value), self.n_heads)
            weights = weigh(Q, K, mask)
            return self.W_o(merge(self.dropout(weights) @ V)), weights

    return MultiHeadAttention


class FromAnEmptyFile(nn.Module):
    """Everything in one class, dropout by the function, other names besides the four."""

    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.h, self.d_k, left_over = n_heads, *divmod(d_model, n_heads)
        if left_over:
            raise ValueError(f"{d_model} is no multiple of {n_heads}")
        for name in ("W_q", "W_k", "W_v", "W_o"):
            self.add_module(name, nn.Linear(d_model, d_model, bias=True))
        self.p = dropout
        self.attention = None

    def forward(self, query, key, value, mask=None):
        B = query.size(0)
        q, k, v = (
            layer(x).view(B, -1, self.h, self.d_k).transpose(1, 2)
            for layer, x in ((self.W_q, query), (self.W_k, key), (self.W_v, value))
        )
        scores = q @ k.mT / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        self.attention = torch.nan_to_num(torch.softmax(scores, -1))
        x = F.dropout(self.attention, self.p, self.training) @ v
        x = x.transpose(1, 2).contiguous().view(B, -1, self.h * self.d_k)
        return self.W_o(x), self.attention


class OneHeadAfterTheOther(nn.Module):
    """Slices of the weights, one head at a time, and no split at all."""

    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("d_model % n_heads must be 0")
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model) for _ in range(4))
        self.d_k, self.drop = d_model // n_heads, nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        outputs, all_weights = [], []
        for start in range(0, self.W_q.out_features, self.d_k):
            rows = slice(start, start + self.d_k)
            q, k, v = (
                F.linear(x, W.weight[rows], W.bias[rows])
                for x, W in ((query, self.W_q), (key, self.W_k), (value, self.W_v))
            )
            weights = masked_fill(q[:, None], k[:, None], mask)
            outputs.append((self.drop(weights) @ v[:, None])[:, 0])
            all_weights.append(weights[:, 0])
        return [self.W_o(torch.cat(outputs, -1)), torch.stack(all_weights, 1)]


class Inherited(module(chunked, by_hand, concatenated)):
    """Derived from a class of one's own."""


MODULES = {
    "parts": module(),
    "other parts": module(by_slices, where, unbound),
    "more parts": module(by_einsum, added, swapped),
    "head by head": module(number_by_number, head_by_head, permuted_back),
    "from an empty file": FromAnEmptyFile,
    "one head after the other": OneHeadAfterTheOther,
    "inherited": Inherited,
}


def with_parts(cls, split=view_and_transpose, weigh=masked_fill, merge=transpose_and_flatten):
    """Make what the module as a whole is checked with."""
    return Call(lambda: (cls, split, weigh, merge))


# PyTorch's state


def thirds(state):
    new = {"W_o.weight": state["out_proj.weight"], "W_o.bias": state["out_proj.bias"]}
    for part in ("weight", "bias"):
        blocks = state[f"in_proj_{part}"].chunk(3)
        new |= {f"W_{x}.{part}": block for x, block in zip("qkv", blocks, strict=True)}
    return new


def by_rows(state):
    d = state["in_proj_weight"].shape[1]
    W, b = state["in_proj_weight"], state["in_proj_bias"]
    return {
        "W_q.weight": W[:d].clone(),
        "W_q.bias": b[:d].clone(),
        "W_k.weight": W[d : 2 * d].clone(),
        "W_k.bias": b[d : 2 * d].clone(),
        "W_v.weight": W[2 * d :].clone(),
        "W_v.bias": b[2 * d :].clone(),
        "W_o.weight": state["out_proj.weight"].clone(),
        "W_o.bias": state["out_proj.bias"].clone(),
    }


def through_numpy(state):
    names = ["W_q", "W_k", "W_v"]
    W = np.split(state["in_proj_weight"].numpy(), 3)
    b = np.split(state["in_proj_bias"].numpy(), 3)
    new = {f"{n}.weight": torch.from_numpy(w) for n, w in zip(names, W, strict=True)}
    new.update({f"{n}.bias": torch.from_numpy(v) for n, v in zip(names, b, strict=True)})
    new["W_o.weight"], new["W_o.bias"] = state["out_proj.weight"], state["out_proj.bias"]
    return new


def through_a_module(state):
    made = module()(state["out_proj.bias"].numel(), 1)
    made.load_state_dict(thirds(state))
    return made.state_dict()


def renamed(state):
    new = type(state)()
    for name, value in state.items():
        kind = name.rpartition("_" if name.startswith("in") else ".")[2]
        if name.startswith("out_proj"):
            new[f"W_o.{kind}"] = value
        else:
            for x, block in zip("qkv", value.view(3, -1, *value.shape[1:]), strict=True):
                new[f"W_{x}.{kind}"] = block
    return new


STATES = [thirds, by_rows, through_numpy, through_a_module, renamed]


def untouched(*args, **kwargs):
    """Stand for a class whose __init__ is filled in and whose forward is not."""
    made = module()(*args, **kwargs)
    made.forward = stub
    return made


def by_name(functions):
    return {function.__name__: function for function in functions}


RIGHT = {
    "splits_heads": by_name(SPLITS),
    "merges_heads": by_name(MERGES),
    "gives_weights": by_name(WEIGHTS),
    "follows_masks": by_name(WEIGHTS),
    "holds_the_projections": MODULES,
    "computes_attention": {label: with_parts(cls) for label, cls in MODULES.items()}
    | {"with other parts": with_parts(module(), by_slices, where, unbound)}
    | {"beside parts that are not written": with_parts(FromAnEmptyFile, stub, stub, stub)},
    "drops_weights": MODULES,
    "takes_over_pytorch": by_name(STATES),
}
UNTOUCHED = {check: [stub] for check in RIGHT} | {
    "computes_attention": [with_parts(stub), with_parts(untouched)],
    "drops_weights": [stub, untouched],
}
SEEDS = EVERY_SEED
SEEDED = set(RIGHT) - {"holds_the_projections", "drops_weights"}
