"""What a graded cell saw of the student's work, recorded so that others can compare it.

A check draws its cases from `case_rng` and hands what the student's code returned to `record`. The
values leave the kernel as an output of a MIME type of their own, and whoever marks compares them
with those of the solution, outside of the process that the student's code ran in.
"""

import base64
import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from IPython.display import display

MIME = "application/vnd.nbmark.answers+json"
SEED = "NBMARK_SEED"  # the environment variable that marking sets

_open: list[dict[str, Any]] = []  # the collections under way, innermost last


def case_rng(stage: str = "") -> np.random.Generator:
    """Give the generator that a stage of a check draws its cases from.

    Parameters
    ----------
    stage : str, optional
        Name of the stage: each draws the same numbers whatever ran before it.

    Returns
    -------
    rng : numpy.random.Generator
        Seeded by the environment variable `SEED` when marking, else always the same.

    Raises
    ------
    ValueError
        If the variable holds no whole number from 0 on.
    """
    seed = os.environ.get(SEED, "0")
    if not seed.isdecimal():
        raise ValueError(f"{SEED}={seed!r} is no seed; set it to a whole number from 0 on")
    return np.random.default_rng([int(seed), zlib.crc32(stage.encode())])


def record(name: str, value: Any) -> None:
    """Record a value that the student's code gave.

    It becomes an output of the running cell, at once or with the others that are being
    collected (see `collect`).

    Parameters
    ----------
    name : str
        What it is, once in a cell.
    value : object
        Number, truth value, text, None, NumPy array, PyTorch tensor, or a list, tuple or
        dictionary (with text for keys) of these.

    Raises
    ------
    TypeError
        If the value, or one inside it, is anything else.
    ValueError
        If the name is taken.
    """
    encoded = encode(value)
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
    """Turn back what `encode` gave, whoever sent it; numbers come back as NumPy arrays.

    Raises
    ------
    ValueError
        If it is nothing that `encode` gives.
    """
    if encoded is None or isinstance(encoded, bool | str):
        return encoded
    if isinstance(encoded, list):
        return [decode(item) for item in encoded]
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


def answers(outputs: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Give all values that a cell recorded, by name.

    Parameters
    ----------
    outputs : list of mapping
        The cell's outputs as nbformat stores them.

    Raises
    ------
    ValueError
        If one is malformed or a name occurs twice.
    """
    found: dict[str, Any] = {}
    for output in outputs:
        data = output.get("data")
        encoded = data.get(MIME, {}) if isinstance(data, Mapping) else {}
        if not isinstance(encoded, Mapping):
            raise ValueError(f"answers are no mapping: {str(encoded)[:80]}")
        for name, value in encoded.items():
            if name in found:
                raise ValueError(f"{name!r} is recorded twice")
            found[name] = decode(value)
    return found
