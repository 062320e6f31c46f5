"""Right answers to exercise 1.7, as different students write them."""

import math

import numpy as np
import torch
from answers import EVERY_SEED, Call, stub

# One score at a time


def by_the_book(m, l, s):
    m_new = max(m, s)
    if m_new == -math.inf:
        return m_new, 0.0
    return m_new, l * math.exp(m - m_new) + math.exp(s - m_new)


def in_two_cases(m, l, s):
    if s > m:
        return s, l * math.exp(m - s) + 1
    return m, (l + math.exp(s - m) if s > -math.inf else l)


def in_numpy(m, l, s):
    m_new = np.maximum(m, s)
    if np.isneginf(m_new):
        return m, l
    return np.array([m_new, l * np.exp(m - m_new) + np.exp(s - m_new)])


def in_single_precision(m, l, s):
    m, l, s = (torch.tensor(float(x)) for x in (m, l, s))
    m_new = torch.maximum(m, s)
    if torch.isinf(m_new):
        return m_new, torch.tensor(0.0)
    return m_new, torch.exp(m - m_new) * l + torch.exp(s - m_new)


def from_either_side(m, l, s):
    if s == -math.inf:
        return m, l
    if s > m:
        return s, 1 + (l * math.exp(m - s) if l else 0)
    return m, l + math.exp(s - m)


def in_tensors(m, l, s):
    m, l, s = (torch.tensor(x, dtype=torch.float64) for x in (m, l, s))
    m_new = torch.maximum(m, s)
    safe = m_new.clamp(min=-1e300)
    return m_new, l * torch.exp(m - safe) + torch.exp(s - safe)


def through_the_logarithm(m, l, s):
    """Keep log-sum-exp in mind and give m and l all the same."""
    total = np.logaddexp(m + math.log(l) if l > 0 else -math.inf, s)
    m_new = max(m, s)
    return m_new, (0.0 if m_new == -math.inf else math.exp(total - m_new))


def skips_blocked(m, l, s):
    if s == float("-inf"):
        return m, l
    new = m if m >= s else s
    return [new, math.e ** (m - new) * l + math.e ** (s - new)]


SCORES = [
    in_single_precision,
    from_either_side,
    by_the_book,
    in_two_cases,
    in_numpy,
    in_tensors,
    through_the_logarithm,
    skips_blocked,
]

# A block at a time


def add_block(m, l, O, S, V):
    m_new = torch.maximum(m, S.amax(-1, keepdim=True))
    P, fade = torch.exp(S - m_new), torch.exp(m - m_new)
    return m_new, fade * l + P.sum(-1, keepdim=True), fade * O + P @ V


def in_place(m, l, O, S, V):
    m_new = m.clone()
    torch.maximum(m, S.max(dim=-1, keepdim=True).values, out=m_new)
    fade = m.sub_(m_new).exp_()
    P = S.sub_(m_new).exp_()
    l.mul_(fade).add_(P.sum(1, keepdim=True))
    O.mul_(fade).addmm_(P, V)
    return m_new, l, O


def row_by_row(m, l, O, S, V):
    rows = []
    for i in range(len(S)):
        top = max(m[i].item(), S[i].max().item())
        P = (S[i] - top).exp()
        fade = math.exp(m[i].item() - top)
        rows.append((torch.tensor([top]), fade * l[i] + P.sum(), fade * O[i] + P @ V))
    return [torch.stack(part) for part in zip(*rows, strict=True)]


def score_by_score(m, l, O, S, V):
    for j in range(S.shape[1]):
        s = S[:, j : j + 1]
        m_new = torch.max(m, s)
        fade, p = (m - m_new).exp(), (s - m_new).exp()
        m, l, O = m_new, fade * l + p, fade * O + p * V[j]
    return m, l, O


def concatenated(m, l, O, S, V):
    m_new = torch.cat([m, S], 1).amax(1)[:, None]
    weights = torch.cat([m, S], 1).sub(m_new).exp()
    return (
        m_new,
        (weights * torch.cat([l, torch.ones_like(S)], 1)).sum(1, True),
        (weights[:, :1] * O + torch.einsum("ij,jc->ic", weights[:, 1:], V)),
    )


def in_arrays(m, l, O, S, V):
    m, l, O, S, V = (x.numpy() for x in (m, l, O, S, V))
    m_new = np.maximum(m, S.max(1, keepdims=True))
    P = np.exp(S - m_new)
    fade = np.exp(m - m_new)
    return m_new, l * fade + P.sum(1, keepdims=True), O * fade + P @ V


BLOCKS = [add_block, in_place, row_by_row, score_by_score, concatenated, in_arrays]

# A whole pass


def start(Q, V):
    m = torch.full((len(Q), 1), -math.inf)
    return m, torch.zeros_like(m), torch.zeros(len(Q), V.shape[1])


def tiled(Q, K, V, block):
    m, l, O = start(Q, V)
    for first in range(0, len(K), block):
        keys = slice(first, first + block)
        S = Q @ K[keys].T / math.sqrt(Q.shape[1])
        m, l, O = add_block(m, l, O, S, V[keys])
    return O / l


def by_split(Q, K, V, block):
    sums = start(Q, V)
    Q = Q * Q.size(-1) ** -0.5
    for k, v in zip(K.split(block), V.split(block), strict=True):
        sums = in_place(*sums, Q @ k.T, v)
    return sums[2] / sums[1]


def queries_in_blocks_too(Q, K, V, block):
    return torch.cat([tiled(q, K, V, block) for q in Q.split(block)])


def with_while(Q, K, V, block):
    m, l, O = start(Q, V)
    j = 0
    while j < K.shape[0]:
        end = min(j + block, K.shape[0])
        S = torch.einsum("id,jd->ij", Q, K[j:end]) / Q.shape[-1] ** 0.5
        m, l, O = concatenated(m, l, O, S, V[j:end])
        j = end
    return torch.divide(O, l)


def first_block_as_start(Q, K, V, block):
    S = Q @ K[:block].T / math.sqrt(K.shape[1])
    m = S.amax(1, keepdim=True)
    P = torch.exp(S - m)
    sums = m, P.sum(1, keepdim=True), P @ V[:block]
    for j in range(block, len(K), block):
        S = Q @ K[j : j + block].T / math.sqrt(K.shape[1])
        sums = add_block(*sums, S, V[j : j + block])
    m, l, O = sums
    return O / l


PASSES = [tiled, by_split, queries_in_blocks_too, with_while, first_block_as_start]


def with_step(answer, step=add_block):
    """Make what a whole pass is checked with."""
    return Call(lambda: (answer, step))


def by_name(functions, make=lambda function: function):
    return {function.__name__: make(function) for function in functions}


RIGHT = {
    "adds_scores": by_name(SCORES),
    "survives_extremes": by_name(SCORES),
    "adds_blocks": by_name(BLOCKS),
    "matches_attention": by_name(PASSES, with_step),
    "holds_no_table": by_name(PASSES, with_step),
}
UNTOUCHED = {check: [stub, None] for check in list(RIGHT)[:3]} | {
    check: [with_step(stub), with_step(None)] for check in list(RIGHT)[3:]
}
SEEDS = EVERY_SEED
FIXED = {"holds_no_table"}
SEEDED = set(RIGHT) - FIXED
