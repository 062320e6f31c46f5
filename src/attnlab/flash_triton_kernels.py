"""The three Triton kernels of Flash attention: each program works on one block of one head.

==================== ================= =============== ======================
kernel               a program holds   it visits       it writes, once
==================== ================= =============== ======================
``forward``          a block of Q      K and V         that block of O, m, l
``backward_queries`` a block of Q, dO  K and V         that block of dQ
``backward_keys``    a block of K, V   Q and dO        that block of dK, dV
==================== ================= =============== ======================

Matrices are contiguous, of shape (G, rows, width); G counts batch and heads. The maximum m, the
normaliser l and the row term D of each query have shape (G, S_q). Names with an index, as Q_i or
K_j, are tiles on the chip. A tile's sides are powers of 2, so widths d_k and d_v are padded with
zeros to ``PAD_K`` and ``PAD_V``. Scores exist only as tiles. The equations that a docstring names
are the book's, of section 1.10.

Importing this module needs Triton; `attnlab.flash_triton` does so at its first call.
"""

import triton
import triton.language as tl

LOWEST = tl.constexpr(-3.4028234663852886e38)  # of float32; finite, since -inf - (-inf) is NaN


@triton.jit
def load_tile(X, head, rows, n_rows, width, PAD: tl.constexpr):
    """Read some rows of one head, with zeros for what lies outside the matrix."""
    columns = tl.arange(0, PAD)
    inside = (rows[:, None] < n_rows) & (columns[None, :] < width)
    cells = (head * n_rows + rows[:, None]) * width + columns[None, :]
    return tl.load(X + cells, mask=inside, other=0.0)  # (BLOCK, PAD)


@triton.jit
def store_tile(X, tile, head, rows, n_rows, width, PAD: tl.constexpr):
    """Write a tile in the matrix's own dtype, without what lies outside."""
    columns = tl.arange(0, PAD)
    inside = (rows[:, None] < n_rows) & (columns[None, :] < width)
    cells = (head * n_rows + rows[:, None]) * width + columns[None, :]
    tl.store(X + cells, tile, mask=inside)


@triton.jit
def dot(left, right):
    """Multiply two tiles into float32, rounding no float32 input to TensorFloat-32."""
    return tl.dot(left, right, input_precision="ieee")


@triton.jit
def locate(n_rows, BLOCK: tl.constexpr):
    """Give this program's head, and the first row of its block."""
    n_tiles = tl.cdiv(n_rows, BLOCK)
    head = tl.program_id(0) // n_tiles
    return head.to(tl.int64), tl.program_id(0) % n_tiles * BLOCK


@triton.jit
def score_tile(Q_i, K_j, queries, keys, S_q, S_k, scale, IS_CAUSAL: tl.constexpr):
    """Give scale * Q K^T, with minus infinity where a query may not attend.

    The causal mask ends in the bottom right corner: the last query sees the last key.
    """
    S = dot(Q_i, tl.trans(K_j)) * scale  # (BLOCK_Q, BLOCK_K)
    allowed = keys[None, :] < S_k
    if IS_CAUSAL:
        allowed = allowed & (keys[None, :] <= queries[:, None] + (S_k - S_q))
    return tl.where(allowed, S, -float("inf"))


@triton.jit
def end_of_keys(first_query, S_q, S_k, IS_CAUSAL: tl.constexpr, BLOCK_Q: tl.constexpr):
    """Give the first key that no query of the tile sees: the loop over keys ends before it."""
    end = S_k
    if IS_CAUSAL:
        end = tl.minimum(S_k, first_query + BLOCK_Q + S_k - S_q)
    return end


@triton.jit
def load_keys(
    K, V, head, start, S_k,
    d_k: tl.constexpr, d_v: tl.constexpr, PAD_K: tl.constexpr, PAD_V: tl.constexpr,
    BLOCK_K: tl.constexpr,
):  # fmt: skip
    """Give the positions of a block of keys, and read them with their values."""
    keys = start + tl.arange(0, BLOCK_K)
    K_j = load_tile(K, head, keys, S_k, d_k, PAD_K)  # (BLOCK_K, PAD_K)
    V_j = load_tile(V, head, keys, S_k, d_v, PAD_V)  # (BLOCK_K, PAD_V)
    return keys, K_j, V_j


@triton.jit
def forward(
    Q, K, V, O, m, l, S_q, S_k, scale,
    d_k: tl.constexpr, d_v: tl.constexpr, PAD_K: tl.constexpr, PAD_V: tl.constexpr,
    IS_CAUSAL: tl.constexpr, BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """Run the online softmax over all keys for one tile of queries: equation eq-online-softmax."""
    head, first = locate(S_q, BLOCK_Q)
    queries = first + tl.arange(0, BLOCK_Q)
    Q_i = load_tile(Q, head, queries, S_q, d_k, PAD_K)  # (BLOCK_Q, PAD_K)
    m_i = tl.full([BLOCK_Q], LOWEST, tl.float32)  # running maximum of each query's scores
    l_i = tl.zeros([BLOCK_Q], tl.float32)  # running sum of exp(score - m_i)
    O_i = tl.zeros([BLOCK_Q, PAD_V], tl.float32)  # running sum of exp(score - m_i) * value
    for start in range(0, end_of_keys(first, S_q, S_k, IS_CAUSAL, BLOCK_Q), BLOCK_K):
        keys, K_j, V_j = load_keys(K, V, head, start, S_k, d_k, d_v, PAD_K, PAD_V, BLOCK_K)
        S = score_tile(Q_i, K_j, queries, keys, S_q, S_k, scale, IS_CAUSAL)
        m_new = tl.maximum(m_i, tl.max(S, axis=1))
        fade = tl.exp(m_i - m_new)  # (BLOCK_Q,): brings the old sums to the new maximum
        P = tl.exp(S - m_new[:, None])  # (BLOCK_Q, BLOCK_K)
        l_i = fade * l_i + tl.sum(P, axis=1)
        O_i = fade[:, None] * O_i + dot(P.to(V_j.dtype), V_j)
        m_i = m_new
    l_i = tl.where(l_i == 0.0, 1.0, l_i)  # a query that saw no key keeps its row of zeros
    store_tile(O, O_i / l_i[:, None], head, queries, S_q, d_v, PAD_V)
    tl.store(m + head * S_q + queries, m_i, mask=queries < S_q)
    tl.store(l + head * S_q + queries, l_i, mask=queries < S_q)


@triton.jit
def load_queries(
    Q, dO, m, l, D, head, queries, S_q,
    d_k: tl.constexpr, d_v: tl.constexpr, PAD_K: tl.constexpr, PAD_V: tl.constexpr,
):  # fmt: skip
    """Read what both backward kernels need to know of some queries."""
    rows, inside = head * S_q + queries, queries < S_q
    return (
        load_tile(Q, head, queries, S_q, d_k, PAD_K),  # (BLOCK_Q, PAD_K)
        load_tile(dO, head, queries, S_q, d_v, PAD_V),  # (BLOCK_Q, PAD_V)
        tl.load(m + rows, mask=inside, other=0.0),  # (BLOCK_Q,)
        1.0 / tl.load(l + rows, mask=inside, other=1.0),  # (BLOCK_Q,)
        tl.load(D + rows, mask=inside, other=0.0),  # (BLOCK_Q,)
    )


@triton.jit
def weight_tiles(S, V_j, dO_i, m_i, inverse_l_i, D_i):
    """Recompute the weights P from the scores, and give the gradient that the scores get.

    Through the softmax, dS_ij = P_ij (dP_ij - sum_k P_ik dP_ik). The row term, that sum, equals
    the dot product of a query's output with its gradient, so no loop has to come before this:
    equations eq-flash-backward and eq-row-term.
    """
    P = tl.exp(S - m_i[:, None]) * inverse_l_i[:, None]  # (BLOCK_Q, BLOCK_K)
    dP = dot(dO_i, tl.trans(V_j))  # (BLOCK_Q, BLOCK_K)
    return P, P * (dP - D_i[:, None])


@triton.jit
def backward_queries(
    Q, K, V, dO, m, l, D, dQ, S_q, S_k, scale,
    d_k: tl.constexpr, d_v: tl.constexpr, PAD_K: tl.constexpr, PAD_V: tl.constexpr,
    IS_CAUSAL: tl.constexpr, BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """Sum scale * dS K over all keys for one tile of queries."""
    head, first = locate(S_q, BLOCK_Q)
    queries = first + tl.arange(0, BLOCK_Q)
    Q_i, dO_i, m_i, inverse_l_i, D_i = load_queries(
        Q, dO, m, l, D, head, queries, S_q, d_k, d_v, PAD_K, PAD_V
    )
    dQ_i = tl.zeros([BLOCK_Q, PAD_K], tl.float32)
    for start in range(0, end_of_keys(first, S_q, S_k, IS_CAUSAL, BLOCK_Q), BLOCK_K):
        keys, K_j, V_j = load_keys(K, V, head, start, S_k, d_k, d_v, PAD_K, PAD_V, BLOCK_K)
        S = score_tile(Q_i, K_j, queries, keys, S_q, S_k, scale, IS_CAUSAL)
        _, dS = weight_tiles(S, V_j, dO_i, m_i, inverse_l_i, D_i)
        dQ_i += dot(dS.to(K_j.dtype), K_j)
    store_tile(dQ, scale * dQ_i, head, queries, S_q, d_k, PAD_K)


@triton.jit
def backward_keys(
    Q, K, V, dO, m, l, D, dK, dV, S_q, S_k, scale,
    d_k: tl.constexpr, d_v: tl.constexpr, PAD_K: tl.constexpr, PAD_V: tl.constexpr,
    IS_CAUSAL: tl.constexpr, BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """Sum P^T dO and scale * dS^T Q over all queries for one tile of keys."""
    head, first = locate(S_k, BLOCK_K)
    keys, K_j, V_j = load_keys(K, V, head, first, S_k, d_k, d_v, PAD_K, PAD_V, BLOCK_K)
    dK_j = tl.zeros([BLOCK_K, PAD_K], tl.float32)
    dV_j = tl.zeros([BLOCK_K, PAD_V], tl.float32)
    begin = 0
    if IS_CAUSAL:
        begin = tl.maximum(0, first - (S_k - S_q))  # the first query that sees the first key
    for start in range(begin, S_q, BLOCK_Q):
        queries = start + tl.arange(0, BLOCK_Q)
        Q_i, dO_i, m_i, inverse_l_i, D_i = load_queries(
            Q, dO, m, l, D, head, queries, S_q, d_k, d_v, PAD_K, PAD_V
        )
        S = score_tile(Q_i, K_j, queries, keys, S_q, S_k, scale, IS_CAUSAL)
        P, dS = weight_tiles(S, V_j, dO_i, m_i, inverse_l_i, D_i)
        dV_j += dot(tl.trans(P).to(dO_i.dtype), dO_i)
        dK_j += dot(tl.trans(dS).to(Q_i.dtype), Q_i)
    store_tile(dK, scale * dK_j, head, keys, S_k, d_k, PAD_K)
    store_tile(dV, dV_j, head, keys, S_k, d_v, PAD_V)


INTERPRETED = not isinstance(forward, triton.JITFunction)  # by TRITON_INTERPRET=1
