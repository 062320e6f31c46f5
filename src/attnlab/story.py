"""The chapter's running example: one sentence, and two trained models that translate it.

The models are a small Transformer and the decoder with Bahdanau's attention of section 1.2. Both
learnt the verb-final language of `attnlab.tasks.verb_final`, whose words are `attnlab.tasks.GERMAN`
and `attnlab.tasks.ENGLISH`. Their weights lie in this package; ``make story`` trains them again.

Beside the weights lie `unseen` sentences, for measuring, and how well a control does that was
trained without the encoder's self-attention.

The Transformer's training sentences stand anywhere in their row, behind up to `MOST_PADDING` places
of padding. If they all began at place 0, then target word t would come from about the same place
each time: the decoder would learn places by heart, and the encoder's self-attention would have
nothing to do.
"""

import contextlib
import random
from importlib import resources
from pathlib import Path
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor

from attnlab import seq2seq, tasks
from attnlab.seq2seq import Seq2Seq
from attnlab.tasks import ENGLISH, EOS, GERMAN, PAD, Translation
from attnlab.trace import without
from attnlab.translator import Translator

Model = TypeVar("Model", Translator, Seq2Seq)

WEIGHTS = Path(str(resources.files("attnlab"))) / "data" / "story.safetensors"
SEED, STEPS, BATCH, RATE, MOST_PADDING = 2, 1500, 64, 5e-3, 12
BAHDANAU_SEED, BAHDANAU_STEPS, BAHDANAU_BATCH = 2, 300, 32  # the third start of section 1.2
CONTROL_SEEDS = 0, 1, SEED
UNSEEN_SEED = 1000  # training draws its sentences from the seeds below

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

    Parameters
    ----------
    seed : int, optional

    Returns
    -------
    model : Translator
        One layer on each side, two heads, d_model 32, so d_k 16.
    """
    torch.manual_seed(seed)
    return Translator(len(GERMAN), len(ENGLISH), 32, n_heads=2, n_layers=1, d_ff=64, bias=False)


def untrained_bahdanau() -> Seq2Seq:
    """Draw the first weights of the model with Bahdanau's attention."""
    torch.manual_seed(BAHDANAU_SEED)
    return Seq2Seq(len(GERMAN), len(ENGLISH), d_embed=32, d_state=64, attention="bahdanau")


def train(steps: int = STEPS, seed: int = SEED) -> tuple[Translator, list[float]]:
    """Train the Transformer, and give it with its losses in nats per word."""
    return _trained(untrained(seed), steps, seed)


def train_control(steps: int = STEPS, seed: int = SEED) -> tuple[Translator, list[float]]:
    """Train the same Transformer on the same data without its encoder's self-attention.

    It is taken out from the first step on; `without_self_attention` takes it out again in use.
    """
    model = untrained(seed)
    with without_self_attention(model):
        return _trained(model, steps, seed)


def without_self_attention(model: Translator) -> contextlib.AbstractContextManager[None]:
    """Take the encoder's self-attention out of a Transformer for a while."""
    return without(layer.attend for layer in model.encoder.layers)


def _trained(model: Translator, steps: int, seed: int) -> tuple[Translator, list[float]]:
    rng = random.Random(seed)
    pairs = (tasks.verb_final(BATCH, i)[:2] for i in range(steps))
    batches = [(anywhere(source, rng), target) for source, target in pairs]
    return model, seq2seq.train(model, batches, rate=RATE)


def train_bahdanau() -> tuple[Seq2Seq, list[float]]:
    """Train the model with Bahdanau's attention as section 1.2 does its third."""
    model = untrained_bahdanau()
    batches = [tasks.verb_final(BAHDANAU_BATCH, seed)[:2] for seed in range(BAHDANAU_STEPS)]
    return model, seq2seq.train(model, batches)


def anywhere(source: Tensor, rng: random.Random) -> Tensor:
    """Move each sentence to the right by up to `MOST_PADDING` places, chosen at random.

    Parameters
    ----------
    source : int Tensor, shape (B, T_x)
    rng : random.Random

    Returns
    -------
    moved : int Tensor, shape (B, T_x + MOST_PADDING)
        `PAD` before and behind each sentence.
    """
    B, T_x = source.shape
    moved = torch.full((B, T_x + MOST_PADDING), PAD)
    for row, words in zip(moved, source, strict=True):
        start = rng.randint(0, MOST_PADDING)
        row[start : start + T_x] = words
    return moved


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
    weights = _stored()
    test = Translation(*(weights[f"unseen.{part}"][:n].long() for part in Translation._fields))
    if n is not None and len(test.source) < n:
        raise ValueError(f"there are {len(test.source)} unseen sentences; ask for no more")
    return test


def choose_unseen(n: int = 600) -> Translation:
    """Draw `n` sentences and leave out those that training draws, which takes some seconds."""
    test, known = tasks.verb_final(n, UNSEEN_SEED), seen()
    new = torch.tensor([words not in known for words in rows_of(test)])  # (B,)
    return Translation(*(part[new] for part in test))


def seen() -> set[tuple[int, ...]]:
    """Give the German sentences of the training data, as ids without padding."""
    draws = [(BATCH, seed) for seed in range(STEPS)]
    draws += [(BAHDANAU_BATCH, seed) for seed in range(BAHDANAU_STEPS)]
    return {words for n, seed in draws for words in rows_of(tasks.verb_final(n, seed))}


def rows_of(translation: Translation) -> list[tuple[int, ...]]:
    """Give the German sentences as ids without padding."""
    return [tuple(i for i in row if i != PAD) for row in translation.source.tolist()]


def exact_match(written: Tensor, target: Tensor) -> float:
    """Give the share of sentences in which every word is right; both are (B, T_y)."""
    return (written == target).all(1).double().mean().item()


def weight_on(weights: Tensor, words: Tensor, chosen: Tensor, asking: Tensor) -> float:
    """Give the weight that lies on chosen words, in the mean over the words that ask.

    Parameters
    ----------
    weights : Tensor, shape (B, S_q, S_k)
        Of one head.
    words : int Tensor, shape (B, S_k)
        The words that are attended to.
    chosen : int Tensor, shape (n,)
        Ids of the words in question.
    asking : bool Tensor, shape (B, S_q)
        True at the queries that count.

    Returns
    -------
    share : float
    """
    on = weights * torch.isin(words, chosen)[:, None, :]  # (B, S_q, S_k)
    return on.sum(-1)[asking].mean().item()


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
    from safetensors import safe_open

    with safe_open(WEIGHTS, framework="pt") as file:
        return file.metadata()


def _loaded(model: Model, prefix: str) -> Model:
    mine = {name: w.float() for name, w in _stored().items() if name.startswith(prefix)}
    model.load_state_dict({name.removeprefix(prefix): w for name, w in mine.items()})
    return model.requires_grad_(False)


def _stored() -> dict[str, Tensor]:
    from safetensors.torch import load_file  # here, so that only who loads the file needs it

    return load_file(WEIGHTS)


def save(
    models: dict[str, torch.nn.Module],
    test: Translation,
    made: dict[str, str],
    path: Path = WEIGHTS,
) -> None:
    """Write the weights of both models, in float16 to keep the file small, and what is unseen.

    Parameters
    ----------
    models : dict of nn.Module
        Under the names ``"transformer"`` and ``"bahdanau"``.
    test : Translation
        The sentences that `unseen` gives.
    made : dict of str
        How they were made.
    path : Path, optional
    """
    from safetensors.torch import save_file

    stored = {
        f"{name}.{key}": value.half().contiguous()
        for name, model in models.items()
        for key, value in model.state_dict().items()
    }
    stored |= {f"unseen.{part}": ids.to(torch.int8) for part, ids in test._asdict().items()}
    path.parent.mkdir(exist_ok=True)
    save_file(stored, path, metadata=made)
