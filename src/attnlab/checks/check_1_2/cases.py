"""What the student's functions are tried on: modules and masks, right ones and ones that leak."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from attnlab.masks import make_causal_mask
from attnlab.multihead import MultiHeadAttention

D_MODEL, N_HEADS = 16, 4


class Case(NamedTuple):
    """A module, one sequence (1, S, d_model), a mask or None, and which head is asked for."""

    mha: MultiHeadAttention
    x: Tensor
    mask: Tensor | None
    head: int = 0

    def weights(self, mask: Tensor | None) -> np.ndarray:
        """Give all heads' weights under some mask, (H, S, S)."""
        mask = None if mask is None else mask.to(self.x.device)
        with torch.no_grad():
            return self.mha(self.x, self.x, self.x, mask)[1][0].cpu().double().numpy()

    @property
    def right(self) -> np.ndarray:
        """All heads' weights under the mask, (H, S, S)."""
        return self.weights(self.mask)


def draw_module(rng: np.random.Generator, dropout: float = 0.0) -> MultiHeadAttention:
    """Make a module with clearly uneven weights."""
    torch.default_generator.manual_seed(int(rng.integers(2**31)))
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


class Calls(list[tuple[Tensor, Tensor | None]]):
    """The values and the mask of each call of a module, and of copies that are made of it."""

    def __deepcopy__(self, memo: dict) -> "Calls":
        return self


class Rigged(MultiHeadAttention):
    """Gives honest weights, and as output i the sum of the tokens that row i of `reads` names.

    Any change of the tokens `downwards_from`, whatever its sign, makes the outputs smaller. With
    `component` no other component of an output reads any but its own token.
    """

    component: int | None = None

    def __init__(self, reads: Tensor, downwards_from: Tensor | None = None) -> None:
        super().__init__(D_MODEL, N_HEADS)
        self.reads, self.start = reads, downwards_from  # (S, S) of 0 and 1; (1, S, d_model)
        self.calls = Calls()

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Add up tokens; the weights are those of the module that this one poses as."""
        _, weights = super().forward(query, key, value, mask)
        self.calls.append((value.detach().clone(), mask))
        if self.start is not None:
            change = value - self.start
            value = -torch.maximum(2 * change, -change)  # no derivative of 0 anywhere
        output = self.reads @ value
        if self.component is not None:
            leaked, output = output, value.clone()
            output[..., self.component] = leaked[..., self.component]
        return (output if self.start is None else output + self.start), weights

    def changed(self, x: Tensor) -> list[int]:
        """Give how many tokens of the values were no longer those of x, for each call."""
        return [int((values != x).any(-1).sum(-1).max()) for values, _ in self.calls]


def only(output: int, token: int, length: int) -> Tensor:
    """Give the table, (S, S), by which one output reads one token and nothing else is read."""
    reads = torch.zeros(length, length)
    reads[output, token] = 1
    return reads
