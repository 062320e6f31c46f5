"""Checks of exercise 1.5: measuring time and memory, and the exponents that they follow.

No verdict depends on how fast a machine is. The student's profile measures functions of known
cost, which write down how long each of their calls took; curves are judged by their exponents.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from attnlab.checks._curves_1_5 import check_curves, curves_of
from attnlab.checks._fits_1_5 import check_fits, fit, read_exponent
from attnlab.checks._probes_1_5 import FailsAt
from attnlab.checks._profile_1_5 import (
    check_memory,
    check_outliers,
    check_synchronised,
    check_unit,
    run,
)
from attnlab.checks._shared import call_quietly
from nbmark.answers import case_rng, record
from nbmark.graded import CheckFailed, Exercise, NotAttempted, require

# Peak bytes of a forward pass in float32 with B = 4, d_model = 512 and 8 heads, counted with
# attnlab.storages.PeakMemory: naive on the meta device, fused on a CPU.
SIZES = (512, 1024, 2048, 4096, 8192)
RECORDED = {
    "naive": (79_691_776, 293_601_280, 1_124_073_472, 4_395_630_592, 17_381_195_776),
    "fused": (20_971_520, 41_943_040, 83_886_080, 167_772_160, 335_544_320),
}
BOUNDS = {"naive": (1.85, 2.05), "fused": (0.9, 1.1)}  # exponents of memory at large n

exercise = Exercise("1.5")


@exercise.check(points=2)
def measures_memory(profile: Callable) -> str:
    """Show that peak_bytes is the peak of one call, in bytes, for each n by itself."""
    sizes = [int(n) for n in case_rng("memory").permutation([1500, 700, 1100]) + 1]
    sizes.sort(key=lambda n: n == 701)  # the smallest last, after larger ones
    record(
        "peak_bytes over right ones",
        [
            round(p / (2 * n * n), 2)
            for n, p in zip(sizes, check_memory(profile, sizes), strict=True)
        ],
        tolerance=0.05,
    )
    return "Your profile gives the most bytes that are held at once, for each n by itself."


@exercise.check(points=2)
def measures_time(profile: Callable) -> str:
    """Show that seconds is the time of one usual call, which a slow one does not move."""
    check_outliers(profile, check_unit(profile))
    check_synchronised(profile)
    record("times a usual call", True)
    return "Your profile gives the time of one usual call. A slow call does not move it."


@exercise.check(points=1)
def survives_out_of_memory(profile: Callable) -> str:
    """Show that running out of memory is a result, and any other error is not."""
    sizes, case = [8, 64, 16], "a function that runs out of memory at n = 64"
    advice = "Catch the error for this n, note None for both numbers, and go on with the next n."
    try:
        rows = run(profile, FailsAt(64), sizes, case)
    except CheckFailed as failed:
        if failed.cause == "rows_missing":
            said = (
                f"The row of the n at which memory ran out, or one after it, is missing. {advice}"
            )
            raise CheckFailed("oom_left_out", said) from None
        if failed.cause == "raised":
            said = (
                f"Your profile ends with the error of a function that ran out of memory. {advice}"
            )
            raise CheckFailed("oom_not_caught", said, failed.example) from None
        raise
    if rows[1][1:] != (None, None):
        said = f"Your row of the n at which memory ran out is {rows[1]}. Nothing was measured: \
            (64, None, None) says so, and a 0 would spoil every fit."
        raise CheckFailed("oom_as_number", said)
    if None in rows[0] + rows[2]:
        said = "After memory ran out at n = 64 your profile gives no numbers for n = 16. It has to \
            go on: the next n may be smaller."
        raise CheckFailed("gives_up", said)
    for error in (ValueError("shapes do not fit"), RuntimeError("shapes do not fit")):
        try:
            run(profile, FailsAt(64, error), sizes, "a function that raises")
        except NotAttempted:
            raise
        except CheckFailed as failed:
            if failed.cause == "raised" and "shapes do not fit" in failed.message:
                continue
        said = f"Your profile hides a {type(error).__name__} that has nothing to do with memory, \
            and a mistake in fn would look like a full memory. Raise it again."
        raise CheckFailed("hides_errors", said)
    record("rows after out of memory", [row[0] for row in rows])
    return "Out of memory is a result in your profile, and other errors come through."


@exercise.check(points=2)
def fits_powers(fit_exponent: Callable) -> str:
    """Show that exponents come from all measured points, by least squares on the logarithms."""
    rng = case_rng("powers")
    require(fit_exponent=fit_exponent)
    n = sorted(int(k) for k in rng.choice(np.arange(20, 2000), 6, replace=False))
    power, factor = rng.uniform(0.4, 0.9) + rng.integers(2), rng.uniform(2, 9)
    exact = [float(factor * k**power) for k in n]
    noisy = [
        value * float(np.exp(noise))
        for value, noise in zip(
            exact, rng.permutation([-0.5, -0.2, 0.1, 0.3, 0.4, -0.3]), strict=True
        )
    ]
    order = list(rng.permutation(6))
    cases = [
        ([1, 2, 4, 8], [3, 24, 192, 1536]),
        (n, exact),
        (n, noisy),
        ([n[i] for i in order], [noisy[i] for i in order]),
        (n, [*noisy[:4], None, None]),
    ]
    record("exponents", check_fits(fit_exponent, cases), tolerance=3e-3)
    for name, peaks in RECORDED.items():
        value = call_quietly(fit_exponent, list(SIZES), list(peaks), case="recorded peaks")
        record(f"recorded, {name}", read_exponent("fit_exponent(n, y)", value), tolerance=3e-3)
    return "Your fit finds the exponent, with noise and with points that are missing."


@exercise.check(points=2)
def memory_grows_as_predicted(exponents: Any, measured: Any) -> str:
    """Show that the memory measured here has exponents near 2 and 1 at large n."""
    require(exponents=exponents, measured=measured)
    if not isinstance(exponents, Mapping) or set(exponents) != set(BOUNDS):
        said = "Make `exponents` a dictionary with the keys 'naive' and 'fused'."
        raise CheckFailed("wrong_keys", said)
    values = {name: read_exponent(f"exponents[{name!r}]", exponents[name]) for name in BOUNDS}
    peaks = {name: _measured(measured, name, 2) for name in BOUNDS}
    for name, (n, y) in peaks.items():
        (low, high), found = BOUNDS[name], fit(n[-3:], y[-3:])
        if not low <= found <= high:
            said = f"The peak_bytes in measured[{name!r}] grow with exponent {found:.2f} at the \
                largest n, where {low} to {high} is expected. Repair `profile` first."
            raise CheckFailed("measured_wrong", said)
    for name, value in values.items():
        _explain_exponent(name, value, values, peaks, _measured(measured, name, 1))
    record("exponents, rounded", [round(values[name]) for name in BOUNDS])
    return "Memory grows like n² with the table of weights and like n without it."


def _measured(measured: Mapping, name: str, column: int) -> tuple[list, list]:
    """Give n and one column of the rows of a profile, without those that ran out of memory."""
    try:
        pairs = sorted((row[0], row[column]) for row in measured[name] if row[column] is not None)
    except (KeyError, IndexError, TypeError):
        said = "`measured` cannot be read. Run the cell that fills it once more."
        raise CheckFailed("measured_wrong", said) from None
    if len(pairs) < 3:
        said = f"measured[{name!r}] holds fewer than three sizes at which memory sufficed."
        raise CheckFailed("measured_wrong", said)
    return [n for n, _ in pairs], [y for _, y in pairs]


def _explain_exponent(
    name: str, value: float, values: dict, peaks: dict, times: tuple[list, list]
) -> None:
    """Fail unless an exponent lies within bounds and comes from the largest n measured."""
    n, y = peaks[name]
    low, high = BOUNDS[name]
    tails = [fit(n[k:], y[k:]) for k in range(len(n) - 1)]
    follows = any(abs(value - tail) < 0.03 for tail in tails)
    if low <= value <= high and follows:
        return
    other = next(other for other in values if other != name)
    if BOUNDS[other][0] <= value <= BOUNDS[other][1]:
        said = f"exponents[{name!r}] is {value:.2f}, which is the exponent of {other!r}. Look up \
            which of the two keeps a table of n x n weights."
        raise CheckFailed("exchanged", said)
    if any(abs(value - fit(times[0][k:], times[1][k:])) < 1e-3 for k in range(len(n) - 1)):
        said = f"exponents[{name!r}] is that of the seconds. Fit the peak_bytes, the third number."
        raise CheckFailed("from_seconds", said)
    if follows:
        said = f"exponents[{name!r}] is {value:.2f}. It includes small n, where what grows like n \
            still outweighs what grows like n². Fit the largest three sizes."
        raise CheckFailed("small_n", said)
    said = f"exponents[{name!r}] is {value:.2f}, which does not follow from the peak_bytes in \
        `measured`. Compute it: fit_exponent on the largest sizes."
    raise CheckFailed("not_from_measurements", said)


@exercise.check(points=1)
def shows_both_curves(fig: Any, measured: Any) -> str:
    """Show that a figure holds seconds and peak_bytes of both functions on log-log axes."""
    require(fig=fig, measured=measured)
    for name in BOUNDS:
        _measured(measured, name, 2)
    check_curves(fig, curves_of({name: measured[name] for name in BOUNDS}))
    record("curves shown", 4)
    return "Your figure shows time and memory of both functions on log-log axes."
