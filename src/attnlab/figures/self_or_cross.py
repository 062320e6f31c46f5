"""Which sequence gives queries, keys and values, and what follows from it (section 1.4)."""

import numpy as np
import torch
from matplotlib.figure import Figure as Picture
from matplotlib.patches import Rectangle
from traitlets import Bool, Enum, Int, List, Unicode

from attnlab import plotting
from attnlab.attention import scaled_dot_product_attention
from attnlab.figures._base import Array, Figure, bundle
from attnlab.masks import make_causal_mask

SEQUENCES = ("source", "target")
WORDS = (
    ["a", "dog", "bit", "the", "man", "in", "the", "park"],
    ["<s>", "ein", "Hund", "biss", "den", "Mann", "im", "Park"],
)
# Words that mean the same have the same number.
MEANINGS = ((0, 1, 2, 3, 4, 5, 3, 6), (7, 0, 1, 2, 3, 4, 5, 6))
LENGTH, D_K, D_V = 8, 8, 6


def make_up_vectors(seed: int = 3) -> np.ndarray:
    """Make up a query and a key for each word, so that words of one meaning attend to each other.

    The result, (2, 2, 8, 8), has the queries of source and target, then their keys, each (8, d_k).
    """
    noise = np.random.default_rng(seed).normal(scale=0.4, size=(2, 2, LENGTH, D_K))
    return 2.4 * np.eye(D_K)[np.array(MEANINGS)] + noise  # (2, 2, 8, d_k)


class SelfOrCross(Figure):
    """Choose which sequence gives Q, K and V; shapes, weights and the kind's name follow.

    It follows Vaswani et al. (2017), "Attention Is All You Need", section 3.2.3.

    Attributes
    ----------
    q_from, k_from, v_from : {"source", "target"}, where queries, keys and values come from
    source, target : int, how many tokens of each sequence take part, 2 to 8
    causal : bool, whether a position is kept from later ones; in self-attention alone
    words : list of two lists of str, the tokens of both sequences
    query_vectors, key_vectors : nested list, shape (2, 8, 8), see `make_up_vectors`
    """

    _esm = bundle("self_or_cross")
    title = Unicode("Self-attention or cross-attention").tag(sync=True)
    q_from = Enum(SEQUENCES, "target").tag(sync=True)
    k_from = Enum(SEQUENCES, "source").tag(sync=True)
    v_from = Enum(SEQUENCES, "source").tag(sync=True)
    source = Int(5, min=2, max=LENGTH).tag(sync=True)
    target = Int(3, min=2, max=LENGTH).tag(sync=True)
    causal = Bool(False).tag(sync=True)
    words = List(List(Unicode()), list(map(list, WORDS))).tag(sync=True)
    query_vectors, key_vectors = (
        Array(3, digits=2, start=x).tag(sync=True) for x in make_up_vectors()
    )

    def kind(self) -> str:
        """Name what the choice amounts to."""
        if self.k_from != self.v_from:
            return "no attention"
        return "self-attention" if self.q_from == self.k_from else "cross-attention"

    def compute(self) -> dict:
        """Give the kind, whether the mask applies, the weights, and the shapes."""
        Q = self.project(self.query_vectors, self.q_from)  # (S_q, d_k)
        K = self.project(self.key_vectors, self.k_from)  # (S_k, d_k)
        V = torch.zeros(getattr(self, self.v_from), D_V, dtype=Q.dtype)  # (S_v, d_v)
        kind = self.kind()
        masked = self.causal and kind == "self-attention"
        mask = make_causal_mask(len(Q))[0, 0] if masked else None
        _, weights = scaled_dot_product_attention(Q, K, K, mask)  # (S_q, S_k)
        try:
            output = list(scaled_dot_product_attention(Q, K, V, mask)[0].shape)
        except ValueError:  # as many values as keys are needed
            output = []
        shapes = {"Q": list(Q.shape), "K": list(K.shape), "V": list(V.shape)}
        shapes |= {"weights": list(weights.shape), "output": output}
        return {"kind": kind, "masked": masked, "weights": weights.tolist(), "shapes": shapes}

    def project(self, vectors: list, name: str) -> torch.Tensor:
        """Give the queries or the keys of the first tokens of a sequence."""
        rows = vectors[SEQUENCES.index(name)][: getattr(self, name)]
        return torch.tensor(rows, dtype=torch.float64)

    def describe(self) -> str:
        """Name the kind, the shapes, and what they mean."""
        found = self.compute()
        S_q, S_k = found["shapes"]["weights"]
        S_v = found["shapes"]["V"][0]
        asked = f"keys and values from the {self.k_from}"
        if self.k_from != self.v_from:
            asked = f"keys from the {self.k_from}, values from the {self.v_from}"
        said = f"Queries from the {self.q_from}, {asked}: {found['kind']}."
        said += f" The weights are {S_q} × {S_k}"
        if S_k != S_v:
            return f"{said}, but {S_k} keys and {S_v} values do not pair up: there is no output."
        said += f", the output is {S_q} × d_v."
        if found["kind"] == "self-attention":
            [idle] = set(SEQUENCES) - {self.q_from}
            said += f" The {getattr(self, idle)} tokens of the {idle} are not read."
        if found["kind"] == "no attention":
            return (
                f"{said} That works by accident, since both have {S_k} tokens: what is found "
                f"in the {self.k_from} fetches what stands in the same place of the {self.v_from}."
            )
        if found["masked"]:
            return f"{said} Under the causal mask no position reads a later one."
        return f"{said} Each row of the {self.q_from} is now a mean over the {self.k_from}."

    def still(self) -> list[Picture]:
        """Draw the shapes and the weights."""
        found = self.compute()
        shapes, ax = plotting.panel(4.4, 2.6)
        left = 0
        for name, size in found["shapes"].items():
            rows, columns = size or (0, 0)
            origin = self.origin(name)
            texts = [name, shape_text(name, size), origin if name in "QKV" else ""]
            colour = plotting.COLOURS[SEQUENCES.index(origin)]
            ax.add_patch(Rectangle((left, -rows), columns, rows, facecolor=colour, alpha=0.5))
            ax.text(left, 0.4, "\n".join(texts), fontsize=8)
            left += max(columns, 5) + 2
        ax.set(xlim=(0, left), ylim=(-9, 4), aspect="equal")
        ax.set_axis_off()
        weights, ax = plotting.panel(3.4, 2.8)
        rows, columns = (
            self.words[SEQUENCES.index(name)][: getattr(self, name)]
            for name in (self.q_from, self.k_from)
        )
        blocked = np.triu(np.full((len(rows), len(columns)), found["masked"]), 1)
        look = {"rows": rows, "columns": columns, "numbers": ".2f", "blocked": blocked}
        plotting.heatmap(ax, found["weights"], **look)
        return [shapes, weights]

    def origin(self, name: str) -> str:
        """Name the sequence that a matrix has its rows from."""
        return {"K": self.k_from, "V": self.v_from}.get(name, self.q_from)


def shape_text(name: str, size: list) -> str:
    """Write a shape with the name of the width, or that there is none."""
    if not size:
        return "none"
    width = {"Q": "$d_k$", "K": "$d_k$", "weights": size[1]}.get(name, "$d_v$")
    return f"{size[0]} × {width}"
