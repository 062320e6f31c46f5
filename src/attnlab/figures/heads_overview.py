"""All heads of a trained transformer on short sentences, and where one of them reads (1.6.4)."""

import re

import numpy as np
import torch
from matplotlib.figure import Figure as Picture
from torch import Tensor
from traitlets import Dict, Enum, Int, List, Unicode, observe

from attnlab import heads, plotting
from attnlab.figures._base import Array, Figure, bundle, fixed
from attnlab.figures._reading import pairs, read_maps, read_text, read_without, words_of
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
VIEWS = ("where it reads", "heads like it", "word vectors", "heads switched off")
BARS = 8  # of the nearest heads or words


def _only(weights: Tensor, place: int) -> Tensor:
    """Mark one token of a single sequence: bool, shape (1, S)."""
    marked = torch.zeros(1, weights.shape[-1], dtype=torch.bool)
    marked[0, place] = True
    return marked


def in_common(map: Tensor, maps: Tensor) -> Tensor:
    """Give the share of weight that lies on the same keys: of one map (S, S) with some (..., S, S).

    It is the sum over keys of the smaller weight, averaged over the queries: 1 for the same map.
    """
    return torch.minimum(map, maps).sum(-1).mean(-1)


def name(place: int) -> str:
    """Write a head's name from its place, 12 * layer + head."""
    return f"{place // HEADS + 1}-{place % HEADS + 1}"


def order(values: Tensor) -> list[int]:
    """Order by value, the largest first; of those equal to nine digits the earlier."""
    return (1e9 * values).round().argsort(descending=True, stable=True).tolist()


class HeadsOverview(Figure):
    """See all 72 heads of MiniLM on a sentence, and one of them large.

    The reader may type a sentence, and switch heads off: in a page the browser loads the model of
    `attnlab.live` and computes, in a notebook the kernel does.

    It follows Clark et al. (2019), "What Does BERT Look At?"; Wang et al. (2020), "MiniLM".

    Attributes
    ----------
    sentence : int, which of the sentences, from 0, the own one after them; the last one where
        there are fewer
    score : str, what the overview shows: a key of `SCORES`, 0 to 1, over this sentence
    layer, head : int, the head that is shown large, counted from 1
    token : int, the query whose row is written out, from 0; the last one if there are fewer
    view : str, what is shown of it, one of `VIEWS`
    after : int, after how many layers word vectors are compared: 0, 3 or 6
    off : str, names of the heads that are switched off, such as "1-3 2-9"
    sentences : list of str, word pieces, separated by spaces
    maps : nested list, shape (sentences, 6, 12, S, S), weights in thousandths, see `read_maps`
    alike : nested list, shape (3, N (N + 1) / 2), cosines of all N words in hundredths, each pair
        once
    asked : str, the sentence that the reader typed
    own : dict, what the network makes of it, see `_reading.read_text`; {} if there is none
    left : dict, what it makes of the shown sentence without the heads that are off, see
        `_reading.read_without`; {} if nothing did that
    """

    _esm = bundle("heads_overview", "reading", "heads_math")
    title = Unicode("All heads of a trained network").tag(sync=True)
    sentence = Int(0, min=0).tag(sync=True)
    score = Enum(tuple(SCORES), "[CLS]").tag(sync=True)
    layer = Int(4, min=1, max=LAYERS).tag(sync=True)
    head = Int(2, min=1, max=HEADS).tag(sync=True)
    token = Int(6, min=0).tag(sync=True)
    view = Enum(VIEWS, VIEWS[0]).tag(sync=True)
    after = Enum((0, 3, 6), 6).tag(sync=True)
    off = Unicode().tag(sync=True)
    sentences = List(Unicode()).tag(sync=True)
    maps = Array(5, digits=0).tag(sync=True)
    alike = Array(2, digits=0).tag(sync=True)
    asked = Unicode().tag(sync=True)
    own = Dict().tag(sync=True)
    left = Dict().tag(sync=True)

    def __init__(self, **traits):
        super().__init__(**read_maps([*SHOWN, *(text.split() for text in MORE)]) | traits)

    @observe("asked")
    def _read(self, change) -> None:
        """Let MiniLM read what the reader typed in a notebook."""
        if change["new"].strip():
            with self.hold_sync():
                self.own = read_text(change["new"], self.sentences)
                self.sentence = len(self.sentences)

    @observe("off", "sentence", "own")
    def _switch_off(self, _change) -> None:
        """Let MiniLM read the shown sentence without the heads that are off."""
        place, pieces = self._shown()
        text = self.own["text"] if place == len(self.sentences) else words_of(pieces)
        self.left = read_without(text, self._off()) if self._off() else {}

    def _shown(self) -> tuple[int, str]:
        """Give the place of the sentence that is shown, and its pieces."""
        every = [*self.sentences, *filter(None, [self.own.get("pieces")])]
        place = min(self.sentence, len(every) - 1)
        return place, every[place]

    def _off(self) -> list[int]:
        """Give the places of the heads that are off."""
        named = re.findall(r"\b([1-6])-(1[0-2]|[1-9])\b", self.off)
        return sorted({HEADS * (int(layer) - 1) + int(head) - 1 for layer, head in named})

    def _map(self, place: int, S: int) -> Tensor:
        """Give a listed sentence's weights, or those of the own one: (L, H, S, S)."""
        found = self.maps[place] if place < len(self.sentences) else self.own["maps"]
        return torch.tensor(np.array(found)[..., :S, :S] / 1000)

    def compute(self) -> dict:
        """Score every head on the sentence, and give the map of the chosen one."""
        place, text = self._shown()
        pieces = text.split(" ")
        S, token = len(pieces), min(self.token, len(pieces) - 1)
        whole, left = self._map(place, S), None
        if (self.left.get("pieces"), self.left.get("off")) == (text, self._off()):
            left = torch.tensor(np.array(self.left["maps"]) / 1000)
        maps = whole if left is None else left
        scores = SCORES[self.score](maps[:, None])  # (L, H)
        chosen = maps[self.layer - 1, self.head - 1]  # (S, S)
        found = {
            "pieces": pieces,
            "scores": scores.tolist(),
            "above": int((scores > scores[self.layer - 1, self.head - 1]).sum()),
            "profile": [of(chosen[None, None]).item() for of in SCORES.values()],
            "map": chosen.tolist(),
            "token": token,
            "most": int(chosen[token].argmax()),
            "off": [] if left is None else self._off(),
        }
        if self.view == "heads like it":
            return found | self._like(maps)
        if self.view == "word vectors":
            return found | self._vectors(place, pieces, token)
        if self.view == "heads switched off":
            return found | self._without(pieces, whole, left)
        return found | {"grid": found["map"], "labels": pieces, "values": found["map"][token]}

    def _like(self, maps: Tensor) -> dict:
        """Find the heads with the most in common, here and over all listed sentences."""
        place = HEADS * (self.layer - 1) + self.head - 1
        common = in_common(maps.flatten(0, 1)[place], maps.flatten(0, 1))  # (72,)
        listed = torch.zeros(LAYERS * HEADS, dtype=torch.float64)
        for i, pieces in enumerate(self.sentences):
            every = self._map(i, len(pieces.split(" "))).flatten(0, 1)
            listed = listed + in_common(every[place], every) / len(self.sentences)
        common[place] = listed[place] = -1
        here, everywhere = order(common)[:BARS], order(listed)[0]
        return {
            "grid": maps.flatten(0, 1)[here[0]].tolist(),
            "labels": [name(i) for i in here],
            "values": common[here].tolist(),
            "everywhere": [name(everywhere), listed[everywhere].item()],
        }

    def _vectors(self, place: int, pieces: list[str], token: int) -> dict:
        """Compare the words' vectors, and find those nearest to the chosen word's."""
        S, before = len(pieces), [len(text.split(" ")) for text in self.sentences]
        if place < len(before):
            start, N = sum(before[:place]), sum(before)
            one, other = pairs(N)
            square = torch.zeros(N, N, dtype=torch.float64)
            found = torch.tensor(self.alike[self.after // 3], dtype=torch.float64)
            square[one, other] = found / 100
            square = square.triu() + square.triu(1).T
            grid, row = square[start : start + S, start : start + S], square[start + token]
        else:
            start, found = 0, torch.tensor(self.own["alike"][self.after], dtype=torch.float64) / 100
            grid, row = found[:, :S], found[token]
        words = [(p, i) for i, text in enumerate(self.sentences) for p in text.split(" ")]
        if place == len(before):
            words = [(p, place) for p in pieces] + words
        grid = grid.tolist()
        row[start + token] = -2  # itself
        near = order(row)[:BARS]
        labels = [p if i == place else f"{p} ({i + 1})" for p, i in (words[k] for k in near)]
        word, i = words[near[0]]
        nearest = [word, 0 if i == place else i + 1]
        return {"grid": grid, "labels": labels, "values": row[near].tolist(), "nearest": nearest}

    def _without(self, pieces: list[str], whole: Tensor, left: Tensor | None) -> dict:
        """Compare what is left with the whole network."""
        found = {"labels": pieces, "values": [1.0] * len(pieces), "cosine": 1.0, "moved": ["", 0.0]}
        at = (self.layer - 1, self.head - 1)
        if left is None:
            return found | {"grid": whole[at].tolist()}
        moved = 1 - in_common(whole, left).flatten()  # (72,)
        most = order(moved)[0]
        return {
            "grid": left[at].tolist(),
            "labels": pieces,
            "values": self.left["words"],
            "cosine": self.left["sentence"],
            "moved": [name(most), moved[most].item()],
        }

    def describe(self) -> str:
        """Say what the chosen view shows."""
        found = self.compute()
        return {
            VIEWS[0]: self._say_map,
            VIEWS[1]: self._say_like,
            VIEWS[2]: self._say_vectors,
            VIEWS[3]: self._say_without,
        }[self.view](found)

    def _say_map(self, found: dict) -> str:
        """Say where the token reads, and how the head stands among the others."""
        pieces, token, most = found["pieces"], found["token"], found["most"]
        score = found["scores"][self.layer - 1][self.head - 1]
        said = f"In head {self.layer}-{self.head}, “{pieces[token]}” reads “{pieces[most]}” most, "
        said += f"with weight {fixed(found['map'][token][most], 3)}. On this sentence the head’s "
        said += f"score “{self.score}” is {fixed(score, 2)}; of the other {LAYERS * HEADS - 1} "
        said += f"heads, {found['above']} score higher."
        return said + (f" Heads switched off: {len(found['off'])}." if found["off"] else "")

    def _say_like(self, found: dict) -> str:
        """Say which heads have the most in common with the chosen one."""
        other, share = found["everywhere"]
        return (
            f"On this sentence head {self.layer}-{self.head} has most in common with head "
            f"{found['labels'][0]}: {fixed(found['values'][0], 2)} of its weight lies on the same "
            f"keys. Over the {len(self.sentences)} sentences of the list that is head {other}, "
            f"with {fixed(share, 2)}."
        )

    def _say_vectors(self, found: dict) -> str:
        """Say which word's vector is nearest to the chosen one's."""
        word, place = found["nearest"]
        when = f"After layer {self.after}" if self.after else "Before the first layer"
        when += ", with all heads on" if found["off"] else ""
        where = f"in sentence {place} of the list" if place else "in the same sentence"
        return (
            f"{when}, the vector of “{found['pieces'][found['token']]}” is nearest to that of "
            f"“{word}” {where}: cosine {fixed(found['values'][0], 2)}."
        )

    def _say_without(self, found: dict) -> str:
        """Say what changed by switching heads off."""
        if not self._off():
            return "No head is switched off: choose one above."
        if not found["off"]:
            return f"Of 72 heads, {len(self._off())} will be off once the model is loaded."
        values = found["values"]
        least, (head, moved) = min(values), found["moved"]
        return (
            f"Without {len(found['off'])} of 72 heads the sentence’s vector has cosine "
            f"{fixed(found['cosine'], 3)} with the whole network’s. Of its words "
            f"“{found['pieces'][values.index(least)]}” changes most, to {fixed(least, 2)}; of the "
            f"heads, {head} does: {fixed(moved, 2)} of its weight went to other keys."
        )

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
