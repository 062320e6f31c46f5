"""Checks of exercise 1.2: a causal mask, seen in the weights and measured in the outputs.

What the student writes here is itself a test. So it is tried on modules and masks whose leaks are
known: a measure that finds none of them fails.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnlab.checks._diagnose import ask, differs, read_array
from attnlab.checks._figures import has_axis_labels, heat_maps, read_figures
from attnlab.checks._future_1_2 import (
    require_blind_to_the_past,
    require_eyes_for_the_future,
    require_right_on_real_weights,
)
from attnlab.checks._leaks_1_2 import (
    require_alarm_at_hidden_leaks,
    require_alarm_at_wrong_masks,
    require_silence,
)
from attnlab.checks._modules_1_2 import N_HEADS, draw_module, draw_tokens
from attnlab.checks._settings import Exercise
from attnlab.checks._weights_1_2 import compare_head
from attnlab.masks import make_causal_mask
from attnlab.multihead import MultiHeadAttention
from nbmark.answers import case_rng, record
from nbmark.graded import CheckFailed, require

exercise = Exercise("1.2")


@exercise.check(points=2)
def takes_the_weights_of_one_head(head_weights: Callable[..., Any]) -> str:
    """Show that the function gives any head's weights, with any mask and without one."""
    rng = case_rng("takes_the_weights_of_one_head")
    length = int(rng.choice([5, 7, 11]))
    causal = make_causal_mask(length)
    pattern = torch.from_numpy(np.eye(length, dtype=bool) | (rng.random((length, length)) < 0.5))
    cases = [(None, 0), (causal, 0), (causal, 2), (None, 3), (pattern[None, None], 1)]
    for index, (mask, head) in enumerate(cases):
        mha, x = draw_module(rng), draw_tokens(rng, length)
        given = ask(head_weights, mha, x, mask, **({"head": head} if head else {}))
        name = f"head_weights(mha, x, mask, head={head})" if head else "head_weights(mha, x, mask)"
        weights = compare_head(name, given, mha, x, mask, head)
        record(f"weights_{index}", weights)
    return f"You can take the weights of any of {N_HEADS} heads, with any mask and without one."


@exercise.check(points=2)
def finds_weight_on_the_future(max_future_weight: Callable[..., Any]) -> str:
    """Show that the function finds weight above the diagonal wherever it is, and nothing else."""
    rng = case_rng("finds_weight_on_the_future")
    require_blind_to_the_past(max_future_weight, rng)
    require_eyes_for_the_future(max_future_weight, rng)
    require_right_on_real_weights(max_future_weight, rng)
    record("finds", True)
    return """Your measure gives 0 where the future gets no weight, and finds the largest one
        wherever it is: under five wrong masks too."""


@exercise.check(points=2)
def mask_hides_the_future(w_causal: Any, w_full: Any, mha: MultiHeadAttention, x: Tensor) -> str:
    """Show that the two maps are those of head 0 with and without the causal mask."""
    require(w_causal=w_causal, w_full=w_full)
    causal = make_causal_mask(x.shape[1])
    if _is_causal(read_array("w_full", w_full)) > _is_causal(read_array("w_causal", w_causal)):
        said = "`w_full` has nothing above the diagonal. It belongs to the run without a mask, "
        raise CheckFailed("swapped", said + "and `w_causal` to the one with it.")
    full = compare_head("w_full", w_full, mha, x, None, 0)
    masked = compare_head("w_causal", w_causal, mha, x, causal, 0)
    record("w_full", full)
    record("w_causal", masked)
    share = np.triu(full, 1).sum(-1).mean()
    return f"""Every weight above the diagonal of `w_causal` is 0. Without the mask a query
        of head 0 gives {share:.0%} of its weight to the future, on average."""


@exercise.check(points=1)
def figure_shows_maps_and_difference(fig: Any, w_causal: Any, w_full: Any) -> str:
    """Show that the figure has three heat maps: both maps and their difference, with labels."""
    require(fig=fig, w_causal=w_causal, w_full=w_full)
    figures = read_figures(fig)
    masked, full = read_array("w_causal", w_causal), read_array("w_full", w_full)
    if not differs(masked, full):
        said = "`w_causal` and `w_full` are the same, so there is no difference to show. Compute "
        raise CheckFailed("same_maps", said + "the first with the causal mask.")
    shown = list(heat_maps(figures, len(full)))
    if not shown:
        said = "Your figure shows no heat map of this size. Draw each matrix on its own axes, for "
        raise CheckFailed("no_heat_maps", said + "instance with axes[0].imshow(w_causal).")
    wanted = {"w_causal": masked, "w_full": full, "their difference": masked - full}
    for name, matrix in wanted.items():
        forms = [matrix] if name in ("w_causal", "w_full") else [matrix, -matrix, np.abs(matrix)]
        if all(differs(data, form) for _, data in shown for form in forms):
            _fail_on_panel(name, matrix, shown)
    if not has_axis_labels(figures):
        said = "Name the axes: a reader cannot tell queries from keys. For instance "
        raise CheckFailed("no_labels", said + 'ax.set(xlabel="key", ylabel="query").')
    record("panels", list(wanted))
    return """Your figure shows both maps and their difference, and its axes have names. On and
        below the diagonal the causal map is the larger: what the future loses, the rest of its row
        gets."""


@exercise.check(points=3)
def leak_is_measured(max_leak: Callable[..., Any]) -> str:
    """Show that the measure finds every leak, in the outputs themselves, and nothing else."""
    rng = case_rng("leak_is_measured")
    require_silence(max_leak, rng)
    require_alarm_at_wrong_masks(max_leak, rng)
    require_alarm_at_hidden_leaks(max_leak, rng)
    record("finds", True)
    return """Your measure stays at 0 where nothing leaks, dropout or not, and finds the leaks of
        five wrong masks and of modules whose weights look causal."""


def _is_causal(weights: np.ndarray) -> bool:
    """Tell whether a matrix has nothing above its diagonal."""
    return weights.ndim == 2 and not differs(weights, np.tril(weights))


def _fail_on_panel(name: str, matrix: np.ndarray, shown: list[tuple[Any, np.ndarray]]) -> None:
    """Say which matrix is missing from the figure."""
    for ax, data in shown:
        if not differs(data, matrix.T) or not differs(data, -matrix.T):
            if "quer" in ax.get_xlabel().lower():
                return  # axes swapped on purpose, and named so
            said = f"You draw {name} transposed. Queries run downwards and keys to the right."
            raise CheckFailed("transposed", said)
    said = f"None of your heat maps shows {name}."
    if name == "their difference":
        said += " Draw w_causal - w_full, or the reverse."
    raise CheckFailed("missing_panel", said)
