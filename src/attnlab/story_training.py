"""How the models of the chapter's running example were trained, for ``make story`` and its tests.

The Transformer's training sentences stand anywhere in their row, behind up to `MOST_PADDING` places
of padding. If they all began at place 0, then target word t would come from about the same place
each time: the decoder would learn places by heart, and the encoder's self-attention would have
nothing to do.

Each training can be begun without being ended: its first losses are those of the whole, and stand
beside the weights.
"""

import contextlib
import random
from pathlib import Path

import torch
from torch import Tensor

from attnlab import seq2seq, story, tasks
from attnlab.seq2seq import Seq2Seq
from attnlab.tasks import PAD, Translation
from attnlab.trace import without
from attnlab.translator import Translator

STEPS, BATCH, RATE, MOST_PADDING = 1500, 64, 5e-3, 12
BAHDANAU_STEPS, BAHDANAU_BATCH = 300, 32  # as in section 1.2
CONTROL_SEEDS = 0, 1, story.SEED
UNSEEN_SEED = 1000  # training draws its sentences from the seeds below
FIRST = 40  # so many losses are kept of each training


def train(steps: int = STEPS, seed: int = story.SEED) -> tuple[Translator, list[float]]:
    """Take the first steps of the Transformer's training; give it with its losses, in nats."""
    return _trained(story.untrained(seed), steps, seed)


def train_control(steps: int = STEPS, seed: int = story.SEED) -> tuple[Translator, list[float]]:
    """Train the same Transformer on the same data without its encoder's self-attention.

    It is taken out from the first step on; `without_self_attention` takes it out again in use.
    """
    model = story.untrained(seed)
    with without_self_attention(model):
        return _trained(model, steps, seed)


def without_self_attention(model: Translator) -> contextlib.AbstractContextManager[None]:
    """Take the encoder's self-attention out of a Transformer for a while."""
    return without(layer.attend for layer in model.encoder.layers)


def _trained(model: Translator, steps: int, seed: int) -> tuple[Translator, list[float]]:
    rng = random.Random(seed)
    pairs = (tasks.verb_final(BATCH, i)[:2] for i in range(steps))
    batches = [(anywhere(source, rng), target) for source, target in pairs]
    return model, seq2seq.train(model, batches, rate=RATE, total=STEPS)


def train_bahdanau(steps: int = BAHDANAU_STEPS) -> tuple[Seq2Seq, list[float]]:
    """Train the model with Bahdanau's attention as section 1.2 does its third."""
    model = story.untrained_bahdanau()
    batches = [tasks.verb_final(BAHDANAU_BATCH, seed)[:2] for seed in range(steps)]
    return model, seq2seq.train(model, batches, total=BAHDANAU_STEPS)


def anywhere(source: Tensor, rng: random.Random) -> Tensor:
    """Move each sentence (B, T_x) to the right by up to `MOST_PADDING` places, chosen at random.

    What comes back, (B, T_x + MOST_PADDING), holds `PAD` before and behind each sentence.
    """
    B, T_x = source.shape
    moved = torch.full((B, T_x + MOST_PADDING), PAD)
    for row, words in zip(moved, source, strict=True):
        start = rng.randint(0, MOST_PADDING)
        row[start : start + T_x] = words
    return moved


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


def save(
    models: dict[str, torch.nn.Module],
    test: Translation,
    made: dict[str, str],
    path: Path = story.WEIGHTS,
) -> None:
    """Write the weights of both models, in float16 to keep the file small, and what is unseen.

    `models` are called ``"transformer"`` and ``"bahdanau"``, `test` is what `story.unseen` will
    give, and `made` says how all of it was made.
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
