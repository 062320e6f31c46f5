"""What the student's function of exercise 1.3 is called with."""

from collections.abc import Sequence

import numpy as np

SIZES = (5, 7, 4, 6)  # S_q, S_k, d_k, d_v of the exercise: no two are equal


class Case:
    """Three matrices and a mask that broadcasts to (S_q, S_k), and what follows from them."""

    def __init__(
        self, Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray | None = None
    ) -> None:
        self.Q, self.K, self.V, self.mask = Q, K, V, mask  # (S_q, d_k), (S_k, d_k), (S_k, d_v)
        self.root = np.sqrt(Q.shape[-1])
        self.raw = Q.astype(np.float64) @ K.astype(np.float64).T  # (S_q, S_k)
        self.scores = self.raw / self.root
        self.both = self.scores, self.raw  # the scale may be missing besides
        self.shifted = [scores - scores.max(-1, keepdims=True) for scores in self.both]
        self.reshaped = Q @ K.reshape(K.shape[::-1])  # where K is not transposed
        lengths = [np.linalg.norm(matrix, axis=-1) for matrix in (Q, K)]
        self.cosines = self.raw / np.outer(*lengths)
        self.squares = lengths[0][:, None] ** 2 + lengths[1] ** 2 - 2 * self.raw  # distances
        self.allowed = np.broadcast_to(True if mask is None else mask, self.raw.shape)

    def arguments(self) -> dict[str, np.ndarray]:
        """Give copies to call the function with, without a mask where there is none."""
        given = {"Q": self.Q, "K": self.K, "V": self.V, "mask": self.mask}
        return {name: array.copy() for name, array in given.items() if array is not None}

    def __str__(self) -> str:
        (S_q, d_k), (S_k, d_v) = self.Q.shape, self.V.shape
        return f"S_q={S_q}, S_k={S_k}, d_k={d_k}, d_v={d_v}"


def draw(
    rng: np.random.Generator,
    sizes: Sequence[int] = SIZES,
    mask: np.ndarray | None = None,
    levels: Sequence[float] | None = None,
    keys: Sequence[float] | float = 1,
) -> Case:
    """Draw a case of the sizes S_q, S_k, d_k, d_v.

    With `levels` the scaled scores of query i and key j are about levels[i] * keys[j], exact in
    float32.
    """
    S_q, S_k, d_k, d_v = sizes
    Q, K, V = (rng.standard_normal(shape) for shape in ((S_q, d_k), (S_k, d_k), (S_k, d_v)))
    if levels is not None:
        Q, K = np.round(8 * Q) / 8, np.round(8 * K) / 8
        Q[:, 0], K[:, 0] = np.array(levels) * np.sqrt(d_k), keys
    return Case(Q, K, V, mask)
