"""What masks do to weights, whatever the weights are without one."""

from collections.abc import Sequence

import numpy as np

from attnlab.checks._diagnose import TOLERANCE, differs, first_cause, show
from attnlab.checks.check_1_6.mistakes import MISTAKES


def is_distribution(given: np.ndarray, right: np.ndarray) -> bool:
    """Tell whether rows share out 1 among all keys, as the right ones do."""
    positive = given.shape == right.shape and bool((given > 0).all())
    return positive and not differs(given.sum(-1), right.sum(-1))


def renormalised(weights: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Give what weights become where some keys are blocked."""
    kept = weights * allowed
    total = kept.sum(-1, keepdims=True)
    return kept / np.where(total == 0, 1, total)


def compare_masked(
    given: Sequence[np.ndarray], free: np.ndarray, scores: np.ndarray, allowed: Sequence[np.ndarray]
) -> None:
    """Fail unless weights under each mask are the free ones, blocked and shared out again."""
    right = [renormalised(free, mask) for mask in allowed]
    wrong = [i for i in range(len(given)) if differs(given[i], right[i])]
    if not wrong:
        return
    cause = first_cause(given, [MISTAKES.made("masked", scores, mask) for mask in allowed], _same)
    first = wrong[0]
    yours, ours, mask = given[first], right[first], allowed[first]
    place, empty = (0, 0, 0), ~mask.any(-1)
    if yours.shape == ours.shape:
        if cause is None and not differs(yours[~empty], ours[~empty]):
            cause = "mask_nan" if np.isnan(yours[empty]).any() else "mask_finite"
        place = tuple(np.argwhere(~(np.abs(yours - ours) <= TOLERANCE).all(-1))[0])
    shown = {"mask": mask[place], "yours": yours[place], "right": ours[place]}
    raise MISTAKES.failure(cause or "mask_value", show(**shown))


def _same(given: np.ndarray, wrong: np.ndarray) -> bool:
    """Tell whether two arrays agree, apart from rows that may read nothing."""
    if given.shape != wrong.shape:
        return False
    told = np.isfinite(wrong).any(-1) & np.isfinite(given).any(-1) & (wrong.any(-1))
    return np.allclose(given[told], wrong[told], rtol=0, atol=TOLERANCE)
