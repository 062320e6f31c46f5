"""Tries the student's measure of leaks on modules that leak and on modules that do not."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnlab.checks._diagnose import ask, read_number
from attnlab.checks._modules_1_2 import (
    Rigged,
    draw_module,
    draw_tokens,
    one_token,
    only_downwards,
    own_token,
    tokens_so_far,
    tokens_to_come,
    wrong_masks,
)
from attnlab.masks import make_causal_mask
from attnlab.multihead import MultiHeadAttention
from nbmark.graded import CheckFailed

LENGTH = 7
NOTHING, SOMETHING = 1e-5, 1e-4  # what rounding may move, and what any leak must move
TURNS = "Change every token t in turn, from 1 on, and look at all outputs before t."

OWN_POSITION = (
    "counts_own_position",
    "You count the output at t itself. It may move: compare [:, :t], which ends before t.",
)
ACCUMULATES = (
    "accumulates_changes",
    "You change a token while one before it is still changed. Begin each time with a fresh copy, "
    "x.clone().",
)
CHANGES_SEVERAL = (
    "changes_several",
    "You change several tokens at once, and they move their own outputs. Change token t alone: "
    "changed[:, t].",
)
LATER_POSITIONS = (
    "counts_later_positions",
    "You count outputs after t. They may move: compare [:, :t], which ends before t.",
)
MASK_IGNORED = (
    "mask_ignored",
    "You call the module without the mask. Hand it on: mha(x, x, x, mask).",
)
NEVER_CALLED = (
    "module_not_called",
    "Run the module, output, weights = mha(x, x, x, mask), before and after a change, and compare "
    "the outputs.",
)
VALUES_UNCHANGED = (
    "values_unchanged",
    "You hand the changed tokens on as queries or keys alone, but this module leaks through its "
    "values. Hand them on three times: mha(changed, changed, changed, mask).",
)
FALSE_ALARM = ("false_alarm", TURNS + " Compare two runs that differ in that token alone.")
DROPOUT = (
    "dropout",
    "Two runs in training mode drop different weights. Measure in evaluation mode: mha.eval().",
)
FINDS_NOTHING = (
    "finds_nothing",
    f"A measure that cannot find a leak is worth nothing. {TURNS}",
)
OWN_MASK = (
    "own_mask",
    "You use a causal mask of your own. Hand on the mask that you are given, even None.",
)
CHANGES_NOTHING = (
    "changes_nothing",
    "The module never gets a changed token among its keys and values. Change a copy of x and hand "
    "it on three times: mha(changed, changed, changed, mask).",
)
MISSES_MASK = ("misses_mask", TURNS + " The leak reaches only some of them.")
TOO_SMALL = (
    "change_too_small",
    "That is lost in rounding. Change the token by more, for instance to a new random vector.",
)
READS_WEIGHTS = (
    "reads_weights",
    "This module leaks although its weights and its mask look causal, and you measure 0. Compare "
    f"its *outputs*, before and after a change. {TURNS}",
)
MISSES_PAIRS = ("misses_pairs", TURNS)
NO_ABS = ("no_abs", "Take the absolute value of each difference, then the largest.")
NOT_THE_MAXIMUM = (
    "not_the_maximum",
    "You average or add up. Take the largest over all t and all outputs before it.",
)

Measure = Callable[..., Any]


def leak(function: Measure, mha: MultiHeadAttention, x: Tensor, mask: Tensor | None) -> float:
    """Call the student's max_leak; fails where it changes x or gives no number from 0 on."""
    given = x.clone()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        found = read_number("max_leak(mha, x, mask)", ask(function, mha, given, mask))
    if not torch.equal(given, x):
        said = "Your function changes the x that it is given, so whoever calls it next measures "
        raise CheckFailed("mutates_input", said + "something else. Change a copy: x.clone().")
    if found < 0:
        said = f"You measure {found:.3g}. A distance is never negative: take the absolute value of "
        raise CheckFailed("no_abs", said + "each difference before you look for the largest.")
    if not np.isfinite(found):
        said = f"You measure {found}. Look for a position that has no other before it: "
        raise CheckFailed("not_finite", said + "begin with t = 1.")
    return found


def require_silence(function: Measure, rng: np.random.Generator) -> None:
    """Fail unless modules that do not leak give 0."""
    x, causal = draw_tokens(rng, LENGTH), make_causal_mask(LENGTH)
    alone = Rigged(own_token)
    found = leak(function, alone, x, causal)
    if not alone.calls:
        raise CheckFailed(*_tell(NEVER_CALLED, f"You measure {found:.3g} without looking. "))
    if found > NOTHING:
        changed = [int((values != x).any(-1).sum(-1).max()) for values, _ in alone.calls]
        at_once = next(filter(None, changed), 0)  # by the first call with a change
        finding = CHANGES_SEVERAL if at_once > 1 else ACCUMULATES if max(changed) > 1 else None
        said = f"Where each output is its own token nothing leaks, but you measure {found:.3g}. "
        raise CheckFailed(*_tell(finding or OWN_POSITION, said))
    found = leak(function, Rigged(tokens_so_far), x, causal)
    if found > NOTHING:
        said = "Where each output is the sum of the tokens up to its own nothing leaks, but you "
        raise CheckFailed(*_tell(LATER_POSITIONS, f"{said}measure {found:.3g}. "))
    found = leak(function, draw_module(rng), x, causal)
    if found > NOTHING:
        said = f"Under the causal mask nothing leaks, but you measure {found:.3g}. "
        dropped = any(mask is None for _, mask in alone.calls)
        raise CheckFailed(*_tell(MASK_IGNORED if dropped else FALSE_ALARM, said))
    found = leak(function, draw_module(rng, dropout=0.5).train(), x, causal)
    if found > NOTHING:
        said = f"Under the causal mask dropout leaks nothing, but you measure {found:.3g}. "
        raise CheckFailed(*_tell(DROPOUT, said))


def require_alarm_at_wrong_masks(function: Measure, rng: np.random.Generator) -> None:
    """Fail unless each wrong mask gives a leak."""
    mha, x = draw_module(rng), draw_tokens(rng, LENGTH)
    found = {name: leak(function, mha, x, mask) for name, mask in wrong_masks(LENGTH).items()}
    if not any(found.values()):
        probe = Rigged(own_token)
        leak(function, probe, x, None)
        own_mask = any(mask is not None for _, mask in probe.calls)
        unchanged = all(torch.equal(values, x.expand_as(values)) for values, _ in probe.calls)
        finding = OWN_MASK if own_mask else CHANGES_NOTHING if unchanged else FINDS_NOTHING
        raise CheckFailed(*_tell(finding, "You measure 0 with every wrong mask, but each leaks. "))
    for name, value in found.items():
        if value < SOMETHING:
            said = f"With {name} the module leaks, but you measure {value:.3g}. "
            raise CheckFailed(*_tell(MISSES_MASK if value < 1e-9 else TOO_SMALL, said))


def require_alarm_at_hidden_leaks(function: Measure, rng: np.random.Generator) -> None:
    """Fail unless leaks are found that no weight shows, from any token to any output before it."""
    x, causal = draw_tokens(rng, LENGTH), make_causal_mask(LENGTH)
    probe = Rigged(tokens_to_come)
    everywhere = leak(function, probe, x, causal)
    if everywhere < SOMETHING:
        same = len(probe.calls) > 1 and all(torch.equal(values, x) for values, _ in probe.calls)
        finding = VALUES_UNCHANGED if same else READS_WEIGHTS if everywhere == 0 else TOO_SMALL
        raise CheckFailed(*_tell(finding, ""))
    if leak(function, Rigged(only_downwards(x)), x, causal) < SOMETHING:
        raise CheckFailed(*_tell(NO_ABS, "A leak that moves outputs downwards escapes you. "))
    places = [(0, 1), (LENGTH - 2, LENGTH - 1), (0, LENGTH - 1)]
    places += [(token - 2, token) for token in range(2, LENGTH - 1)]
    found = [leak(function, Rigged(one_token(*place)), x, causal) for place in places]
    for (output, token), value in zip(places, found, strict=True):
        if value < SOMETHING:
            said = f"Here output {output} of 0 ... {LENGTH - 1} reads token {token} and no other, "
            raise CheckFailed(*_tell(MISSES_PAIRS, f"{said}but you measure {value:.3g}. "))
    if everywhere > 6 * max(found[1:]):  # token 1 has one output before it: a mean is a maximum
        said = "Where one output leaks, you measure less than where all leak just as much. "
        raise CheckFailed(*_tell(NOT_THE_MAXIMUM, said))


def _tell(finding: tuple[str, str], seen: str) -> tuple[str, str]:
    """Put what was seen before the message of a finding."""
    cause, message = finding
    return cause, seen + message
