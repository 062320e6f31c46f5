"""What a student's profile of exercise 1.5 measures of functions whose cost is known."""

import math
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any

import torch

from attnlab.checks._diagnose import ask
from attnlab.checks._probes_1_5 import (
    DEVICE,
    HoldsMemory,
    TakesTime,
    queue_work,
    seconds_of_queued_work,
)
from nbmark.graded import CheckFailed

Row = tuple[int, float | None, float | None]  # n, seconds, peak_bytes

USUAL, SLOW = 0.0005, 0.15  # seconds of a usual call, and of the one that stands out
COUNTER = "torch.cuda's three functions" if DEVICE == "cuda" else "`with PeakMemory() as memory:`"
SAID = {
    "not_counted": f"Your peak_bytes are 0. On this machine {COUNTER} must surround the call.",
    "wrong_unit": "Your peak_bytes are in another unit. Give bytes, not KiB or MiB.",
    "swapped": "Your seconds and your peak_bytes are exchanged. The order is n, seconds, "
    "peak_bytes.",
    "peak_not_reset": "Once a large n has been measured, smaller ones report its peak. Begin the "
    "count anew for each n.",
    "output_only": "Your peak_bytes are the size of what the function returns. What it holds on "
    "its way there counts as well: measure while it runs.",
    "total_not_peak": "You add up all that is allocated. Memory that is freed can be used again: "
    "asked for is the most that is held at one moment.",
    "summed_over_calls": "Your peak_bytes add up several calls. Measure the peak of one call.",
    "baseline": "Your peak_bytes include what was on the device before the call. Subtract what is "
    "allocated at its start.",
    "whole_process": "Your peak_bytes are those of the whole process, where the function can "
    f"hardly be seen. Count what tensors hold: {COUNTER}.",
    "not_tensor_memory": "Your peak_bytes are far too small. Do not divide them by anything. "
    f"Python's own counters, such as tracemalloc, do not see what tensors hold: use {COUNTER}.",
}


def run(profile: Callable, fn: Callable, n_values: Sequence[int], case: str) -> list[Row]:
    """Call the student's profile and read its rows, or say what is wrong with their form."""
    asked = list(n_values)
    rows = ask(profile, fn, asked, case=case)
    if isinstance(rows, Generator):
        rows = ask(list, rows, case=case)
    if asked != list(n_values):
        said = "Your function changes the list n_values. Leave it as it is, and work on a copy."
        raise CheckFailed("mutates_input", said)
    form = "Return a list with one tuple (n, seconds, peak_bytes) for each n."
    texts: list[str] = []
    try:
        rows = [] if isinstance(rows, dict) else [tuple(row) for row in rows]
        texts = [item for row in rows for item in row[1:] if isinstance(item, str)]
        rows = [(int(n), _number(seconds), _number(peak)) for n, seconds, peak in rows]
    except (TypeError, ValueError):
        rows = []
    if not rows and texts:
        said = f"Your rows hold the text {texts[0]!r}. Give numbers, or None where there is none."
        raise CheckFailed("text_for_number", said)
    if not rows:
        raise CheckFailed("wrong_form", f"What `profile` returns cannot be read. {form}")
    given = [n for n, _, _ in rows]
    if given == asked:
        return rows
    if sorted(given) == sorted(asked):
        said = f"Your rows come in the order {given}. Keep the order of n_values, {asked}."
        raise CheckFailed("order", said)
    said = f"With {case} your rows are of n = {given}, but {asked} were asked for. {form}"
    raise CheckFailed("rows_missing" if set(given) < set(asked) else "wrong_n", said)


def _number(value: Any) -> float | None:
    """Read a number; None, NaN and infinity all say that there is none."""
    if value is None or not math.isfinite(float(value)):
        return None
    return float(value)


def check_memory(profile: Callable, sizes: Sequence[int]) -> list[float]:
    """Fail unless peak_bytes is the peak of one call, whatever was measured before it."""
    fn = HoldsMemory()
    before = torch.ones(8 * 2**20, dtype=torch.uint8, device=DEVICE)  # must not be counted
    rows = run(profile, fn, sizes, f"n_values = {list(sizes)}")
    given = [0.0 if peak is None else peak for _, _, peak in rows]
    right = [fn.peak(n) for n in sizes]
    if _near(given, right):
        return given
    if _near([seconds or 0.0 for _, seconds, _ in rows], right):
        raise CheckFailed("swapped", SAID["swapped"])
    example = "\n".join(
        f"    n = {n}: yours {g:.0f}, right {r}"
        for n, g, r in zip(sizes, given, right, strict=True)
    )
    for cause, values in _wrong_memory(right, before.nbytes):
        if _near(given, values):
            raise CheckFailed(cause, SAID[cause], example)
    if min(given) > 5 * max(right):
        raise CheckFailed("whole_process", SAID["whole_process"], example)
    if max(given) < min(right) / 20:
        raise CheckFailed("not_tensor_memory", SAID["not_tensor_memory"], example)
    said = "Your peak_bytes are not the most bytes that the function holds at one moment."
    raise CheckFailed("wrong_memory", said, example)


def _near(given: Sequence[float], right: Sequence[float]) -> bool:
    """Tell whether byte counts agree, up to the rounding of an allocator."""
    return all(abs(g - r) <= 0.02 * r + 4096 * (r > 1e5) for g, r in zip(given, right, strict=True))


def _wrong_memory(right: list[int], before: int) -> Iterator[tuple[str, list[float]]]:
    """Give what known mistakes make of the right peaks."""
    yield "not_counted", [0.0] * len(right)
    for unit in (2**10, 2**20, 2**30, 1e3, 1e6, 1e9, 1 / 8):
        yield "wrong_unit", [peak / unit for peak in right]
    yield "peak_not_reset", [max(right[: i + 1]) for i in range(len(right))]
    yield "output_only", [HoldsMemory.output_bytes] * len(right)
    yield "total_not_peak", [1.5 * peak for peak in right]
    for calls in range(2, 21):
        yield "summed_over_calls", [calls * peak for peak in right]
        yield "summed_over_calls", [1.5 * calls * peak for peak in right]
    yield "baseline", [peak + before for peak in right]


def check_unit(profile: Callable) -> int:
    """Fail unless seconds is the time of one call in seconds; give the number of calls for an n."""
    fn = TakesTime(lambda n, call: 0.015)
    ((_, seconds, _),) = run(profile, fn, [2], "a function that takes 15 milliseconds")
    calls = fn.calls(2)
    if not calls:
        raise CheckFailed("not_called", "Your profile never calls fn(n). Call it for each n.")
    low, high = 0.8 * min(fn.processor[2]), 1.25 * max(fn.wall[2]) + 0.002
    if seconds is None or seconds < low / 1000:
        said = "Your seconds are 0 or missing. Read a clock before and after the call, such as \
            time.perf_counter()."
        raise CheckFailed("not_timed", said)
    if low <= seconds <= high:
        uncounted = fn.counted[2].count(False)
        if uncounted == 0 or (uncounted == 1 and calls > 2):
            said = "The memory counter is active while you time the call. It watches every \
                operation and slows all of them down: count and time in separate calls."
            raise CheckFailed("timed_while_counting", said)
        return calls
    example = f"    the function takes 0.015 seconds, yours {seconds:.4g}"
    for factor, unit in ((1e3, "milliseconds"), (1e6, "microseconds"), (1e9, "nanoseconds")):
        if factor * low <= seconds <= factor * high:
            said = f"Your times are in {unit}. Give seconds."
            raise CheckFailed("wrong_time_unit", said, example)
    if seconds <= 1.25 * sum(fn.wall[2]) + 0.01 and seconds > high:
        said = (
            f"Your seconds are those of several calls together; your profile makes {calls}. Give \
            the time of one call."
        )
        raise CheckFailed("total_not_one_call", said, example)
    said = "Your seconds are not the time that one call takes."
    raise CheckFailed("wrong_time", said, example)


def check_synchronised(profile: Callable) -> None:
    """Fail where a clock is read before a CUDA GPU has done its work; pass where there is none."""
    if DEVICE != "cuda":
        return
    ((_, seconds, _),) = run(profile, queue_work, [2], "work that is queued on the GPU")
    if seconds < seconds_of_queued_work() / 2:
        said = "Your clock stops while the GPU still works: a call returns as soon as its work is \
            queued. Call torch.cuda.synchronize() before you read the clock, both times."
        raise CheckFailed("not_synchronised", said)


def check_outliers(profile: Callable, calls: int) -> None:
    """Fail where one slow call among those made for an n decides the result.

    Of the calls for the i-th n one is slow, each time another one.
    """
    places = list(range(1, calls + 1)) if calls <= 8 else [1, 2, 3, calls // 2, calls]
    felt, waiting = [], places
    for _ in range(3):  # again where the machine was too busy to tell
        fn = TakesTime(lambda n, call: SLOW if call == n else USUAL)
        rows = run(profile, fn, waiting, "a function of which one call is slow")
        unclear = []
        for place, seconds, _ in rows:
            usual = [t for call, t in enumerate(fn.wall[place], 1) if call != place] or [USUAL]
            if seconds is not None and seconds > 1.25 * max(usual) + 0.0005:
                felt.append(place)
            elif max(usual) > SLOW / calls / 2:
                unclear.append(place)
        waiting = unclear
        if not waiting:
            break
    if felt:
        raise _explain_outliers(sorted(felt), calls)


def _explain_outliers(felt: list[int], calls: int) -> CheckFailed:
    """Say which slow calls reach the result, and what that means."""
    example = f"    {calls} calls for an n, one of them slow; felt where it is number "
    example += ", ".join(map(str, felt))
    if calls == 1 or (len(felt) == 1 and felt != [1]):
        said = "A single call decides your time, and whatever else the machine does at that moment \
            is in it. Time several calls and take their median or their smallest."
        return CheckFailed("single_run", said, example)
    if 1 in felt:
        said = "The first call counts in your time. It is slower than the others, since memory has \
            to be fetched and kernels loaded: make one call for each n before you time any."
        return CheckFailed("no_warm_up", said, example)
    said = "One slow call moves your result. Take the median of several calls, or the smallest, \
        instead of their mean: other programs can only make a call slower."
    return CheckFailed("mean_not_median", said, example)
