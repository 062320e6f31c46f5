"""Calls the student's attention function and says what is wrong with what it returns."""

import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from attnlab.checks._diagnose import alike, ask, differs, first_cause, show_wrong_row
from attnlab.checks._figures import show_weights
from attnlab.checks.check_1_3.cases import SIZES, Case, draw
from attnlab.checks.check_1_3.follow import Given
from attnlab.checks.check_1_3.mistakes import MISTAKES, wrong_scale
from attnlab.reference import scaled_dot_product_attention as reference
from nbmark.graded import CheckFailed

Function = Callable[..., Any]


def attend(
    function: Function | Given, case: Case, words: str = ""
) -> tuple[np.ndarray, np.ndarray]:
    """Call the function; give output, (S_q, d_v), and weights, (S_q, S_k), or say what is wrong."""
    called = function.function if isinstance(function, Given) else function
    result = ask(called, *case.arguments().values(), case=words or str(case))
    one = not isinstance(result, tuple | list)
    MISTAKES.fail_if(one, "returns_output_only", kind=type(result).__name__)
    MISTAKES.fail_if(len(result) != 2, "wrong_number", number=len(result))
    output, weights = map(_read, ("output", "weights"), result)
    (S_q, d_k), (S_k, d_v) = case.Q.shape, case.V.shape
    shapes, right = (output.shape, weights.shape), ((S_q, d_v), (S_q, S_k))
    if isinstance(function, Given) and not function.judges_output and shapes[1] == right[1]:
        return output, weights
    yours = f"    yours: output {shapes[0]}, weights {shapes[1]}, with {case}"
    facts = {"case": case, "output": right[0], "weights": right[1]}
    cause = _wrong_shapes(shapes, right, (S_q, d_k))
    MISTAKES.fail_if(shapes != right, cause, yours, **facts)
    return output, weights


def _wrong_shapes(shapes: tuple, right: tuple, of_queries: tuple[int, int]) -> str:
    """Name the cause of shapes that are not the right ones of output and weights."""
    if shapes == right[::-1]:
        return "swapped_outputs"
    if shapes[1] == right[1][::-1]:
        return "transposed"
    if shapes == (of_queries, right[1]):
        return "keys_for_values"
    S_q, S_k, _, d_v = SIZES
    notebook = (S_q, d_v), (S_q, S_k)
    typed = shapes[0] == notebook[0] != right[0] or shapes[1] == notebook[1] != right[1]
    return "hard_coded_sizes" if typed else "wrong_shape"


def right_weights(case: Case) -> np.ndarray:
    """Give the weights that are right, (S_q, S_k)."""
    return reference(case.Q, case.K, case.V, case.mask)[1]


def order_of(function: Function, case: Case) -> tuple[int, ...] | None:
    """Give the order of Q, K and V in which the function would be right, if it is another one."""
    given = list(case.arguments().values())
    for order in itertools.permutations(range(3)):
        with contextlib.suppress(CheckFailed):
            result = ask(function, *(given[i].copy() for i in order), *given[3:])
            if isinstance(result, tuple | list) and len(result) == 2 and order != (0, 1, 2):
                weights = np.asarray(result[1])
                if weights.dtype.kind == "f" and not differs(weights, right_weights(case)):
                    return order
    return None


def _read(name: str, array: Any) -> np.ndarray:
    """Read a plain NumPy array of float32 or finer, and nothing else."""
    seen = f"Your {name} is of type {type(array).__name__}. Return a NumPy array."
    MISTAKES.fail_if(not isinstance(array, np.ndarray), "not_numpy", seen=seen)
    MISTAKES.fail_if(isinstance(array, np.ma.MaskedArray), "masked_array", name=name)
    coarse = array.dtype.kind != "f" or array.dtype.itemsize < 4
    MISTAKES.fail_if(coarse, "wrong_dtype", name=name, dtype=array.dtype)
    return np.asarray(array, np.float64)


def compare(
    function: Function | Given,
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
        taken = isinstance(function, Given)
        follows = taken and differs(weights, right_weights) and function.expects(case, weights)
        if follows or (taken and not function.judges_output):
            right_output = output
        if differs(weights, right_weights) and not follows:
            given, right = weights, right_weights
            lost = not (weights[case.allowed.any(-1)].sum(-1) > 0).all()
            known = (if_lost, "") if lost else (if_wrong, seen)
            cause, seen = known if known[0] else _explain_weights(function, case, given, right)
            if case.mask is not None:
                show_weights(weights, case.allowed)
        elif differs(output, right_output):
            cause, seen = _explain_output(function, case, weights, given, right)
        else:
            return output, weights
        beside = {} if case.mask is None else {"mask": case.allowed}
        head = f"    {case}{', ' if words else ''}{words}\n"
        name = cause in ("value", "output_value") and unused_argument(function)
        if name:
            raise MISTAKES.failure("argument_unused", head, name=name)
        raise MISTAKES.failure(cause, head + show_wrong_row(given, right, **beside), seen)


def _explain_weights(
    function: Function | Given, case: Case, given: np.ndarray, right: np.ndarray
) -> tuple[str, str]:
    """Find the cause of wrong weights, and what was seen of it."""
    allowed, masked = case.allowed, case.mask is not None
    busy = allowed.any(-1)  # (S_q,) queries that may read something
    seen = [(case, given), *_probes(function, masked, len(case.Q) == len(case.K))]
    cause = masked and _known("masked", seen)
    if cause := cause or _known("weights", seen):
        return cause, ""
    if np.isnan(given[busy]).any():
        return "zero_times_infinity" if masked else "nan", ""
    if np.isnan(given).any():
        return "nan_on_masked_row", ""
    if not differs(given[busy], right[busy]):
        return "mask_finite", "A query that may read nothing still gets weights, where 0 is right."
    if cause := wrong_scale(case, given):
        return cause, ""
    kept = np.where(allowed, given, 0)
    if not differs(kept / kept.sum(-1, keepdims=True), right):
        if (given > kept).any():
            return "mask_finite", "A blocked key keeps a little weight."
        return "row_sums", "The weights are right but for a factor: their rows do not sum to 1."
    return "imprecise" if np.abs(given - right).max() < 1e-2 else "value", ""


def _known(quantity: str, seen: Sequence[tuple[Case, np.ndarray]]) -> str | None:
    """Find the mistake of the table that makes all weights seen."""
    made = [MISTAKES.made(quantity, case) for case, _ in seen]
    return first_cause([weights for _, weights in seen], made)


def _probes(
    function: Function | Given, masked: bool, square: bool
) -> Iterator[tuple[Case, np.ndarray]]:
    """Call the function once more, in cases of full size: a small one may fit several causes."""
    rng, sizes = np.random.default_rng(3), (5, 5, 4, 6) if square else SIZES
    for blocked in (0, 2):
        mask = rng.random(sizes[:2]) < 0.5
        mask[:, 1], mask[:, 3:][:, :blocked] = True, False  # keys that all or none may read
        case = draw(rng, sizes, mask if masked else None)
        with contextlib.suppress(CheckFailed):
            yield case, attend(function, case)[1]


def unused_argument(function: Function | Given) -> str | None:
    """Name an argument that makes no difference."""
    case = draw(np.random.default_rng(3))
    output, weights = attend(function, case)
    for name in ("Q", "K", "V"):
        other = case.arguments() | {name: case.arguments()[name][::-1] + 1}
        new_output, new_weights = attend(function, Case(*other.values()))
        same = alike(new_output, output) if name == "V" else alike(new_weights, weights)
        if same:
            return name
    return None


def _explain_output(
    function: Function | Given,
    case: Case,
    weights: np.ndarray,
    given: np.ndarray,
    right: np.ndarray,
) -> tuple[str, str]:
    """Find the cause of a wrong output beside right weights, and what was seen of it."""
    if not differs(given, weights @ case.V):
        return "imprecise", ""
    if not differs(given, right, 6e-3):
        return "imprecise", "The weights are right, but the output is not."
    other = draw(np.random.default_rng(3))  # a small case may fit several causes
    also, their_weights = attend(function, other)
    made = [MISTAKES.made("output", *pair) for pair in ((case, weights), (other, their_weights))]
    return first_cause([given, also], made) or "output_value", ""
