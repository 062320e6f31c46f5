"""How this course's models travel between a student's process and the one that judges them.

A model goes as the sizes it is made with and its numbers. One that only poses as a model, because a
check tries a student's measure on it, computes where the check is.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from attnlab import serving_modules
from attnlab.multihead import MultiHeadAttention
from attnlab.settings import own_settings as settings
from attnlab.transformer import TransformerEncoder

__all__ = ["describe", "restore", "settings"]

MOST = 4096  # of each size

Offer = Callable[[Callable[..., Any]], int]
Remote = Callable[[int], Callable[..., Any]]


def describe(thing: Any, offer: Offer) -> Mapping[str, Any] | None:
    """Say what a model is made of; None for anything else."""
    if isinstance(thing, MultiHeadAttention):
        sizes = {"d_model": thing.d_model, "n_heads": thing.n_heads, "dropout": thing.dropout.p}
        sizes["bias"] = thing.W_q.bias is not None
    elif type(thing) is TransformerEncoder:
        attend = thing.layers[0].attend
        sizes = {"vocab_size": thing.embedding.num_embeddings, "d_model": attend.d_model}
        sizes |= {"n_heads": attend.n_heads, "n_layers": len(thing.layers)}
        sizes |= {"d_ff": thing.layers[0].feed_forward[0].out_features}
        sizes |= {"positions": thing.positions, "bias": attend.W_q.bias is not None}
    elif type(thing) is nn.Linear:
        sizes = {"in_features": thing.in_features, "out_features": thing.out_features}
        sizes["bias"] = thing.bias is not None
    else:
        return serving_modules.describe(thing, offer)
    kind = next(name for name, made in KINDS.items() if isinstance(thing, made))
    told = {"kind": kind, "sizes": sizes, "numbers": dict(thing.state_dict())}
    told["training"] = thing.training
    if type(thing) is not KINDS[kind]:
        told |= {"forward": offer(_forward_of(thing)), "backward": offer(_backward_of(thing))}
    return told


KINDS = {"attention": MultiHeadAttention, "encoder": TransformerEncoder, "linear": nn.Linear}


def restore(told: Mapping[str, Any], remote: Remote) -> Any:
    """Make a model of what it consists of; ValueError if it is none."""
    if told["kind"] in ("class", "made"):
        return serving_modules.restore(told, remote)
    sizes = dict(told["sizes"])
    if any(not isinstance(size, int | float) or not 0 <= size <= MOST for size in sizes.values()):
        raise ValueError("no sizes of a model")
    made = KINDS[told["kind"]](**sizes)
    made.load_state_dict(told["numbers"])
    made.train(bool(told["training"]))
    if "forward" in told:
        calls = remote(int(told["forward"])), remote(int(told["backward"]))
        made.forward = lambda *args, **named: _Elsewhere.apply(calls, *_in_order(*args, **named))
    return made


def _in_order(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor | None, ...]:
    return query, key, value, mask


class _Elsewhere(torch.autograd.Function):
    """Calls a model that computes in the other process, its gradients too."""

    @staticmethod
    def forward(context: Any, calls: tuple, *inputs: Tensor | None) -> tuple[Tensor, Tensor]:
        """Give output and weights."""
        context.calls, context.inputs = calls, inputs
        output, weights = calls[0](*(_plain(each) for each in inputs))
        return output, weights

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """Give the gradients of query, key and value."""
        given = [_plain(each) for each in (*context.inputs, *gradients)]
        return None, *context.calls[1](*given), None


def _plain(tensor: Tensor | None) -> Tensor | None:
    return None if tensor is None else tensor.detach().clone()


def _forward_of(model: nn.Module) -> Callable[..., list[Tensor]]:
    """Give the call of a model, as the other process may use it."""

    def forward(*inputs: Tensor | None) -> list[Tensor]:
        with torch.no_grad():
            return [each.detach() for each in model(*inputs)]

    return forward


def _backward_of(model: nn.Module) -> Callable[..., list[Tensor]]:
    """Give the gradients of that call."""

    def backward(*given: Tensor | None) -> list[Tensor | None]:
        query, key, value, mask, *gradients = given
        inputs = [each.requires_grad_() for each in (query, key, value)]
        with torch.enable_grad():
            output = model(*inputs, mask)
        used = [(o, g) for o, g in zip(output, gradients, strict=True) if o.requires_grad]
        outputs, given = zip(*used, strict=True)
        return list(torch.autograd.grad(outputs, inputs, given, allow_unused=True))

    return backward
