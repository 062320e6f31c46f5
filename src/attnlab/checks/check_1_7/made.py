"""What known mistakes make of a score, of a block, and of a whole pass."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from attnlab.checks.check_1_7.cases import Blocks, Case, Sums, add_block, add_score, path_of

exp = np.exp


def scores(*steps: Callable[[float, float, float], tuple]) -> Callable[[Any], list[np.ndarray]]:
    """Make the paths of steps that are wrong."""
    return lambda given: [path_of(step, given) for step in steps]


def not_faded(m: float, l: float, s: float) -> tuple[float, float]:
    """Leave the sum as it is where the largest score grows."""
    return max(m, s), l + exp(s - max(m, s))


def faded_upwards(m: float, l: float, s: float) -> tuple[float, float]:
    """Multiply the sum by e^(m' - m)."""
    m_new = max(m, s)
    return m_new, (l * exp(m_new - m) if l else 0.0) + exp(s - m_new)


def term_below_old(m: float, l: float, s: float) -> tuple[float, float]:
    """Take the new term below the old largest score."""
    m_new = max(m, s)
    return m_new, l * exp(m - m_new) + exp(s - (m if m > -math.inf else m_new))


def starts_again(m: float, l: float, s: float) -> tuple[float, float]:
    """Forget the sum where the largest score grows."""
    return (s, 1.0) if s > m else (m, l + exp(s - m))


def rest_counted(m: float, l: float, s: float) -> tuple[float, float]:
    """Add 1 for each score, also below the largest."""
    return (s, l * exp(m - s) + 1) if s > m else (m, l + 1)


def rounded(digits: int) -> Callable[[float, float, float], tuple]:
    """Round both after each score."""
    return lambda m, l, s: tuple(round(float(x), digits) for x in add_score(m, l, s))


def first_kept(m: float, l: float, s: float) -> tuple[float, float]:
    """Keep the first score as the largest."""
    m = s if m == -math.inf else m
    return m, l + exp(s - m)


def last_taken(m: float, l: float, s: float) -> tuple[float, float]:
    """Take each score for the largest."""
    return s, l * exp(m - s) + 1.0


def as_logarithm(given: Any) -> list[np.ndarray]:
    """Give m + log l, in place of m or of l."""
    m, l = path_of(lambda m, l, s: (max(m, s), not_faded_right(m, l, s)), given).T
    log = m + np.log(l)
    return [np.stack([m, log], 1), np.stack([log, l], 1)]


def not_faded_right(m: float, l: float, s: float) -> float:
    """Give the sum that is right."""
    m_new = max(m, s)
    return l * exp(m - m_new) + exp(s - m_new)


def blocks(*steps: Callable[..., tuple]) -> Callable[[Blocks], list[np.ndarray]]:
    """Make the paths of steps over blocks that are wrong."""
    return lambda case: [flat(case.path(step)) for step in steps]


def flat(path: list[Sums]) -> np.ndarray:
    """Put a path into one array, (N, S_q, 2 + d_v)."""
    return np.stack([np.concatenate([sums.m, sums.l, sums.O], -1) for sums in path])


def block_step(
    fade_l: Callable = lambda fade: fade,
    fade_O: Callable = lambda fade: fade,
    largest: Callable = lambda m, S: np.maximum(m, S.max(-1, keepdims=True)),
    below: Callable = lambda m, m_new: m_new,
    mix: Callable = lambda P, V: P @ V,
    total: Callable = lambda P: P.sum(-1, keepdims=True),
) -> Callable[..., tuple]:
    """Make a step of which one part is replaced."""

    def step(m: np.ndarray, l: np.ndarray, O: np.ndarray, S: np.ndarray, V: np.ndarray) -> tuple:
        m_new = largest(m, S)
        fade, P = exp(m - m_new), exp(S - below(m, m_new))
        return m_new, fade_l(fade) * l + total(P), fade_O(fade) * O + mix(P, V)

    return step


def normalised_each_time(
    m: np.ndarray, l: np.ndarray, O: np.ndarray, S: np.ndarray, V: np.ndarray
) -> tuple:
    """Divide the output by the sum in each step, and undo it in the next, as FlashAttention-1."""
    sums = add_block(m, l, O * l, S, V)
    return sums.m, sums.l, sums.O / sums.l


def divided_each_time(
    m: np.ndarray, l: np.ndarray, O: np.ndarray, S: np.ndarray, V: np.ndarray
) -> tuple:
    """Divide the output by the sum in each step, and never undo it."""
    sums = add_block(m, l, O, S, V)
    return sums.m, sums.l, sums.O / sums.l


def whole(*parts: dict[str, Any]) -> Callable[[Case], list[np.ndarray]]:
    """Make outputs of passes in which parts are replaced, as `Case.tiled` says."""
    return lambda case: [case.tiled(**each) for each in parts]


def full_blocks_only(case: Case) -> list[np.ndarray]:
    """Lose the keys behind the last full block: 0, or 0 / 0, where there is none."""
    full = [k for k in case.slices() if k.stop - k.start == case.block]
    if full:
        return [case.tiled(keys=full)] * 2
    return [np.zeros_like(case.output), np.full_like(case.output, np.nan)]


def one_block(case: Case) -> list[np.ndarray]:
    """Read the first block alone, or the last."""
    return [case.tiled(keys=case.slices()[:1]), case.tiled(keys=case.slices()[-1:])]


def mean_of_blocks(case: Case) -> list[np.ndarray]:
    """Take the mean, or the sum, of what each block gives by itself."""
    each = np.stack([case.tiled(keys=[k]) for k in case.slices()])
    return [each.mean(0), each.sum(0)]
