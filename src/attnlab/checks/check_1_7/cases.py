"""What the student's functions of exercise 1.7 are driven with, and what is right.

A step function is driven from the start, m = -inf and l = 0, over all that there is: what it makes
on the way is its path. One pass is all that it ever gets.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from attnlab.reference import scaled_dot_product_attention

Step = Callable[..., tuple]


class Sums(NamedTuple):
    """What is known after some blocks: per query the largest score, and two sums below it."""

    m: np.ndarray  # (S_q, 1)
    l: np.ndarray  # (S_q, 1)
    O: np.ndarray  # (S_q, d_v)


def add_score(m: float, l: float, s: float) -> tuple[float, float]:
    """Take one score into the largest and into the sum of exponentials below it."""
    m_new = max(m, s)
    if m_new == -math.inf:
        return m_new, 0.0
    return m_new, l * math.exp(m - m_new) + math.exp(s - m_new)


def add_block(m: np.ndarray, l: np.ndarray, O: np.ndarray, S: np.ndarray, V: np.ndarray) -> Sums:
    """Take a block of scores, (S_q, block), and their values, (block, d_v), into the sums."""
    m_new = np.maximum(m, S.max(-1, keepdims=True))
    P, fade = np.exp(S - m_new), np.exp(m - m_new)
    return Sums(m_new, fade * l + P.sum(-1, keepdims=True), fade * O + P @ V)


def path_of(step: Step, scores: Sequence[float]) -> np.ndarray:
    """Drive a step over scores: m and l after each, (N, 2)."""
    m, l, path = -math.inf, 0.0, []
    for s in scores:
        m, l = step(m, l, s)
        path.append([m, l])
    return np.array(path, dtype=float)


class Blocks:
    """Scores, (S_q, S_k), and values, (S_k, d_v), that come in blocks of several widths."""

    def __init__(self, rng: np.random.Generator, S_q: int, widths: Sequence[int], d_v: int) -> None:
        S_k = sum(widths)
        self.S, self.V = draw(rng, S_q, S_k, scale=2.0), draw(rng, S_k, d_v)
        ends = np.cumsum(widths).tolist()
        starts = [0, *ends[:-1]]
        self.slices = [slice(a, b) for a, b in zip(starts, ends, strict=True)]

    def start(self) -> Sums:
        """Give the sums before the first block."""
        S_q, d_v = len(self.S), self.V.shape[1]
        return Sums(np.full((S_q, 1), -np.inf), np.zeros((S_q, 1)), np.zeros((S_q, d_v)))

    def path(self, step: Step) -> list[Sums]:
        """Drive a step over all blocks: the sums after each."""
        sums, path = self.start(), []
        for keys in self.slices:
            sums = Sums(*step(*sums, self.S[:, keys], self.V[keys]))
            path.append(sums)
        return path


class Case:
    """Queries, keys and values, a width of blocks, and the attention that they make."""

    def __init__(self, rng: np.random.Generator, sizes: Sequence[int], block: int) -> None:
        S_q, S_k, d_k, d_v = sizes
        self.Q, self.K, self.V = draw(rng, S_q, d_k), draw(rng, S_k, d_k), draw(rng, S_k, d_v)
        self.block, self.S_k = block, S_k
        self.step: Step = add_block
        self.output, _ = scaled_dot_product_attention(self.Q, self.K, self.V)

    def tiled(
        self,
        step: Step | None = None,
        scale: float | None = None,
        keys: Sequence[slice] | None = None,
        finish: Callable[[Sums], np.ndarray] = lambda sums: sums.O / sums.l,
    ) -> np.ndarray:
        """Compute it block by block, with a part of it replaced."""
        factor = self.Q.shape[1] ** -0.5 if scale is None else scale
        S_q, d_v = len(self.Q), self.V.shape[1]
        sums = Sums(np.full((S_q, 1), -np.inf), np.zeros((S_q, 1)), np.zeros((S_q, d_v)))
        for k in self.slices() if keys is None else keys:
            sums = Sums(*(step or self.step)(*sums, self.Q @ self.K[k].T * factor, self.V[k]))
        return finish(sums)

    def slices(self) -> list[slice]:
        """Cut the keys into blocks, the last one shorter where it must be."""
        return [slice(a, min(a + self.block, self.S_k)) for a in range(0, self.S_k, self.block)]

    def __str__(self) -> str:
        (S_q, d_k), (S_k, d_v) = self.Q.shape, self.V.shape
        return f"S_q={S_q}, S_k={S_k}, d_k={d_k}, d_v={d_v}, block={self.block}"


def draw(rng: np.random.Generator, *shape: int, scale: float = 1.0) -> np.ndarray:
    """Draw numbers that float32 holds exactly."""
    return (scale * rng.standard_normal(shape)).astype(np.float32).astype(np.float64)
