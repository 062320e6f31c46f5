"""Paint a mask, and see what each position may read and what leaks (section 1.5)."""

import numpy as np
import torch
from matplotlib.figure import Figure as Picture
from traitlets import Enum, Int, List, Tuple, Unicode

from attnlab import plotting
from attnlab.attention import masked_softmax
from attnlab.figures._base import Array, Figure, bundle, fixed, start_of
from attnlab.figures.self_or_cross import WORDS
from attnlab.masks import make_causal_mask, make_padding_mask

LARGEST, WINDOW, PADDING = len(WORDS[1]), 3, 2
FILLINGS = ("score −∞", "score 0", "weight 0, rows divided")


def causal(S: int) -> torch.Tensor:
    """Give the causal mask, (S, S)."""
    return make_causal_mask(S)[0, 0]


def padding(S: int) -> torch.Tensor:
    """Give the mask of a sequence with padding in front, (S, S)."""
    return make_padding_mask([S - PADDING], S)[0, 0].flip(-1).expand(S, S)


PRESETS = {
    "full": lambda S: torch.ones(S, S, dtype=torch.bool),
    "causal": causal,
    "padding in front": padding,
    "causal and padding": lambda S: causal(S) & padding(S),
    "sliding window": lambda S: causal(S).triu(1 - WINDOW),
    "off by one": lambda S: torch.ones(S, S, dtype=torch.bool).tril(1),
    "inverted": lambda S: ~causal(S),
}


class MaskPainter(Figure):
    """Paint a mask; the weights show what may be read, and what of the future leaks.

    The positions are those of the story's translation, as the decoder reads it; the scores are
    those of its self-attention, see `attnlab.figures.self_or_cross.read_scores`. Padding in front
    moves the words to the right.

    Attributes
    ----------
    size : int, positions, 5 to 8
    preset : str, the mask that is painted on; "off by one", "inverted" are wrong on purpose
    flipped : list of (int, int), the cells, from 0, in which the mask differs from the preset
    filling : {"score −∞", "score 0", "weight 0, rows divided"}, how a cell is blocked
    words : list of str, the tokens without padding
    scores : nested list, shape (8, 8), one for each pair of words; those of padding are 0
    """

    _esm = bundle("mask_painter")
    title = Unicode("Paint a mask").tag(sync=True)
    size = Int(6, min=5, max=LARGEST).tag(sync=True)
    preset = Enum(tuple(PRESETS), "causal").tag(sync=True)
    flipped = List(Tuple(*[Int(min=0, max=LARGEST - 1)] * 2)).tag(sync=True)
    filling = Enum(FILLINGS, FILLINGS[0]).tag(sync=True)
    words = List(Unicode(), WORDS[1]).tag(sync=True)
    scores = Array(2, digits=2, start=start_of("self_or_cross")["scores"][1][1]).tag(sync=True)

    def padding(self) -> int:
        """Count the positions of padding in front."""
        return PADDING if "padding" in self.preset else 0

    def mask(self) -> torch.Tensor:
        """Give the painted mask: bool, (size, size), True = may attend."""
        S = self.size
        mask = PRESETS[self.preset](S).clone()
        for i, j in self.flipped:
            if max(i, j) < S:
                mask[i, j] ^= True
        return mask

    def compute(self) -> dict:
        """Give the mask, the weights, their sum over the future, and the rows left empty."""
        mask = self.mask()
        S = self.size
        front = self.padding()
        scores = torch.tensor(np.pad(self.scores, (front, 0)), dtype=torch.float64)[:S, :S]
        if self.filling == "score −∞":
            weights = masked_softmax(scores, mask)
        elif self.filling == "score 0":
            weights = scores.masked_fill(~mask, 0.0).softmax(-1)
        else:
            weights = scores.softmax(-1) * mask
            weights = (weights / weights.sum(-1, keepdim=True)).nan_to_num(0.0)  # 0/0 in empty rows
        future = weights.triu(1)  # (S, S)
        tokens = [*(f"pad {i + 1}" for i in range(front)), *self.words][:S]
        return {
            "tokens": tokens,
            "mask": mask.tolist(),
            "weights": weights.tolist(),
            "future": future.sum().item(),
            "leaking": int((future > 0).any(-1).sum()),
            "empty": [tokens[i] for i in (~mask.any(-1)).nonzero().flatten()],
        }

    def describe(self) -> str:
        """Count what may be read, and name leaks and empty rows."""
        found = self.compute()
        changed = sum(max(cell) < self.size for cell in self.flipped)
        name = self.preset + (f", cells changed: {changed}" if changed else "")
        allowed = sum(map(sum, found["mask"]))
        said = f"Mask: {name}. {allowed} of {self.size**2} pairs of positions are allowed"
        said += f", the others blocked by {self.filling}."
        if found["leaking"]:
            said += f" The future leaks into {found['leaking']} of {self.size} rows: weights of "
            said += f"{fixed(found['future'], 3)} in all."
        else:
            said += " No weight lies on the future."
        if not found["empty"]:
            return said
        what = {
            FILLINGS[0]: "zeros here, NaN from a plain softmax",
            FILLINGS[1]: "uniform weights, invented",
            FILLINGS[2]: "0/0, NaN",
        }[self.filling]
        return f"{said} Rows that may read nothing: {', '.join(found['empty'])} ({what})."

    def still(self) -> list[Picture]:
        """Draw the mask and the weights."""
        found = self.compute()
        blocked, weights = ~np.array(found["mask"]), np.array(found["weights"])
        names = {"rows": found["tokens"], "columns": found["tokens"]}
        painted, ax = plotting.panel(3.4, 3.2)
        plotting.heatmap(ax, ~blocked, blocked=blocked, **names)
        ax.set_title("mask")
        weighted, ax = plotting.panel(3.4, 3.2)
        plotting.heatmap(ax, weights, blocked=blocked & (weights == 0), numbers=".2f", **names)
        ax.set_title("weights")
        for fig in (painted, weighted):
            fig.axes[0].tick_params(axis="x", rotation=60)
        return [painted, weighted]
