"""One sentence as arcs: where the words of a sentence read in some heads of a trained network."""

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.textpath import TextPath
from traitlets import Dict, Enum, Int, List, Unicode, observe

from attnlab import plotting
from attnlab.figures._base import Array, Figure, bundle, fixed
from attnlab.figures._reading import read_maps, read_text

# The animal is tired, or the street is wide: the last word decides what "it" is.
SHOWN = tuple(
    f"the animal did not cross the street because it was too {last} ." for last in ("tired", "wide")
)
HEADS = ("4-2", "1-3", "2-9", "5-6")
FAINT = 0.1  # thinner arcs of other words are not drawn


def _place(head: str) -> tuple[int, int]:
    """Turn a head's name into its indices."""
    layer, number = head.split("-")
    return int(layer) - 1, int(number) - 1


def _maps() -> dict:
    found = read_maps([text.split() for text in SHOWN])
    every = np.array(found["maps"])  # (sentences, L, H, S, S)
    return {
        "sentences": found["sentences"],
        "maps": np.stack([every[:, *_place(head)] for head in HEADS], axis=1),
    }


def _arc(start: float, stop: float) -> Path:
    top = 14 + abs(stop - start) / 2
    ends = [(start, 0), (start, top), (stop, top), (stop, 0)]
    return Path(ends, [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4])


def draw_arcs(ax: Axes, pieces: list[str], weights: list[list[float]], token: int) -> None:
    """Write a sentence in a line, and draw an arc for each weight, those of one word in front."""
    size, gap, at, end = 13, 14, [], 0.0
    for piece in pieces:
        width = TextPath((0, 0), piece, size=size).get_extents().width
        at.append(end + width / 2)
        end += width + gap
    for i, piece in enumerate(pieces):
        bold = "bold" if i == token else "normal"
        ax.text(at[i], -4, piece, ha="center", va="top", fontsize=size * 0.72, fontweight=bold)
    arcs = [(i == token, i, j, w) for i, row in enumerate(weights) for j, w in enumerate(row)]
    for own, i, j, weight in sorted(arcs):
        if weight >= (0.02 if own else FAINT):
            path = _arc(at[i] - 5, at[i] + 5) if i == j else _arc(at[i], at[j])
            look = {"edgecolor": plotting.COLOURS[own], "alpha": 0.9 if own else 0.25}
            ax.add_patch(PathPatch(path, fill=False, linewidth=4 * weight, capstyle="butt", **look))
    ax.set(xlim=(0, end), ylim=(-22, 0.4 * (at[-1] - at[0]) + 14))
    ax.set_axis_off()


class LiveSentence(Figure):
    """See where the words of a sentence read in one head of MiniLM, as arcs over the sentence.

    The reader may type another sentence once the model of `attnlab.live` is loaded.

    Attributes
    ----------
    sentence : int, which of the sentences, from 0, the own one after them; the last one where
        there are fewer
    head : str, the head that is shown, one of `HEADS`
    token : int, the word that reads, from 0; the last one if there are fewer
    sentences : list of str, word pieces, separated by spaces
    maps : nested list, shape (sentences, heads, S, S), weights in thousandths
    asked : str, the sentence that the reader typed
    own : dict, what the network makes of it, see `_reading.read_text`; {} if there is none
    """

    _esm = bundle("live_sentence", "reading")
    title = Unicode("A sentence, as a trained network reads it").tag(sync=True)
    sentence = Int(0, min=0).tag(sync=True)
    head = Enum(HEADS, HEADS[0]).tag(sync=True)
    token = Int(9, min=0).tag(sync=True)
    sentences = List(Unicode()).tag(sync=True)
    maps = Array(4, digits=0).tag(sync=True)
    asked = Unicode().tag(sync=True)
    own = Dict().tag(sync=True)

    def __init__(self, **traits):
        super().__init__(**_maps() | traits)

    @observe("asked")
    def _read(self, change) -> None:
        """Let MiniLM read what the reader typed in a notebook."""
        if change["new"].strip():
            with self.hold_sync():
                self.own = read_text(change["new"])
                self.sentence = len(self.sentences)

    def compute(self) -> dict:
        """Give the map of the chosen head, and what the word reads most."""
        every = [*self.sentences, *filter(None, [self.own.get("pieces")])]
        place = min(self.sentence, len(every) - 1)
        pieces = every[place].split(" ")
        S, token = len(pieces), min(self.token, len(pieces) - 1)
        if place < len(self.sentences):
            map = self.maps[place][HEADS.index(self.head)]
        else:
            layer, number = _place(self.head)
            map = self.own["maps"][layer][number]
        weights = torch.tensor(map, dtype=torch.float64)[:S, :S] / 1000  # (S, S)
        return {
            "pieces": pieces,
            "map": weights.tolist(),
            "token": token,
            "most": int(weights[token].argmax()),
        }

    def describe(self) -> str:
        """Say what the word reads most."""
        found = self.compute()
        pieces, token, most = found["pieces"], found["token"], found["most"]
        return (
            f"In head {self.head}, “{pieces[token]}” reads “{pieces[most]}” most, "
            f"with weight {fixed(found['map'][token][most], 2)}."
        )

    def still(self) -> list[Picture]:
        """Draw the sentence with its arcs."""
        picture, ax = plotting.panel(7.2, 2.2)
        found = self.compute()
        draw_arcs(ax, found["pieces"], found["map"], found["token"])
        return [picture]
