"""Drives what the student of exercise 1.7 wrote, and says what is wrong with what comes out."""

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from attnlab.checks._diagnose import ask, differs, first_cause, read_array, read_number, show
from attnlab.checks.check_1_7.cases import Blocks, Case, Sums, add_block
from attnlab.checks.check_1_7.mistakes import MISTAKES
from attnlab.peak_memory import PeakMemory
from nbmark.graded import CheckFailed, require

NAMES = ("m", "l", "O")
# Of a pass that runs over its blocks: they cost the check of its output, not that of its memory.
PASS_MISTAKES = {"no_scale", "not_divided", "end_lost", "one_block", "blocks_averaged"}
PASS_MISTAKES |= {"none_faded", "normalised"}


def alike(given: np.ndarray, wrong: np.ndarray) -> bool:
    """Tell whether sums are those that a mistake makes, which may be large."""
    return given.shape == wrong.shape and np.allclose(given, wrong, 1e-4, 1e-5, True)


def tensor(array: np.ndarray) -> torch.Tensor:
    """Give a float32 tensor of its own."""
    return torch.tensor(array, dtype=torch.float32)


def path(add_score: Callable, scores: Sequence[float]) -> np.ndarray:
    """Drive the student's step over scores: m and l after each, (N, 2)."""
    require(add_score=add_score)
    m, l, seen = -np.inf, 0.0, []
    for s in scores:
        m, l = float(m), float(l)
        result = ask(add_score, m, l, s, case=f"m = {m:.5g}, l = {l:.5g}, s = {s:g}")
        m, l = (read_number(*each) for each in zip(NAMES, _several(result, 2), strict=False))
        seen.append([m, l])
    return np.array(seen)


def _several(result: Any, number: int) -> Sequence[Any]:
    """Take a result apart, or say how many things should have come."""
    several = isinstance(result, tuple | list) or getattr(result, "ndim", 0) > 0
    given = len(result) if several else 1
    right = " and ".join([", ".join(NAMES[: number - 1]), NAMES[number - 1]])
    MISTAKES.fail_if(given != number, "wrong_number", right=right, given=given)
    return result


@contextmanager
def overflow_told(score: float) -> Iterator[None]:
    """Say what an exponential that is too large raises."""
    try:
        yield
    except CheckFailed as failed:
        if isinstance(failed.error, OverflowError):
            facts = {"score": score, "error": "math.exp, which raises OverflowError"}
            raise MISTAKES.failure("overflows", failed.example, **facts) from None
        raise


def block_path(step: Callable, case: Blocks) -> list[Sums]:
    """Drive the student's step over blocks: the sums after each."""
    require(add_block=step)
    sums, seen = case.start(), []
    for keys in case.slices:
        given = [*sums, case.S[:, keys], case.V[keys]]
        shapes = f"m {sums.m.shape}, O {sums.O.shape}, S {given[3].shape}, V {given[4].shape}"
        with torch.no_grad():
            result = ask(step, *map(tensor, given), case=shapes)
        made = [read_array(*each) for each in zip(NAMES, _several(result, 3), strict=True)]
        for name, before, after in zip(NAMES, sums, made, strict=True):
            facts = {"name": name, "given": after.shape, "right": before.shape}
            MISTAKES.fail_if(after.shape != before.shape, "wrong_shape", **facts)
        sums = Sums(*made)
        seen.append(sums)
    return seen


def fail_at_block(cause: str | None, case: Blocks, given: np.ndarray, right: np.ndarray) -> None:
    """Fail, and show the first query whose sums differ, after the first block at which they do."""
    block, query, column = np.argwhere(~(np.abs(given - right) <= 1e-5))[0]
    name = NAMES[min(column, 2)]
    scores = case.S[query, : case.slices[block].stop]
    rows = {"scores so far": scores, "your m, l, O": given[block, query]}
    rows["right m, l, O"] = right[block, query]
    head = f"    query {query}, after block {block}\n"
    raise MISTAKES.failure(cause or "block_value", head + show(4, **rows), name=name)


def attend(tiled_attention: Callable, case: Case) -> np.ndarray:
    """Call the student's pass."""
    require(tiled_attention=tiled_attention)
    given = [tensor(x) for x in (case.Q, case.K, case.V)]
    with torch.no_grad():
        result = ask(tiled_attention, *given, case.block, case=str(case))
    if isinstance(result, tuple):
        MISTAKES.fail_if(True, "wrong_number", right="the output alone", given=len(result))
    return read_array("tiled_attention(Q, K, V, block)", result)


def composed(function: Callable, case: Case) -> np.ndarray | None:
    """Give what a right pass makes of a case with the student's step, which the case then has."""

    def step(*given: np.ndarray) -> list[np.ndarray]:
        with torch.no_grad():
            return [read_array("sums", x) for x in ask(function, *map(tensor, given))]

    try:
        output = case.tiled(step)
    except Exception:  # a step that cannot be taken explains nothing
        return None
    case.step = step
    return output


def fail_at_pass(
    tiled_attention: Callable, tried: Sequence[Case], given: Sequence[np.ndarray]
) -> None:
    """Fail with the cause that makes all outputs of a pass, with a right step or the student's."""
    case, output = next((c, g) for c, g in zip(tried, given, strict=True) if differs(g, c.output))
    own = first_cause(given, [MISTAKES.made("output", each) for each in tried], alike)
    for each in tried:
        each.step = add_block
    cause = first_cause(given, [MISTAKES.made("output", each) for each in tried], alike) or own
    shown = f"    {case}\n"
    if output.shape == case.output.shape:
        shown += show(4, your_row_0=output[0], right=case.output[0])
    else:
        shown += f"    your output has shape {output.shape}, right is {case.output.shape}"
    attend(tiled_attention, case)  # the call that `last_case` then gives
    facts = {"S_k": tried[-1].S_k, "block": tried[-1].block}
    raise MISTAKES.failure(cause or "output_value", shown, **facts)


def peak(tiled_attention: Callable, step: Callable, case: Case) -> int:
    """Count the most bytes that the pass holds at one moment, and see that it computes."""
    require(tiled_attention=tiled_attention)
    given = [tensor(x) for x in (case.Q, case.K, case.V)]
    memory = PeakMemory()

    @functools.wraps(tiled_attention)
    def counted(*given: Any) -> Any:
        with memory:  # around the call alone: `ask` copies what it is called with
            return tiled_attention(*given)

    with torch.no_grad():
        result = ask(counted, *given, case.block, case=str(case))
    output = read_array("tiled_attention(Q, K, V, block)", result)
    if differs(output, case.output, 1e-4):
        own = composed(step, case)
        if own is None or differs(output, own, 1e-4):
            try:
                fail_at_pass(tiled_attention, [case], [output])
            except CheckFailed as failed:
                if failed.cause not in PASS_MISTAKES:
                    raise
    return memory.peak
