"""All heads of a trained transformer on short sentences, and where one of them reads (1.6.4)."""

import functools
from collections.abc import Sequence

import numpy as np
import torch
from matplotlib.figure import Figure as Picture
from torch import Tensor
from traitlets import Enum, Int, List, Unicode, observe

from attnlab import heads, live, minilm, plotting
from attnlab.figures._base import Array, Figure, bundle, fixed
from attnlab.sentences import HELD_OUT

LAYERS, HEADS = 6, 12
# Of those that section 1.6.4 judges: a question, a list, and a pronoun.
SHOWN = tuple(HELD_OUT[i].words for i in (6, 12, 29))
# A pair in which one word decides who "she" is, a word of two meanings, and a sentence that leads
# its reader up the garden path.
MORE = (
    "joan thanked susan for the help she had given .",
    "joan thanked susan for the help she had received .",
    "he sat on the bank of the river .",
    "he kept his money in the bank .",
    "the horse raced past the barn fell .",
)
SCORES = {
    "[CLS]": lambda w: heads.delimiter_score(w, _only(w, 0)),
    "[SEP]": lambda w: heads.delimiter_score(w, _only(w, -1)),
    "previous token": heads.previous_token_score,
    "next token": heads.next_token_score,
    "itself": lambda w: heads.position_score(w, 0),
    "uniformity": heads.uniformity,
}


def _only(weights: Tensor, place: int) -> Tensor:
    """Mark one token of a single sequence: bool, shape (1, S)."""
    marked = torch.zeros(1, weights.shape[-1], dtype=torch.bool)
    marked[0, place] = True
    return marked


def read_maps(sentences: Sequence[Sequence[str]]) -> dict:
    """Let MiniLM read sentences, given as their words: `HeadsOverview`'s `sentences` and `maps`."""
    tokens = minilm.tokenize(sentences)
    with torch.no_grad():
        _, weights = minilm.load_model()(tokens.ids, tokens.mask)  # (L, B, H, S, S)
    pieces = [" ".join(p for p in row if p != "[PAD]") for row in tokens.pieces]
    real = weights * tokens.mask.mT  # rows of padding become zeros
    return {"sentences": pieces, "maps": 1000 * real.movedim(1, 0).double().numpy()}


@functools.cache
def _shown() -> dict:
    return read_maps([*SHOWN, *(text.split() for text in MORE)])


class HeadsOverview(Figure):
    """See all 72 heads of MiniLM on a sentence, one of them large, and where one token reads.

    The reader may type a sentence: in a page the browser loads the model of `attnlab.live` and
    computes, in a notebook the kernel does.

    It follows Clark et al. (2019), "What Does BERT Look At?"; Wang et al. (2020), "MiniLM".

    Attributes
    ----------
    sentence : int, which of the sentences, from 0, the own one after them; the last one where
        there are fewer
    score : str, what the overview shows: a key of `SCORES`, 0 to 1, over this sentence
    layer, head : int, the head that is shown large, counted from 1
    token : int, the query whose row is written out, from 0; the last one if there are fewer
    sentences : list of str, word pieces, separated by spaces
    maps : nested list, shape (sentences, 6, 12, S, S), weights in thousandths, see `read_maps`
    asked : str, a sentence for the kernel to read; it sets the two that follow
    own : str, word pieces of the reader's sentence, at most `live.MOST`; "" if there is none
    own_maps : nested list, shape (6, 12, S, S), its weights in thousandths
    """

    _esm = bundle("heads_overview")
    title = Unicode("All heads of a trained network").tag(sync=True)
    sentence = Int(0, min=0).tag(sync=True)
    score = Enum(tuple(SCORES), "[CLS]").tag(sync=True)
    layer = Int(4, min=1, max=LAYERS).tag(sync=True)
    head = Int(2, min=1, max=HEADS).tag(sync=True)
    token = Int(6, min=0).tag(sync=True)
    sentences = List(Unicode()).tag(sync=True)
    maps = Array(5, digits=0).tag(sync=True)
    asked = Unicode().tag(sync=True)
    own = Unicode().tag(sync=True)
    own_maps = Array(4, digits=0).tag(sync=True)

    def __init__(self, **traits):
        super().__init__(**{"own_maps": [[[[]]]]} | _shown() | traits)

    @observe("asked")
    def _read(self, change) -> None:
        """Let MiniLM read what the reader typed in a notebook."""
        if not change["new"].strip():
            return
        tokens = minilm.tokenize_text(change["new"], live.MOST)
        with torch.no_grad():
            _, weights = minilm.load_model()(tokens.ids)  # (L, 1, H, S, S)
        with self.hold_sync():
            self.own_maps = 1000 * weights[:, 0].double().numpy()
            self.own = " ".join(tokens.pieces[0])
            self.sentence = len(self.sentences)

    def compute(self) -> dict:
        """Score every head on the sentence, and give the map of the chosen one."""
        every = [*self.sentences, *filter(None, [self.own])]
        place = min(self.sentence, len(every) - 1)
        pieces = every[place].split()
        S = len(pieces)
        found = self.maps[place] if place < len(self.sentences) else self.own_maps
        maps = torch.tensor(np.array(found)[..., :S, :S] / 1000)  # (L, H, S, S)
        scores = SCORES[self.score](maps[:, None])  # (L, H)
        chosen = maps[self.layer - 1, self.head - 1]  # (S, S)
        token = min(self.token, S - 1)
        return {
            "pieces": pieces,
            "scores": scores.tolist(),
            "above": int((scores > scores[self.layer - 1, self.head - 1]).sum()),
            "profile": [of(chosen[None, None]).item() for of in SCORES.values()],
            "map": chosen.tolist(),
            "token": token,
            "most": int(chosen[token].argmax()),
        }

    def describe(self) -> str:
        """Say where the token reads, and how the head stands among the others."""
        found = self.compute()
        pieces, token, most = found["pieces"], found["token"], found["most"]
        score = found["scores"][self.layer - 1][self.head - 1]
        said = f"In head {self.layer}-{self.head}, “{pieces[token]}” reads “{pieces[most]}” most, "
        said += f"with weight {fixed(found['map'][token][most], 3)}. On this sentence the head’s "
        said += f"score “{self.score}” is {fixed(score, 2)}; of the other {LAYERS * HEADS - 1} "
        return said + f"heads, {found['above']} score higher."

    def still(self) -> list[Picture]:
        """Draw the overview and the chosen head."""
        overview, ax = plotting.panel(3.4, 2.2)
        found = self.compute()
        plotting.heatmap(ax, found["scores"], rows=range(1, 7), columns=range(1, 13))
        ax.set(title=self.score, xlabel="head", ylabel="layer")
        large, ax = plotting.panel(3.4, 3.4)
        plotting.heatmap(ax, found["map"], rows=found["pieces"], columns=found["pieces"])
        ax.tick_params(axis="x", rotation=90)
        ax.set(title=f"head {self.layer}-{self.head}")
        return [overview, large]
