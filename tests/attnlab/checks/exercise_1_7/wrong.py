"""Wrong answers to exercise 1.7: which check finds each, its cause, and words of the message.

A label begins with the cause.
"""

import math

import numpy as np
import torch
from exercise_1_7.right import add_block, by_the_book, start, with_step

exp = math.exp


def not_faded(m, l, s):
    return max(m, s), l + exp(s - max(m, s))


def faded_upwards(m, l, s):
    m_new = max(m, s)
    return m_new, (l * exp(m_new - m) if l else 0) + exp(s - m_new)


def starts_again(m, l, s):
    return (s, 1.0) if s > m else (m, l + exp(s - m))


def last_taken(m, l, s):
    return s, l * exp(m - s) + 1


def first_kept(m, l, s):
    m = s if m == -math.inf else m
    return m, l + exp(s - m)


def given_logarithm(m, l, s):
    """Give m + log l, and take it for l at the next step, as a student does who means it."""
    total = np.logaddexp(l if m > -math.inf else -math.inf, s)
    return max(m, s), float(total)


WRONG_SCORES = {
    "rest_counted": (
        lambda m, l, s: (s, l * math.exp(m - s) + 1) if s > m else (m, l + 1),
        "whatever it is",
    ),
    "wrong_number names": (lambda m, l, s: {"m": max(m, s), "l": l + 1, "s": s}, "in this order"),
    "exchanged": (lambda m, l, s: by_the_book(m, l, s)[::-1], "m first, then l"),
    "largest_lost": (last_taken, "max(m, s)"),
    "largest_lost first": (first_kept, "the first score or the latest"),
    "not_faded": (not_faded, "before you add"),
    "faded_upwards": (faded_upwards, "at most 1"),
    "term_below_old": (
        lambda m, l, s: (
            max(m, s),
            l * exp(m - max(m, s)) + exp(s - (m if m > -math.inf else s)),
        ),
        "below the new largest score",
    ),
    "starts_again": (starts_again, "begins again at 1"),
    "not_shifted": (lambda m, l, s: (max(m, s), l + exp(s)), "that of e^s"),
    "counted_only": (lambda m, l, s: (max(m, s), l + 1), "counts alike"),
    "as_logarithm": (given_logarithm, "m + log l holds both"),
    "other_base": (
        lambda m, l, s: (max(m, s), l * 2 ** (m - max(m, s)) + 2 ** (s - max(m, s))),
        "another base",
    ),
    "step_value": (lambda m, l, s: (max(m, s), l * 0.9 + 1), "the first row that differs"),
    "rounded": (
        lambda m, l, s: tuple(round(x, 2) for x in by_the_book(m, l, s)),
        "Do not round",
    ),
    "wrong_number": (lambda m, l, s: by_the_book(m, l, s)[1], "m and l, in this order"),
    "wrong_number three": (lambda m, l, s: (*by_the_book(m, l, s), s), "here come 3"),
    "plain_number": (lambda m, l, s: (max(m, s), l * exp(m - s.max())), "AttributeError"),
    "returns_nothing": (lambda m, l, s: None, "return statement"),
}


def unguarded(m, l, s):
    m_new = max(m, s)
    return m_new, l * np.exp(m - m_new) + np.exp(s - m_new)


def shares(m, l, s):
    """Keep the sum below 0 instead of below m, and turn it at the end."""
    m_new = max(m, s)
    total = (l * exp(m) if l else 0) + exp(s)
    return m_new, total / exp(m_new)


def clipped(m, l, s):
    return by_the_book(m, l, max(s, -1000.0))


def counts_blocked(m, l, s):
    m_new, l_new = in_cases = by_the_book(m, l, s)
    return (m_new, l_new + 1) if s == -math.inf and m > -math.inf else in_cases


WRONG_EXTREMES = {
    "overflows": (shares, "no exponent is above 0"),
    "overflows sum of e^s": (lambda m, l, s: (max(m, s), l + exp(s)), "math.exp, which raises"),
    "shift_felt": (clipped, "as differences alone"),
    "shift_felt inf": (
        lambda m, l, s: (max(m, s), l + float(np.exp(s))),
        "has to grow by as much",
    ),
    "blocked_first": (unguarded, "nothing was read yet"),
    "blocked_first not_faded": (not_faded, "their difference is NaN"),
    "blocked_felt": (counts_blocked, "change nothing: e to it is 0"),
}


def step(
    fade_l=lambda f: f,
    fade_O=lambda f: f,
    largest=lambda m, S: torch.maximum(m, S.amax(-1, keepdim=True)),
    below=lambda S, m, m_new: m_new,
    mix=lambda P, V: P @ V,
    total=lambda P: P.sum(-1, keepdim=True),
    give=lambda m, l, O: (m, l, O),
):
    """Make a step of which one part is replaced."""

    def add_block(m, l, O, S, V):
        m_new = largest(m, S)
        fade, P = torch.exp(m - m_new), torch.exp(S - below(S, m, m_new))
        return give(m_new, fade_l(fade) * l + total(P), fade_O(fade) * O + mix(P, V))

    return add_block


def upwards(f):
    return torch.where(f > 0, 1 / f, torch.zeros(()))


def share(P, V):
    return P / P.sum(-1, keepdim=True) @ V


def as_in_version_1(m, l, O, S, V):
    m_new, l_new, O_new = add_block(m, l, O * l, S, V)
    return m_new, l_new, O_new / l_new


WRONG_BLOCKS = {
    "max_gives_pair": (
        lambda m, l, O, S, V: (torch.maximum(m, S.max(-1, keepdim=True)), l, O),
        ".amax(dim)",
    ),
    "l_not_faded": (step(fade_l=lambda f: 1), "as well as O"),
    "O_not_faded": (step(fade_O=lambda f: 1), "a sum with the same weights"),
    "none_faded": (step(lambda f: 1, lambda f: 1), "Multiply both sums"),
    "blocks_faded_upwards": (step(upwards, upwards), "other way round"),
    "largest_of_block": (
        step(largest=lambda m, S: S.amax(-1, keepdim=True)),
        "even where a block before",
    ),
    "largest_of_all": (step(largest=lambda m, S: torch.maximum(m, S.max())), "each query"),
    "below_old": (
        step(below=lambda S, m, new: torch.where(m == -math.inf, new, m)),
        "below the new largest score",
    ),
    "below_old its own": (
        step(below=lambda S, m, new: S.amax(-1, keepdim=True)),
        "or the block's own",
    ),
    "normalised": (as_in_version_1, "once, at the very end"),
    "normalised for good": (step(give=lambda m, l, O: (m, l, O / l)), "Leave O as a sum"),
    "shares_of_block": (step(mix=share), "a softmax of the block"),
    "shares_of_block counted": (
        step(mix=share, total=lambda P: torch.ones(len(P), 1)),
        "sum to 1 however small",
    ),
    "not_mixed": (step(mix=lambda P, V: torch.ones_like(P) @ V), "P @ V"),
    "block_value": (step(mix=lambda P, V: 2 * P @ V), "O is the first that differs"),
    "block_value l": (step(total=lambda P: P.mean(-1, keepdim=True)), "l is the first"),
    "wrong_shape": (
        step(
            largest=lambda m, S: torch.maximum(m[:, 0], S.amax(-1)),
            below=lambda S, m, new: new[:, None],
            fade_O=lambda f: 1,
            fade_l=lambda f: 1,
        ),
        "keepdim=True",
    ),
    "wrong_number": (step(give=lambda m, l, O: O), "m, l and O"),
    "not_transposed": (lambda m, l, O, S, V: (m, l, O + S @ V.T), "RuntimeError"),
}


def whole(step=add_block, scale=lambda Q, V: Q.shape[1] ** -0.5, end=lambda m, l, O: O / l):
    """Make a pass of which one part is replaced."""

    def tiled_attention(Q, K, V, block):
        sums = start(Q, V)
        for k, v in zip(K.split(block), V.split(block), strict=True):
            sums = step(*sums, Q @ k.T * scale(Q, V), v)
        return end(*sums)

    return tiled_attention


def full_blocks(Q, K, V, block):
    m, l, O = start(Q, V)
    for i in range(len(K) // block):
        keys = slice(i * block, (i + 1) * block)
        m, l, O = add_block(m, l, O, Q @ K[keys].T / math.sqrt(Q.shape[1]), V[keys])
    return O / l.clamp(min=1e-30)


def set_up_inside(Q, K, V, block):
    for k, v in zip(K.split(block), V.split(block), strict=True):
        _m, l, O = add_block(*start(Q, V), Q @ k.T / math.sqrt(Q.shape[1]), v)
    return O / l


def returns_inside(Q, K, V, block):
    m, l, O = start(Q, V)
    for k, v in zip(K.split(block), V.split(block), strict=True):
        m, l, O = add_block(m, l, O, Q @ k.T / math.sqrt(Q.shape[1]), v)
        return O / l


def each_block(Q, K, V, block):
    return [
        (Q @ k.T / math.sqrt(Q.shape[1])).softmax(-1) @ v
        for k, v in zip(K.split(block), V.split(block), strict=True)
    ]


WRONG_PASSES = {
    "no_scale": (whole(scale=lambda Q, V: 1), "Divide the scores of each block"),
    "no_scale by d_k": (whole(scale=lambda Q, V: 1 / Q.shape[1]), "√d_k"),
    "not_divided": (whole(end=lambda m, l, O: O), "O is a sum"),
    "end_lost": (full_blocks, "11 keys in blocks of 4"),
    "one_block": (set_up_inside, "before the loop"),
    "one_block return": (returns_inside, "one block alone"),
    "blocks_averaged": (
        lambda Q, K, V, block: torch.stack(each_block(Q, K, V, block)).mean(0),
        "should count for more",
    ),
    "blocks_averaged sum": (lambda Q, K, V, block: sum(each_block(Q, K, V, block)), "averaged"),
    "none_faded": (whole(step(lambda f: 1, lambda f: 1)), "Multiply both sums"),
    "normalised": (
        whole(step(give=lambda m, l, O: (m, l, O / l)), end=lambda m, l, O: O / l),
        "divide by l once",
    ),
    "output_value": (whole(end=lambda m, l, O: O / l + m), "one block for all keys first"),
    "wrong_number": (whole(end=lambda m, l, O: (O / l, m, l)), "the output alone"),
    "output_value joined": (
        lambda Q, K, V, block: torch.cat(each_block(Q, K, V, block), 1),
        "one block for all keys first",
    ),
    "not_transposed": (lambda Q, K, V, block: Q @ K @ V, "RuntimeError"),
}


def table(Q, K, V, block):
    return (Q @ K.T / math.sqrt(Q.shape[1])).softmax(-1) @ V


def list_of_tiles(Q, K, V, block):
    tiles = [Q @ k.T / math.sqrt(Q.shape[1]) for k in K.split(block)]
    return torch.cat(tiles, 1).softmax(-1) @ V


def all_scores_first(Q, K, V, block):
    m, l, O = start(Q, V)
    S = Q @ K.T / math.sqrt(Q.shape[1])
    for s, v in zip(S.split(block, 1), V.split(block), strict=True):
        m, l, O = add_block(m, l, O, s, v)
    return O / l


def with_a_mask(Q, K, V, block):
    mask = torch.ones(len(Q), len(K), dtype=torch.bool)
    m, l, O = start(Q, V)
    for j in range(0, len(K), block):
        S = Q @ K[j : j + block].T / math.sqrt(Q.shape[1])
        S = torch.where(mask[:, j : j + block], S, -math.inf)
        m, l, O = add_block(m, l, O, S, V[j : j + block])
    return O / l


def in_numpy(Q, K, V, block):
    Q, K, V = (x.numpy() for x in (Q, K, V))
    S = Q @ K.T / math.sqrt(Q.shape[1])
    P = np.exp(S - S.max(1, keepdims=True))
    return torch.from_numpy(P @ V / P.sum(1, keepdims=True))


WRONG_MEMORY = {
    "table_held": (table, "bytes at one moment"),
    "table_held list": (list_of_tiles, "A list of tiles"),
    "table_held first": (all_scores_first, "Let a tile go"),
    "grows_like_a_table": (with_a_mask, "such as a mask"),
    "not_in_pytorch": (in_numpy, "Work with tensors throughout"),
    "output_value": (whole(end=lambda m, l, O: O / l + m), "one block for all keys first"),
}


def told(answers, make=lambda answer: answer):
    """Read the cause off the label."""
    return {
        label: (make(answer), label.partition(" ")[0], words)
        for label, (answer, words) in answers.items()
    }


WRONG = {
    "adds_scores": told(WRONG_SCORES),
    "survives_extremes": told(WRONG_EXTREMES),
    "adds_blocks": told(WRONG_BLOCKS),
    "matches_attention": told(WRONG_PASSES, with_step),
    "holds_no_table": told(WRONG_MEMORY, with_step),
}
PASS_BEFORE = False
UNTOLD = set()
