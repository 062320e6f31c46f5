"""Modules and masks that a measure of leaks is tried on: right ones, and ones that leak."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from attnlab.masks import make_causal_mask
from attnlab.multihead import MultiHeadAttention

D_MODEL, N_HEADS = 16, 4


def draw_module(rng: np.random.Generator, dropout: float = 0.0) -> MultiHeadAttention:
    """Make a module with clearly uneven weights, the same for the same generator."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(rng.integers(2**31)))
        module = MultiHeadAttention(D_MODEL, N_HEADS, dropout)
    with torch.no_grad():
        module.W_q.weight *= 3
    return module.eval()


def draw_tokens(rng: np.random.Generator, length: int) -> Tensor:
    """Draw one sequence, (1, S, d_model)."""
    return torch.from_numpy(rng.standard_normal((1, length, D_MODEL))).float()


def wrong_masks(length: int) -> dict[str, Tensor | None]:
    """Give masks that let a position read the future, each (1, 1, S, S)."""
    causal = make_causal_mask(length)
    return {
        "no mask": None,
        "a mask that is True throughout": torch.ones_like(causal),
        "the inverted mask": ~causal,
        "the transposed mask": causal.mT,
        "a mask one position too wide": torch.ones_like(causal).tril(1),
    }


class Rigged(MultiHeadAttention):
    """Returns honest weights, and an output that a rule makes of the values instead.

    Parameters
    ----------
    rule : callable
        From values (B, S, d_model) to the output (B, S, d_model).

    Attributes
    ----------
    calls : list of (Tensor, Tensor or None)
        The values and the mask of each call.
    """

    def __init__(self, rule: Callable[[Tensor], Tensor]) -> None:
        super().__init__(D_MODEL, N_HEADS)
        self.rule = rule
        self.calls: list[tuple[Tensor, Tensor | None]] = []

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Apply the rule; the weights are those of the module that this one poses as."""
        _, weights = super().forward(query, key, value, mask)
        self.calls.append((value.detach().clone(), mask))
        return self.rule(value), weights


def own_token(value: Tensor) -> Tensor:
    """Output i is token i: no leak."""
    return value.clone()


def tokens_so_far(value: Tensor) -> Tensor:
    """Output i is the sum of tokens 0 ... i: no leak."""
    return value.cumsum(1)


def tokens_to_come(value: Tensor) -> Tensor:
    """Output i is the sum of tokens i + 1 ... S - 1: all that can leak does."""
    return value.flip(1).cumsum(1).flip(1) - value


def one_token(i: int, t: int) -> Callable[[Tensor], Tensor]:
    """Make the rule by which output i is token t, and all other outputs are 0."""

    def rule(value: Tensor) -> Tensor:
        output = torch.zeros_like(value)
        output[:, i] = value[:, t]
        return output

    return rule


def only_downwards(x: Tensor) -> Callable[[Tensor], Tensor]:
    """Make the rule by which a changed token lowers all outputs before it, however it changed."""

    def rule(value: Tensor) -> Tensor:
        change = value - x
        return -tokens_to_come(torch.maximum(2 * change, -change))  # no derivative of 0 anywhere

    return rule
