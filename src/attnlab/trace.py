"""Every matrix that a translator computes for one sentence, and what it does without a part.

Nothing is computed a second time here: hooks on the modules of `attnlab.translator` keep what goes
in and what comes out during one forward pass. Only the scores, which the forward pass never holds
apart, are formed again from the queries and keys that were kept.
"""

import contextlib
import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attnlab.multihead import MultiHeadAttention
from attnlab.transformer import sinusoidal_positions
from attnlab.translator import Translator, shifted

Calls = dict[str, tuple[tuple, Any]]  # a module's name: its arguments and its result


class AttentionTrace(NamedTuple):
    """One attention on one sentence, from the vectors that enter to those that leave.

    In the order of computation. The two that the book calls residual are `before` and `after`.

    Attributes
    ----------
    before : Tensor, shape (S_q, d_model)
        The vectors that the attention will add to.
    query : Tensor, shape (S_q, d_model)
        `before`, normalised: what is projected to queries.
    key : Tensor, shape (S_k, d_model)
        What is projected to keys and values: `query` itself, or the encoder's states.
    Q : Tensor, shape (H, S_q, d_k)
    K, V : Tensor, shape (H, S_k, d_k)
    scores, scaled, masked : Tensor, shape (H, S_q, S_k)
        Dot products; divided by the root of d_k; minus infinity where the mask blocks.
    weights : Tensor, shape (H, S_q, S_k)
    heads : Tensor, shape (H, S_q, d_k)
        What each head gathers.
    concat : Tensor, shape (S_q, d_model)
        The heads side by side.
    output : Tensor, shape (S_q, d_model)
        `concat` times W_o: what is added.
    after : Tensor, shape (S_q, d_model)
        `before` plus `output`.
    mask : bool Tensor, shape (S_q, S_k)
        True where a query may attend to a key.
    """

    before: Tensor
    query: Tensor
    key: Tensor
    Q: Tensor
    K: Tensor
    V: Tensor
    scores: Tensor
    scaled: Tensor
    masked: Tensor
    weights: Tensor
    heads: Tensor
    concat: Tensor
    output: Tensor
    after: Tensor
    mask: Tensor


class FeedForwardTrace(NamedTuple):
    """The small network on each position, shapes (S, d_model) and for `hidden` (S, d_ff)."""

    before: Tensor
    normed: Tensor
    hidden: Tensor
    output: Tensor
    after: Tensor


class LayerTrace(NamedTuple):
    """A layer: self-attention, in the decoder cross-attention, feed-forward network."""

    attend: AttentionTrace
    cross_attend: AttentionTrace | None
    feed_forward: FeedForwardTrace


class SideTrace(NamedTuple):
    """One half of the translator.

    Attributes
    ----------
    tokens : int Tensor, shape (S,)
    embeddings, positions, x : Tensor, shape (S, d_model)
        A vector for each word, one for each place, and their sum.
    layers : list of LayerTrace
    states : Tensor, shape (S, d_model)
        After the last normalisation.
    """

    tokens: Tensor
    embeddings: Tensor
    positions: Tensor
    x: Tensor
    layers: list[LayerTrace]
    states: Tensor


class Trace(NamedTuple):
    """All of a translator on one sentence; `logits` has the shape (T_y, target_size)."""

    encoder: SideTrace
    decoder: SideTrace
    logits: Tensor


@contextlib.contextmanager
def _recorded(model: nn.Module) -> Iterator[Calls]:
    """Keep the arguments and the result of each module that is called meanwhile."""
    calls: Calls = {}

    def keep(name: str):
        return lambda module, arguments, result: calls.update({name: (arguments, result)})

    hooks = [module.register_forward_hook(keep(name)) for name, module in model.named_modules()]
    try:
        yield calls
    finally:
        for hook in hooks:
            hook.remove()


@torch.no_grad()
def trace(model: Translator, source: Tensor, target: Tensor) -> Trace:
    """Run one sentence through the translator, and keep everything.

    Parameters
    ----------
    model : Translator
    source : int Tensor, shape (1, T_x)
    target : int Tensor, shape (1, T_y)
        Its true translation; the decoder reads it shifted right.

    Returns
    -------
    trace : Trace

    Raises
    ------
    ValueError
        If there is more than one sentence.
    """
    if len(source) != 1 or len(target) != 1:
        raise ValueError(f"a trace holds one sentence, not {len(source)} and {len(target)}")
    with _recorded(model) as calls:
        logits, _ = model(source, target)
    encoder = _side(calls, "encoder.", source[0], model.encoder.layers)
    decoder = _side(calls, "", shifted(target)[0], model.layers)
    return Trace(encoder, decoder, logits[0])


def _side(calls: Calls, name: str, tokens: Tensor, layers: nn.ModuleList) -> SideTrace:
    embeddings = calls[name + "embedding"][1][0]  # (S, d_model)
    traces = []
    for i, layer in enumerate(layers):
        here = f"{name}layers.{i}."
        attentions = [
            _attention(calls, here + part, getattr(layer, part)) if hasattr(layer, part) else None
            for part in ("attend", "cross_attend")
        ]
        traces.append(LayerTrace(*attentions, _feed_forward(calls, here + "feed_forward")))
    positions = sinusoidal_positions(*embeddings.shape)  # (S, d_model)
    x, states = calls[f"{name}layers.0"][0][0][0], calls[name + "norm"][1][0]  # (S, d_model)
    return SideTrace(tokens, embeddings, positions, x, traces, states)


def _attention(calls: Calls, name: str, module: MultiHeadAttention) -> AttentionTrace:
    (query, key, _, mask), (output, weights) = calls[name]
    Q, K, V = (module.split_heads(calls[f"{name}.W_{x}"][1])[0] for x in "qkv")  # (H, S, d_k)
    scores = Q @ K.transpose(-2, -1)  # (H, S_q, S_k)
    scaled = scores / math.sqrt(module.d_k)
    before = calls[f"{name}_norm"][0][0]  # (1, S_q, d_model)
    concat = calls[f"{name}.W_o"][0][0]  # (1, S_q, d_model)
    return AttentionTrace(
        before=before[0],
        query=query[0],
        key=key[0],
        Q=Q,
        K=K,
        V=V,
        scores=scores,
        scaled=scaled,
        masked=scaled.masked_fill(~mask[0], -math.inf),
        weights=weights[0],
        heads=module.split_heads(concat)[0],
        concat=concat[0],
        output=output[0],
        after=(before + output)[0],
        mask=mask[0, 0].expand(scores.shape[-2:]),
    )


def _feed_forward(calls: Calls, name: str) -> FeedForwardTrace:
    (before,), normed = calls[f"{name}_norm"]
    hidden, output = calls[f"{name}.1"][1], calls[name][1]  # (1, S, d_ff), (1, S, d_model)
    parts = before, normed, hidden, output, before + output
    return FeedForwardTrace(*(part[0] for part in parts))


@contextlib.contextmanager
def without(attentions: Iterable[MultiHeadAttention], how: str = "removed") -> Iterator[None]:
    """Take the work of some attentions away for a while.

    Parameters
    ----------
    attentions : iterable of MultiHeadAttention
    how : {"removed", "uniform"}
        ``"removed"``: nothing is added. ``"uniform"``: queries are zero, so that every key that
        may be attended to has the same weight.

    Raises
    ------
    ValueError
        If `how` is neither.
    """
    if how == "removed":
        hooks = [a.register_forward_hook(lambda _, __, r: (r[0] * 0, r[1])) for a in attentions]
    elif how == "uniform":
        hooks = [a.W_q.register_forward_hook(lambda _, __, q: q * 0) for a in attentions]
    else:
        raise ValueError(f"how is {how!r}; choose 'removed' or 'uniform'")
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
