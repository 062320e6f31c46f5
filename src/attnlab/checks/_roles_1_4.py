"""Which heads of a model do what, by the thresholds that exercise 1.4 states."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from attnlab.checks._mistakes_1_4 import adjacency, relation, uniformity
from nbmark.graded import CheckFailed

THRESHOLDS = {"adjacent": 0.5, "relation": 0.5, "uniform": 0.9}
MARGIN = 0.05  # this close to a threshold, either name counts
NAMES = (*THRESHOLDS, "other")


def role_scores(maps: np.ndarray) -> dict[str, np.ndarray]:
    """Give the score behind each name, (L, H), from maps (L, B, H, S, S).

    A relation lies two places or more apart, and at most half of the sequence, so that at least
    half of the queries count.
    """
    half = maps.shape[-1] // 2
    offsets = [offset for offset in range(-half, half + 1) if abs(offset) > 1]
    relations = np.stack([relation(maps, offset) for offset in offsets])  # (offsets, L, H)
    return {"adjacent": adjacency(maps), "relation": relations.max(0), "uniform": uniformity(maps)}


def check_roles(head_roles: Any, maps: np.ndarray) -> int:
    """Fail unless every head has a name that its scores allow; give the number of heads."""
    scores = role_scores(maps)
    L, H = scores["adjacent"].shape
    roles = _read_roles(head_roles, L, H)
    wrong = {head: name for head, name in roles.items() if not _fits(name, scores, head)}
    if not wrong:
        return len(roles)
    mirrored = {(L - 1 - layer, head): name for (layer, head), name in roles.items()}
    if len(wrong) > 1 and all(_fits(name, scores, head) for head, name in mirrored.items()):
        said = "Your names fit if the layers are exchanged. Index 0 is the layer next to the \
            embedding, as in the maps."
        raise CheckFailed("layers_exchanged", said)
    head, name = next(iter(wrong.items()))
    cause, why = _explain(name, scores, head)
    count = f"{len(wrong)} of {len(roles)} names do not follow from your model's scores. "
    raise CheckFailed(cause, f"{count}Head {head} is called {name!r}, but {why}")


def _read_roles(head_roles: Any, L: int, H: int) -> dict[tuple[int, int], str]:
    """Read the names, with their keys as integers, or say what is wrong with their form."""
    if not isinstance(head_roles, Mapping):
        said = f"`head_roles` is of type {type(head_roles).__name__}. Make it a dictionary, such \
            as {{(0, 0): 'other', (0, 1): 'uniform', ...}}."
        raise CheckFailed("no_dictionary", said)
    try:
        roles = {(int(layer), int(head)): name for (layer, head), name in head_roles.items()}
    except (TypeError, ValueError):
        said = "A key of `head_roles` is no pair (layer, head). Use both numbers, such as (0, 3)."
        raise CheckFailed("wrong_keys", said) from None
    heads = {(layer, head) for layer in range(L) for head in range(H)}
    found = f"Layers run from 0 to {L - 1} and heads from 0 to {H - 1}, as in the maps."
    if set(roles) != heads and len(roles) == len(heads):
        if min(min(roles)) == 1 or {layer for layer, _ in roles} == set(range(1, L + 1)):
            raise CheckFailed("counted_from_one", f"Your keys count from 1. {found}")
        if {key[::-1] for key in roles} == heads:
            raise CheckFailed("keys_exchanged", "Your keys are (head, layer). Write (layer, head).")
    for key in sorted(set(roles) - heads):
        raise CheckFailed("no_such_head", f"There is no head {key}. {found}")
    for key in sorted(heads - set(roles)):
        said = f"Head {key} has no name. Name all {len(heads)} heads; 'other' is a name, too."
        raise CheckFailed("heads_missing", said)
    roles = {key: str(roles[key]).strip().lower() for key in sorted(roles)}
    for key, name in roles.items():
        if name not in NAMES:
            said = f"Head {key} is called {name!r}. Use one of {', '.join(map(repr, NAMES))}."
            raise CheckFailed("unknown_name", said)
    return roles


def _fits(name: str, scores: dict[str, np.ndarray], head: tuple[int, int]) -> bool:
    """Tell whether a head may carry a name; near a threshold both names fit."""
    if name == "other":
        return all(scores[role][head] < least + MARGIN for role, least in THRESHOLDS.items())
    return bool(scores[name][head] >= THRESHOLDS[name] - MARGIN)


def _explain(name: str, scores: dict[str, np.ndarray], head: tuple[int, int]) -> tuple[str, str]:
    """Say which score speaks against a name, with a cause."""
    if name == "other":
        return "overlooked", "one of its three scores reaches the threshold. Compute all three."
    value, least = scores[name][head], THRESHOLDS[name]
    against = f"that score is {value:.2f} and not {least} or more"
    if name == "relation" and _fits("adjacent", scores, head):
        return (
            "adjacent_as_relation",
            f"its key is a neighbour. Offsets from 2 on are relations; \
            there {against}.",
        )
    if name == "adjacent" and _fits("relation", scores, head):
        return "relation_as_adjacent", f"its key is further away. At offsets -1 and +1 {against}."
    cause = {"adjacent": "not_adjacent", "relation": "no_relation", "uniform": "not_uniform"}[name]
    advice = " Average over many sequences, not over a single one." if value > least - 0.2 else ""
    return cause, f"{against}.{advice}"
