"""What MiniLM makes of sentences, as the figures' scripts take it: numbers that are whole.

Weights come in thousandths and cosines in hundredths, since pages carry them.
"""

import functools
from collections.abc import Collection, Sequence

import torch
from torch import Tensor
from torch.nn import functional

from attnlab import live, minilm
from attnlab.minilm import MiniLM, Tokens

LEVELS = slice(None, None, 3)  # layers whose vectors a page compares: 0 (before all), 3, 6
MOST_LETTERS = 2000  # of what a reader types


@functools.cache
def _model() -> MiniLM:
    return minilm.load_model()


def _run(tokens: Tokens, off: Collection[int] = ()) -> tuple[Tensor, Tensor]:
    """Give MiniLM's vectors (L + 1, B, S, d_model) and weights (L, B, H, S, S).

    The heads `off`, by their places 12 * layer + head, add nothing.
    """
    model, hooks = _model(), []
    for i, layer in enumerate(model.layers):
        kept = torch.tensor([12 * i + head not in off for head in range(12)])
        kept = kept.repeat_interleave(32)  # (d_model,), as heads stand side by side
        if not kept.all():
            hook = layer.attend.W_o.register_forward_pre_hook(lambda _, x, k=kept: (x[0] * k,))
            hooks.append(hook)
    try:
        with torch.no_grad():
            return model(tokens.ids, tokens.mask)
    finally:
        for hook in hooks:
            hook.remove()


def _whole(values: Tensor, times: int) -> list:
    return (times * values.double()).round().int().tolist()


def _typed(text: str) -> tuple[Tokens, int]:
    """Cut what a reader typed into word pieces, and count those that are left out."""
    every = minilm.tokenize_text(text[:MOST_LETTERS])
    tokens = minilm.tokenize_text(text[:MOST_LETTERS], live.MOST)
    return tokens, every.ids.shape[-1] - tokens.ids.shape[-1]


def words_of(pieces: str) -> str:
    """Put word pieces, separated by spaces, together again, without the markers at both ends."""
    return " ".join(pieces.split(" ")[1:-1]).replace(" ##", "")


def pairs(n: int) -> Tensor:
    """Count the pairs of `n` things, each once and with itself: shape (2, n (n + 1) / 2)."""
    return torch.triu_indices(n, n)


@functools.cache
def _listed(sentences: tuple[tuple[str, ...], ...]) -> tuple[Tokens, Tensor, Tensor]:
    """Read sentences: weights (B, L, H, S, S), and words' vectors of length 1 (L + 1, N, D)."""
    tokens = minilm.tokenize(sentences)
    hidden, weights = _run(tokens)
    real = weights * tokens.mask.mT  # rows of padding become zeros
    vectors = functional.normalize(hidden[:, tokens.mask[:, 0, 0]], dim=-1)
    return tokens, real.movedim(1, 0), vectors


def read_maps(sentences: Sequence[Sequence[str]]) -> dict:
    """Let MiniLM read sentences, given as their words.

    Returns
    -------
    dict
        HeadsOverview's `sentences`, `maps` and `alike`.
    """
    tokens, weights, vectors = _listed(tuple(map(tuple, sentences)))
    one, other = pairs(vectors.shape[1])
    cosines = (vectors @ vectors.mT)[LEVELS, one, other]  # (3, N (N + 1) / 2)
    pieces = [" ".join(p for p in row if p != "[PAD]") for row in tokens.pieces]
    return {
        "sentences": pieces,
        "maps": _whole(weights, 1000),
        "alike": _whole(cosines, 100),
    }


def read_text(text: str, sentences: Sequence[str] = ()) -> dict:
    """Let MiniLM read what a reader typed, beside listed sentences, given as their pieces.

    Returns
    -------
    dict
        `text`, its `pieces`, how many of them were `left` out, `maps` of shape (L, H, S, S), and
        `alike`, (L + 1, S, S + N): cosines with its own words and then with the N of the list.
    """
    tokens, left = _typed(text)
    hidden, weights = _run(tokens)
    own = functional.normalize(hidden[:, 0], dim=-1)  # (L + 1, S, d_model)
    listed = [_listed((tuple(words_of(s).split(" ")),))[2] for s in sentences]
    return {
        "text": text,
        "pieces": " ".join(tokens.pieces[0]),
        "left": left,
        "maps": _whole(weights[:, 0], 1000),
        "alike": _whole(own @ torch.cat([own, *listed], dim=1).mT, 100),
    }


def read_without(text: str, off: Collection[int]) -> dict:
    """Let MiniLM read a text without some heads, by their places 12 * layer + head.

    Returns
    -------
    dict
        `text`, `off`, its `pieces`, `maps` of shape (L, H, S, S), the cosine of the `sentence`'s
        vector, the sum over its tokens, with the whole network's, and those of its `words`.
    """
    tokens, _ = _typed(text)
    (whole, _), (left, weights) = _run(tokens), _run(tokens, off)
    before, after = whole[-1, 0], left[-1, 0]  # (S, d_model)
    return {
        "text": text,
        "off": sorted(off),
        "pieces": " ".join(tokens.pieces[0]),
        "maps": _whole(weights[:, 0], 1000),
        "sentence": functional.cosine_similarity(before.sum(0), after.sum(0), dim=0).item(),
        "words": functional.cosine_similarity(before, after).tolist(),
    }
