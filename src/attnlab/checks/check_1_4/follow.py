"""Wrong functions of exercise 1.4, taken as given: what is made with them costs nothing more.

Only a mistake that is known is taken as given: a function that gives anything at all is none.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch

from attnlab.checks._diagnose import ask, ask_with_any, read_array
from attnlab.checks.check_1_4.cases import close, draw_maps, fits, maps_of, recompute
from attnlab.checks.check_1_4.compare import compare
from attnlab.checks.check_1_4.mistakes import MISTAKES
from attnlab.checks.check_1_4.roles import check_names, relation_offsets
from attnlab.transformer import TransformerEncoder
from nbmark.graded import CheckFailed

UNKNOWN = {"wrong_value", "raised", "not_attempted", "not_finite", "no_numbers"}


def own_maps(
    attention_maps: Callable | None, model: TransformerEncoder, x: torch.Tensor
) -> np.ndarray | None:
    """Give the maps that the student's function makes by a known mistake, if it makes one."""
    right = maps_of(model, x)
    try:
        own = read_array("own", ask(attention_maps, model, x))
    except CheckFailed:
        return None
    if own.shape != right.shape or close(own, right):
        return None
    again = partial(recompute, model, x)
    return own if MISTAKES.explain("maps", own, right, again, same=close) else None


def takes_larger_side(
    adjacency: Callable, relation_score: Callable | None, *arguments: tuple
) -> bool:
    """Tell whether an adjacency is the larger of what the student's wrong relation score gives."""
    if relation_score is None or _mistake("relation", relation_score) in (None, *UNKNOWN):
        return False
    try:
        for (maps,) in arguments:
            sides = [_score(relation_score, maps, offset) for offset in (-1, 1)]
            if not fits("adjacency", _score(adjacency, maps), np.maximum(*sides)):
                return False
    except (CheckFailed, ValueError):
        return False
    return True


def names_by_own_scores(
    head_roles: Any, model: TransformerEncoder, x: torch.Tensor, functions: Sequence[Callable]
) -> int:
    """Give the number of heads whose names the student's own scores allow, 0 where not all."""
    if len(functions) != 4:
        return 0
    attention_maps, relation_score, adjacency, uniformity = functions
    mistakes = {_mistake("relation", relation_score), _mistake("uniformity", uniformity)}
    if not takes_larger_side(adjacency, relation_score, *zip(draw_maps("sides"))):
        mistakes.add(_mistake("adjacency", adjacency))
    maps, own = maps_of(model, x), own_maps(attention_maps, model, x)
    if mistakes & UNKNOWN or (mistakes == {None} and own is None):
        return 0
    maps = maps if own is None else own
    try:
        relations = [_score(relation_score, maps, k) for k in relation_offsets(maps)]
        scores = {
            "adjacent": _score(adjacency, maps),
            "relation": np.max(relations, axis=0),
            "uniform": _score(uniformity, maps),
        }
        return check_names(head_roles, scores)
    except (CheckFailed, ValueError, KeyError):
        return 0


def _score(function: Callable, maps: np.ndarray, *offset: int) -> np.ndarray:
    return read_array("score", ask_with_any(function, "maps", maps, *offset))


def _mistake(score: str, function: Callable) -> str | None:
    """Give the cause of what is wrong with a score, or None where it is right."""
    small, general = draw_maps(f"follow {score}")
    arguments: list[tuple] = [(small,), (general,)]
    if score == "relation":
        arguments = [(small, 1), (small, -1), (general, 3), (general, -2)]
    try:
        compare(function, score, *arguments)
    except CheckFailed as failed:
        return failed.cause
    return None
