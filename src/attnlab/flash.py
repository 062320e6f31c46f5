r"""Flash attention in plain PyTorch: exact attention that never holds the matrix of weights.

Queries and keys are cut into blocks. For one block of queries the loop visits the keys block by
block and keeps a running maximum m, a normaliser l and an output O that is not yet normalised
(Dao et al. 2022, algorithm 1). One tile of scores is all that exists of the n x n matrix, and the
backward pass computes the tiles again instead of keeping them.

With `is_causal` the last query sees the last key (bottom-right alignment): query i may attend to
key j where ``j <= i + S_k - S_q``. This is what a decoder needs that holds S_k keys and asks with
its last S_q tokens, and what flash-attn does from version 2.1 on. The ``is_causal`` of PyTorch's
``F.scaled_dot_product_attention`` is aligned top-left; for S_q = S_k the two are the same.
"""

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from attnlab.arguments import check_whole
from attnlab.flash_ladder import add_block
from attnlab.flash_tiles import TiledAttention, blocks

BLOCK_Q, BLOCK_K = 256, 512


def flash_attention(
    Q: Tensor,
    K: Tensor,
    V: Tensor,
    is_causal: bool = False,
    block_q: int = BLOCK_Q,
    block_k: int = BLOCK_K,
) -> Tensor:
    r"""Compute :math:`\mathrm{softmax}(QK^\top / \sqrt{d_k})\,V` in memory linear in S.

    Parameters
    ----------
    Q, K, V : Tensor, shapes (..., S_q, d_k), (..., S_k, d_k) and (..., S_k, d_v)
        Queries, keys and values.
    is_causal : bool, optional
        Whether query i sees only the keys ``j <= i + S_k - S_q``: the last query sees all.
    block_q, block_k : int, optional
        How many queries and keys make one tile of scores. The result does not depend on them.

    Returns
    -------
    output : Tensor, shape (..., S_q, d_v)
        In the dtype of the inputs, under `torch.autocast` too; zeros for a query that sees no
        key. With `is_causal` a key or value that is not finite makes a row of NaN of each query
        that sees it and no other. Half precision is computed in float32. It can be differentiated
        once, by autograd: PyTorch refuses it under the transforms of `torch.func`, as `vmap`.

    Raises
    ------
    TypeError
        If the inputs differ in dtype or are not floating, or a block is no whole number.
    ValueError
        If the shapes do not fit, or d_k or a block is smaller than 1.
    RuntimeError
        In the backward pass, if ``create_graph=True`` asks for a second derivative.

    References
    ----------
    Dao et al. (2022), "FlashAttention", algorithms 1 and 4; Dao (2024), "FlashAttention-2",
    algorithms 1 and 2; equations eq-online-softmax, eq-online-output and eq-flash-backward of the
    book.
    """
    check_inputs(Q, K, V, block_q, block_k)
    working = torch.promote_types(Q.dtype, torch.float32)
    G = math.prod(Q.shape[:-2])  # batch and heads, or whatever leads
    flat = (x.reshape(G, *x.shape[-2:]).to(working) for x in (Q, K, V))  # (G, S, d)
    output = run_tiles(TiledAttention.apply, *flat, is_causal, block_q, block_k)  # (G, S_q, d_v)
    return output.reshape(*Q.shape[:-1], V.shape[-1]).to(Q.dtype)  # (..., S_q, d_v)


def run_tiles(
    apply: Callable[..., Tensor], Q: Tensor, K: Tensor, V: Tensor, is_causal: bool, *blocks: int
) -> Tensor:
    """Run the tile loops on (G, S, d) so that no query meets a NaN behind the causal mask.

    A weight of 0 times NaN is NaN: a key that the last query of a tile alone sees would spoil them
    all. So what is not finite is left out, and the queries that see it are marked afterwards.
    """
    # One NaN or infinity is enough for a sum that is not finite, and a sum costs next to nothing.
    if not is_causal or Q.is_meta or (K.sum() + V.sum()).isfinite():
        return apply(Q, K, V, is_causal, *blocks)
    strange = ~(K.isfinite().all(-1) & V.isfinite().all(-1))  # (G, S_k)
    K, V = (x.masked_fill(strange[..., None], 0) for x in (K, V))
    S_q, S_k = Q.shape[1], K.shape[1]
    met = functional.pad(strange.cumsum(1) > 0, (max(S_q - S_k, 0), 0))  # (G, max(S_q, S_k))
    met = met[:, met.shape[1] - S_q :, None]  # (G, S_q, 1): at the query's last key or before it
    return apply(Q, K, V, is_causal, *blocks).masked_fill(met, math.nan)


def check_inputs(Q: Tensor, K: Tensor, V: Tensor, block_q: int, block_k: int) -> None:
    """Raise what `flash_attention` says that it raises."""
    if not Q.dtype == K.dtype == V.dtype or not Q.is_floating_point():
        raise TypeError(
            f"Q, K and V are {Q.dtype}, {K.dtype} and {V.dtype}: they need one floating dtype"
        )
    shapes = [tuple(x.shape) for x in (Q, K, V)]
    if min(map(len, shapes)) < 2 or len({shape[:-2] for shape in shapes}) > 1:
        raise ValueError(
            f"Q, K and V have shapes {shapes}: they need the same dimensions before (S, d); "
            "expand those that are shared"
        )
    if Q.shape[-1] != K.shape[-1] or Q.shape[-1] < 1:
        raise ValueError(
            f"queries have width {Q.shape[-1]} and keys {K.shape[-1]}: both are d_k, at least 1"
        )
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(
            f"there are {K.shape[-2]} keys and {V.shape[-2]} values: each key needs its own value"
        )
    check_whole(block_q=block_q, block_k=block_k)
    if block_q < 1 or block_k < 1:
        raise ValueError(f"block_q={block_q} and block_k={block_k} must both be at least 1")


class OnlineSoftmaxStep(NamedTuple):
    """What the online softmax knows after one block of keys; the output so far is ``O / l``."""

    keys: slice  # the block that was added
    m: Tensor  # (..., S_q, 1), the largest score so far
    l: Tensor  # (..., S_q, 1), the sum of e^(score - m) so far
    O: Tensor  # (..., S_q, d_v), the sum of e^(score - m) v so far


def online_softmax_steps(
    Q: Tensor, K: Tensor, V: Tensor, block_k: int
) -> Iterator[OnlineSoftmaxStep]:
    r"""Go through the recurrence of `flash_attention` one block of keys at a time.

    After each step m, l and O describe exact attention over the keys seen so far: equation
    eq-online-softmax of the book.

    Parameters
    ----------
    Q, K, V : Tensor, as in `flash_attention`
    block_k : int, how many keys one step adds

    Yields
    ------
    step : OnlineSoftmaxStep
        The block of keys, m, l and the unnormalised O; new tensors at each step.

    Raises
    ------
    TypeError, ValueError
        As `flash_attention` does, at the first step.
    """
    check_inputs(Q, K, V, 1, block_k)
    m = Q.new_full((*Q.shape[:-1], 1), -math.inf)  # (..., S_q, 1)
    l = torch.zeros_like(m)
    O = Q.new_zeros(*Q.shape[:-1], V.shape[-1])  # (..., S_q, d_v)
    for keys in blocks(K.shape[-2], block_k):
        S = Q @ K[..., keys, :].mT / math.sqrt(Q.shape[-1])  # (..., S_q, block_k)
        m, l, O = add_block(m, l, O, S, V[..., keys, :])
        yield OnlineSoftmaxStep(keys, m, l, O)
