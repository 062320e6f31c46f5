"""What the student's functions of exercise 1.8 are called with, and the names of its runs."""

import math

import numpy as np
import torch

LENGTHS = (4, 8, 12, 16)
RUNS = ("base", "second seed", "wider", "narrower", "every step")
QUESTIONS = ("longer", "wider", "every step", "second seed")
EFFECTS = ("rises", "falls", "stays")


def draw_strings(rng: np.random.Generator, n: int, length: int) -> tuple:
    """Draw what was written, (n, length), and what would have been right."""
    target = rng.integers(4, 12, (n, length))
    written = np.where(rng.random((n, length)) < np.linspace(0.2, 0.8, length), 3, target)
    return torch.from_numpy(written), torch.from_numpy(target)


def shares(written: torch.Tensor, target: torch.Tensor) -> np.ndarray:
    """Give the share of strings whose symbol at each place is right, (T,)."""
    return (written == target).double().mean(0).numpy()


def bits(nats: float, length: int, n_symbols: int) -> float:
    """Give the bits of a string that a loss in nats a symbol says were read."""
    return length * (math.log2(n_symbols) - nats / math.log(2))


def effect(before: float, after: float, noise: float) -> str:
    """Name what a change does."""
    if abs(after - before) <= noise:
        return "stays"
    return "rises" if after > before else "falls"
