"""Calling the student's three scores of exercise 1.4 with maps whose scores are known."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from attnlab.checks._diagnose import ask, differs, read_array, show
from attnlab.checks._mistakes_1_4 import SAID
from nbmark.answers import case_rng
from nbmark.graded import CheckFailed, NotAttempted

TOLERANCE = 1e-4  # wide enough for float32, and for a small number added inside a logarithm
SIZES = 3, 11, 5, 7  # layers, sequences, heads, positions: no two alike, none a usual base
AXES = ("layers", "sequences", "heads", "positions")


def cases(stage: str) -> tuple[np.ndarray, np.ndarray]:
    """Give the smallest maps that show a mistake, (1, 1, 1, 3, 3), and maps of all sizes."""
    rng = case_rng(stage)
    return _random_maps(rng, (1, 1, 1, 3)), _random_maps(rng, SIZES)


def _random_maps(rng: np.random.Generator, sizes: tuple[int, ...]) -> np.ndarray:
    """Give random maps, sure enough of themselves that no two scores are nearly alike."""
    odds = np.exp(1.5 * rng.standard_normal((*sizes, sizes[-1])))  # (L, B, H, S, S)
    return odds / odds.sum(-1, keepdims=True)


def score(function: Callable, maps: np.ndarray, *args: Any) -> np.ndarray:
    """Call a score with maps as a tensor or, where it takes no tensor, as an array.

    Raises
    ------
    CheckFailed
        With cause ``"mutates_input"``, or those of `call` and `read_array`.
    """
    name = getattr(function, "__name__", "score")
    kinds = torch.tensor(maps.copy(), dtype=torch.float32), maps.copy()
    failed = None
    for given_maps in kinds:
        try:
            value = ask(function, given_maps, *args, case=_call(maps, *args))
        except NotAttempted:
            raise
        except CheckFailed as error:
            failed = failed or error
            continue
        if not np.allclose(np.asarray(given_maps), maps, rtol=0, atol=1e-7):
            said = f"`{name}` changes the maps that it is given, and whoever uses them next gets \
                other maps. Work on a copy, or without assigning into `maps`."
            raise CheckFailed("mutates_input", said)
        return read_array(f"{name}(maps)", without_tensors(name, value))
    raise failed


def without_tensors(name: str, value: Any) -> Any:
    """Turn what a function returned into float64 arrays, or lists of them; it must be something."""
    if value is None:
        raise CheckFailed("returns_nothing", f"`{name}` returns None. End it with a return.")
    if isinstance(value, torch.Tensor):
        return value.detach().cpu().double().numpy()
    if isinstance(value, list | tuple):
        return [without_tensors(name, item) for item in value]
    return value


def check_shape(function: Callable, maps: np.ndarray, *args: Any) -> None:
    """Fail unless a score gives one number for each layer and head."""
    require_function(function)
    L, B, H, S = maps.shape[:4]
    given = score(function, maps, *args)
    if given.shape == (L, H):
        return
    sizes = dict(zip((L, B, H, S), AXES, strict=True))
    axes = " x ".join(sizes.get(size, str(size)) for size in given.shape) or "a single number"
    said = f"For maps of {L} layers, {B} sequences, {H} heads and {S} positions your score has \
        shape {given.shape}: {axes}. One number for each layer and head fits, {(L, H)}: average \
        over sequences and queries, and over nothing else."
    cause = {
        (): "one_number",
        (H, L): "transposed",
        (L, B): "heads_averaged",
        (L, B, H): "batch_not_averaged",
        (L, H, S): "queries_not_averaged",
        (L, B, H, S): "not_averaged",
        (H,): "layers_averaged",
        (L,): "heads_averaged",
    }
    raise CheckFailed(cause.get(given.shape, "wrong_shape"), said)


def require_function(function: Any) -> None:
    """Raise where there is no function yet, or it is called already."""
    if function is not None and not callable(function):
        said = f"This check needs your function itself, but got {type(function).__name__}."
        raise CheckFailed("not_callable", said)


def check_score(
    function: Callable, cases: list[tuple], right: Callable, wrong: Callable
) -> list[np.ndarray]:
    """Fail unless a score is right in all cases, and name the mistake that explains all of them.

    Parameters
    ----------
    function : callable
        The student's.
    cases : list of (maps, ...)
        What to call it with, the smallest first.
    right, wrong : callable
        Take the same arguments. The first gives the right score, the second yields what known
        mistakes make of it, always in the same order.

    Returns
    -------
    given : list of array
        What the student's function returned, for each case.
    """
    given = [score(function, *case) for case in cases]
    wanted = [right(*case) for case in cases]
    for case, value, target in zip(cases, given, wanted, strict=True):
        if value.shape != target.shape:
            said = f"With {_call(*case)} your score has shape {value.shape}, but {target.shape} \
                fits. Take all sizes from maps.shape."
            raise CheckFailed("wrong_shape", said)
    finite = [i for i, value in enumerate(given) if np.isfinite(value).all()]
    off = [i for i in finite if differs(given[i], wanted[i], TOLERANCE)]
    if off:
        first = cases[off[0]], given[off[0]], wanted[off[0]]
        for known in zip(*(wrong(*cases[i]) for i in finite), strict=True):
            pairs = zip((given[i] for i in finite), (values for _, values in known), strict=True)
            if not any(differs(value, values, TOLERANCE) for value, values in pairs):
                raise CheckFailed(known[0][0], SAID[known[0][0]], _example(*first))
        raise CheckFailed("wrong_value", _worst(*first), _example(*first))
    for case, value, target in zip(cases, given, wanted, strict=True):
        if not np.isfinite(value).all():
            cause = "nan_at_zero" if (case[0] == 0).any() else "not_finite"
            said = f"With {_call(*case)} your score is {value[~np.isfinite(value)][0]}. "
            raise CheckFailed(cause, said + SAID[cause], _example(case, value, target))
    return given


def _worst(case: tuple, given: np.ndarray, right: np.ndarray) -> str:
    """Say in words where a score is furthest off."""
    layer, head = np.unravel_index(np.abs(given - right).argmax(), right.shape)
    return f"With {_call(*case)} your score of layer {layer}, head {head} is \
        {given[layer, head]:.4f}, but {right[layer, head]:.4f} is right."


def _example(case: tuple, given: np.ndarray, right: np.ndarray) -> str:
    """Show a single small map with its score, or nothing for larger ones."""
    maps, *offset = case
    if right.size > 1:
        return ""
    label = f"map, offset {offset[0]:+d}" if offset else "map"
    return show(**{label: maps[0, 0, 0], "yours": given.reshape(-1), "expected": right.reshape(-1)})


def _call(maps: np.ndarray, *args: Any) -> str:
    """Write a call in words."""
    L, B, H, S = maps.shape[:4]
    said = f"maps of {L} x {B} x {H} x {S} x {S}"
    return said + "".join(f" and offset {offset:+d}" for offset in args)
