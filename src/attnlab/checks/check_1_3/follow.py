"""Mistakes of earlier checks, taken as given: each later check judges what it is about.

A repair makes of a function what it would be without its mistake; where that cannot be, a variant
says what the mistake makes of any case.
"""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from attnlab.checks.check_1_3.cases import Case
from attnlab.reference import softmax

Function = Callable[..., Any]

DISTRIBUTION, REFERENCE, MASKS = "the first check", "the second check", "the check of masks"


class Given:
    """A student's function as a check after others calls it."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.variants: list[tuple[str, Function]] = []  # that explain all cases so far
        self.judges_output = True
        self.about: list[str] = []  # the checks that what is taken as given belongs to

    def expects(self, case: Case, weights: np.ndarray) -> bool:
        """Tell whether weights are those of a mistake that is taken as given."""
        with np.errstate(all="ignore"):
            fits = [(of, make) for of, make in self.variants if _alike(weights, make(case))]
        if fits:
            self.variants = fits
        return bool(fits)

    def note(self) -> str:
        """Say what was taken as given."""
        about = list(dict.fromkeys([*self.about, *[of for of, _ in self.variants[:1]]]))
        return f" What {' and '.join(about)} found is taken as given here." if about else ""


def _alike(weights: np.ndarray, made: np.ndarray) -> bool:
    lost = np.isnan(weights) & (made == 0)  # 0 / 0 where nothing may be read
    return np.allclose(np.where(lost, 0, weights), made, rtol=1e-5, atol=1e-5)


def _row_by_row(function: Function) -> Function:
    """Ask for one query at a time."""

    def asked(Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: Any = None) -> tuple:
        given = [] if mask is None else np.broadcast_to(mask, (len(Q), len(K)))
        rows = [
            function(Q[i : i + 1], K, V, *([] if mask is None else [given[i : i + 1].copy()]))
            for i in range(len(Q))
        ]
        return tuple(np.concatenate(parts) for parts in zip(*rows, strict=True))

    return asked


def _from_output(function: Function) -> Function:
    """Find the weights by values that are a unit matrix."""
    return lambda Q, K, V, *mask: (
        function(Q, K, V, *mask),
        function(Q, K, np.eye(len(K)), *mask),
    )


def _transposed(function: Function) -> Function:
    def asked(Q: np.ndarray, K: np.ndarray, V: np.ndarray, *mask: Any) -> tuple:
        output, weights = function(Q, K, V, *mask)
        output = (
            output.T if output.shape == (V.shape[1], len(Q)) != (len(Q), V.shape[1]) else output
        )
        return output, weights.T

    return asked


def _always_masked(function: Function) -> Function:
    def asked(Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: Any = None) -> tuple:
        return function(Q, K, V, np.ones((len(Q), len(K)), bool) if mask is None else mask)

    return asked


REPAIRS = {
    "swapped_outputs": lambda function: lambda *given: tuple(function(*given))[::-1],
    "wrong_number": lambda function: lambda *given: tuple(function(*given))[:2],
    "returns_output_only": _from_output,
    "transposed": _transposed,
    "keepdims_missing": _row_by_row,
    "mask_is_none": _always_masked,
}
WEIGHTS_ALONE = {"keys_for_values", "output_from_scores", "output_scaled", "output_elementwise"}
WEIGHTS_ALONE |= {"output_value", "best_value"}


def reordered(order: tuple[int, ...]) -> Callable[[Function], Function]:
    """Make the repair that hands arguments on in another order."""
    return lambda function: lambda *given: function(*(given[i] for i in order), *given[3:])


def _factors() -> list[tuple[str, Callable[[Case], float]]]:
    """Give wrong scales, as factors on QKᵀ."""
    known = [lambda c: 1.0, lambda c: c.root**-2, lambda c: c.root, lambda c: -1 / c.root]
    known += [lambda c, b=b: np.log(b) / c.root for b in (2, 10)]
    known += [lambda c, b=b: np.log(b) for b in (2, 10)]
    known += [
        lambda c: c.V.shape[1] ** -0.5,
        lambda c: len(c.K) ** -0.5,
        lambda c: len(c.Q) ** -0.5,
    ]
    known += [lambda c: 0.5, lambda c: 0.25, lambda c: c.root**-0.5]
    return known


def _normalised(case: Case, factor: float, how: str) -> np.ndarray:
    """Make weights as a mistake does, under the case's mask."""
    scores = np.where(case.allowed, factor * case.raw, -np.inf)
    largest = scores.max(-1, keepdims=True)
    shifted = scores - np.where(np.isneginf(largest), 0, largest)
    if how == "columns":
        return softmax(scores.T).T
    if how == "columns, shifted":
        parts = np.exp(shifted)
        total = parts.sum(0)
        return parts / np.where(total == 0, 1, total)
    if how == "all":
        return softmax(scores.reshape(1, -1)).reshape(scores.shape)
    if how in ("exponentials", "exponentials, shifted"):
        return np.exp(scores if how == "exponentials" else shifted)
    return softmax(scores) / (case.root if how == "scaled" else 1)


def variants() -> list[tuple[str, Function]]:
    """Give what the mistakes of the first two checks make of a case, each with its check."""
    made = [(REFERENCE, lambda c, f=f: _normalised(c, f(c), "rows")) for f in _factors()]
    kinds = [
        "columns",
        "columns, shifted",
        "all",
        "exponentials",
        "exponentials, shifted",
        "scaled",
    ]
    both = [lambda c: 1 / c.root, lambda c: 1.0]
    made += [
        (DISTRIBUTION, lambda c, f=f, how=how: _normalised(c, f(c), how))
        for how, f in itertools.product(kinds, both)
    ]
    return made
