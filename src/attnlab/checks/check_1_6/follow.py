"""Wrong parts of exercise 1.6, taken as given: a module is tried with right ones in their place."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

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


RIGHT = {
    "split_heads": split_heads,
    "attention_weights": attention_weights,
    "merge_heads": merge_heads,
}


@contextmanager
def right_parts(module: Any) -> Iterator[None]:
    """Put right functions where the module's code calls the student's, and the latter back.

    Of a module in another process `exchange` does that there.
    """
    exchange = getattr(module, "exchange", None) or partial(exchange_parts, module)
    exchange(True)
    try:
        yield
    finally:
        exchange(False)


_own: dict[str, Any] = {}  # the student's parts, while others are in their place


def exchange_parts(module: type, right: bool) -> None:
    """Put right parts in place of the student's, by their names, or the student's back."""
    names = getattr(getattr(module, "forward", None), "__globals__", {})
    if right:
        _own.update({name: names[name] for name in RIGHT if name in names})
        names.update({name: RIGHT[name] for name in _own})
    else:
        names.update(_own)
        _own.clear()
