"""Checks of exercise 1.1: attention by hand, with and without the scale.

The numbers are fixed, so a wrong answer is recognised by the numbers that it holds: each known
mistake is worked out here and compared with what the student wrote.
"""

from typing import Any

import numpy as np

from attnlab.checks._diagnose import differs, first_cause, read_array, show
from attnlab.checks._settings import Exercise
from attnlab.checks.check_1_1.cases import PLAIN, SCALED, Case, V
from attnlab.checks.check_1_1.mistakes import MISTAKES
from nbmark.answers import record

# How close is close enough: wide enough for two decimals, and for what rounding the weights does to
# all that follows.
TOLERANCE = {"weights": 0.0055, "output": 0.02, "entropy": 0.01}
LAYOUT = {
    "weights": "(2, 3): one row for each of 2 queries, in it 3 weights",
    "output": "(2, 2): one row for each of 2 queries, as wide as a value, 2",
    "entropy": "(2,): one number for each of 2 rows of weights",
}
REMEDY = {
    "weights": "Begin again at its scores, the q · k, before you scale.",
    "output": "Multiply each of its weights by its row of V, and add.",
    "entropy": "Add up -p log p over its three weights, with the logarithm to base e.",
}

exercise = Exercise("1.1")


@exercise.check(points=2)
def weights_without_scale(weights_unscaled: Any) -> str:
    """Show that the weights are the softmax of the scores."""
    _check("weights_unscaled", weights_unscaled, PLAIN)
    return "Your weights without the scale are right: each row is the softmax of its scores."


@exercise.check(points=2)
def weights_with_scale(weights_scaled: Any) -> str:
    """Show that the weights are the softmax of the scaled scores."""
    _check("weights_scaled", weights_scaled, SCALED)
    return "Your weights with the scale are right, and each row is flatter than without it."


@exercise.check(points=1)
def output_without_scale(output_unscaled: Any) -> str:
    """Show that each row of the output is a weighted mean of the values."""
    _check("output_unscaled", output_unscaled, PLAIN)
    return "Your output without the scale is right: each row is a weighted mean of the values."


@exercise.check(points=1)
def output_with_scale(output_scaled: Any) -> str:
    """Show that the scale changes the second row of the output and leaves the first."""
    _check("output_scaled", output_scaled, SCALED)
    return "Your output with the scale is right. Row 1 is what it was without it; row 2 has moved."


@exercise.check(points=1)
def entropy_without_scale(entropy_unscaled: Any) -> str:
    """Show that the entropies are those of the rows, in nats."""
    _check("entropy_unscaled", entropy_unscaled, PLAIN)
    return "The entropies of your rows without the scale are right: both rows are equally spread."


@exercise.check(points=1)
def entropy_with_scale(entropy_scaled: Any) -> str:
    """Show that the scale raises the entropy of each row."""
    _check("entropy_scaled", entropy_scaled, SCALED)
    return "The entropies with the scale are right: higher, and so nearer to log 3, an even spread."


def _check(name: str, given: Any, case: Case) -> None:
    """Compare numbers, whose name begins with the quantity, with right ones and known mistakes.

    Two decimals and four count as the same answer, so what is recorded is moved to a grid of
    twice the tolerance on which the right value lies.
    """
    quantity = name.partition("_")[0]
    tolerance, right = TOLERANCE[quantity], getattr(case, quantity)
    numbers = read_array(name, given, finite=True)
    if quantity == "entropy" and numbers.shape in {(2, 1), (1, 2)}:
        numbers = numbers.ravel()  # a column or a row of two numbers says the same
    if numbers.shape == right.shape:
        record(name, right + 2 * tolerance * np.round((numbers - right) / (2 * tolerance)))
        if not differs(numbers, right, tolerance):
            return
    _explain(name, quantity, numbers, case, tolerance)
    if numbers.shape != right.shape:
        doubled = numbers.shape and numbers.shape[-1] == 2 * right.shape[-1]
        cause = "decimal_comma" if doubled and (numbers % 1 == 0).all() else "wrong_shape"
        raise MISTAKES.failure(cause, name=name, shape=numbers.shape, fits=LAYOUT[quantity])
    if quantity == "weights" and np.abs(numbers.sum(axis=1) - 1).max() > 4 * tolerance:
        raise MISTAKES.failure("row_sums", _show(numbers), f"`{name}`:")
    off = np.abs(numbers - right).reshape(2, -1).max(axis=1) > tolerance
    which = "Both rows" if off.all() else f"Row {1 + int(off.argmax())}"
    seen = f"{which} of `{name}` cannot be right."
    raise MISTAKES.failure("value", _show(numbers), seen, remedy=REMEDY[quantity])


def _explain(name: str, quantity: str, given: np.ndarray, case: Case, tolerance: float) -> None:
    """Fail with the mistake that leads to these numbers, made here or in the weights before."""

    def same(given: np.ndarray, wrong: np.ndarray) -> bool:
        return not differs(given, wrong, tolerance * (wrong.max() if wrong.max() > 10 else 1))

    cause, seen = MISTAKES.explain(quantity, given, case, same=same), f"`{name}`:"
    if cause is None and quantity != "weights":
        weights = [(key, w) for key, w in MISTAKES.made("weights", case) if w.shape == (2, 3)]
        if quantity == "output":
            made = [(key, w @ V) for key, w in weights]
        else:
            made = [(key, -(w * np.log(w)).sum(axis=-1)) for key, w in weights if (w > 0).all()]
        cause = first_cause([given], [made], same)
        seen += " the weights behind it are wrong:"
    if cause is not None:
        raise MISTAKES.failure(cause, _show(given), seen)


def _show(numbers: np.ndarray) -> str:
    sums = {"its sums": numbers.sum(axis=1)} if numbers.ndim == 2 else {}
    return show(yours=numbers, **sums)


__all__ = ["exercise", *exercise.points]
