"""Calls the student's attention function and says what is wrong with what it returns."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from attnlab.checks._mistakes_1_3 import (
    MESSAGES,
    Case,
    wrong_masked,
    wrong_outputs,
    wrong_scale,
    wrong_weights,
)
from attnlab.checks._numpy_only import require_numpy_only
from attnlab.checks._picture import show_weights
from attnlab.checks._shared import call_quietly, differs, show
from attnlab.reference import scaled_dot_product_attention as reference
from nbmark.graded import CheckFailed

Function = Callable[..., Any]
Finding = tuple[str, str]  # cause and message


def copies(case: Case) -> list[np.ndarray]:
    """Give what to call the function with, without a mask where there is none."""
    return [array.copy() for array in case if array is not None]


def require_own_work(function: Function, one: Case, other: Case) -> None:
    """Fail unless the function is NumPy's alone and answers two cases of one size differently."""
    require_numpy_only(function)
    (_, first), (_, second) = attend(function, one), attend(function, other)
    if not differs(first, second, 1e-9):
        said = "Your weights are the same whatever Q and K hold. Compute them from Q and K."
        raise CheckFailed("hard_coded", said, show(your_weights=first))


def attend(function: Function, case: Case, words: str = "") -> tuple[np.ndarray, np.ndarray]:
    """Call the function on copies; give output and weights in float64, or say what form is wrong.

    Parameters
    ----------
    function : callable
        The student's.
    case : Case
    words : str, optional
        What is special about the case.

    Returns
    -------
    output : float64 array, shape (S_q, d_v)
    weights : float64 array, shape (S_q, S_k)

    Raises
    ------
    CheckFailed
        If the result is no pair of NumPy arrays with these shapes.
    """
    output, weights = _pair(call_quietly(function, *copies(case), case=words or case.sizes()))
    for name, array in (("output", output), ("weights", weights)):
        _require_numbers(name, array)
    (S_q, d_k), (S_k, d_v) = case.Q.shape, case.V.shape
    shapes, right = (output.shape, weights.shape), ((S_q, d_v), (S_q, S_k))
    if shapes != right:
        known = {
            "swapped_outputs": (
                shapes == right[::-1],
                "You return the weights first. Return output, weights.",
            ),
            "transposed": (shapes[1] == (S_k, S_q), MESSAGES["transposed"]),
            "keys_for_values": (shapes == ((S_q, d_k), right[1]), MESSAGES["keys_for_values"]),
        }
        found = [(cause, said) for cause, (fits, said) in known.items() if fits]
        said = f"With {case.sizes()} output must have shape {right[0]} and weights {right[1]}."
        cause, message = (found or [("wrong_shape", said)])[0]
        yours = f"    yours: output {shapes[0]}, weights {shapes[1]}, with {case.sizes()}"
        raise CheckFailed(cause, message, yours)
    return np.asarray(output, np.float64), np.asarray(weights, np.float64)


def _pair(result: Any) -> Any:
    """Give output and weights, or say why what was returned is not both."""
    if isinstance(result, tuple | list) and len(result) == 2:
        return result
    if isinstance(result, tuple | list):
        said = f"Your function returns {len(result)} things. Return two: output, weights."
        raise CheckFailed("wrong_number", said)
    said = f"Your function returns one {type(result).__name__}. Return two things: output, weights."
    raise CheckFailed("returns_output_only", said)


def _require_numbers(name: str, array: Any) -> None:
    """Fail unless this is a plain NumPy array of float32 or finer."""
    if not isinstance(array, np.ndarray):
        said = f"Your {name} is of type {type(array).__name__}. Return a NumPy array."
        raise CheckFailed("not_numpy", said)
    if isinstance(array, np.ma.MaskedArray):
        said = f"Your {name} is a masked array, whose blocked places hold anything. Put zeros "
        raise CheckFailed("masked_array", said + "there and return a plain array: .filled(0).")
    if array.dtype.kind != "f" or array.dtype.itemsize < 4:
        said = f"Your {name} has dtype {array.dtype}, too coarse for weights. Keep floating-point "
        raise CheckFailed("wrong_dtype", said + "numbers of float32 or float64.")


def compare(
    function: Function,
    case: Case,
    words: str = "",
    if_lost: Finding | None = None,
    if_wrong: Finding | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Call the function and compare with the oracle.

    Parameters
    ----------
    function : callable
        The student's.
    case : Case
    words : str, optional
        What is special about the case.
    if_lost : (str, str), optional
        Cause and message where a row that may read something is NaN or all zeros.
    if_wrong : (str, str), optional
        Cause and message where the weights are wrong in any other way; both are for cases that
        bring out a single cause.

    Returns
    -------
    output, weights : float64 arrays

    Raises
    ------
    CheckFailed
        With the cause, and the first query that shows it.
    """
    output, weights = attend(function, case, words)
    right_output, right_weights = reference(*case)
    with np.errstate(all="ignore"):
        if differs(weights, right_weights):
            lost = not (weights[case.allowed().any(-1)].sum(-1) > 0).all()
            finding = if_lost if lost else if_wrong
            finding = finding or _explain_weights(case, weights, right_weights)
            if case.mask is not None:
                show_weights(weights, case.allowed())
            example = _example(case, words, weights, right_weights)
            raise CheckFailed(*finding, example)
        if differs(output, right_output):
            finding = known(wrong_outputs(case, weights), output) or VALUE_OUTPUT
            if not differs(output, weights @ case.V):
                finding = IMPRECISE
            elif not differs(output, right_output, 6e-3):
                finding = IMPRECISE_OUTPUT
            example = _example(case, words, output, right_output)
            raise CheckFailed(*finding, example)
    return output, weights


def known(mistakes: Iterator[tuple[str, np.ndarray]], given: np.ndarray) -> Finding | None:
    """Find the first known mistake that leads to what was given."""
    for cause, values in mistakes:
        if not differs(given, values):
            return cause, MESSAGES[cause]
    return None


def _explain_weights(case: Case, given: np.ndarray, right: np.ndarray) -> Finding:
    """Find cause and message of wrong weights."""
    allowed = case.allowed()
    busy = allowed.any(-1)  # (S_q,) queries that may read something
    if np.isnan(given[busy]).any():
        return NAN if case.mask is None else ZERO_TIMES_INFINITY
    if np.isnan(given).any():
        return NAN_ROW
    found = known(wrong_masked(case), given) if case.mask is not None else None
    if found := found or known(wrong_weights(case), given):
        return found
    if not differs(given[busy], right[busy]):
        return FINITE_ROW
    if cause := wrong_scale(case, given):
        return cause, MESSAGES[cause]
    kept = np.where(allowed, given, 0)
    if not differs(kept / kept.sum(-1, keepdims=True), right):
        return FINITE if (given > kept).any() else NOT_ONE
    return IMPRECISE if np.abs(given - right).max() < 1e-2 else VALUE


def _example(case: Case, words: str, given: np.ndarray, right: np.ndarray) -> str:
    """Show the first query whose row is wrong."""
    row = int(np.argmax([differs(a, b) for a, b in zip(given, right, strict=True)]))
    rows = {f"your row {row}": given[row], "expected": right[row]}
    if case.mask is not None:
        rows = {"mask": case.allowed()[row]} | rows
    precision = 3 if differs(given[row], right[row], 1e-3) else 7
    return f"    {case.sizes()}{', ' if words else ''}{words}\n" + show(precision, **rows)


VALUE = (
    "value",
    "Your weights are not the softmax of QKᵀ / √d_k. Compare the scores of the case below with "
    "yours first, then the softmax of one row.",
)
VALUE_OUTPUT = (
    "output_value",
    "Your weights are right, but your output is not their weighted mean of the values. Return "
    "weights @ V.",
)
NOT_ONE = (
    "row_sums",
    "The rows of your weights are right but for a factor: they do not sum to 1. Divide each row by "
    "its sum and by nothing more; only where that sum is 0 divide by 1.",
)
IMPRECISE_OUTPUT = (
    "imprecise",
    "Your weights are right and your output is close, but not to 1e-5. Do not round it.",
)
IMPRECISE = (
    "imprecise",
    "Your weights are close, but not to 1e-5. Keep all digits: do not round, and work in float32 "
    "or float64.",
)
NAN = (
    "nan",
    "Your weights hold NaN, although no score here is large. Look for a division by a sum that "
    "is 0, or a root of a negative number.",
)
NAN_ROW = (
    "nan_on_masked_row",
    "A query that may read nothing gets NaN: its scores are all minus infinity, and the softmax "
    "divides 0 by 0. Give such a row weights of 0.",
)
ZERO_TIMES_INFINITY = (
    "zero_times_infinity",
    "Your mask turns scores into NaN or plus infinity, and the row becomes NaN. 0 times infinity "
    "is NaN, and plus infinity blocks nothing: choose with np.where(mask, scores, -np.inf).",
)
FINITE_ROW = (
    "mask_finite",
    "A query that may read nothing still gets weights. If you block with a finite number, it "
    "cancels where all scores have it: block with -np.inf. Such a row must be 0.",
)
FINITE = (
    "mask_finite",
    "A blocked key keeps a little weight: you block with a finite number that is too small. "
    "Block with minus infinity, -np.inf.",
)
