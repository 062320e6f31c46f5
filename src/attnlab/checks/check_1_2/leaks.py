"""Tries the student's measure of leaks on modules that leak and on modules that do not."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnlab.checks._diagnose import ask, read_number, require_unchanged
from attnlab.checks.check_1_2.cases import (
    D_MODEL,
    Rigged,
    draw_module,
    draw_tokens,
    only,
    wrong_masks,
)
from attnlab.checks.check_1_2.mistakes import MISTAKES, TURNS
from attnlab.masks import make_causal_mask
from attnlab.multihead import MultiHeadAttention

LENGTH = 7
NOTHING, SOMETHING = 1e-5, 1e-4  # what rounding may move, and what any leak must move

Measure = Callable[..., Any]


def leak(function: Measure, mha: MultiHeadAttention, x: Tensor, mask: Tensor | None) -> float:
    """Call the student's max_leak; fail where it changes x or gives no number from 0 on."""
    given = x.clone()
    torch.default_generator.manual_seed(0)  # so that tokens are changed alike in every case
    found = read_number("max_leak(mha, x, mask)", ask(function, mha, given, mask))
    require_unchanged("x", x, given)
    seen = f"{found:.3g}, where a distance is never negative."
    MISTAKES.fail_if(found < 0, "no_abs", seen=seen)
    MISTAKES.fail_if(not np.isfinite(found), "not_finite", found=found)
    return found


def require_silence(function: Measure, rng: np.random.Generator) -> None:
    """Fail unless modules that do not leak give 0."""
    x, causal = draw_tokens(rng, LENGTH), make_causal_mask(LENGTH)
    alone, so_far = Rigged(torch.eye(LENGTH)), Rigged(torch.ones(LENGTH, LENGTH).tril())
    trained = draw_module(rng, dropout=0.5).train()
    for module, cause, where in (
        (alone, "counts_own_position", "each output is its own token"),
        (so_far, "counts_later_positions", "each output is the sum of the tokens up to its own"),
        (draw_module(rng), "false_alarm", "the causal mask is on"),
        (trained, "dropout", "the causal mask is on and weights are dropped"),
    ):
        found = leak(function, module, x, causal)
        MISTAKES.fail_if(not alone.calls, "module_not_called", found=found)
        if found <= NOTHING:
            continue
        if module is alone and max(changed := alone.changed(x)) > 1:
            first = next(filter(None, changed))  # of the first call with a change
            cause = "changes_several" if first > 1 else "accumulates_changes"
        elif cause == "false_alarm" and any(mask is None for _, mask in alone.calls):
            cause = "mask_ignored"
        seen = f"{found:.3g}, although nothing leaks where {where}."
        raise MISTAKES.failure(cause, seen=seen)


def require_alarm_at_wrong_masks(function: Measure, rng: np.random.Generator) -> None:
    """Fail unless each wrong mask gives a leak."""
    mha, x = draw_module(rng), draw_tokens(rng, LENGTH)
    found = {name: leak(function, mha, x, mask) for name, mask in wrong_masks(LENGTH).items()}
    if not any(found.values()):
        probe, cause = Rigged(torch.eye(LENGTH)), "finds_nothing"
        leak(function, probe, x, None)
        if any(mask is not None for _, mask in probe.calls):
            cause = "own_mask"
        elif not any(probe.changed(x)):
            cause = "changes_nothing"
        seen = "0 with every wrong mask, although each leaks."
        raise MISTAKES.failure(cause, seen=seen, look=TURNS)
    for name, value in found.items():
        cause = "misses_mask" if value < 1e-9 else "change_too_small"
        seen = f"{value:.3g} with {name}, although the module leaks."
        MISTAKES.fail_if(value < SOMETHING, cause, seen=seen)


def require_alarm_at_hidden_leaks(function: Measure, rng: np.random.Generator) -> None:
    """Fail unless leaks are found that no weight shows, from any token to any output before it."""
    x, causal = draw_tokens(rng, LENGTH), make_causal_mask(LENGTH)
    to_come, own = torch.ones(LENGTH, LENGTH).triu(1), torch.eye(LENGTH)
    probe = Rigged(to_come + own)  # and itself: no output is 0, which none could be relative to
    everywhere = leak(function, probe, x, causal)
    cause = "reads_weights" if everywhere == 0 else "change_too_small"
    if everywhere < SOMETHING and len(probe.calls) > 1 and not any(probe.changed(x)):
        cause = "values_unchanged"
    seen = f"""{everywhere:.3g} of a module that leaks, although its weights and its mask look
        causal."""
    MISTAKES.fail_if(everywhere < SOMETHING, cause, seen=seen)
    downwards = leak(function, Rigged(to_come, downwards_from=x), x, causal)
    seen = "0 of a leak that moves outputs downwards."
    MISTAKES.fail_if(downwards < SOMETHING, "no_abs", seen=seen)
    places = [(0, 1), (LENGTH - 2, LENGTH - 1), (0, LENGTH - 1)]
    places += [(token - 2, token) for token in range(2, LENGTH - 1)]
    found = [leak(function, Rigged(only(*place, LENGTH) + own), x, causal) for place in places]
    for (output, token), value in zip(places, found, strict=True):
        facts = {"output": output, "token": token, "last": LENGTH - 1, "found": value}
        MISTAKES.fail_if(value < SOMETHING, "misses_pairs", **facts)
    # token 1 has one output before it: a mean is a maximum there
    seen = "less is measured where one output leaks than where all leak just as much."
    MISTAKES.fail_if(everywhere > 6 * max(found[1:]), "not_the_maximum", seen=seen)
    for component in (0, int(rng.integers(1, D_MODEL - 1)), D_MODEL - 1):
        one = Rigged(to_come + own)
        one.component = component
        moved = leak(function, one, x, causal)
        seen = f"{moved:.3g} of a leak into component {component} of the outputs."
        MISTAKES.fail_if(moved < SOMETHING, "one_component", seen=seen)
    faint = leak(function, Rigged(own + 0.02 * to_come), x, causal)
    strong = leak(function, Rigged(own + 2 * to_come), x, causal)
    seen = f"{faint:.3g} of a faint leak and {strong:.3g} of one that is 100 times as strong."
    MISTAKES.fail_if(strong < 1.2 * faint, "not_a_distance", seen=seen)
