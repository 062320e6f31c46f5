"""A wrong profile or fit of exercise 1.5, taken as given: what follows costs nothing more."""

from collections.abc import Callable, Mapping

import numpy as np

from attnlab.checks._diagnose import ask, quiet_stderr, read_number
from attnlab.checks.check_1_5 import profiles
from attnlab.checks.check_1_5.cases import BOUNDS, fit, tails
from attnlab.checks.check_1_5.mistakes import MISTAKES, within
from nbmark.graded import CheckFailed

LARGEST = 3  # lengths that are fitted
# Mistakes in counting that leave something to fit, and in fitting that leave one number.
COUNTS = {"output_only", "peak_not_reset", "columns_exchanged", "whole_process", "wrong_memory"}
COUNTS |= {"baseline", "not_tensor_memory"}
UNKNOWN = {"wrong_fit", "hard_coded", "raised", "not_attempted", None}


def follows(
    values: Mapping[str, float],
    rows: Mapping[str, np.ndarray],
    profile: Callable | None,
    fit_exponent: Callable | None,
) -> bool:
    """Tell whether exponents follow from what was measured, by a known mistake before."""
    fitted = {name: tails(rows[name][-LARGEST:], 2)[0] for name in BOUNDS}
    counted = all(within(fitted[name], BOUNDS[name]) for name in BOUNDS)
    right = all(abs(values[name] - fitted[name]) < 0.03 for name in BOUNDS)
    if counted == right:
        return False  # right throughout, or wrong twice
    if right:
        return profile is not None and _wrong_count(profile)
    return fit_exponent is not None and _by_own_fit(values, rows, fit_exponent)


def _wrong_count(profile: Callable) -> bool:
    """Tell whether a profile counts by a known mistake."""
    try:
        profiles.require_peaks(profile, np.array([1501, 701, 1101]))
    except CheckFailed as failed:
        return failed.cause in COUNTS
    return False


def _by_own_fit(
    values: Mapping[str, float], rows: Mapping[str, np.ndarray], fit_exponent: Callable
) -> bool:
    """Tell whether values are what the student's fit makes of the largest lengths, by mistake."""

    def own(n: np.ndarray, y: np.ndarray) -> float:
        with quiet_stderr():
            return read_number("own", ask(fit_exponent, n.tolist(), y.tolist()))

    n = np.array([30.0, 70.0, 170.0, 290.0])
    y = n**1.4 * np.array([3.0, 2.0, 4.0, 2.5])
    try:
        cause = MISTAKES.explain("exponent", own(n, y), np.log(n), np.log(y))
        if cause in UNKNOWN or abs(own(n, y) - fit(n, y)) < 1e-3:
            return False
        largest = {name: rows[name][-LARGEST:].T for name in BOUNDS}
        return all(np.isclose(values[k], own(a, b), 0.01) for k, (a, _, b) in largest.items())
    except CheckFailed:
        return False
