"""Which sequence gives queries, keys and values, and what follows from it (section 1.4)."""

import numpy as np
import torch
from matplotlib.figure import Figure as Picture
from matplotlib.patches import Rectangle
from traitlets import Bool, Enum, Int, List, Unicode

from attnlab import plotting, story
from attnlab.attention import masked_softmax, scaled_dot_product_attention
from attnlab.figures._base import Array, Figure, bundle, start_of
from attnlab.masks import make_causal_mask
from attnlab.trace import trace
from attnlab.translator import Translator

SEQUENCES = ("source", "target")
WORDS = ([german for german, _ in story.PAIRS], ["start", *story.sentence().written[1:]])
T_X, T_Y = map(len, WORDS)
D_K, D_V = 8, 6  # as the shapes are drawn; the translator's heads are 16 wide


@torch.no_grad()
def read_scores(model: Translator) -> np.ndarray:
    """Let the second heads of a translator score the story's sentence.

    The result, (2, 2, T_y, T_y), has the scaled scores of queries from source and target, by keys
    from source and target, padded with zeros. Each sequence asks itself with the matrices of its
    own self-attention. All else is cross-attention's: that the source asks the target is not
    known to a translator, and what comes of it means nothing.
    """
    s = story.sentence()
    told, layer = trace(model, s.source, s.target), model.layers[0]
    encoder, decoder = told.encoder.layers[0].attend, told.decoder.layers[0].attend
    cross = told.decoder.layers[0].cross_attend
    attend = layer.cross_attend
    swapped_q, swapped_k = (  # (d_k, T_x) and (T_y, d_k), with source and target exchanged
        attend.split_heads(W(x[None]))[0, 1]
        for W, x in ((attend.W_q, cross.key), (attend.W_k, cross.query))
    )
    swapped = swapped_q @ swapped_k.T / attend.d_k**0.5  # (T_x, T_y)
    found = ((encoder.scaled[1], swapped), (cross.scaled[1], decoder.scaled[1]))
    scores = np.zeros((2, 2, T_Y, T_Y))
    for i, row in enumerate(found):
        for j, part in enumerate(row):
            scores[i, j, : part.shape[0], : part.shape[1]] = part
    return scores


class SelfOrCross(Figure):
    """Choose which sequence gives Q, K and V; shapes, weights and the kind's name follow.

    It follows Vaswani et al. (2017), "Attention Is All You Need", section 3.2.3.

    Attributes
    ----------
    q_from, k_from, v_from : {"source", "target"}, where queries, keys and values come from
    source, target : int, how many tokens of each sequence take part, from 2 on
    causal : bool, whether a position is kept from later ones; in self-attention alone
    words : list of two lists of str, the tokens of both sequences
    scores : nested list, shape (2, 2, 8, 8), by queries' and keys' sequence, see `read_scores`
    """

    _esm = bundle("self_or_cross")
    title = Unicode("Self-attention or cross-attention").tag(sync=True)
    q_from = Enum(SEQUENCES, "target").tag(sync=True)
    k_from = Enum(SEQUENCES, "source").tag(sync=True)
    v_from = Enum(SEQUENCES, "source").tag(sync=True)
    source = Int(T_X, min=2, max=T_X).tag(sync=True)
    target = Int(4, min=2, max=T_Y).tag(sync=True)
    causal = Bool(False).tag(sync=True)
    words = List(List(Unicode()), list(map(list, WORDS))).tag(sync=True)
    scores = Array(4, digits=2, start=start_of("self_or_cross")["scores"]).tag(sync=True)

    def kind(self) -> str:
        """Name what the choice amounts to."""
        if self.k_from != self.v_from:
            return "no attention"
        return "self-attention" if self.q_from == self.k_from else "cross-attention"

    def compute(self) -> dict:
        """Give the kind, whether the mask applies, the weights, and the shapes."""
        S_q, S_k, S_v = (getattr(self, x) for x in (self.q_from, self.k_from, self.v_from))
        i, j = (SEQUENCES.index(name) for name in (self.q_from, self.k_from))
        kind = self.kind()
        masked = self.causal and kind == "self-attention"
        mask = make_causal_mask(S_q)[0, 0] if masked else torch.ones(S_q, S_k, dtype=torch.bool)
        scores = torch.tensor(self.scores[i][j], dtype=torch.float64)[:S_q, :S_k]
        weights = masked_softmax(scores, mask)  # (S_q, S_k)
        Q, K, V = (torch.zeros(S, d) for S, d in ((S_q, D_K), (S_k, D_K), (S_v, D_V)))
        try:
            output = list(scaled_dot_product_attention(Q, K, V)[0].shape)
        except ValueError:  # as many values as keys are needed
            output = []
        shapes = {"Q": list(Q.shape), "K": list(K.shape), "V": list(V.shape)}
        shapes |= {"weights": list(weights.shape), "output": output}
        return {"kind": kind, "masked": masked, "weights": weights.tolist(), "shapes": shapes}

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
        ax.tick_params(axis="x", rotation=60)
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
