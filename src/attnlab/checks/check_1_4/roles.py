"""Which heads of a model do what, by the thresholds that exercise 1.4 states."""

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from attnlab.checks.check_1_4.cases import Case, relation
from attnlab.checks.check_1_4.mistakes import MISTAKES

LEAST = {"adjacent": 0.5, "relation": 0.5, "uniform": 0.9}
MARGIN = 0.05  # this close to a threshold, either name counts
NAMES = (*LEAST, "other")

Head = tuple[int, int]  # layer and head
Scores = dict[str, np.ndarray]  # by role, (L, H) each


def relation_offsets(maps: np.ndarray) -> list[int]:
    """Give the offsets of relations, at each of which half of the queries count at least."""
    half = maps.shape[-1] // 2
    return [offset for offset in range(-half, half + 1) if abs(offset) > 1]


def role_scores(maps: np.ndarray) -> Scores:
    """Give the score behind each name, (L, H), from maps (L, B, H, S, S)."""
    relations = np.stack([relation(maps, k) for k in relation_offsets(maps)])  # (offsets, L, H)
    near, flat = (Case(score, maps).right for score in ("adjacency", "uniformity"))
    return {"adjacent": near, "relation": relations.max(0), "uniform": flat}


def check_roles(head_roles: Any, maps: np.ndarray) -> int:
    """Fail unless every head has a name that its scores allow; give the number of heads."""
    return check_names(head_roles, role_scores(maps))


def check_names(head_roles: Any, scores: Scores) -> int:
    """Fail unless every head has a name that these scores allow; give the number of heads."""
    L, H = scores["adjacent"].shape
    roles = _read_roles(head_roles, L, H)
    wrong = [head for head in roles if not _fits(roles[head], scores, head)]
    if wrong and all(_fits(roles[L - 1 - i, j], scores, (i, j)) for i, j in roles):
        raise MISTAKES.failure("layers_exchanged")
    for head in wrong:
        name = roles[head]
        seen = f"{len(wrong)} of {len(roles)} names do not follow from your model's scores; "
        seen += f"head {head} is called {name!r}."
        facts = {"value": scores[name][head], "least": LEAST[name]} if name in LEAST else {}
        facts["head"] = head
        raise MISTAKES.failure(_cause(name, scores, head), seen=seen, **facts)
    return len(roles)


def _read_roles(head_roles: Any, L: int, H: int) -> dict[Head, str]:
    """Read the names, with their keys as integers, or say what is wrong with their form."""
    no_dictionary = not isinstance(head_roles, Mapping)
    MISTAKES.fail_if(no_dictionary, "no_dictionary", kind=type(head_roles).__name__)
    try:
        roles = {(int(i), int(j)): str(name) for (i, j), name in head_roles.items()}
    except (TypeError, ValueError):
        raise MISTAKES.failure("wrong_keys") from None
    heads = {(layer, head) for layer in range(L) for head in range(H)}
    extra, missing = sorted(set(roles) - heads), sorted(heads - set(roles))
    if extra:
        known = MISTAKES.explain("keys", set(roles), L, H, same=operator.eq)
        last = {"last_layer": L - 1, "last_head": H - 1}
        raise MISTAKES.failure(known or "no_such_head", head=extra[0], **last)
    if missing:
        raise MISTAKES.failure("heads_missing", head=missing[0], number=len(heads))
    roles = {head: roles[head].strip().lower() for head in sorted(roles)}
    for head, name in roles.items():
        facts = {"head": head, "name": name, "names": ", ".join(map(repr, NAMES))}
        MISTAKES.fail_if(name not in NAMES, "unknown_name", **facts)
    return roles


def _fits(name: str, scores: Scores, head: Head) -> bool:
    """Tell whether a head may carry a name; near a threshold both names fit."""
    if name == "other":
        return all(scores[role][head] < least + MARGIN for role, least in LEAST.items())
    return bool(scores[name][head] >= LEAST[name] - MARGIN)


def _cause(name: str, scores: Scores, head: Head) -> str:
    """Find why a head may not carry a name."""
    if name == "relation":
        return "adjacent_as_relation" if _fits("adjacent", scores, head) else "no_relation"
    if name == "adjacent" and _fits("relation", scores, head):
        return "relation_as_adjacent"
    return "overlooked" if name == "other" else f"not_{name}"
