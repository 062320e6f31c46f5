"""What known mistakes make of tensors, of queries and keys, and of a whole module."""

from collections.abc import Callable
from typing import Any

import numpy as np

from attnlab.checks.check_1_6.cases import Case, scores_of, shares


def viewed_split(x: np.ndarray, H: int) -> np.ndarray:
    """Cut without the transpose: the bug that keeps every shape."""
    B, S, width = x.shape
    return x.reshape(B, H, S, width // H)


def viewed_merge(x: np.ndarray) -> np.ndarray:
    """Merge without the transpose."""
    B, H, S, d_k = x.shape
    return x.reshape(B, S, H * d_k)


def interleaved_split(x: np.ndarray, H: int) -> np.ndarray:
    """Give head h every H-th component, from h on."""
    return np.stack([x[..., h::H] for h in range(H)], 1)


def interleaved_merge(x: np.ndarray) -> np.ndarray:
    """Put the heads' first components in front, then their second ones."""
    B, H, S, d_k = x.shape
    return x.transpose(0, 2, 3, 1).reshape(B, S, H * d_k)


def by_size(x: np.ndarray, H: int) -> np.ndarray:
    """Take the number of heads for the width of one."""
    B, S, width = x.shape
    return x.reshape(B, S, width // H, H).swapaxes(1, 2)


def scaled(*factors: Callable) -> Callable:
    """Make weights whose scores are multiplied by something else than the scale."""
    return lambda Q, K: [shares(scores_of(Q, K) * factor(Q, K)) for factor in factors]


def scaled_scores(Q: np.ndarray, K: np.ndarray) -> np.ndarray:
    """Give the scores that are right."""
    return scores_of(Q, K) / Q.shape[-1] ** 0.5


def over(*axes: Any) -> Callable:
    """Make weights that sum to 1 over other axes."""

    def made(Q: np.ndarray, K: np.ndarray) -> list[np.ndarray]:
        both = [np.exp(s) for s in (scaled_scores(Q, K), scores_of(Q, K))]
        return [e / e.sum(axis, keepdims=True) for e in both for axis in axes]

    return made


def outputs(*replaced: dict) -> Callable[[Case], list[np.ndarray]]:
    """Make outputs of a module in which parts are replaced, as `Case.forward` says."""
    """Make what a module puts out in which parts are replaced, as `Case.forward` says."""
    return lambda case: [case.forward(**parts)[0] for parts in replaced]


def inputs_exchanged(case: Case) -> list[np.ndarray]:
    """Make outputs of a module that takes queries, keys or values from elsewhere, where it can."""
    orders = [
        ("query", "query", "query"),
        ("query", "key", "key"),
        ("query", "value", "value"),
        ("query", "value", "key"),
        ("query", "query", "value"),
    ]
    made = []
    for order in orders:
        S_k, S_v = (case.inputs[name].shape[1] for name in order[1:])
        fits = S_k == S_v and (case.mask is None or S_k == case.weights.shape[-1])
        made.append(case.forward(inputs=order)[0] if fits else np.array(np.nan))
    return made


def with_mask(weigh: Callable) -> Callable[[Case], np.ndarray]:
    """Make outputs of a module that treats a mask in another way."""
    return lambda case: case.output if case.mask is None else case.forward(weigh=weigh)[0]
