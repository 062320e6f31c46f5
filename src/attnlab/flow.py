"""The tensors that pass through one attention layer, each caught on its way (section 1.7).

PyTorch lets a *function mode* look at every function that it calls for somebody. `follow` keeps
what the layer's own calls take and give, so that nothing is computed a second time.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from attnlab.multihead import MultiHeadAttention

# The shape of each box on the flow chart; the dot is a product.
SHAPES = {
    "query": "B, S_q, d_model",
    "source": "B, S_k, d_model",
    "W_q": "B, S_q, H·d_k",
    "W_k": "B, S_k, H·d_k",
    "W_v": "B, S_k, H·d_v",
    "Q": "B, H, S_q, d_k",
    "K": "B, H, S_k, d_k",
    "V": "B, H, S_k, d_v",
    "scores": "B, H, S_q, S_k",
    "masked": "B, H, S_q, S_k",
    "weights": "B, H, S_q, S_k",
    "context": "B, H, S_q, d_v",
    "merged": "B, S_q, H·d_v",
    "output": "B, S_q, d_model",
}


class Flow(NamedTuple):
    """What stands in each box of the flow chart, in the order of computation.

    Attributes
    ----------
    query, source : Tensor, shapes (B, S_q, d_model) and (B, S_k, d_model)
        What asks, and what is asked: the source of keys and values.
    W_q, W_k, W_v : Tensor, shapes (B, S_q, H d_k), (B, S_k, H d_k) and (B, S_k, H d_v)
        What the three projections return.
    Q, K, V : Tensor, shapes (B, H, S_q, d_k), (B, H, S_k, d_k) and (B, H, S_k, d_v)
        The same, split into heads.
    scores, masked, weights : Tensor, shape (B, H, S_q, S_k)
        Scaled dot products; minus infinity where the mask blocks; after the softmax.
    context : Tensor, shape (B, H, S_q, d_v)
        What each head gathers.
    merged : Tensor, shape (B, S_q, H d_v)
        The heads side by side.
    output : Tensor, shape (B, S_q, d_model)
    """

    query: Tensor
    source: Tensor
    W_q: Tensor
    W_k: Tensor
    W_v: Tensor
    Q: Tensor
    K: Tensor
    V: Tensor
    scores: Tensor
    masked: Tensor
    weights: Tensor
    context: Tensor
    merged: Tensor
    output: Tensor


class _Calls(TorchFunctionMode):
    """Keeps the first argument and the result of each call, by the function's name."""

    def __init__(self) -> None:
        super().__init__()
        self.taken: dict[str, list[Tensor]] = {}
        self.given: dict[str, list[Tensor]] = {}

    def __torch_function__(
        self, function: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        name = getattr(function, "__name__", "")
        if name in {"linear", "transpose", "matmul", "softmax", "flatten"}:
            self.taken.setdefault(name, []).append(args[0].clone())
        result = function(*args, **(kwargs or {}))
        if name in self.taken:
            self.given.setdefault(name, []).append(result.clone())
        return result


@torch.no_grad()
def follow(
    layer: MultiHeadAttention, query: Tensor, source: Tensor, mask: Tensor | None = None
) -> Flow:
    """Run a layer, and keep every tensor that its flow chart shows.

    Parameters
    ----------
    layer : MultiHeadAttention
    query : Tensor, shape (B, S_q, d_model)
    source : Tensor, shape (B, S_k, d_model)
        Keys and values are made of it. In self-attention it is `query`.
    mask : bool Tensor, broadcastable to (B, H, S_q, S_k), optional
        True where a query may attend to a key.

    Returns
    -------
    flow : Flow
    """
    with _Calls() as calls:
        output, weights = layer(query, source, source, mask)
    W_q, W_k, W_v, _ = calls.given["linear"]
    Q, K, V = calls.given["transpose"][:3]
    scores, context = calls.given["matmul"]
    (masked,), (merged,) = calls.taken["softmax"], calls.given["flatten"]
    projected = (W_q, W_k, W_v, Q, K, V)
    return Flow(query, source, *projected, scores, masked, weights, context, merged, output)


def drawn_shape(box: str, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """Give the shape that the flow chart draws for a box, with `sizes` put in."""
    axes = [axis.split("·") for axis in SHAPES[box].split(", ")]
    return tuple(math.prod(sizes[name] for name in axis) for axis in axes)


class UnequalWidths(MultiHeadAttention):
    """Multi-head attention in which no width follows from another.

    The formula of the paper allows it, and `MultiHeadAttention`, whose ``forward`` this is, fixes
    d_k = d_v = d_model / H. With sizes that all differ no axis of a tensor can pass for another.

    Parameters
    ----------
    d_model, n_heads, d_k, d_v : int

    References
    ----------
    Vaswani et al. (2017), "Attention Is All You Need", section 3.2.2.
    """

    def __init__(self, d_model: int, n_heads: int, d_k: int, d_v: int) -> None:
        nn.Module.__init__(self)
        self.d_model, self.n_heads, self.d_k = d_model, n_heads, d_k
        self.W_q = nn.Linear(d_model, n_heads * d_k)
        self.W_k = nn.Linear(d_model, n_heads * d_k)
        self.W_v = nn.Linear(d_model, n_heads * d_v)
        self.W_o = nn.Linear(n_heads * d_v, d_model)
        self.dropout = nn.Identity()
