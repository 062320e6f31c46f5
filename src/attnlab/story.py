"""The chapter's running example: one sentence, and two trained models that translate it.

The models are a small Transformer and the decoder with Bahdanau's attention of section 1.2. Both
learnt the verb-final language of `attnlab.tasks.verb_final`, whose words are `attnlab.tasks.GERMAN`
and `attnlab.tasks.ENGLISH`. Their weights lie in this package; ``make story`` trains them again, as
`attnlab.story_training` says.

Beside the weights lie `unseen` sentences, for measuring, and how well a control does that was
trained without the encoder's self-attention.
"""

from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor

from attnlab import tasks
from attnlab.seq2seq import Seq2Seq
from attnlab.tasks import ENGLISH, EOS, GERMAN, Translation
from attnlab.translator import Translator

Model = TypeVar("Model", Translator, Seq2Seq)

WEIGHTS = Path(str(resources.files("attnlab"))) / "data" / "story.safetensors"
SEED = 2
BAHDANAU_SEED = 2  # the third start of section 1.2

# The story's sentence, word by word in German order, and the German place of each English word.
PAIRS = (
    ("sie", "she"),
    ("hatte", "had"),
    ("gestern", "yesterday"),
    ("den", "the"),
    ("kleinen", "small"),
    ("Ball", "ball"),
    ("verloren", "lost"),
)
ALIGNMENT = (0, 1, 6, 3, 4, 5, 2)


class Sentence(NamedTuple):
    """A sentence and its translation, as words and as ids.

    Attributes
    ----------
    german, english : list of str, lengths T_x and T_y
        The last English one is the end mark.
    written : list of str, length T_y
        What the decoder reads at each step: the start mark, then the English words but the last.
    source : int Tensor, shape (1, T_x)
    target : int Tensor, shape (1, T_y)
    alignment : int Tensor, shape (1, T_y)
        The place in `german` of each word of `english`; -1 at the end mark.
    """

    german: list[str]
    english: list[str]
    written: list[str]
    source: Tensor
    target: Tensor
    alignment: Tensor


def sentence() -> Sentence:
    """Give the story's sentence, which is in nobody's training data."""
    german = [word for word, _ in PAIRS]
    english = [*(PAIRS[j][1] for j in ALIGNMENT), ENGLISH[EOS]]
    return Sentence(
        german,
        english,
        [ENGLISH[tasks.BOS], *english[:-1]],
        torch.tensor([[GERMAN.index(word) for word in german]]),
        torch.tensor([[ENGLISH.index(word) for word in english]]),
        torch.tensor([[*ALIGNMENT, -1]]),
    )


def untrained(seed: int = SEED) -> Translator:
    """Draw the Transformer's first weights, those that its training starts from.

    It has one layer on each side, and two heads in each attention, of width d_k = 16.
    """
    torch.manual_seed(seed)
    return Translator(len(GERMAN), len(ENGLISH), 32, n_heads=2, n_layers=1, d_ff=64, bias=False)


def untrained_bahdanau() -> Seq2Seq:
    """Draw the first weights of the model with Bahdanau's attention."""
    torch.manual_seed(BAHDANAU_SEED)
    return Seq2Seq(len(GERMAN), len(ENGLISH), d_embed=32, d_state=64, attention="bahdanau")


def unseen(n: int | None = None) -> Translation:
    """Give sentences that neither model saw in training: those that are stored, or the first `n`.

    Parameters
    ----------
    n : int, optional

    Returns
    -------
    test : Translation

    Raises
    ------
    ValueError
        If so many are not stored.
    """
    with _stored() as file:
        parts = [file.get_tensor(f"unseen.{part}") for part in Translation._fields]
    test = Translation(*(part[:n].long() for part in parts))
    if n is not None and len(test.source) < n:
        raise ValueError(f"there are {len(test.source)} unseen sentences; ask for no more")
    return test


def exact_match(written: Tensor, target: Tensor) -> float:
    """Give the share of sentences in which every word is right; both are (B, T_y)."""
    return (written == target).all(1).double().mean().item()


def load() -> Translator:
    """Load the trained Transformer.

    Returns
    -------
    model : Translator
        In float32. Its words are `attnlab.tasks.GERMAN` and `attnlab.tasks.ENGLISH`.
    """
    return _loaded(untrained(), "transformer.")


def load_bahdanau() -> Seq2Seq:
    """Load the trained model with Bahdanau's attention, in float32."""
    return _loaded(untrained_bahdanau(), "bahdanau.")


def provenance() -> dict[str, str]:
    """Say how the weights were made: script, seeds, versions, steps, losses and accuracies.

    Those of the control, of which no weights are kept, are among them.
    """
    with _stored() as file:
        return file.metadata()


def _loaded(model: Model, prefix: str) -> Model:
    with _stored() as file:
        weights = {name: file.get_tensor(prefix + name).float() for name in model.state_dict()}
    model.load_state_dict(weights)
    return model.requires_grad_(False)


def _stored() -> Any:
    from safetensors import safe_open  # here, so that only who reads the file needs it

    return safe_open(WEIGHTS, framework="pt")
