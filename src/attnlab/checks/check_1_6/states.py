"""The state of nn.MultiheadAttention, and what the student of exercise 1.6 makes of it."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from attnlab.checks._diagnose import differs, read_array
from attnlab.checks.check_1_6.cases import NAMES
from attnlab.checks.check_1_6.mistakes import MISTAKES, THIRDS


def converted(state: Mapping[str, np.ndarray], width: int) -> dict[str, np.ndarray]:
    """Give what the state of nn.MultiheadAttention becomes."""
    right = {"W_o.weight": state["out_proj.weight"], "W_o.bias": state["out_proj.bias"]}
    for i, name in enumerate(NAMES[:3]):
        rows = slice(i * width, (i + 1) * width)
        right[f"{name}.weight"] = state["in_proj_weight"][rows]
        right[f"{name}.bias"] = state["in_proj_bias"][rows]
    return right


def read_state(given: Any, right: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Give the entries of a state by their names, or say what is wrong with its form."""
    kind = type(given).__name__
    what = f"one of type {kind} comes"
    if isinstance(given, torch.nn.Module):
        what = "a whole module comes, whose .state_dict() would be one"
    MISTAKES.fail_if(not isinstance(given, Mapping), "not_a_state", what=what)
    missing = [name for name in right if name not in given]
    odd = [str(name) for name in given if name not in right]
    if missing or odd:
        told = f", and {', '.join(odd[:3])} would not be taken" if odd else ""
        lacking = ", ".join(missing) or "none"
        are = "is" if len(missing) < 2 else "are"
        raise MISTAKES.failure("state_keys", missing=lacking, are=are, odd=told)
    return {name: read_array(f"state[{name!r}]", given[name]) for name in right}


def compare_states(given: Mapping, right: Mapping, width: int) -> None:
    """Fail unless each entry holds what it should."""
    off = [name for name in right if differs(given[name], right[name])]
    if not off:
        return
    name, thirds = off[0], THIRDS
    W = {n: w for n, w in right.items() if n.endswith("weight")}
    cause = MISTAKES.explain("state", given, W, same=_same_matrices)
    shapes = given[name].shape, right[name].shape
    cause = cause or ("state_shape" if shapes[0] != shapes[1] else "state_value")
    facts = {"name": name, "given": shapes[0], "right": shapes[1], "thirds": thirds}
    raise MISTAKES.failure(cause, **facts)


def _same_matrices(given: Mapping, wrong: Mapping) -> bool:
    return not any(differs(given[name], wrong[name]) for name in wrong)
