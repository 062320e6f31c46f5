"""Calls the student's attention function and says what is wrong with what it returns."""

from collections.abc import Callable
from typing import Any

import numpy as np

from attnlab.checks._diagnose import ask, differs, show_wrong_row
from attnlab.checks._figures import show_weights
from attnlab.checks.check_1_3.cases import Case
from attnlab.checks.check_1_3.mistakes import MISTAKES, wrong_scale
from attnlab.reference import scaled_dot_product_attention as reference

Function = Callable[..., Any]


def attend(function: Function, case: Case, words: str = "") -> tuple[np.ndarray, np.ndarray]:
    """Call the function; give output, (S_q, d_v), and weights, (S_q, S_k), or say what is wrong."""
    result = ask(function, *case.arguments().values(), case=words or str(case))
    one = not isinstance(result, tuple | list)
    MISTAKES.fail_if(one, "returns_output_only", kind=type(result).__name__)
    MISTAKES.fail_if(len(result) != 2, "wrong_number", number=len(result))
    output, weights = map(_read, ("output", "weights"), result)
    (S_q, d_k), (S_k, d_v) = case.Q.shape, case.V.shape
    shapes, right = (output.shape, weights.shape), ((S_q, d_v), (S_q, S_k))
    cause = "wrong_shape"
    if shapes == right[::-1]:
        cause = "swapped_outputs"
    elif shapes[1] == (S_k, S_q):
        cause = "transposed"
    elif shapes == ((S_q, d_k), right[1]):
        cause = "keys_for_values"
    yours = f"    yours: output {shapes[0]}, weights {shapes[1]}, with {case}"
    facts = {"case": case, "output": right[0], "weights": right[1]}
    MISTAKES.fail_if(shapes != right, cause, yours, **facts)
    return output, weights


def _read(name: str, array: Any) -> np.ndarray:
    """Read a plain NumPy array of float32 or finer, and nothing else."""
    seen = f"Your {name} is of type {type(array).__name__}. Return a NumPy array."
    MISTAKES.fail_if(not isinstance(array, np.ndarray), "not_numpy", seen=seen)
    MISTAKES.fail_if(isinstance(array, np.ma.MaskedArray), "masked_array", name=name)
    coarse = array.dtype.kind != "f" or array.dtype.itemsize < 4
    MISTAKES.fail_if(coarse, "wrong_dtype", name=name, dtype=array.dtype)
    return np.asarray(array, np.float64)


def compare(
    function: Function,
    case: Case,
    words: str = "",
    if_lost: str | None = None,
    if_wrong: str | None = None,
    seen: str = "",
) -> tuple[np.ndarray, np.ndarray]:
    """Call the function, compare output and weights with the oracle's, and give them.

    Where a case brings out a single cause, `if_lost` is that of a row that may read something but
    is NaN or zeros, and `if_wrong`, said after what was `seen`, that of other wrong weights.
    """
    output, weights = attend(function, case, words)
    right_output, right_weights = reference(case.Q, case.K, case.V, case.mask)
    given, right = output, right_output
    with np.errstate(all="ignore"):
        if differs(weights, right_weights):
            given, right = weights, right_weights
            lost = not (weights[case.allowed.any(-1)].sum(-1) > 0).all()
            known = (if_lost, "") if lost else (if_wrong, seen)
            cause, seen = known if known[0] else _explain_weights(case, given, right)
            if case.mask is not None:
                show_weights(weights, case.allowed)
        elif differs(output, right_output):
            cause, seen = _explain_output(case, weights, given, right)
        else:
            return output, weights
        beside = {} if case.mask is None else {"mask": case.allowed}
        head = f"    {case}{', ' if words else ''}{words}\n"
        raise MISTAKES.failure(cause, head + show_wrong_row(given, right, **beside), seen)


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
