r"""From a softmax in three passes to Flash attention in tiles: the steps of section 1.10.

The first functions take one row as plain numbers: scores s_1 ... s_n and, where an output is
wanted, a value for each. A *pass* is a loop over all scores. The last two take blocks, and
`attnlab.flash_tiles` is what they become when they are tuned.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from attnlab.flash_tiles import blocks


def three_passes(scores: Sequence[float]) -> list[float]:
    """Give the softmax of a row, with no exponent above 0: equation eq-safe-softmax of the book."""
    m = -math.inf
    for s in scores:  # pass 1: the largest score
        m = max(m, s)
    l = 0.0
    for s in scores:  # pass 2: the normaliser
        l += math.exp(s - m)
    return [math.exp(s - m) / l for s in scores]  # pass 3: the weights


def two_passes(scores: Sequence[float]) -> list[float]:
    """Give the same with maximum and normaliser in one pass (Milakov and Gimelshein 2018)."""
    m, l = -math.inf, 0.0
    for s in scores:  # pass 1
        m_new = max(m, s)
        l = math.exp(m - m_new) * l + math.exp(s - m_new)
        m = m_new
    return [math.exp(s - m) / l for s in scores]  # pass 2


def one_pass(scores: Sequence[float], values: Sequence[float]) -> float:
    """Give the mean of the values under the softmax, and no weight (Rabe and Staats 2021)."""
    m, l, O = -math.inf, 0.0, 0.0
    for s, v in zip(scores, values, strict=True):
        m_new = max(m, s)
        fade = math.exp(m - m_new)
        l = fade * l + math.exp(s - m_new)
        O = fade * O + math.exp(s - m_new) * v
        m = m_new
    return O / l


def add_block(
    m: Tensor, l: Tensor, O: Tensor, S: Tensor, V: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Take one block of scores and values into the sums: equation eq-online-softmax of the book.

    Parameters
    ----------
    m, l : Tensor, shape (..., S_q, 1)
        Largest score so far, and the sum of e^(score - m).
    O : Tensor, shape (..., S_q, d_v)
        The sum of e^(score - m) v, not yet divided by l.
    S, V : Tensor, shapes (..., S_q, block_k) and (..., block_k, d_v)
        Scores of the next keys, and their values.
    """
    m_new = torch.maximum(m, S.amax(-1, keepdim=True))
    P, fade = torch.exp(S - m_new), torch.exp(m - m_new)
    return m_new, fade * l + P.sum(-1, keepdim=True), fade * O + P @ V


def tiled_attention(Q: Tensor, K: Tensor, V: Tensor, block_q: int, block_k: int) -> Tensor:
    """Compute attention of (S_q, d_k), (S_k, d_k), (S_k, d_v), holding one tile of scores.

    Dao (2024), "FlashAttention-2", algorithm 1, without anything that makes it fast. A row whose
    scores are all minus infinity gives NaN: `attnlab.flash.flash_attention` knows better.
    """
    O = Q.new_empty(len(Q), V.shape[1])  # (S_q, d_v)
    for q in blocks(len(Q), block_q):  # outer loop: queries
        m_i = Q.new_full((q.stop - q.start, 1), -math.inf)
        l_i, O_i = torch.zeros_like(m_i), torch.zeros_like(O[q])
        for k in blocks(len(K), block_k):  # inner loop: keys and values
            S = Q[q] @ K[k].T / math.sqrt(Q.shape[1])  # (block_q, block_k): one tile
            m_i, l_i, O_i = add_block(m_i, l_i, O_i, S, V[k])
        O[q] = O_i / l_i
    return O
