"""Checks of exercise 1.2: a causal mask, seen in the weights and measured in the outputs.

What the student writes here is itself a test. So it is tried on modules and masks whose leaks are
known: a measure that finds none of them fails.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from matplotlib.ticker import ScalarFormatter
from torch import Tensor

from attnlab.checks._diagnose import (
    TOLERANCE,
    agrees,
    ask,
    ask_with_any,
    differs,
    first_cause,
    grain_of,
    read_array,
    read_number,
    show,
    show_wrong_row,
)
from attnlab.checks._figures import (
    contour_maps,
    has_axis_labels,
    heat_maps,
    is_turned,
    names_queries_and_keys,
    read_figures,
)
from attnlab.checks._settings import Exercise
from attnlab.checks.check_1_2 import leaks
from attnlab.checks.check_1_2.cases import Case, draw_module, draw_tokens, only, wrong_masks
from attnlab.checks.check_1_2.contracts import TOLD
from attnlab.checks.check_1_2.follow import follows
from attnlab.checks.check_1_2.mistakes import FUTURE, MISTAKES
from attnlab.masks import make_causal_mask
from attnlab.multihead import MultiHeadAttention
from nbmark.answers import case_rng, record
from nbmark.graded import require

SIZE = 6  # of the matrices in which weight on the future is looked for

exercise = Exercise("1.2")


@exercise.check(points=2, **TOLD["takes_the_weights_of_one_head"])
def takes_the_weights_of_one_head(head_weights: Callable[..., Any]) -> str:
    """Show that the function gives any head's weights, with any mask and without one."""
    rng = case_rng("takes_the_weights_of_one_head")
    length = int(rng.choice([5, 7, 11]))
    causal = make_causal_mask(length)
    pattern = torch.from_numpy(np.eye(length, dtype=bool) | (rng.random((length, length)) < 0.5))
    cases = [(None, 0), (causal, 0), (causal, 2), (None, 3), (pattern[None, None], 1)]
    for index, (mask, head) in enumerate(cases):
        case = Case(draw_module(rng), draw_tokens(rng, length), mask, head)
        asked, name = ({"head": head}, f", head={head}") if head else ({}, "")
        name = f"head_weights(mha, x, mask{name})"
        given = ask(head_weights, *case[:3], **asked)
        weights = _read_weights(name, given, case)
        _require_weights(name, weights, case, grain_of(given))
        record(f"weights_{index}", case.right[case.head])
    return "You can take the weights of any head, with any mask and without one."


def _read_weights(name: str, given: Any, case: Case) -> np.ndarray:
    """Read a matrix of weights, (S, S)."""
    pair = isinstance(given, tuple) and len(given) == 2 and hasattr(given[0], "shape")
    MISTAKES.fail_if(pair, "returns_pair", name=name)
    weights = read_array(name, given)
    S, d_model = case.x.shape[1:]
    cause = "output_for_weights" if weights.shape[-2:] == (S, d_model) else "wrong_shape"
    MISTAKES.fail_if(weights.shape != (S, S), cause, name=name, shape=weights.shape, S=S)
    return weights


def _require_weights(name: str, weights: np.ndarray, case: Case, grain: float = 0.0) -> None:
    """Fail unless weights, (S, S), are those that the head of a case gives."""
    right = case.right[case.head]
    if differs(weights, right, max(TOLERANCE, grain)):
        cause = MISTAKES.explain("weights", weights, case)
        cause = cause or ("value" if differs(weights, right, 6e-3) else "rounded")
        raise MISTAKES.failure(cause, show_wrong_row(weights, right), name=name, head=case.head)


@exercise.check(points=2, **TOLD["finds_weight_on_the_future"])
def finds_weight_on_the_future(max_future_weight: Callable[..., Any]) -> str:
    """Show that the function finds weight above the diagonal wherever it is, and nothing else."""
    rng = case_rng("finds_weight_on_the_future")
    past = np.tril(rng.uniform(0.2, 0.5, (SIZE, SIZE)), -1)
    i = int(rng.integers(1, SIZE - 3))
    places = [(0, SIZE - 1), (i, i + 2), (0, 1), (SIZE - 2, SIZE - 1)]
    single = [only(*place, SIZE).double().numpy() for place in places]
    lower = np.tril(np.full((SIZE, SIZE), 0.5))
    real = Case(draw_module(rng), draw_tokens(rng, SIZE + 2), None)
    for matrices in (
        [past + own * np.eye(SIZE) for own in (0.1, 0.9)],
        [lower + 0.375 * entry for entry in single],
        [lower + 0.375 * single[0] + 0.25 * single[1]],
        [lower + 1e-4 * single[1]],
        [real.weights(mask)[1] for mask in wrong_masks(SIZE + 2).values()],
    ):
        _require_found(max_future_weight, matrices)
    record("finds", True)
    return """Your measure gives 0 where the future gets no weight, and finds the largest one
        wherever it is: under five wrong masks too."""


def _require_found(function: Callable[..., Any], matrices: list[np.ndarray]) -> None:
    """Fail unless the largest weight above the diagonal of each matrix, (S, S), is found."""
    case = "a matrix of weights"
    asked = [ask_with_any(function, "weights", matrix, case=case) for matrix in matrices]
    given = [read_number("max_future_weight(weights)", value) for value in asked]
    for found, matrix in zip(given, matrices, strict=True):
        future = np.triu(matrix, 1)
        right = future.max()
        if differs(found, right):
            cause = first_cause(given, [MISTAKES.made("future", each) for each in matrices])
            other = "misses_entries" if agrees(found, 0) else "future_value"
            other = other if right else "finds_past"
            row, column = np.argwhere(future == right)[0]
            seen = f"{found:.3g}, where the largest weight on the future is {right:.3g}."
            facts = {"row": row, "column": column, "look": FUTURE}
            raise MISTAKES.failure(cause or other, show(4, weights=matrix), seen, **facts)


@exercise.check(points=2, **TOLD["mask_hides_the_future"])
def mask_hides_the_future(
    w_causal: Any,
    w_full: Any,
    mha: MultiHeadAttention,
    x: Tensor,
    head_weights: Callable[..., Any] | None = None,
) -> str:
    """Show that the two maps are those of head 0 with and without the causal mask."""
    require(w_causal=w_causal, w_full=w_full)
    causal = Case(mha, x, make_causal_mask(x.shape[1]))
    if follows(head_weights, {None: w_full, causal.mask: w_causal}, causal):
        record("w_full", causal.weights(None)[0])
        record("w_causal", causal.right[0])
        return """Both maps are what your `head_weights` gives with the causal mask and without one.
            Apart from what the first check finds wrong with it, this is right."""
    free = Case(mha, x, None)
    masked = _read_weights("w_causal", w_causal, free)
    full = _read_weights("w_full", w_full, free)
    empty = [agrees(weights, np.tril(weights)) for weights in (masked, full)]
    MISTAKES.fail_if(empty == [False, True], "swapped")
    _require_weights("w_full", full, free, grain_of(w_full))
    _require_weights("w_causal", masked, causal, grain_of(w_causal))
    record("w_full", free.right[0])
    record("w_causal", causal.right[0])
    share = np.triu(full, 1).sum(-1).mean()
    return f"""Every weight above the diagonal of `w_causal` is 0. Without the mask a query
        of head 0 gives {share:.0%} of its weight to the future, on average."""


@exercise.check(points=1, **TOLD["figure_shows_maps_and_difference"])
def figure_shows_maps_and_difference(fig: Any, w_causal: Any, w_full: Any) -> str:
    """Show that the figure has three heat maps: both maps and their difference, with labels."""
    require(fig=fig, w_causal=w_causal, w_full=w_full)
    figures = read_figures(fig)
    masked, full = read_array("w_causal", w_causal), read_array("w_full", w_full)
    MISTAKES.fail_if(agrees(masked, full), "same_maps")
    shown = [(ax, data, data) for ax, data in heat_maps(figures, len(full))]
    shown += contour_maps(figures, len(full))
    MISTAKES.fail_if(not shown, "no_heat_maps")
    lost = full - masked
    wanted = {"w_causal": [masked], "w_full": [full], "their difference": [lost, -lost, abs(lost)]}
    for name, forms in wanted.items():
        _require_panel(name, [unit * form for form in forms for unit in (1, 100)], shown)
    MISTAKES.fail_if(not has_axis_labels(figures), "no_labels")
    MISTAKES.fail_if(not names_queries_and_keys(figures), "other_labels")
    record("panels", list(wanted))
    return """Your figure shows both maps and their difference, and its axes have names. On and
        below the diagonal the causal map is the larger: what the future loses, the rest of its row
        gets."""


def _require_panel(name: str, forms: list[np.ndarray], shown: list[tuple]) -> None:
    """Fail unless one of the pictures shows one of these matrices, the right way up."""

    def shows(low: np.ndarray, high: np.ndarray, form: np.ndarray) -> bool:
        hits = ((low - 1e-4 <= form) & (form <= high + 1e-4)).mean()
        return hits == 1 or (low is not high and hits > 0.85)  # contours pass places at an angle

    def places(turn: Callable[[np.ndarray], np.ndarray]) -> list[Any]:
        return [ax for ax, low, high in shown if any(shows(low, high, turn(f)) for f in forms)]

    upright, in_reverse = places(lambda form: form), places(np.flipud)
    swapped = places(np.transpose)
    if any(not is_turned(ax) for ax in upright) or any(map(is_turned, in_reverse)):
        return
    if any("quer" in ax.get_xlabel().lower() for ax in swapped):  # where the axes are named so
        return
    if in_reverse and not isinstance(in_reverse[0].yaxis.get_major_formatter(), ScalarFormatter):
        return
    MISTAKES.fail_if(upright or in_reverse, "upside_down", name=name)
    MISTAKES.fail_if(not swapped, "missing_panel", name=name)
    raise MISTAKES.failure("transposed", name=f"Your picture of {name}")


@exercise.check(points=3, **TOLD["leak_is_measured"])
def leak_is_measured(max_leak: Callable[..., Any]) -> str:
    """Show that the measure finds every leak, in the outputs themselves, and nothing else."""
    rng = case_rng("leak_is_measured")
    leaks.require_silence(max_leak, rng)
    leaks.require_alarm_at_wrong_masks(max_leak, rng)
    leaks.require_alarm_at_hidden_leaks(max_leak, rng)
    record("finds", True)
    return """Your measure stays at 0 where nothing leaks, dropout or not, and finds the leaks of
        five wrong masks and of modules whose weights look causal."""


__all__ = ["exercise", *exercise.points]
