"""Checks of exercise 1.1: attention by hand, with and without the scale.

The numbers are fixed, so a wrong answer is recognised by the numbers that it holds: each known
mistake is worked out here and compared with what the student wrote.
"""

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from attnlab.checks._diagnose import differs, first_cause, read_array, show
from attnlab.checks._settings import Exercise
from attnlab.checks.check_1_1.cases import PLAIN, SCALED, Case, V, terms_of
from attnlab.checks.check_1_1.contracts import TOLD
from attnlab.checks.check_1_1.follow import follows
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


def _graded(quantity: str, case: Case, points: int, shown: str) -> Callable[[Any], None]:
    """Make the check of a quantity, such as `weights_with_scale` of the variable weights_scaled."""
    scale = "without" if case is PLAIN else "with"
    variable = f"{quantity}_{'unscaled' if case is PLAIN else 'scaled'}"

    def test(given: Any, weights: Any = None) -> str:
        if quantity != "weights" and follows(quantity, given, weights, case, TOLERANCE):
            record(variable, getattr(case, quantity))
            return f"""`{variable}` is what follows from your weights. Those are wrong, which the
                check of the weights is about; apart from them this is right."""
        _require_right(variable, quantity, given, case)
        return f"`{variable}` is right: {shown}."

    test.__name__ = test.__qualname__ = f"{quantity}_{scale}_scale"
    test.__doc__ = f"Show that `{variable}` holds the right numbers: {shown}."
    return exercise.check(points, **TOLD[test.__name__])(test)


def _require_right(name: str, quantity: str, given: Any, case: Case) -> None:
    """Compare numbers with the right ones and with what known mistakes make.

    Two decimals and four count as the same answer, so what is recorded is moved to a grid of
    twice the tolerance on which the right value lies.
    """
    tolerance, right = TOLERANCE[quantity], getattr(case, quantity)
    numbers = _read(name, given, len(right.shape))
    if quantity == "entropy" and numbers.shape in {(2, 1), (1, 2)}:
        numbers = numbers.ravel()  # a column or a row of two numbers says the same
    fits = numbers.shape == right.shape
    if fits:
        record(name, right + 2 * tolerance * np.round((numbers - right) / (2 * tolerance)))
        if not differs(numbers, right, tolerance):
            return
    _explain(name, quantity, numbers, case, tolerance)
    doubled = numbers.shape and numbers.shape[-1] == 2 * right.shape[-1]
    cause = "decimal_comma" if doubled and (numbers % 1 == 0).all() else "wrong_shape"
    MISTAKES.fail_if(not fits, cause, name=name, shape=numbers.shape, fits=LAYOUT[quantity])
    if quantity == "weights" and np.abs(numbers.sum(axis=1) - 1).max() > 4 * tolerance:
        raise MISTAKES.failure("row_sums", _show(numbers), of=f"`{name}`:")
    off = np.abs(numbers - right).reshape(2, -1).max(axis=1) > tolerance
    which = "Both rows" if off.all() else f"Row {1 + int(off.argmax())}"
    of = f"{which} of `{name}` cannot be right."
    raise MISTAKES.failure("value", _show(numbers), of=of, remedy=REMEDY[quantity])


def _read(name: str, given: Any, axes: int) -> np.ndarray:
    """Read numbers; axes of length 1 in front of the right ones say nothing."""
    text = _text_in(given)
    MISTAKES.fail_if(text is not None, "number_as_text", name=name, text=text)
    numbers = read_array(name, given, finite=True)
    while numbers.ndim > axes and numbers.shape[0] == 1:
        numbers = numbers[0]
    return numbers


def _text_in(given: Any) -> str | None:
    """Find a number that is written as text in a form that does not read as one."""
    if isinstance(given, str):
        return (
            given
            if re.fullmatch(r"\s*-?\d+([.,]\d+)?\s*%?\s*", given) and not _reads(given)
            else None
        )
    if isinstance(given, list | tuple) or (
        isinstance(given, np.ndarray) and given.dtype.kind in "UO"
    ):
        return next(filter(None, map(_text_in, given)), None)
    return None


def _reads(text: str) -> bool:
    try:
        return float(text) is not None
    except ValueError:
        return False


def _decimals(numbers: np.ndarray) -> int:
    """Count the decimals that numbers were written with; three stand for more."""
    return next((d for d in range(3) if np.allclose(numbers, numbers.round(d), 0, 1e-9)), 3)


def _explain(name: str, quantity: str, given: np.ndarray, case: Case, tolerance: float) -> None:
    """Fail with the mistake that leads to these numbers, made here or in the weights before.

    Numbers of three decimals tell causes apart that fewer do not: they are compared closely first.
    """
    written = {0: 0.51, 1: 0.051, 2: 0.0055, 3: 0.0011}[_decimals(given)]
    for closeness in dict.fromkeys((min(written, tolerance), tolerance, max(written, tolerance))):
        _explain_within(name, quantity, given, case, closeness)


def _explain_within(
    name: str, quantity: str, given: np.ndarray, case: Case, tolerance: float
) -> None:
    """Fail with the mistakes that lead to these numbers within a tolerance: rivals are offered."""

    def same(given: np.ndarray, wrong: np.ndarray) -> bool:
        return not differs(given, wrong, tolerance * (wrong.max() if wrong.max() > 10 else 1))

    causes, of = MISTAKES.rivals(quantity, given, case, same=same), f"`{name}`:"
    if causes:
        raise MISTAKES.failure(causes[0], _show(given), of=of, rivals=causes[1:3])
    cause = None
    if quantity != "weights":
        weights = [(key, w) for key, w in MISTAKES.made("weights", case) if w.shape == (2, 3)]
        if quantity == "output":
            made = [(key, w @ V) for key, w in weights]
        else:
            made = [(key, terms_of(w).sum(axis=-1)) for key, w in weights if (w > 0).all()]
        cause = first_cause([given], [made], same)
        of += " the weights behind it are wrong:"
    if cause is not None:
        raise MISTAKES.failure(cause, _show(given), of=of)


def _show(numbers: np.ndarray) -> str:
    sums = {"its sums": numbers.sum(axis=1)} if numbers.ndim == 2 else {}
    return show(yours=numbers, **sums)


weights_without_scale = _graded("weights", PLAIN, 2, "each row is the softmax of its scores")
weights_with_scale = _graded("weights", SCALED, 2, "each row is flatter than without the scale")
output_without_scale = _graded("output", PLAIN, 1, "each row is a weighted mean of the values")
output_with_scale = _graded("output", SCALED, 1, "the scale leaves row 1 and moves row 2")
entropy_without_scale = _graded("entropy", PLAIN, 1, "both rows are equally spread")
entropy_with_scale = _graded("entropy", SCALED, 1, "higher, and so nearer to log 3, an even spread")

__all__ = ["exercise", *exercise.points]
