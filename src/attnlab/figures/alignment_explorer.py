"""A trained decoder, word by word: scores become weights, and weights a context (section 1.2)."""

from collections.abc import Sequence

import numpy as np
import torch
from matplotlib.figure import Figure as Picture
from numpy.typing import ArrayLike
from torch import Tensor
from torch.nn.functional import pad
from traitlets import Int, List, TraitError, Unicode, validate

from attnlab import plotting
from attnlab.attention import masked_softmax
from attnlab.figures._base import Array, Figure, bundle, fixed, start_of
from attnlab.seq2seq import Seq2Seq
from attnlab.tasks import BOS, ENGLISH, GERMAN

COMPONENTS = 16  # of each encoder state, enough to tell the states apart


@torch.no_grad()
def ask(model: Seq2Seq, source: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Score the encoder states before each word of the true translation is written.

    Of a source (T_x,) and a target (T_y,) come the scores before the softmax, (T_y, T_x), and the
    encoder states, (T_x, d_state). Only Bahdanau's attention has them: else ValueError.
    """
    if not model.decoder.context_enters:
        raise ValueError('the model has no attention="bahdanau", whose scores are shown; train one')
    memory, state = model.encode(source[None])
    scores = []
    for previous in pad(target[:-1], (1, 0), value=BOS):
        asking = state[0].transpose(0, 1)  # (1, 1, d_state): s_{t-1}
        scores.append(model.decoder.attention.scores(asking, memory.keys)[0, 0])  # (T_x,)
        _, _, state = model.decoder(previous.view(1, 1), state, memory)
    return torch.stack(scores), memory.states[0]


class AlignmentExplorer(Figure):
    """Step a decoder through a translation, and see where it looks before each word.

    Made by `of` from a trained model. Without one it shows two sentences with numbers made up
    by hand.

    It follows Bahdanau et al. (2015), "Neural Machine Translation by Jointly Learning to Align
    and Translate", equations 5 and 6 and figure 3.

    Attributes
    ----------
    sentence : int, which of the sentences, from 0; the last one where there are fewer
    word : int, the word that comes next, from 1; the last one of a shorter translation
    sources, targets : list of str, sentences and translations, words separated by spaces
    scores : nested list, shape (sentences, T_y, T_x), :math:`e_{tj}`, padded with zeros
    states : nested list, shape (sentences, T_x, d), encoder states, padded with zeros
    """

    _esm = bundle("alignment_explorer")
    title = Unicode("Where the decoder looks, word by word").tag(sync=True)
    sentence = Int(0, min=0).tag(sync=True)
    word = Int(3, min=1).tag(sync=True)
    sources = List(Unicode()).tag(sync=True)
    targets = List(Unicode()).tag(sync=True)
    scores = Array(3, digits=4).tag(sync=True)
    states = Array(3, digits=2).tag(sync=True)

    def __init__(self, **traits):
        super().__init__(**start_of("alignment_explorer") | traits)

    @classmethod
    def of(cls, model: Seq2Seq, pairs: Sequence[tuple[str, str]]) -> "AlignmentExplorer":
        """Show what a model does on sentences of `attnlab.language` and their translations.

        Without Bahdanau's attention, or with a word that is not known, ValueError is raised.
        """
        asked = [
            ask(model, _ids(german, GERMAN), _ids(english, ENGLISH)) for german, english in pairs
        ]
        return cls(
            sources=[german for german, _ in pairs],
            targets=[english for _, english in pairs],
            scores=_stacked([scores for scores, _ in asked]),
            states=_stacked([states[:, :COMPONENTS] for _, states in asked]),
        )

    @validate("scores", "states")
    def _check_shape(self, proposal: dict) -> list:
        name, shape = proposal["trait"].name, np.shape(proposal["value"])
        sentences = self.targets if name == "scores" else self.sources
        needed = (len(sentences), max(len(text.split()) for text in sentences))
        if shape[0] < needed[0] or shape[1] < needed[1]:
            raise TraitError(f"{name} has shape {shape}, but the sentences need {needed} and more")
        return proposal["value"]

    def compute(self) -> dict:
        """Give scores, weights and context before the chosen word, and the weights so far."""
        place = min(self.sentence, len(self.sources) - 1)
        source, target = self.sources[place].split(), self.targets[place].split()
        word = min(self.word, len(target))
        scores = torch.tensor(self.scores[place], dtype=torch.float64)[:word, : len(source)]
        states = torch.tensor(self.states[place], dtype=torch.float64)[: len(source)]  # (T_x, d)
        weights = masked_softmax(scores)  # (t, T_x)
        return {
            "source": source,
            "target": target,
            "word": word,
            "scores": scores[-1].tolist(),
            "states": states.tolist(),
            "weights": weights.tolist(),
            "context": (weights[-1] @ states).tolist(),
        }

    def describe(self) -> str:
        """Say which encoder states the context is made of."""
        found = self.compute()
        source, word, weights = found["source"], found["word"], found["weights"][-1]
        first, second = sorted(range(len(source)), key=lambda j: -weights[j])[:2]
        written = " ".join(found["target"][: word - 1])
        start = f"“{written}” is written" if written else "Nothing is written"
        return (
            f"{start}, “{found['target'][word - 1]}” comes next. The highest of {len(source)} "
            f"scores, {fixed(found['scores'][first], 2)}, is that of “{source[first]}”, and the "
            f"softmax gives it the weight {fixed(weights[first], 3)}. Next is “{source[second]}”: "
            f"score {fixed(found['scores'][second], 2)}, weight {fixed(weights[second], 3)}."
        )

    def still(self) -> list[Picture]:
        """Draw the scores and the weights before the chosen word, and the map up to it."""
        found = self.compute()
        source, pictures = found["source"], []
        bars = {"score $e_{tj}$": found["scores"], "weight $\\alpha_{tj}$": found["weights"][-1]}
        for series, (name, values) in enumerate(bars.items()):
            fig, ax = plotting.panel(2.3, 2.8)
            ax.barh(range(len(source)), values, color=plotting.COLOURS[series])
            ax.set(xlabel=name, ylim=(len(source) - 0.5, -0.5))
            ax.set_yticks(range(len(source)), source)
            pictures.append(fig)
        fig, ax = plotting.panel(3.4, 2.8)
        written = found["target"][: found["word"]]
        plotting.heatmap(ax, found["weights"], rows=written, columns=source)
        ax.tick_params(axis="x", rotation=90)
        ax.set(xlabel="", ylabel="")
        return [*pictures, fig]


def _ids(sentence: str, vocabulary: tuple[str, ...]) -> Tensor:
    """Look a sentence's words up: int, shape (T,)."""
    unknown = [word for word in sentence.split() if word not in vocabulary]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is not known; choose among {vocabulary[4:]}")
    return torch.tensor([vocabulary.index(word) for word in sentence.split()])


def _stacked(matrices: Sequence[ArrayLike]) -> np.ndarray:
    """Stack matrices of unequal size, padded with zeros at their ends."""
    shapes = [np.shape(matrix) for matrix in matrices]
    stack = np.zeros((len(matrices), *map(max, zip(*shapes, strict=True))))
    for place, matrix, (rows, columns) in zip(stack, matrices, shapes, strict=True):
        place[:rows, :columns] = matrix
    return stack
