"""Exponents of exercise 1.5: the right fit, and what known mistakes make of it."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from attnlab.checks._diagnose import ask
from nbmark.graded import CheckFailed, NotAttempted

TOLERANCE = 1e-3
SAID = {
    "no_logarithms": "You fit a straight line to n and y themselves. Take the logarithm of both: "
    "log y = log c + p log n, and p is the slope.",
    "log_of_one": "You take the logarithm of one of the two. Take that of both, n and y.",
    "swapped": "You fit n against y, which gives 1/p. The logarithm of n is the x axis and that of "
    "y the y axis.",
    "intercept": "You return log c. The exponent is the slope, the first number of np.polyfit.",
    "two_points": "Two of the points decide your exponent, and the noise of both is in it. Fit a "
    "line through all points by least squares.",
    "through_origin": "Your line is forced through the origin, as if c were 1. Let it have an "
    "intercept, as np.polyfit with degree 1 does.",
    "mixed_logarithms": "The logarithms of n and of y have different bases. Any base will do, but "
    "take the same for both.",
    "rounded": "You round the exponent. Return it as it comes out of the fit.",
    "ratio": "You return how much y grows from the first to the last n. Divide the logarithm of "
    "that by the one of the growth of n, or better, fit all points.",
    "correlation": "You return how well a line fits, not how steep it is. The exponent is the "
    "slope.",
    "degree_two": "You fit a parabola to the logarithms. A power law is a straight line there: "
    "degree 1.",
    "hard_coded": "You return the same exponent for different data. Fit what you are given.",
}


def clean(n: Sequence, y: Sequence) -> tuple[np.ndarray, np.ndarray]:
    """Give the logarithms of the points that were measured."""
    measured = [(a, b) for a, b in zip(n, y, strict=True) if b is not None]
    return tuple(np.log(np.array(measured, dtype=float)).T)


def fit(n: Sequence, y: Sequence) -> float:
    """Give the right exponent: the slope of the least-squares line through the logarithms."""
    return float(np.polyfit(*clean(n, y), 1)[0])


def wrong_fits(n: Sequence, y: Sequence) -> Iterator[tuple[str, float]]:
    """Give what known mistakes make of the exponent."""
    a, b = clean(n, y)
    slope, intercept = np.polyfit(a, b, 1)
    yield "no_logarithms", np.polyfit(np.exp(a), np.exp(b), 1)[0]
    yield "log_of_one", np.polyfit(np.exp(a), b, 1)[0]
    yield "log_of_one", np.polyfit(a, np.exp(b), 1)[0]
    yield "swapped", np.polyfit(b, a, 1)[0]
    yield "swapped", 1 / slope
    yield "intercept", intercept
    for i, j in ((0, -1), (-2, -1), (0, 1)):
        yield "two_points", (b[j] - b[i]) / (a[j] - a[i])
    yield "two_points", (np.diff(b) / np.diff(a)).mean()
    yield "through_origin", (a * b).sum() / (a * a).sum()
    for base in (2, 10):
        yield "mixed_logarithms", slope * np.log(base)
        yield "mixed_logarithms", slope / np.log(base)
    yield "mixed_logarithms", slope * np.log2(10)
    yield "mixed_logarithms", slope / np.log2(10)
    for digits in (0, 1):
        yield "rounded", round(slope, digits)
    yield "ratio", np.exp(b[-1] - b[0])
    yield "correlation", np.corrcoef(a, b)[0, 1]
    yield "correlation", np.corrcoef(a, b)[0, 1] ** 2
    yield "degree_two", np.polyfit(a, b, 2)[0]
    yield "degree_two", np.polyfit(a, b, 2)[1]


def read_exponent(name: str, value: Any) -> float:
    """Read an exponent, or say what came instead."""
    if value is None:
        raise CheckFailed("returns_nothing", f"`{name}` is None. Return the exponent.")
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.item()
    try:
        return float(value)
    except (TypeError, ValueError):
        pass
    if np.size(value) > 1:
        said = f"`{name}` holds {np.size(value)} numbers. np.polyfit gives slope and intercept; \
            the exponent is the slope, the first of the two."
        raise CheckFailed("returns_all_coefficients", said)
    said = f"`{name}` is of type {type(value).__name__}. Give a number."
    raise CheckFailed("no_number", said)


def check_fits(fit_exponent: Callable, cases: list[tuple[Sequence, Sequence]]) -> list[float]:
    """Fail unless all points are fitted as asked for; None may stand for a y only in the last."""
    given, right = [], [fit(n, y) for n, y in cases]
    for n, y in cases:
        gaps = None in y
        try:
            value = ask(fit_exponent, n, y, case=f"n = {n}, y = {_short(y)}")
        except NotAttempted:
            raise
        except CheckFailed as failed:
            raise (_gaps(failed.example) if gaps and given else failed) from None
        given.append(read_exponent("fit_exponent(n, y)", value))
    off = [i for i, (g, r) in enumerate(zip(given, right, strict=True)) if not _same(g, r)]
    if not off:
        return given
    if all(None in cases[i][1] for i in off):
        raise _gaps(f"    yours {given[-1]:.4f}, right {right[-1]:.4f}")
    n, y = cases[off[0]]
    example = f"    n = {list(n)}\n    y = {_short(y)}\n"
    example += f"    yours {given[off[0]]:.4f}, right {right[off[0]]:.4f}"
    whole = [i for i, (_, y) in enumerate(cases) if None not in y]
    if np.ptp([given[i] for i in whole]) < TOLERANCE:
        raise CheckFailed("hard_coded", SAID["hard_coded"], example)
    for known in zip(*(wrong_fits(*cases[i]) for i in whole), strict=True):
        if all(_same(given[i], value) for i, (_, value) in zip(whole, known, strict=True)):
            raise CheckFailed(known[0][0], SAID[known[0][0]], example)
    said = "Your exponent is not the slope of the least-squares line through log n and log y."
    raise CheckFailed("wrong_fit", said, example)


def _same(a: float, b: float) -> bool:
    return abs(a - b) <= TOLERANCE * max(1.0, abs(b))


def _short(y: Sequence) -> str:
    return "[" + ", ".join("None" if value is None else f"{value:.4g}" for value in y) + "]"


def _gaps(example: str) -> CheckFailed:
    said = "Where memory ran out, y holds None. Leave these points out, n and y together, before \
        you take logarithms."
    return CheckFailed("none_not_left_out", said, example)
