"""Tries the student's search for weight on the future on matrices whose answer is known."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from attnlab.checks._diagnose import TOLERANCE, ask, differs, read_number, show
from attnlab.checks._modules_1_2 import draw_module, draw_tokens, wrong_masks
from attnlab.checks._weights_1_2 import all_weights
from nbmark.graded import CheckFailed

SIZE = 6
FUTURE = "Row i holds what query i reads, so the future is where the column j is larger than i."

Measure = Callable[..., Any]


def search(function: Measure, weights: np.ndarray) -> float:
    """Call the student's max_future_weight, with a tensor or, where that fails, an array."""
    name = "max_future_weight(weights)"
    tensor = torch.from_numpy(weights.astype(np.float32))
    try:
        found = read_number(name, ask(function, tensor, case="a tensor"))
    except CheckFailed as failed:
        if failed.cause != "raised":
            raise
        array = weights.astype(np.float32)
        try:
            found = read_number(name, ask(function, array, case="an array"))
        except CheckFailed as other:
            raise (failed if other.cause == "raised" else other) from None
        tensor = torch.from_numpy(array)
    if differs(tensor.numpy(), weights, 1e-6):
        said = "Your function changes the weights that it is given. Work on a new tensor."
        raise CheckFailed("mutates_input", said)
    return found


def require_blind_to_the_past(function: Measure, rng: np.random.Generator) -> None:
    """Fail unless a matrix without any weight on the future gives 0."""
    past = np.tril(rng.uniform(0.2, 0.5, (SIZE, SIZE)), -1) + np.diag([0.1] * SIZE)
    found = search(function, past)
    if not differs(np.array(found), np.array(0.0)):
        return
    cause, said = "finds_past", "That is no weight on the future."
    if np.isclose(found, 0.1):
        cause, said = "counts_diagonal", "That is on the diagonal, where each query reads itself."
    elif np.isclose(found, past.max()):
        cause, said = "whole_matrix", "That is the largest weight of all. Look at the future alone."
        if search(function, past.T) < 0.2:
            cause, said = "wrong_triangle", "You look below the diagonal, which is the past."
    said = f"Nothing here lies above the diagonal, but you find {found:.3g}. {said} {FUTURE}"
    raise CheckFailed(cause, said, show(weights=past))


def require_eyes_for_the_future(function: Measure, rng: np.random.Generator) -> None:
    """Fail unless a single weight on the future is found wherever it is, and as large as it is."""
    i = int(rng.integers(1, SIZE - 3))
    places = [(0, SIZE - 1), (i, i + 2), (0, 1), (SIZE - 2, SIZE - 1)]
    found = [search(function, _with_future({place: 0.375})) for place in places]
    if not any(found):
        said = "Your function finds no weight on the future, wherever there is one. A measure that "
        said += f"cannot find a leak is worth nothing. {FUTURE}"
        raise CheckFailed("finds_nothing", said, show(weights=_with_future({places[0]: 0.375})))
    for place, value in zip(places, found, strict=True):
        if abs(value) < TOLERANCE:
            cause = "misses_neighbour" if place[1] - place[0] == 1 else "misses_entries"
            said = f"You miss the weight in row {place[0]}, column {place[1]}. {FUTURE}"
            raise CheckFailed(cause, said, show(weights=_with_future({place: 0.375})))
    two = _with_future({places[0]: 0.375, places[1]: 0.25})
    for matrix, right in ((_with_future({places[0]: 0.375}), 0.375), (two, 0.375)):
        value = search(function, matrix)
        if differs(np.array(value), np.array(right)):
            cause, said = _explain(value, matrix)
            said = f"The largest weight on the future is {right}, but you find {value:.3g}. {said}"
            raise CheckFailed(cause, said, show(weights=matrix))
    faint = search(function, _with_future({places[1]: 1e-4}))
    if abs(faint - 1e-4) > 1e-6:
        said = f"A weight of 0.0001 on the future comes out as {faint:.3g}. Do not round: a mask "
        raise CheckFailed("rounds_away", said + "that leaks a little leaks.")


def require_right_on_real_weights(function: Measure, rng: np.random.Generator) -> None:
    """Fail unless the largest weight is found that a module under a wrong mask gives the future."""
    mha, x = draw_module(rng), draw_tokens(rng, 2 * SIZE)
    for name, mask in wrong_masks(2 * SIZE).items():
        weights = all_weights(mha, x, mask)[1]
        right = np.triu(weights, 1).max()
        value = search(function, weights)
        if differs(np.array(value), right):
            said = f"With {name} the largest weight on the future is {right:.3g}, but you find "
            raise CheckFailed("value", f"{said}{value:.3g}. {FUTURE}")


def _with_future(entries: dict[tuple[int, int], float]) -> np.ndarray:
    """Give a matrix with 0.5 on the diagonal and below it, and these entries above."""
    weights = np.tril(np.full((SIZE, SIZE), 0.5))
    for place, value in entries.items():
        weights[place] = value
    return weights


def _explain(value: float, weights: np.ndarray) -> tuple[str, str]:
    """Find cause and remedy of a number that is not the largest weight on the future."""
    future = weights[np.triu_indices(SIZE, 1)]
    known = {
        "sum_not_max": (future.sum(), "That is their sum. Take the largest."),
        "mean_not_max": (future.mean(), "That is their mean. Take the largest."),
        "count_not_max": (
            (future > 0).sum(),
            "That is how many there are, or whether there are any. Return the largest itself.",
        ),
    }
    for cause, (wrong, said) in known.items():
        if np.isclose(value, wrong, rtol=1e-3):
            return cause, said
    return "value", FUTURE
