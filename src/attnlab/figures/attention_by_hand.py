"""Attention worked out number by number on matrices that the reader edits (section 1.3.4)."""

import numpy as np
import torch
from matplotlib.figure import Figure as Picture
from traitlets import Bool, Enum, Int, TraitError, Unicode, validate

from attnlab import plotting
from attnlab.attention import scaled_dot_product_attention
from attnlab.figures._base import Array, Figure, bundle, fixed
from attnlab.masks import make_causal_mask

N, D_K = 2, 3  # positions, width of queries and keys
LARGEST = 9
STEPS = ("scores", "scaled", "weights", "output")


class AttentionByHand(Figure):
    """Edit small Q, K and V, and read how each number of each step comes about.

    It follows Vaswani et al. (2017), "Attention Is All You Need", equation 1.

    Attributes
    ----------
    Q, K : nested list, shape (2, 3), whole numbers from -9 to 9
    V : nested list, shape (2, 2), likewise
    scale : bool, whether the scores are divided by the root of d_k
    causal : bool, whether the first query is kept from the second key
    step : {"scores", "scaled", "weights", "output"}, the matrix whose arithmetic is shown
    row, column : int, the cell of it, counted from 1
    """

    _esm = bundle("attention_by_hand")
    title = Unicode("Attention by hand").tag(sync=True)
    Q = Array(2, digits=0, start=[[1, 2, 0], [2, 0, -1]]).tag(sync=True)
    K = Array(2, digits=0, start=[[1, 0, 1], [0, 2, 1]]).tag(sync=True)
    V = Array(2, digits=0, start=[[4, 0], [1, 3]]).tag(sync=True)
    scale = Bool(True).tag(sync=True)
    causal = Bool(False).tag(sync=True)
    step = Enum(STEPS, "weights").tag(sync=True)
    row = Int(1, min=1, max=N).tag(sync=True)
    column = Int(2, min=1, max=2).tag(sync=True)

    @validate("Q", "K", "V")
    def _fits(self, proposal: dict) -> list:
        if (largest := abs(np.array(proposal["value"])).max()) > LARGEST:
            name = proposal["trait"].name
            raise TraitError(f"{name} holds ±{largest:g}; stay in -{LARGEST} ... {LARGEST}")
        return proposal["value"]

    def compute(self) -> dict:
        """Give the scores, the scaled scores before the mask, the weights, and the output."""
        Q, K, V = (torch.tensor(m, dtype=torch.float64) for m in (self.Q, self.K, self.V))
        factor = D_K**-0.5 if self.scale else 1.0
        mask = make_causal_mask(N)[0, 0] if self.causal else None  # (N, N)
        output, weights = scaled_dot_product_attention(Q, K, V, mask, factor)  # (N, d_v), (N, N)
        scores = Q @ K.T  # (N, N)
        steps = (scores, scores * factor, weights, output)
        return {name: matrix.tolist() for name, matrix in zip(STEPS, steps, strict=True)}

    def blocked(self, i: int, j: int) -> bool:
        """Say whether the mask keeps query i from key j, both counted from 0."""
        return self.causal and j > i

    def describe(self) -> str:
        """Show the arithmetic of the chosen cell, and the output."""
        found = self.compute()
        rows = " and ".join(f"({', '.join(fixed(x, 3) for x in row)})" for row in found["output"])
        return f"{self.arithmetic(found)} The output has the rows {rows}."

    def arithmetic(self, found: dict) -> str:
        """Write out how the chosen cell of the chosen step comes about."""
        i, j = self.row - 1, self.column - 1
        value = fixed(found[self.step][i][j], 3)
        score = fixed(found["scores"][i][j], 0)
        pair = f"of query {i + 1} for key {j + 1}:"
        if self.step == "scores":
            return f"Score {pair} {products(self.Q[i], self.K[j])} = {score}."
        if self.step == "output":
            parts = products(found["weights"][i], [v[j] for v in self.V], 3)
            return f"Output {i + 1}, component {j + 1}: {parts} = {value}."
        exponents = [
            "−∞" if self.blocked(i, k) else fixed(s, 3) for k, s in enumerate(found["scaled"][i])
        ]
        if self.step == "weights":
            total = " + ".join(f"exp({e})" for e in exponents)
            return f"Weight {pair} exp({exponents[j]}) / ({total}) = {value}."
        if self.blocked(i, j):
            said = "the key lies in the future, so −∞ takes the place of"
            return f"Scaled score {pair} {said} {value}."
        return f"Scaled score {pair} {score} / {f'√{D_K}' if self.scale else '1'} = {value}."

    def still(self) -> list[Picture]:
        """Draw the three matrices, and what each step makes of them."""
        found = self.compute()
        titles = (*"QKV", "$QK^T$", "scaled", "weights", "output")
        matrices = [self.Q, self.K, self.V, *(found[name] for name in STEPS)]
        pictures = []
        for k, (title, matrix) in enumerate(zip(titles, matrices, strict=True)):
            matrix = np.array(matrix)
            fig, ax = plotting.panel(0.3 + 0.55 * matrix.shape[1], 1.6)
            labels = {"rows": [1, 2], "columns": range(1, matrix.shape[1] + 1)}
            blocked = self.causal and k in (4, 5) and ~np.tri(N, dtype=bool)
            labels |= {"blocked": blocked} if np.any(blocked) else {}
            form, largest = ".0f" if k < 4 else ".2f", max(1, abs(matrix).max())
            plotting.heatmap(ax, matrix, numbers=form, largest=largest, **labels)
            ax.set(title=title, xlabel="", ylabel="")
            pictures.append(fig)
        return pictures


def products(a: list, b: list, digits: int = 0) -> str:
    """Write a dot product as a sum of products, negative factors in brackets."""
    return " + ".join(
        f"{bracketed(x, digits)}·{bracketed(y, 0)}" for x, y in zip(a, b, strict=True)
    )


def bracketed(x: float, digits: int) -> str:
    """Write a factor, in brackets if it is negative."""
    return f"({fixed(x, digits)})" if x < 0 else fixed(x, digits)
