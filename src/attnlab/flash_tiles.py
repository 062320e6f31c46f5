r"""The tile loops of Flash attention, forward and backward, on tensors of shape (G, S, d).

G counts batch and heads. Each loop takes one block of queries and visits the blocks of keys that it
may see. All arithmetic on scores happens in place in one tile of scratch memory. Scores carry a
factor log2(e), since e^x = 2^(x log2(e)) and exp2 is the faster of the two. So the maximum m that
is kept is in base 2 as well: the weights are 2^(S - m) / l.

The loops follow Dao (2024), "FlashAttention-2", algorithms 1 and 2, but keep m and l apart, as Dao
et al. (2022) do, in place of one log-sum-exp: where scores are huge, gradients gain by it.
"""

import math
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor

# On a CPU the tile should stay in the cache, so heads take turns; a GPU takes all at once.
HEADS_AT_ONCE = 2
LOG2_E = 1 / math.log(2)


class TiledAttention(torch.autograd.Function):
    """Attention on (G, S, d) that remembers O, m and l, and no weight."""

    @staticmethod
    def forward(ctx, Q, K, V, is_causal, block_q, block_k):
        """Compute O, one group of heads after the other."""
        ctx.tiling = is_causal, block_q, block_k
        O = Q.new_empty(*Q.shape[:2], V.shape[2])  # (G, S_q, d_v)
        m, l = Q.new_empty(2, *Q.shape[:2], 1)  # (G, S_q, 1) each
        with without_autocast(Q.device.type):
            for g in head_groups(Q):
                forward_tiles(Q[g], K[g], V[g], O[g], m[g], l[g], *ctx.tiling)
        ctx.save_for_backward(Q, K, V, O, m, l)
        return O

    @staticmethod
    def backward(ctx, dO):
        """Compute dQ, dK and dV from dO and what the forward pass saved."""
        Q, K, V, O, m, l = saved_for_first_derivative(ctx)
        dQ, dK, dV = (torch.zeros_like(x) for x in (Q, K, V))
        with without_autocast(Q.device.type):
            for g in head_groups(Q):
                saved = (x[g] for x in (Q, K, V, O, m, l))
                backward_tiles(*saved, dO[g], dQ[g], dK[g], dV[g], *ctx.tiling)
        return dQ, dK, dV, None, None, None


def without_autocast(device_type: str) -> AbstractContextManager:
    """Give the context in which products keep the dtype of their factors."""
    known = torch.amp.is_autocast_available(device_type)  # the meta device has none
    return torch.autocast(device_type, enabled=False) if known else nullcontext()


def saved_for_first_derivative(ctx) -> tuple[Tensor, ...]:
    """Give what was saved, but raise where ``create_graph=True`` asks to record this pass too."""
    if torch.is_grad_enabled():
        raise RuntimeError(
            "Flash attention can be differentiated once: take its gradient without "
            "create_graph=True, or call attnlab.attention.scaled_dot_product_attention, which can "
            "be differentiated twice"
        )
    return ctx.saved_tensors


def forward_tiles(Q, K, V, O, m, l, is_causal, block_q, block_k):
    """Write O, and for each query the maximum m (base 2) and the normaliser l.

    Equations eq-online-softmax and eq-online-output of the book.
    """
    tiles = Tiles(Q, K, is_causal, block_q, block_k)
    for q in tiles.queries():
        Q_i = Q[:, q] * tiles.scale
        O_i = torch.zeros_like(O[:, q])  # (G, block_q, d_v)
        l_i = torch.zeros_like(l[:, q])  # (G, block_q, 1)
        m_i = torch.full_like(l_i, torch.finfo(Q.dtype).min)  # finite: -inf - (-inf) is NaN
        for k in tiles.keys(q):
            S = tiles.scores(Q_i, K, q, k)  # (G, block_q, block_k)
            m_new = torch.maximum(m_i, S.amax(-1, keepdim=True))  # m' = max(m, rowmax S)
            P = S.sub_(m_new).exp2_()  # e^(S - m')
            fade = m_i.sub_(m_new).exp2_()  # e^(m - m')
            l_i.mul_(fade).add_(P.sum(-1, keepdim=True))  # l' = e^(m - m') l + rowsum P
            O_i = torch.baddbmm(O_i.mul_(fade), P, V[:, k])  # O' = e^(m - m') O + P V
            m_i = m_new
        l_i.masked_fill_(l_i == 0, 1)  # a query without a key: 0 / 1
        O[:, q], m[:, q], l[:, q] = O_i.div_(l_i), m_i, l_i


def backward_tiles(Q, K, V, O, m, l, dO, dQ, dK, dV, is_causal, block_q, block_k):
    """Add the gradients to dQ, dK and dV, from weights that are computed again tile by tile.

    Equations eq-flash-backward and eq-row-term of the book.
    """
    tiles = Tiles(Q, K, is_causal, block_q, block_k)
    scratch = torch.empty_like(tiles.scratch)
    for q in tiles.queries():
        Q_i, m_i = Q[:, q] * tiles.scale, m[:, q]
        dO_i = dO[:, q] / l[:, q]  # the weights are E / l, and dividing dO is cheaper
        D_i = (dO_i * O[:, q]).sum(-1, keepdim=True)  # (G, block_q, 1): the row term
        dQ_i = torch.zeros_like(Q_i)
        for k in tiles.keys(q):
            E = tiles.scores(Q_i, K, q, k).sub_(m_i).exp2_()  # (G, block_q, block_k)
            dV[:, k] += E.mT @ dO_i  # dV = P^T dO
            dP = torch.bmm(dO_i, V[:, k].mT, out=tiles.room(scratch, q, k))  # dP = dO V^T
            dS = dP.sub_(D_i).mul_(E)  # dS = P (dP - rowsum(dO O))
            dQ_i = torch.baddbmm(dQ_i, dS, K[:, k])  # dQ = dS K / sqrt(d_k)
            dK[:, k] += dS.mT @ Q_i  # dK = dS^T Q / sqrt(d_k), and Q_i holds log2(e) too
        dQ[:, q] = dQ_i.mul_(tiles.scale / LOG2_E)
    dK.div_(LOG2_E)


class Tiles:
    """The blocks of queries and keys, and the one tile of memory that their scores share."""

    def __init__(self, Q: Tensor, K: Tensor, is_causal: bool, block_q: int, block_k: int):
        self.G, self.S_q, d_k = Q.shape
        self.S_k = K.shape[1]
        self.block_q, self.block_k = block_q, block_k
        self.scale = LOG2_E / math.sqrt(d_k)
        self.reach = self.S_k - self.S_q if is_causal else self.S_k  # query i sees j <= i + reach
        self.scratch = Q.new_empty(self.G * min(block_q, self.S_q) * min(block_k, self.S_k))

    def queries(self) -> Iterator[slice]:
        """Cut the queries into blocks; the last may be shorter."""
        return blocks(self.S_q, self.block_q)

    def keys(self, q: slice) -> Iterator[slice]:
        """Cut the keys that this block's last query sees into blocks: the rest is skipped."""
        return blocks(min(q.stop + self.reach, self.S_k), self.block_k)

    def room(self, scratch: Tensor, q: slice, k: slice) -> Tensor:
        """Shape the start of the scratch memory as the tile of these queries and keys."""
        rows, columns = q.stop - q.start, k.stop - k.start
        return scratch[: self.G * rows * columns].view(self.G, rows, columns)

    def scores(self, Q_i: Tensor, K: Tensor, q: slice, k: slice) -> Tensor:
        """Give the scores of one tile, -inf where the query may not see the key."""
        S = torch.bmm(Q_i, K[:, k].mT, out=self.room(self.scratch, q, k))
        first = max(k.start, q.start + self.reach + 1)  # the first query sees the keys before it
        if first < k.stop:
            i = torch.arange(q.start, q.stop, device=S.device)[:, None]  # (block_q, 1)
            j = torch.arange(first, k.stop, device=S.device)
            S[..., first - k.start :].masked_fill_(j > i + self.reach, -math.inf)
        return S


def blocks(length: int, size: int) -> Iterator[slice]:
    """Cut 0 ... length into slices of `size`, the last one shorter where it does not divide."""
    return (slice(start, min(start + size, length)) for start in range(0, length, size))


def head_groups(Q: Tensor) -> Iterator[slice]:
    """Cut the leading dimension into the heads that are computed together."""
    G = Q.shape[0]
    return blocks(G, max(G, 1) if Q.device.type == "cuda" else HEADS_AT_ONCE)
