"""Wrong parts of exercise 1.6, taken as given: a module is tried with right ones in their place."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """Cut the width into heads."""
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)  # (B, H, S, d_k)


def attention_weights(Q: Tensor, K: Tensor, mask: Tensor | None = None) -> Tensor:
    """Give the softmax of the scaled scores, with zeros for a query that may read nothing."""
    scores = Q @ K.mT / Q.shape[-1] ** 0.5  # (B, H, S_q, S_k)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return scores.softmax(-1).nan_to_num(0.0)


def merge_heads(x: Tensor) -> Tensor:
    """Put the heads side by side."""
    return x.transpose(1, 2).flatten(-2)  # (B, S, d_model)


@contextmanager
def right_parts(module: type, parts: tuple[Callable, ...]) -> Iterator[None]:
    """Put right functions where the module's code calls the student's, and the latter back."""
    names = getattr(getattr(module, "forward", None), "__globals__", {})
    right = dict(zip(map(id, parts), (split_heads, attention_weights, merge_heads), strict=False))
    own = {name: value for name, value in names.items() if id(value) in right}
    names.update({name: right[id(value)] for name, value in own.items()})
    try:
        yield
    finally:
        names.update(own)
