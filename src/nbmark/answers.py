"""What a graded cell saw of the student's work, recorded so that others can compare it.

A check draws its cases from `case_rng` and hands what the student's code returned to `record`. The
values leave the kernel as an output of a MIME type of their own, and whoever marks compares them
with those of the solution, outside of the process that the student's code ran in.
"""

import base64
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from IPython.display import display

MIME = "application/vnd.nbmark.answers+json"
SEED = "NBMARK_SEED"  # the environment variable that marking sets
PICTURES = "NBMARK_PICTURES"  # that with which a judge, "0", tells checks to draw none

TOLERANCE = 2e-4  # float32 against float64, and twice what most checks let pass

_open: list[dict[str, Any]] = []  # the collections under way, innermost last


def case_rng(stage: str = "") -> np.random.Generator:
    """Give the generator that a stage of a check draws its cases from.

    It is seeded by the environment variable `SEED` when marking, else always the same; what ran
    before makes no difference. A seed that is no whole number from 0 on raises ValueError.
    """
    seed = os.environ.get(SEED, "0")
    if not seed.isdecimal():
        raise ValueError(f"{SEED}={seed!r} is no seed; set it to a whole number from 0 on")
    return np.random.default_rng([int(seed), zlib.crc32(stage.encode())])


def record(name: str, value: Any, tolerance: float = TOLERANCE) -> None:
    """Record a value that the student's code gave: with those being collected, else as an output.

    The value is a number, truth value, text, None, NumPy array, PyTorch tensor, or a list, tuple or
    dictionary (with text for keys) of these: anything else raises TypeError, a name that is taken
    ValueError. The tolerance, absolute or relative, is at least twice what the check itself lets
    pass.
    """
    encoded = encode(value)
    if tolerance != TOLERANCE:
        encoded = {"value": encoded, "tolerance": tolerance}
    if not _open:
        display({MIME: {name: encoded}}, raw=True)
    elif name in _open[-1]:
        raise ValueError(f"{name!r} is recorded already; give each value a name of its own")
    else:
        _open[-1][name] = encoded


@contextmanager
def collect() -> Iterator[dict[str, Any]]:
    """Collect what is recorded, encoded, instead of putting it out at once."""
    collected: dict[str, Any] = {}
    _open.append(collected)
    try:
        yield collected
    finally:
        _open.pop()


def encode(value: Any) -> Any:
    """Turn a value into what JSON can hold, exactly; see `record` for the kinds of value."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Mapping):
        if strange := [key for key in value if not isinstance(key, str)]:
            raise TypeError(f"key {strange[0]!r} cannot be recorded; turn it into text")
        return {"dict": {key: encode(item) for key, item in value.items()}}
    if isinstance(value, list | tuple):
        return [encode(item) for item in value]
    if hasattr(value, "detach"):  # a tensor; bfloat16, which NumPy lacks, fits into float32
        value = value.detach().cpu()
        value = value.float() if str(value.dtype) == "torch.bfloat16" else value
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"a value of type {type(value).__name__} cannot be recorded")
    data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return {"dtype": array.dtype.str, "shape": list(array.shape), "data": data}


def decode(encoded: Any) -> Any:
    """Turn back what `encode` gave, or raise ValueError; numbers become NumPy arrays."""
    if encoded is None or isinstance(encoded, bool | str):
        return encoded
    if isinstance(encoded, list):
        return [decode(item) for item in encoded]
    if isinstance(encoded, Mapping) and "value" in encoded:
        return decode(encoded["value"])
    if isinstance(encoded, Mapping) and isinstance(encoded.get("dict"), Mapping):
        return {key: decode(item) for key, item in encoded["dict"].items()}
    try:
        dtype = np.dtype(encoded["dtype"])
        if dtype.kind not in "biuf":
            raise ValueError(f"dtype {dtype} holds no numbers")
        data = base64.b64decode(encoded["data"], validate=True)
        return np.frombuffer(data, dtype).reshape(encoded["shape"])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"this is no recorded value: {str(encoded)[:80]} ({error})") from None


def answers(outputs: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Give what a cell recorded, by name; ValueError if one is malformed or there twice."""
    return {name: decode(value) for name, value in _recorded(outputs)}


def difference(key: Iterable[Mapping[str, Any]], outputs: Iterable[Mapping[str, Any]]) -> str:
    """Say in what a cell's answers differ from the solution's; nothing if they agree.

    Both are outputs as nbformat stores them. The tolerances are the key's, and no value is told.
    """
    right = dict(_recorded(key))
    try:
        given = answers(outputs)
    except (ValueError, RecursionError) as error:
        return f"its answers cannot be read: {error}"
    if given.keys() != right.keys():
        odd = sorted(given.keys() ^ right.keys())
        return f"it did not record the answers that the solution records: {', '.join(odd)}"
    off = [n for n, key in right.items() if not same(given[n], decode(key), _tolerance(key))]
    return f"its answers are not the solution's: {', '.join(off)}" if off else ""


def _tolerance(encoded: Any) -> float:
    """Give the tolerance that a recorded value names."""
    named = isinstance(encoded, Mapping) and "tolerance" in encoded
    return encoded["tolerance"] if named else TOLERANCE


def same(given: Any, right: Any, tolerance: float = TOLERANCE) -> bool:
    """Tell whether two decoded values agree: numbers within a tolerance, all else exactly."""
    if isinstance(right, dict):
        keys = isinstance(given, dict) and given.keys() == right.keys()
        return keys and all(same(given[name], right[name], tolerance) for name in right)
    if isinstance(right, list):
        length = isinstance(given, list) and len(given) == len(right)
        return length and all(map(same, given, right, [tolerance] * len(right)))
    if not isinstance(right, np.ndarray):
        return type(given) is type(right) and given == right
    if not isinstance(given, np.ndarray) or given.shape != right.shape:
        return False
    return np.allclose(given, right, rtol=tolerance, atol=tolerance, equal_nan=True)


def _recorded(outputs: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Give names and encoded values of what a cell recorded."""
    seen: set[str] = set()
    for output in outputs:
        data = output.get("data")
        encoded = data.get(MIME, {}) if isinstance(data, Mapping) else {}
        if not isinstance(encoded, Mapping):
            raise ValueError(f"answers are no mapping: {str(encoded)[:80]}")
        for name, value in encoded.items():
            if name in seen:
                raise ValueError(f"{name!r} is recorded twice")
            seen.add(name)
            yield name, value
