"""What the checks share: calling the student's function, reading numbers, showing them."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from nbmark.graded import CheckFailed, call

TOLERANCE = 1e-5  # between right results, float32 ones included


def call_quietly(function: Callable[..., Any], *args: Any, case: str = "", **kwargs: Any) -> Any:
    """Call the student's function like `nbmark.graded.call`, without the warnings it causes.

    Raises
    ------
    CheckFailed
        With cause ``"returns_nothing"``, and as `nbmark.graded.call` does.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        result = call(function, *args, case=case, **kwargs)
    if result is None:
        name = getattr(function, "__name__", "your function")
        said = f"`{name}` returns None. End it with a return statement."
        raise CheckFailed("returns_nothing", said)
    return result


def read_array(name: str, value: Any, shape: tuple[int, ...] | None = None) -> np.ndarray:
    """Read a student's numbers as a float64 array, whether list, NumPy array or tensor.

    Parameters
    ----------
    name : str
        What the message calls it.
    value : object
    shape : tuple of int, optional
        The shape that fits.

    Raises
    ------
    CheckFailed
        With cause ``"no_numbers"`` or ``"wrong_shape"``.
    """
    if hasattr(value, "detach"):
        value = value.detach().cpu().double().numpy()
    try:
        with warnings.catch_warnings():  # that of a list of tensors
            warnings.simplefilter("ignore")
            array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        said = f"`{name}` is of type {type(value).__name__}, which does not read as numbers."
        raise CheckFailed("no_numbers", f"{said} Give an array or a tensor.") from None
    if shape is not None and array.shape != shape:
        said = f"`{name}` has shape {array.shape}, but {shape} fits."
        raise CheckFailed("wrong_shape", said)
    return array


def read_number(name: str, value: Any) -> float:
    """Read a student's single number; raises CheckFailed like `read_array`."""
    array = read_array(name, value)
    if array.size != 1:
        said = f"`{name}` holds {array.size} numbers. Give one number."
        raise CheckFailed("wrong_shape", said)
    return float(array.reshape(()))


def differs(given: np.ndarray, right: np.ndarray, tolerance: float = TOLERANCE) -> bool:
    """Tell whether two arrays differ in shape or in a value; NaN differs from everything."""
    return given.shape != right.shape or not bool((np.abs(given - right) <= tolerance).all())


def show(precision: int = 3, **arrays: np.ndarray) -> str:
    """Write arrays as lines with their names in front, for the example of a message."""
    width = max(map(len, arrays))
    lines = []
    for name, array in arrays.items():
        text = np.array2string(
            np.asarray(array), precision=precision, suppress_small=True, max_line_width=72
        )
        for index, line in enumerate(text.splitlines()):
            lines.append(f"    {name.replace('_', ' ') if index == 0 else '':{width}}  {line}")
    return "\n".join(lines)
