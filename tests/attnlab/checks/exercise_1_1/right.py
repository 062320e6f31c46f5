"""Right answers to exercise 1.1, in the ways that students write numbers."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import torch

ROOT = 2**0.5
Q = np.array([[1.0, 0.0], [0.0, 1.0]])
K = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
V = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def weights(divisor, axis=-1):
    e = np.exp(Q @ K.T / divisor)
    return e / e.sum(axis=axis, keepdims=True)


def entropies(divisor):
    p = weights(divisor)
    return -(p * np.log(p)).sum(axis=1)


W, W_SCALED = weights(1), weights(ROOT)
O, O_SCALED = W @ V, W_SCALED @ V
H, H_SCALED = entropies(1), entropies(ROOT)

TRUTH = {
    "weights_without_scale": W,
    "weights_with_scale": W_SCALED,
    "output_without_scale": O,
    "output_with_scale": O_SCALED,
    "entropy_without_scale": H,
    "entropy_with_scale": H_SCALED,
}

WRITTEN = {
    "NumPy": lambda x: x,
    "float32": lambda x: x.astype(np.float32),
    "lists": lambda x: x.tolist(),
    "tuples": lambda x: tuple(map(tuple, x)) if x.ndim == 2 else tuple(x),
    "torch": torch.tensor,
    "torch with gradient": lambda x: torch.tensor(x, requires_grad=True),
    "three decimals": lambda x: np.round(x, 3).tolist(),
    "two decimals": lambda x: np.round(x, 2).tolist(),
    "fractions": lambda x: np.vectorize(lambda v: Fraction(round(1000 * v), 1000), [object])(x),
    "a list of arrays": list,
    "a list of tensors": lambda x: list(torch.tensor(x)),
    "bfloat16": lambda x: torch.tensor(x, dtype=torch.bfloat16),
    "decimals": lambda x: np.vectorize(lambda v: Decimal(f"{v:.3f}"), [object])(x).tolist(),
    "arrays without axes": lambda x: np.vectorize(np.array, [object])(x).tolist(),
    "a batch of one": lambda x: x[None],
    "texts that read as numbers": lambda x: np.vectorize("{:.3f}".format)(x).tolist(),
}

RIGHT = {
    check: {label: write(numbers) for label, write in WRITTEN.items()}
    for check, numbers in TRUTH.items()
}
EMPTY = [None, ..., [[None] * 3] * 2, [[0.4, 0.2, ...]] * 2, np.array([[None] * 3] * 2)]
UNTOUCHED = dict.fromkeys(RIGHT, EMPTY)
SEEDS = ["0"]  # nothing is drawn
SEEDED = set()
