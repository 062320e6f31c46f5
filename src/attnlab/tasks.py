"""Small synthetic tasks whose right answers are known, made afresh from a seed.

Every function returns integer tensors. The first `SPECIALS` ids are reserved; symbols and words
follow. Where a target holds `PAD` nothing is asked, and the loss skips it.

The strings are `n` rows of `length` symbols out of `n_symbols`: their ids run from `SPECIALS` to
``SPECIALS + n_symbols - 1``. A size or a seed that is no whole number raises TypeError, a size
below 1 ValueError.
"""

import random
from typing import NamedTuple

import torch
from torch import Tensor

from attnlab import language
from attnlab.arguments import check_counts, check_whole

PAD, BOS, EOS, BLANK = range(4)
SPECIALS = 4

_MARKS = ("<pad>", "<bos>", "<eos>", "<blank>")
GERMAN = (*_MARKS, *language.GERMAN_WORDS)  # a word's id is its place
ENGLISH = (*_MARKS, *language.ENGLISH_WORDS)


def _symbols(n: int, length: int, n_symbols: int, seed: int) -> Tensor:
    """Draw symbols independently and uniformly: int64, shape (n, length)."""
    check_counts(least=1, n=n, length=length, n_symbols=n_symbols)
    check_whole(seed=seed)
    generator = torch.Generator().manual_seed(seed)
    return SPECIALS + torch.randint(n_symbols, (n, length), generator=generator)


def copy(n: int, length: int, n_symbols: int, seed: int) -> tuple[Tensor, Tensor]:
    """Repeat a random string: source and target, int64 Tensors of shape (n, length)."""
    source = _symbols(n, length, n_symbols, seed)
    return source, source.clone()


def reverse(n: int, length: int, n_symbols: int, seed: int) -> tuple[Tensor, Tensor]:
    """Say a random string backwards: source and target, int64 Tensors of shape (n, length)."""
    source = _symbols(n, length, n_symbols, seed)
    return source, source.flip(1)


def three_copies(n: int, length: int, n_symbols: int, seed: int) -> tuple[Tensor, Tensor]:
    """Ask every position of a random string, twice `length`, to copy from three places at once.

    The three answers are the symbol to the left, the twin in the other half of the string, and
    the symbol that occurs most often in all of it, with the smallest id of several. No position
    can tell them from its own symbol, and each takes another way of looking: next door, at a fixed
    distance, everywhere.

    Returns
    -------
    source : int64 Tensor, shape (n, 2 * length)
    target : int64 Tensor, shape (n, 2 * length, 3), `PAD` where there is no left neighbour
    """
    check_counts(least=1, length=length)
    source = _symbols(n, 2 * length, n_symbols, seed)
    left = source.roll(1, 1)
    left[:, 0] = PAD
    twin = source.roll(length, 1)
    counts = (source[..., None] == SPECIALS + torch.arange(n_symbols)).sum(1)  # (n, n_symbols)
    most_frequent = SPECIALS + counts.argmax(-1, keepdim=True).expand_as(source)
    return source, torch.stack([left, twin, most_frequent], dim=-1)


class Translation(NamedTuple):
    """Sentences of the verb-final language, their translations, and which word became which."""

    source: Tensor  # (B, T_x) int64, ids into `GERMAN`, padded with `PAD`
    target: Tensor  # (B, T_y) int64, ids into `ENGLISH`; `EOS` ends each sentence
    alignment: Tensor  # (B, T_y) int64, each word's position in the source; -1 at `EOS`, padding


def _padded(rows: list[list[int]], filler: int) -> Tensor:
    """Put lists of unequal length into one tensor."""
    width = max(map(len, rows))
    return torch.tensor([row + [filler] * (width - len(row)) for row in rows])


def verb_final(n: int, seed: int) -> Translation:
    """Write `n` sentences of a small verb-final language and translate them into English."""
    check_counts(least=1, n=n)
    check_whole(seed=seed)
    rng = random.Random(seed)
    german = {word: i for i, word in enumerate(GERMAN)}
    english = {word: i for i, word in enumerate(ENGLISH)}
    sentences = [language.sentence(rng) for _ in range(n)]
    return Translation(
        _padded([[german[word] for word, _ in pairs] for pairs, _ in sentences], PAD),
        _padded([[*(english[pairs[j][1]] for j in a), EOS] for pairs, a in sentences], PAD),
        _padded([[*a, -1] for _, a in sentences], -1),
    )


def spell(ids: Tensor, vocabulary: tuple[str, ...]) -> list[str]:
    """Write out one sentence (T,) of `GERMAN` or `ENGLISH`, without its padding and end mark."""
    return [vocabulary[i] for i in ids.tolist() if i not in (PAD, EOS)]
