"""What a student's profile of exercise 1.5 measures of functions whose cost is known."""

from collections.abc import Callable, Generator, Sequence
from typing import Any

import numpy as np
import torch

from attnlab.checks._diagnose import ask, require_unchanged, show
from attnlab.checks.check_1_5.cases import DEVICE, TakesTime, hold_memory, queue_work
from attnlab.checks.check_1_5.mistakes import BEFORE, MISTAKES, within
from attnlab.profiling import measure
from nbmark.graded import CheckFailed

USUAL, SLOW = 0.0005, 0.15  # seconds of a usual call, and of the one that stands out


def read_rows(name: str, value: Any) -> np.ndarray:
    """Read rows of n, seconds and peak_bytes, (N, 3); NaN where there is no finite number."""

    def number(item: Any) -> float:
        MISTAKES.fail_if(isinstance(item, str), "text_for_number", name=name, text=item)
        return np.nan if item is None or not np.isfinite(float(item)) else float(item)

    try:
        rows = [[int(n), number(seconds), number(peak)] for n, seconds, peak in value]
    except (TypeError, ValueError):
        rows = []
    MISTAKES.fail_if(not rows, "wrong_form", name=name)
    return np.array(rows)


def mended(profile: Callable) -> Callable:
    """Take as given what the check of a profile's rows is about, where it can be undone.

    That is a return inside of the loop, and seconds and bytes that are exchanged.
    """
    try:
        rows, alone = ask(profile, abs, [2, 3]), ask(profile, abs, [2])
        first = len(rows) == len(alone) == 1
        exchanged = all(not seconds and 0 < peak < 1 for _, seconds, peak in rows)
    except (CheckFailed, TypeError, ValueError):  # told when the profile is asked
        return profile
    if first:
        return lambda fn, n_values: [row for n in n_values for row in profile(fn, [n])]
    if exchanged:
        return lambda fn, n_values: [(n, s, peak) for n, peak, s in profile(fn, n_values)]
    return profile


def run(profile: Callable, fn: Callable, n_values: Sequence[int], case: str) -> np.ndarray:
    """Call the student's profile and read its rows; fail unless there is one for each n."""
    asked, noted = list(n_values), []

    def noting(n: int) -> Any:
        noted.append(n)
        return fn(n)

    try:
        rows = ask(profile, noting, asked, case=case)
    except CheckFailed as failed:
        cause = "not_called" if failed.error and not noted else ""
        MISTAKES.fail_if(cause and not isinstance(failed.error, TypeError), "not_called")
        raise
    if isinstance(rows, Generator):
        rows = ask(list, rows, case=case)
    require_unchanged("n_values", n_values, asked)
    rows = read_rows("profile(fn, n_values)", rows)
    given, asked = [int(n) for n in rows[:, 0]], list(n_values)
    cause = "rows_missing" if set(given) < set(asked) else "wrong_n"
    cause = "order" if sorted(given) == sorted(asked) else cause
    MISTAKES.fail_if(given != asked, cause, given=given, asked=asked, case=case)
    return rows


def require_peaks(profile: Callable, sizes: np.ndarray) -> np.ndarray:
    """Fail unless peak_bytes is the peak of one call, whatever was measured before it."""
    before = torch.ones(BEFORE, dtype=torch.uint8, device=DEVICE)  # must not be counted
    _, seconds, peaks = run(profile, hold_memory, sizes.tolist(), f"n_values = {sizes.tolist()}").T
    del before
    peaks, right = np.nan_to_num(peaks), 2 * sizes**2
    if _near(peaks, right):
        return peaks
    cause = (
        MISTAKES.explain("seconds", seconds, right, same=_near)
        or MISTAKES.explain("peaks", peaks, right, same=_near)
        or MISTAKES.explain("magnitude", peaks, right, same=within)
        or "wrong_memory"
    )
    raise MISTAKES.failure(cause, show(0, n=sizes, yours=peaks, right=right))


def _near(given: np.ndarray, right: np.ndarray) -> bool:
    """Tell whether byte counts agree, up to the rounding of an allocator."""
    return bool((np.abs(given - right) <= 0.02 * right + 4096 * (right > 1e5)).all())


def require_seconds(profile: Callable) -> int:
    """Fail unless seconds is the time of one call in seconds; give the number of calls for an n."""
    fn = TakesTime(lambda n, call: 0.015)
    ((_, seconds, _),) = run(profile, fn, [2], "a function that takes 15 milliseconds")
    calls = fn.calls[2]
    MISTAKES.fail_if(not calls, "not_called")
    low = 0.8 * min(call.processor for call in calls)
    high = 1.25 * max(call.wall for call in calls) + 0.002
    if not low <= seconds <= high:
        time = low, high, sum(call.wall for call in calls)
        cause = MISTAKES.explain("time", np.nan_to_num(seconds), *time, same=within)
        example = f"    the function takes 0.015 seconds, yours {seconds:.4g}"
        raise MISTAKES.failure(cause or "wrong_time", example, calls=len(calls))
    uncounted = [call.counting for call in calls].count(False)
    slowed = uncounted == 0 or (uncounted == 1 and len(calls) > 2)
    MISTAKES.fail_if(slowed, "timed_while_counting")
    return len(calls)


def require_usual_call(profile: Callable, calls: int) -> None:
    """Fail where one slow call, each time another one, decides the result for an n."""
    waiting = list(range(1, calls + 1)) if calls <= 8 else [1, 2, 3, calls // 2, calls]
    felt: list[int] = []
    for _ in range(3):  # again where the machine was too busy to tell
        waiting = _unclear(profile, calls, waiting, felt) if waiting else []
    if felt:
        cause = "no_warm_up" if 1 in felt else "mean_not_median"
        if calls == 1 or (len(felt) == 1 and felt != [1]):
            cause = "single_run"
        numbers = ", ".join(map(str, sorted(felt)))
        example = f"    {calls} calls for an n, one of them slow; felt where it is number {numbers}"
        raise MISTAKES.failure(cause, example)


def _unclear(profile: Callable, calls: int, places: list[int], felt: list[int]) -> list[int]:
    """Add the places at which a slow call is felt to `felt`, and give those that do not tell."""
    fn, unclear = TakesTime(lambda n, call: SLOW if call == n else USUAL), []
    rows = run(profile, fn, places, "a function of which one call is slow")
    for place, seconds in zip(places, rows[:, 1], strict=True):
        walls = [call.wall for call in fn.calls[place]]
        slowest = max(walls[: place - 1] + walls[place:], default=USUAL)  # of the usual ones
        if seconds > 1.25 * slowest + 0.0005:
            felt.append(place)
        elif slowest > SLOW / calls / 2:
            unclear.append(place)
    return unclear


def require_synchronised(profile: Callable) -> None:
    """Fail where a clock is read before a CUDA GPU has done its work; pass where there is none."""
    if DEVICE == "cuda":
        ((_, seconds, _),) = run(profile, queue_work, [2], "work that is queued on the GPU")
        least = measure(queue_work, 1, device="cuda").seconds / 2
        MISTAKES.fail_if(seconds < least, "not_synchronised")
