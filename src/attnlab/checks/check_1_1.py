"""Checks of exercise 1.1: attention by hand, with and without the scale.

The numbers are fixed, so a wrong answer is recognised by the numbers that it holds: each known
mistake is worked out here and compared with what the student wrote.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from attnlab.checks._mistakes_1_1 import (
    BY_ROW,
    PLAIN,
    ROOT,
    K,
    Mistake,
    Q,
    V,
    entropy,
    wrong_entropies,
    wrong_outputs,
    wrong_weights,
)
from attnlab.reference import softmax
from nbmark.answers import record
from nbmark.graded import CheckFailed, Exercise, NotAttempted, require

# Wide enough for two decimals, and for what rounding the weights does to all that follows.
WEIGHT_TOLERANCE, OUTPUT_TOLERANCE, ENTROPY_TOLERANCE = 0.0055, 0.02, 0.01

exercise = Exercise("1.1")


class Answer(NamedTuple):
    """What is asked for: the right values, how close is close enough, and how to get there."""

    name: str
    right: np.ndarray
    tolerance: float
    layout: str
    remedy: str


@exercise.check(points=2)
def weights_without_scale(weights_unscaled: Any) -> str:
    """Show that the weights are the softmax of the scores."""
    _check_weights("weights_unscaled", weights_unscaled, PLAIN)
    return "Your weights without the scale are right: each row is the softmax of its scores."


@exercise.check(points=2)
def weights_with_scale(weights_scaled: Any) -> str:
    """Show that the weights are the softmax of the scaled scores."""
    _check_weights("weights_scaled", weights_scaled, ROOT)
    return "Your weights with the scale are right, and each row is flatter than without it."


@exercise.check(points=1)
def output_without_scale(output_unscaled: Any) -> str:
    """Show that each row of the output is a weighted mean of the values."""
    _check_output("output_unscaled", output_unscaled, PLAIN)
    return "Your output without the scale is right: each row is a weighted mean of the values."


@exercise.check(points=1)
def output_with_scale(output_scaled: Any) -> str:
    """Show that the scale changes the second row of the output and leaves the first."""
    _check_output("output_scaled", output_scaled, ROOT)
    return "Your output with the scale is right. Row 1 is what it was without it; row 2 has moved."


@exercise.check(points=1)
def entropy_without_scale(entropy_unscaled: Any) -> str:
    """Show that the entropies are those of the rows, in nats."""
    _check_entropy("entropy_unscaled", entropy_unscaled, PLAIN)
    return "The entropies of your rows without the scale are right: both rows are equally spread."


@exercise.check(points=1)
def entropy_with_scale(entropy_scaled: Any) -> str:
    """Show that the scale raises the entropy of each row."""
    _check_entropy("entropy_scaled", entropy_scaled, ROOT)
    return "The entropies with the scale are right: higher, and so nearer to log 3, an even spread."


def _check_weights(name: str, given: Any, divisor: float) -> None:
    """Compare a table of weights with the right one, then with the known mistakes."""
    layout = "one row for each of 2 queries, in it 3 weights"
    remedy = "Begin again at its scores, the q · k, before you scale."
    right = softmax(Q @ K.T / divisor)  # (S_q, S_k)
    answer = Answer(name, right, WEIGHT_TOLERANCE, layout, remedy)
    numbers = _read(name, given)
    _compare(answer, numbers, wrong_weights(divisor))
    if np.abs(numbers.sum(axis=1) - 1).max() > 4 * WEIGHT_TOLERANCE:
        said = f"A row of `{name}` does not sum to 1. {BY_ROW}"
        raise CheckFailed("row_sums", said, _table(numbers))
    _tell_wrong_rows(answer, numbers)


def _check_output(name: str, given: Any, divisor: float) -> None:
    """Compare an output with the right one, then with the known mistakes."""
    layout = "one row for each of 2 queries, as wide as a value, 2"
    remedy = "Multiply each of its weights by its row of V, and add."
    right = softmax(Q @ K.T / divisor) @ V  # (S_q, d_v)
    answer = Answer(name, right, OUTPUT_TOLERANCE, layout, remedy)
    numbers = _read(name, given)
    _compare(answer, numbers, wrong_outputs(divisor))
    _tell_wrong_rows(answer, numbers)


def _check_entropy(name: str, given: Any, divisor: float) -> None:
    """Compare the entropies with the right ones, then with the known mistakes."""
    layout = "one number for each of 2 rows of weights"
    remedy = "Add up -p log p over its three weights, with the logarithm to base e."
    right = entropy(softmax(Q @ K.T / divisor))  # (S_q,)
    answer = Answer(name, right, ENTROPY_TOLERANCE, layout, remedy)
    numbers = _read(name, given)
    if numbers.shape in {(2, 1), (1, 2)}:  # a column or a row of two numbers says the same
        numbers = numbers.ravel()
    _compare(answer, numbers, wrong_entropies(divisor))
    _tell_wrong_rows(answer, numbers)


def _read(name: str, given: Any) -> np.ndarray:
    """Turn what the student wrote into an array of numbers, or say why it is none."""
    require(**{name: given})
    given = _plain(given)
    try:
        objects = np.array(given, dtype=object)
        if any(item is None or item is ... for item in objects.flat):
            raise NotAttempted(f"`{name}` has an empty place left")
        numbers = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        said = f"`{name}` is no table of numbers. Write it as a list of lists of equal length"
        raise CheckFailed("no_numbers", f"{said}, such as [[1, 2], [3, 4]].") from None
    if not np.isfinite(numbers).all():
        raise CheckFailed("not_finite", f"`{name}` holds nan or inf. Put a number in its place.")
    return numbers


def _plain(given: Any) -> Any:
    """Turn arrays, tensors and tuples, also such inside others, into lists."""
    if hasattr(given, "tolist"):
        given = given.tolist()
    return [_plain(item) for item in given] if isinstance(given, list | tuple) else given


def _compare(answer: Answer, given: np.ndarray, mistakes: Iterator[Mistake]) -> None:
    """Raise CheckFailed with the mistake whose values were given; record what was compared.

    Two decimals and four count as the same answer, so what is recorded is moved to a grid of
    twice the tolerance on which the right value lies.
    """
    name, right, tolerance = answer.name, answer.right, answer.tolerance
    if given.shape == right.shape:
        record(name, right + 2 * tolerance * np.round((given - right) / (2 * tolerance)))
        if np.abs(given - right).max() <= tolerance:
            return
    for cause, values, message in mistakes:
        near = tolerance * (values.max() if values.max() > 10 else 1)  # percentages
        if given.shape == values.shape and np.allclose(given, values, rtol=0, atol=near):
            raise CheckFailed(cause, f"`{name}`: {message}", _table(given))
    if given.shape != right.shape:
        if given.shape and given.shape[-1] == 2 * right.shape[-1] and (given % 1 == 0).all():
            said = f"`{name}` has twice as many numbers as asked for, all of them whole."
            raise CheckFailed("decimal_comma", f"{said} Write 0.5 with a point, not with a comma.")
        said = f"`{name}` has shape {given.shape}. It should have shape {right.shape}"
        raise CheckFailed("wrong_shape", f"{said}: {answer.layout}.")


def _tell_wrong_rows(answer: Answer, given: np.ndarray) -> None:
    """Fail with the rows that are wrong, unless all are right."""
    off = np.abs(given - answer.right).reshape(2, -1).max(axis=1) > answer.tolerance
    if off.any():
        which = "Both rows" if off.all() else f"Row {1 + int(off.argmax())}"
        said = f"{which} of `{answer.name}` cannot be right. {answer.remedy}"
        raise CheckFailed("value", said, _table(given))


def _table(numbers: np.ndarray) -> str:
    """Show what the student gave, with the sum of each row where there are rows."""
    rows = np.atleast_1d(numbers)
    if rows.ndim == 1:
        return "    yours:  " + "  ".join(f"{value:.3f}" for value in rows)
    lines = ("  ".join(f"{value:6.3f}" for value in row) for row in rows)
    return "\n".join(
        f"    your row {index}: {line}   sum {row.sum():.3f}"
        for index, (line, row) in enumerate(zip(lines, rows, strict=True), start=1)
    )
