"""One tensor through split, attention per head, concatenation and W^O (section 1.6.2)."""

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from traitlets import Bool, Enum, Int, Unicode

from attnlab import plotting
from attnlab.attention import attention_weights
from attnlab.figures._base import Array, Figure, bundle
from attnlab.multihead import MultiHeadAttention, count_parameters

WIDTHS = (12, 24, 48)
HEADS = (1, 2, 3, 4, 6, 12)  # each divides every width
LONGEST = 6


def draw_projections(seed: int = 6) -> np.ndarray:
    """Draw projected queries and keys from the standard normal: (2, 6, 48), corners if smaller."""
    return np.random.default_rng(seed).standard_normal((2, LONGEST, WIDTHS[-1]))


class SplitAndMerge(Figure):
    """Cut the width of the model into heads, let each attend, and put them together.

    It follows Vaswani et al. (2017), "Attention Is All You Need", section 3.2.2.

    Attributes
    ----------
    d_model : int, width of the model: 12, 24 or 48
    h : int, number of heads: 1, 2, 3, 4, 6 or 12, which divide every width
    S : int, length of the sequence, 2 to 6
    bias : bool, whether the four projections have a bias
    Q, K : nested lists, shape (6, 48), see `draw_projections`; a smaller tensor is their corner
    """

    _esm = bundle("split_and_merge")
    title = Unicode("Heads, split and merged").tag(sync=True)
    d_model = Enum(WIDTHS, 12).tag(sync=True)
    h = Enum(HEADS, 3).tag(sync=True)
    S = Int(5, min=2, max=LONGEST).tag(sync=True)
    bias = Bool(True).tag(sync=True)
    Q, K = (Array(2, digits=1, start=x).tag(sync=True) for x in draw_projections())

    def compute(self) -> dict:
        """Give each head's width and weights, and count what is learned."""
        with torch.device("meta"):  # shapes are enough, and no random number is drawn
            module = MultiHeadAttention(self.d_model, self.h, bias=self.bias)
        Q, K = (
            module.split_heads(torch.tensor([x], dtype=torch.float64)[:, : self.S, : self.d_model])
            for x in (self.Q, self.K)
        )  # (1, H, S, d_k)
        total = count_parameters(self.d_model, self.h, self.bias)
        return {
            "d_k": module.d_k,
            "weights": attention_weights(Q, K)[0].tolist(),  # (H, S, S)
            "one_head": 3 * module.W_q.weight[: module.d_k].numel(),
            "W_o": module.W_o.weight.numel(),
            "biases": total - count_parameters(self.d_model, self.h, False),
            "total": total,
        }

    def describe(self) -> str:
        """Follow the shapes, and say how many numbers are learned."""
        found = self.compute()
        S, d, h, d_k = self.S, self.d_model, self.h, found["d_k"]
        heads, formula = ("1 head" if h == 1 else f"{h} heads"), f"4 × {d}²"
        formula += f" + 4 × {d}" if self.bias else ""
        return (
            f"A tensor of {S} × {d} is split into {heads} of {S} × {d_k}. Attention makes "
            f"{h} × {S} × {S} = {h * S * S} weights. The outputs stand side by side as {S} × {d} "
            f"again, and Wᴼ mixes them. Learned are {formula} = {found['total']} numbers, "
            "whatever the number of heads."
        )

    def still(self) -> list[Picture]:
        """Draw the tensor in its heads, and the weights of each head."""
        found = self.compute()
        tensor, ax = plotting.panel(3.4, 1.6)
        for i in range(self.h):
            self.block(ax, i, found["d_k"])
        ax.set(xlim=(0, self.d_model), ylim=(self.S, 0), xlabel="$d_{model}$", ylabel="S")
        ax.set_title(f"split into heads of width {found['d_k']}")
        maps = []
        for i, weights in enumerate(found["weights"]):
            fig, ax = plotting.panel(1.15, 1.3)
            plotting.heatmap(ax, weights)
            ax.set(xticks=[], yticks=[], xlabel="", ylabel="", title=f"head {i + 1}")
            maps.append(fig)
        return [tensor, *maps]

    def block(self, ax: Axes, i: int, d_k: int) -> None:
        """Draw one head's slice of the tensor."""
        colour = plotting.COLOURS[i % len(plotting.COLOURS)]
        ax.axvspan(i * d_k, (i + 1) * d_k, color=colour, alpha=0.45, linewidth=0)
        ax.text((i + 0.5) * d_k, self.S / 2, i + 1, ha="center", va="center")
