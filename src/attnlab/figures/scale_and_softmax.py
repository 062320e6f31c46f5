"""What the scale of dot-product attention does to the softmax (section 1.3.3)."""

import numpy as np
import torch
from matplotlib.figure import Figure as Picture
from torch.func import jacrev
from traitlets import Bool, Enum, Unicode

from attnlab import plotting
from attnlab.figures._base import Array, Figure, bundle, fixed, number
from attnlab.heads import entropy

WIDTHS = tuple(2**i for i in range(11))  # 1 ... 1024
KEYS = 8


def draw_scores(seed: int = 25) -> np.ndarray:
    """Multiply a normal query and eight keys, (11, 8): row i over ``2**i`` of their components.

    The default is a draw in which each step shows what the median over many draws does.
    """
    rng = np.random.default_rng(seed)
    products = rng.standard_normal(WIDTHS[-1]) * rng.standard_normal((KEYS, WIDTHS[-1]))
    return products.cumsum(axis=1)[:, np.array(WIDTHS) - 1].T  # (11, 8)


class ScaleAndSoftmax(Figure):
    """Widen the keys and see the softmax saturate, unless the scores are scaled.

    It follows Vaswani et al. (2017), "Attention Is All You Need", section 3.2.1.

    Attributes
    ----------
    d_k : int, width of the query and the keys, a power of two from 1 to 1024
    scaled : bool, whether the upper picture shows the scores divided by the root of `d_k`
    scores : nested list, shape (11, 8), see `draw_scores`
    """

    _esm = bundle("scale_and_softmax")
    title = Unicode("Softmax with and without the scale").tag(sync=True)
    d_k = Enum(WIDTHS, 64).tag(sync=True)
    scaled = Bool(False).tag(sync=True)
    scores = Array(2, start=draw_scores()).tag(sync=True)

    def compute(self) -> dict:
        """Give weights, entropy and Jacobian norm of the softmax over plain and divided scores."""
        row = torch.tensor(self.scores[WIDTHS.index(self.d_k)], dtype=torch.float64)  # (8,)
        return {"plain": softmax_of(row), "divided": softmax_of(row / self.d_k**0.5)}

    def describe(self) -> str:
        """Say how far the scores spread, and what is left of the gradient."""
        found = self.compute()
        parts = [
            f"{name}, the largest weight is {fixed(max(result['weights']), 3)}, the entropy "
            f"{number(result['entropy'])} nats and the gradient norm {number(result['norm'])}."
            for name, result in zip(("Without the scale", "With it"), found.values(), strict=True)
        ]
        deviation = fixed(self.d_k**0.5, 2)
        divided = ", and 1.00 once divided by √d_k" if self.scaled else ""
        said = f"At d_k = {self.d_k} a score has standard deviation {deviation}{divided}."
        return f"{said} {' '.join(parts)}"

    def still(self) -> list[Picture]:
        """Draw the weights without and with the scale."""
        pictures = []
        for series, (name, result) in enumerate(self.compute().items()):
            fig, ax = plotting.panel(3.4, 2.2)
            ax.bar(range(1, KEYS + 1), result["weights"], color=plotting.COLOURS[series])
            label = "without" if name == "plain" else "with"
            ax.set_title(f"{label} the scale, $d_k$ = {self.d_k}")
            ax.set(xlabel="key", ylabel="weight", ylim=(0, 1.05))
            pictures.append(fig)
        return pictures


def softmax_of(scores: torch.Tensor) -> dict:
    """Take the softmax of a row of scores, its entropy, and the norm of its Jacobian."""
    weights = scores.softmax(-1)  # (n,)
    jacobian = jacrev(lambda a: a.softmax(-1))(scores)  # (n, n)
    n = len(weights)
    return {
        "scores": scores.tolist(),
        "weights": weights.tolist(),
        "entropy": entropy(weights.expand(1, 1, n, n)).item(),
        "norm": jacobian.norm().item(),
    }
