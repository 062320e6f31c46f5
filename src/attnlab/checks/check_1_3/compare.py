"""Calls the student's attention function and says what is wrong with what it returns."""

from collections.abc import Callable
from typing import Any

import numpy as np

from attnlab.checks._diagnose import ask, differs, show, show_wrong_row
from attnlab.checks._figures import show_weights
from attnlab.checks.check_1_3.cases import Case
from attnlab.checks.check_1_3.mistakes import MISTAKES, wrong_scale
from attnlab.checks.check_1_3.numpy_only import require_numpy_only
from attnlab.reference import scaled_dot_product_attention as reference

Function = Callable[..., Any]


def require_own_work(function: Function, one: Case, other: Case) -> None:
    """Fail unless the function is NumPy's alone and answers two cases of one size differently."""
    require_numpy_only(function)
    (_, first), (_, second) = attend(function, one), attend(function, other)
    if not differs(first, second, 1e-9):
        raise MISTAKES.failure("hard_coded", show(your_weights=first))


def attend(function: Function, case: Case, words: str = "") -> tuple[np.ndarray, np.ndarray]:
    """Call the function; give output (S_q, d_v) and weights (S_q, S_k), or say what is no array.

    `words` say what is special about the case.
    """
    output, weights = _pair(ask(function, *case.arguments().values(), case=words or str(case)))
    for name, array in (("output", output), ("weights", weights)):
        _require_numbers(name, array)
    (S_q, d_k), (S_k, d_v) = case.Q.shape, case.V.shape
    shapes, right = (output.shape, weights.shape), ((S_q, d_v), (S_q, S_k))
    if shapes != right:
        cause = "wrong_shape"
        if shapes == right[::-1]:
            cause = "swapped_outputs"
        elif shapes[1] == (S_k, S_q):
            cause = "transposed"
        elif shapes == ((S_q, d_k), right[1]):
            cause = "keys_for_values"
        yours = f"    yours: output {shapes[0]}, weights {shapes[1]}, with {case}"
        raise MISTAKES.failure(cause, yours, case=case, output=right[0], weights=right[1])
    return np.asarray(output, np.float64), np.asarray(weights, np.float64)


def _pair(result: Any) -> Any:
    """Give output and weights, or say why what was returned is not both."""
    if not isinstance(result, tuple | list):
        raise MISTAKES.failure("returns_output_only", kind=type(result).__name__)
    if len(result) != 2:
        raise MISTAKES.failure("wrong_number", number=len(result))
    return result


def _require_numbers(name: str, array: Any) -> None:
    """Fail unless this is a plain NumPy array of float32 or finer."""
    if not isinstance(array, np.ndarray):
        seen = f"Your {name} is of type {type(array).__name__}. Return a NumPy array."
        raise MISTAKES.failure("not_numpy", seen=seen)
    if isinstance(array, np.ma.MaskedArray):
        raise MISTAKES.failure("masked_array", name=name)
    if array.dtype.kind != "f" or array.dtype.itemsize < 4:
        raise MISTAKES.failure("wrong_dtype", name=name, dtype=array.dtype)


def compare(
    function: Function,
    case: Case,
    words: str = "",
    if_lost: str | None = None,
    if_wrong: str | None = None,
    seen: str = "",
) -> tuple[np.ndarray, np.ndarray]:
    """Call the function, compare output and weights with the oracle's, and give them.

    For cases that bring out a single cause, `if_lost` is the one where a row that may read
    something is NaN or all zeros, and `if_wrong`, said after what was `seen`, that of other wrong
    weights.
    """
    output, weights = attend(function, case, words)
    right_output, right_weights = reference(case.Q, case.K, case.V, case.mask)
    with np.errstate(all="ignore"):
        beside = {} if case.mask is None else {"mask": case.allowed}
        head = f"    {case}{', ' if words else ''}{words}\n"
        if differs(weights, right_weights):
            lost = not (weights[case.allowed.any(-1)].sum(-1) > 0).all()
            known = (if_lost, "") if lost else (if_wrong, seen)
            cause, seen = known if known[0] else _explain_weights(case, weights, right_weights)
            if case.mask is not None:
                show_weights(weights, case.allowed)
            example = head + show_wrong_row(weights, right_weights, **beside)
            raise MISTAKES.failure(cause, example, seen)
        if differs(output, right_output):
            cause, seen = _explain_output(case, weights, output, right_output)
            example = head + show_wrong_row(output, right_output, **beside)
            raise MISTAKES.failure(cause, example, seen)
    return output, weights


def _explain_weights(case: Case, given: np.ndarray, right: np.ndarray) -> tuple[str, str]:
    """Find the cause of wrong weights, and what was seen of it."""
    allowed, masked = case.allowed, case.mask is not None
    busy = allowed.any(-1)  # (S_q,) queries that may read something
    if np.isnan(given[busy]).any():
        return "zero_times_infinity" if masked else "nan", ""
    if np.isnan(given).any():
        return "nan_on_masked_row", ""
    cause = masked and MISTAKES.explain("masked", given, case)
    if cause := cause or MISTAKES.explain("weights", given, case):
        return cause, ""
    if not differs(given[busy], right[busy]):
        return "mask_finite", "A query that may read nothing still gets weights, where 0 is right."
    if cause := wrong_scale(case, given):
        return cause, ""
    kept = np.where(allowed, given, 0)
    if not differs(kept / kept.sum(-1, keepdims=True), right):
        if (given > kept).any():
            return "mask_finite", "A blocked key keeps a little weight."
        return "row_sums", "Your weights are right but for a factor: their rows do not sum to 1."
    return "imprecise" if np.abs(given - right).max() < 1e-2 else "value", ""


def _explain_output(
    case: Case, weights: np.ndarray, given: np.ndarray, right: np.ndarray
) -> tuple[str, str]:
    """Find the cause of a wrong output beside right weights, and what was seen of it."""
    if not differs(given, weights @ case.V):
        return "imprecise", ""
    if not differs(given, right, 6e-3):
        return "imprecise", "Your weights are right, but not your output."
    return MISTAKES.explain("output", given, case, weights) or "output_value", ""
