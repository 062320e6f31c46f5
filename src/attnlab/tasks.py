"""Small synthetic tasks whose right answers are known, made afresh from a seed.

Every function returns integer tensors. The first `SPECIALS` ids are reserved; symbols and words
follow. Where a target holds `PAD` nothing is asked, and the loss skips it.
"""

import random
from typing import NamedTuple

import torch
from torch import Tensor

from attnlab import language

PAD, BOS, EOS, BLANK = range(4)
SPECIALS = 4

_MARKS = ("<pad>", "<bos>", "<eos>", "<blank>")
GERMAN = (*_MARKS, *language.GERMAN_WORDS)  # a word's id is its place
ENGLISH = (*_MARKS, *language.ENGLISH_WORDS)


def _symbols(shape: tuple[int, ...], n_symbols: int, seed: int) -> Tensor:
    """Draw symbols independently and uniformly."""
    generator = torch.Generator().manual_seed(seed)
    return SPECIALS + torch.randint(n_symbols, shape, generator=generator)


def copy(n: int, length: int, n_symbols: int, seed: int) -> tuple[Tensor, Tensor]:
    """Repeat a random string.

    Parameters
    ----------
    n : int
        Number of strings B.
    length : int
        Symbols in each string.
    n_symbols : int
        Size of the alphabet: ids run from `SPECIALS` to ``SPECIALS + n_symbols - 1``.
    seed : int

    Returns
    -------
    source, target : int64 Tensors, shape (B, length)
    """
    source = _symbols((n, length), n_symbols, seed)
    return source, source.clone()


def reverse(n: int, length: int, n_symbols: int, seed: int) -> tuple[Tensor, Tensor]:
    """Say a random string backwards.

    Parameters
    ----------
    n, length, n_symbols, seed : int
        As in `copy`.

    Returns
    -------
    source, target : int64 Tensors, shape (B, length)
    """
    source = _symbols((n, length), n_symbols, seed)
    return source, source.flip(1)


def delayed_copy(
    n: int, length: int, delay: int, n_symbols: int, seed: int
) -> tuple[Tensor, Tensor]:
    """Repeat a random string `delay` positions later, for a model with one output a position.

    The string is followed by `delay` blanks. A position knows its answer only if it looks
    `delay` positions back: without attention the best guess is right once in `n_symbols` where
    the source is blank.

    Parameters
    ----------
    n, length, n_symbols, seed : int
        As in `copy`.
    delay : int
        How far the copy is shifted.

    Returns
    -------
    source, target : int64 Tensors, shape (B, length + delay)
        The target is `PAD` at the first `delay` positions.
    """
    string = _symbols((n, length), n_symbols, seed)
    source = torch.cat([string, torch.full((n, delay), BLANK)], dim=1)  # (B, length + delay)
    target = torch.cat([torch.full((n, delay), PAD), string], dim=1)  # (B, length + delay)
    return source, target


def three_copies(n: int, length: int, n_symbols: int, seed: int) -> tuple[Tensor, Tensor]:
    """Ask every position of a random string to copy from three places at once.

    The three answers are the symbol to the left, the twin in the other half of the string, and
    the symbol that occurs most often in the whole string. No position can tell them from its own
    symbol, and each takes another way of looking: next door, at a fixed distance, everywhere.

    Parameters
    ----------
    n, n_symbols, seed : int
        As in `copy`.
    length : int
        Symbols in each half.

    Returns
    -------
    source : int64 Tensor, shape (B, 2 * length)
    target : int64 Tensor, shape (B, 2 * length, 3)
        Left neighbour, twin, most frequent symbol (the one with the smallest id of several). The
        first position has no left neighbour: its target there is `PAD`.
    """
    source = _symbols((n, 2 * length), n_symbols, seed)
    left = source.roll(1, 1)
    left[:, 0] = PAD
    twin = source.roll(length, 1)
    counts = (source[..., None] == SPECIALS + torch.arange(n_symbols)).sum(1)  # (B, n_symbols)
    most_frequent = SPECIALS + counts.argmax(-1, keepdim=True).expand_as(source)
    return source, torch.stack([left, twin, most_frequent], dim=-1)


class Translation(NamedTuple):
    """Sentences of the verb-final language, their translations, and which word became which.

    Attributes
    ----------
    source : int64 Tensor, shape (B, T_x)
        Ids into `GERMAN`, padded with `PAD`.
    target : int64 Tensor, shape (B, T_y)
        Ids into `ENGLISH`; `EOS` ends each sentence.
    alignment : int64 Tensor, shape (B, T_y)
        Position in the source of each target word; -1 at `EOS` and padding.
    """

    source: Tensor
    target: Tensor
    alignment: Tensor


def _padded(rows: list[list[int]], filler: int) -> Tensor:
    """Put lists of unequal length into one tensor."""
    width = max(map(len, rows))
    return torch.tensor([row + [filler] * (width - len(row)) for row in rows])


def verb_final(n: int, seed: int) -> Translation:
    """Write sentences of a small verb-final language and translate them into English.

    Parameters
    ----------
    n : int
        Number of sentences B.
    seed : int

    Returns
    -------
    translation : Translation
    """
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
    """Write out one sentence, without its padding and end mark.

    Parameters
    ----------
    ids : int Tensor, shape (T,)
    vocabulary : tuple of str
        `GERMAN` or `ENGLISH`.

    Returns
    -------
    words : list of str
    """
    return [vocabulary[i] for i in ids.tolist() if i not in (PAD, EOS)]
