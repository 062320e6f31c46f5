"""What the student's functions and module of exercise 1.6 are called with, and what is right.

All that is right is computed in float64 with NumPy, head by head.
"""

from collections.abc import Callable, Sequence

import numpy as np
import torch

from attnlab.reference import softmax

NAMES = ("W_q", "W_k", "W_v", "W_o")
INPUTS = ("query", "key", "value")


def split(x: np.ndarray, n_heads: int) -> np.ndarray:
    """Cut (B, S, d_model) into heads, (B, H, S, d_k), by slices of the width."""
    d_k = x.shape[-1] // n_heads
    return np.stack([x[..., h * d_k : (h + 1) * d_k] for h in range(n_heads)], 1)


def merge(x: np.ndarray) -> np.ndarray:
    """Put heads, (B, H, S, d_k), side by side again."""
    return np.concatenate(list(x.swapaxes(0, 1)), -1)  # (B, S, d_model)


def scores_of(Q: np.ndarray, K: np.ndarray) -> np.ndarray:
    """Give all dot products, (B, H, S_q, S_k), not scaled."""
    return Q @ K.swapaxes(-2, -1)


def shares(scores: np.ndarray, allowed: np.ndarray | bool = True) -> np.ndarray:
    """Give the softmax over the allowed keys, zeros for a query that may read nothing."""
    return softmax(np.where(allowed, scores, -np.inf))


def draw_heads(rng: np.random.Generator, sizes: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Draw queries and keys of the sizes B, H, S_q, S_k, d_k, exact in float32."""
    B, H, S_q, S_k, d_k = sizes
    return draw(rng, B, H, S_q, d_k), draw(rng, B, H, S_k, d_k)


def draw(rng: np.random.Generator, *shape: int, scale: float = 1.0) -> np.ndarray:
    """Draw numbers that float32 holds exactly."""
    return single(scale * rng.standard_normal(shape))


def single(x: np.ndarray) -> np.ndarray:
    """Round to what float32 holds."""
    return x.astype(np.float32).astype(np.float64)


class Case:
    """A module's weights, three inputs and a mask, and what attention makes of them.

    `sizes` are B, S_q, S_k, H, d_k. Without `crossed` one input serves as all three.
    """

    def __init__(
        self,
        rng: np.random.Generator,
        sizes: Sequence[int],
        mask: np.ndarray | None = None,
        crossed: bool = True,
    ) -> None:
        B, S_q, S_k, self.H, self.d_k = sizes
        self.width, self.mask = self.H * self.d_k, mask
        D = self.width
        self.W = {name: draw(rng, D, D, scale=D**-0.5) for name in NAMES}  # y = x W^T + b
        self.b = {name: draw(rng, D, scale=0.5) for name in NAMES}
        lengths = zip(INPUTS, (S_q, S_k, S_k), strict=True)
        self.inputs = {name: draw(rng, B, length, D) for name, length in lengths}
        if not crossed:
            self.inputs = dict.fromkeys(INPUTS, self.inputs["query"])
        self.allowed = np.broadcast_to(True if mask is None else mask, (B, self.H, S_q, S_k))
        self.output, self.weights = self.forward()

    def linear(self, name: str, x: np.ndarray) -> np.ndarray:
        """Apply one of the four projections."""
        return x @ self.W[name].T + self.b[name]

    def forward(
        self,
        inputs: Sequence[str] = INPUTS,
        maps: Sequence[str | None] = NAMES[:3],
        split: Callable = split,
        merge: Callable = merge,
        scale: float | None = None,
        weigh: Callable = shares,
        finish: bool = True,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Compute output and weights, with a part of it replaced; None for a missing map."""
        projected = [
            self.inputs[x] if name is None else self.linear(name, self.inputs[x])
            for x, name in zip(inputs, maps, strict=True)
        ]
        Q, K, V = (split(x, self.H) for x in projected)  # (B, H, S, d_k) each
        factor = self.d_k**-0.5 if scale is None else scale
        allowed = True if self.mask is None else self.allowed
        weights = weigh(scores_of(Q, K) * factor, allowed)  # (B, H, S_q, S_k)
        context = merge(weights @ V)  # (B, S_q, d_model)
        return self.linear("W_o", context) if finish else context, weights

    def tensors(self) -> tuple[torch.Tensor, ...]:
        """Give query, key and value, and the mask where there is one."""
        made = {name: torch.tensor(x, dtype=torch.float32) for name, x in self.inputs.items()}
        given = [made[name] for name in INPUTS]
        if self.inputs["query"] is self.inputs["key"]:
            given = [given[0]] * 3
        return (*given, *([] if self.mask is None else [torch.from_numpy(self.mask.copy())]))

    def load(self, module: torch.nn.Module) -> torch.nn.Module:
        """Put the weights of this case into a module, and take it out of training."""
        with torch.no_grad():
            for name in NAMES:
                getattr(module, name).weight.copy_(torch.from_numpy(self.W[name]))
                getattr(module, name).bias.copy_(torch.from_numpy(self.b[name]))
        return module.eval()

    def __str__(self) -> str:
        B, S_q, _ = self.inputs["query"].shape
        S_k = self.inputs["key"].shape[1]
        masked = "" if self.mask is None else ", and a mask"
        return f"B={B}, S_q={S_q}, S_k={S_k}, H={self.H}, d_k={self.d_k}{masked}"
