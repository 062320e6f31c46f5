"""Checks of exercise 1.5: measuring time and memory, and the exponents that they follow.

No verdict depends on how fast a machine is. The student's profile measures functions of known
cost, which note how long each of their calls took; curves are judged by their exponents.
"""

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from attnlab.checks._diagnose import ask, first_cause, quiet_stderr, read_number, show
from attnlab.checks._figures import curves, read_figures
from attnlab.checks._settings import Exercise
from attnlab.checks.check_1_5 import cases, profiles
from attnlab.checks.check_1_5.cases import BOUNDS, OTHER, RECORDED, SIZES, fit, logarithms, tails
from attnlab.checks.check_1_5.contracts import TOLD
from attnlab.checks.check_1_5.follow import follows
from attnlab.checks.check_1_5.mistakes import MISTAKES, within
from nbmark.answers import case_rng, record
from nbmark.graded import CheckFailed, require

UNIT = re.compile(r"(?i)sec|\bm?s\b|[µμ]s|\bn?s\b|minute|byte|\b[kmgt]?i?b\b|bits?\b")
ROUNDED = 0.03  # what rounding the numbers of a figure may move
same_exponent = partial(np.isclose, rtol=5e-4, atol=5e-4)
exercise = Exercise("1.5")


@exercise.check(points=2, **TOLD["measures_memory"])
def measures_memory(profile: Callable) -> str:
    """Show that peak_bytes is the peak of one call, in bytes, for each n by itself."""
    larger = case_rng("memory").permutation([1500, 700, 1100])
    sizes = np.array([*larger[larger > 700], 700]) + 1  # the smallest last
    peaks = profiles.require_peaks(profile, sizes)
    shares = np.round(peaks / (2 * sizes**2), 2)
    record("peak_bytes over right ones", shares, tolerance=0.05)
    return "Your profile gives the most bytes that are held at once, for each n by itself."


@exercise.check(points=2, **TOLD["measures_time"])
def measures_time(profile: Callable) -> str:
    """Show that seconds is the time of one usual call, which a slow one does not move."""
    profile = profiles.mended(profile)
    profiles.require_usual_call(profile, profiles.require_seconds(profile))
    profiles.require_synchronised(profile)
    record("times a usual call", True)
    return "Your profile gives the time of one usual call. A slow call does not move it."


@exercise.check(points=1, **TOLD["survives_out_of_memory"])
def survives_out_of_memory(profile: Callable) -> str:
    """Show that running out of memory is a result, and any other error is not."""
    profile = profiles.mended(profile)
    sizes, case = [8, 64, 16], "a function that runs out of memory at n = 64"
    with MISTAKES.instead_of(rows_missing="oom_left_out", raised="oom_not_caught"):
        rows = profiles.run(profile, cases.failing_at(64), sizes, case)
    row = "({:.0f}, {:g}, {:g})".format(*rows[1])
    MISTAKES.fail_if(not np.isnan(rows[1, 1:]).all(), "oom_as_number", row=row)
    MISTAKES.fail_if(np.isnan(rows[[0, 2]]).any(), "gives_up")
    for error in (ValueError("shapes do not fit"), RuntimeError("shapes do not fit")):
        try:
            profiles.run(profile, cases.failing_at(64, error), sizes, "a function that raises")
        except CheckFailed as failed:
            if failed.error is error:
                continue
        raise MISTAKES.failure("hides_errors", error=type(error).__name__)
    record("rows after out of memory", rows[:, 0])
    return "Out of memory is a result in your profile, and other errors come through."


@exercise.check(points=2, **TOLD["fits_powers"])
def fits_powers(fit_exponent: Callable) -> str:
    """Show that exponents come from all measured points, by least squares on the logarithms."""
    require(fit_exponent=fit_exponent)
    rng = case_rng("powers")
    n = np.sort(rng.choice(np.arange(20, 2000), 6, replace=False))
    power, factor = rng.uniform(0.4, 0.9) + rng.integers(2), rng.uniform(2, 9)
    exact = factor * n**power
    noisy = exact * np.exp(rng.permutation([-0.5, -0.2, 0.1, 0.3, 0.4, -0.3]))
    order = rng.permutation(6)
    drawn = [(n, exact), (n, noisy), (n[order], noisy[order])]
    tried = [([1, 2, 4, 8], [3, 24, 192, 1536])]
    tried += [(n.tolist(), y.round(3).tolist()) for n, y in drawn]
    given = _require_fits(fit_exponent, tried)
    n, y = tried[2]
    gaps = [*y[:4], None, None]
    with MISTAKES.instead_of(raised="none_not_left_out"):
        given.append(_ask_fit(fit_exponent, n, gaps))
    example = show(4, yours=given[-1], right=fit(n, gaps))
    MISTAKES.fail_if(not same_exponent(given[-1], fit(n, gaps)), "none_not_left_out", example)
    record("exponents", given, tolerance=3e-3)
    for name, peaks in RECORDED.items():
        exponent = _ask_fit(fit_exponent, list(SIZES), list(peaks))
        record(f"recorded, {name}", exponent, tolerance=3e-3)
    return "Your fit finds the exponent, with noise and with points that are missing."


def _require_fits(fit_exponent: Callable, tried: list[tuple[list, list]]) -> list[float]:
    """Fail unless all points of each case are fitted."""
    given = [_ask_fit(fit_exponent, n, y) for n, y in tried]
    for found, (n, y) in zip(given, tried, strict=True):
        if not same_exponent(found, fit(n, y)):
            made = [MISTAKES.made("exponent", *logarithms(*case)) for case in tried]
            cause = first_cause(given, made, same_exponent) or "wrong_fit"
            cause = "hard_coded" if np.ptp(given) < 1e-3 else cause
            raise MISTAKES.failure(cause, show(4, n=n, y=y, yours=found, right=fit(n, y)))
    return given


def _ask_fit(fit_exponent: Callable, n: list, y: list) -> float:
    with quiet_stderr():  # LAPACK prints there where numbers are not finite
        given = ask(fit_exponent, n, y, case=f"n = {n}, y = {y}")
    return _read_exponent("fit_exponent(n, y)", given)


def _read_exponent(name: str, value: Any) -> float:
    with MISTAKES.instead_of(wrong_shape="returns_all_coefficients"):
        return read_number(name, value)


@exercise.check(points=2, **TOLD["memory_grows_as_predicted"])
def memory_grows_as_predicted(
    exponents: Any,
    measured: Any,
    profile: Callable | None = None,
    fit_exponent: Callable | None = None,
) -> str:
    """Show that the memory measured here has exponents near 2 and 1 at large n."""
    require(exponents=exponents, measured=measured)
    complete = isinstance(exponents, Mapping) and set(exponents) == set(BOUNDS)
    MISTAKES.fail_if(not complete, "wrong_keys")
    values = {name: _read_exponent(f"exponents[{name!r}]", exponents[name]) for name in BOUNDS}
    rows = _read_measured(measured)
    if follows(values, rows, profile, fit_exponent):
        record("exponents, rounded", [2, 1])
        return """These are the exponents that your functions find at large n. Apart from what the
            checks above find wrong with one of these, this is right."""
    found = {name: tails(rows[name][-3:], 2)[0] for name in BOUNDS}
    exchanged = all(within(found[OTHER[name]], BOUNDS[name]) for name in BOUNDS)
    facts = {"what": "The exponent of measured['naive']", "value": found["naive"]}
    MISTAKES.fail_if(exchanged, "exchanged", **facts, other="fused")
    for name, (low, high) in BOUNDS.items():
        seen = f"""The peak_bytes in measured[{name!r}] grow with exponent {found[name]:.2f} at the
            largest n, where {low} to {high} is expected."""
        MISTAKES.fail_if(not low <= found[name] <= high, "measured_wrong", seen=seen)
    for name, value in values.items():
        fitted = any(abs(value - tail) < 0.03 for tail in tails(rows[name], 2))
        if not (fitted and within(value, BOUNDS[name])):
            cause = MISTAKES.explain("growth", value, name, rows[name], same=within)
            facts = {"what": f"exponents[{name!r}]", "value": value, "other": OTHER[name]}
            raise MISTAKES.failure(cause or "not_from_measurements", **facts)
    record("exponents, rounded", [round(values[name]) for name in BOUNDS])
    return "Memory grows like n² with the table of weights and like n without it."


@exercise.check(points=1, **TOLD["shows_both_curves"])
def shows_both_curves(fig: Any, measured: Any) -> str:
    """Show that a figure holds seconds and peak_bytes of both functions on log-log axes."""
    require(fig=fig, measured=measured)
    rows = _read_measured(measured)
    drawn = list(curves(read_figures(fig)))
    MISTAKES.fail_if(not drawn, "no_curves")
    places = {
        what: [
            _require_curve(drawn, f"{what} of {name}", rows[name][:, [0, column]])
            for name in BOUNDS
        ]
        for column, what in ((1, "seconds"), (2, "peak_bytes"))
    }
    for what, axes in places.items():
        _require_names(what, axes)
    record("curves shown", 4)
    return "Your figure shows time and memory of both functions on log-log axes."


def _read_measured(measured: Any) -> dict[str, np.ndarray]:
    """Give the rows, (N, 3), of both profiles at which memory sufficed, from small n to large."""
    complete = isinstance(measured, Mapping) and BOUNDS.keys() <= measured.keys()
    seen = "`measured` is no dictionary with the keys 'naive' and 'fused'."
    MISTAKES.fail_if(not complete, "measured_wrong", seen=seen)
    read = {name: profiles.read_rows(f"measured[{name!r}]", measured[name]) for name in BOUNDS}
    sufficed = {name: rows[(rows > 0).all(1)] for name, rows in read.items()}
    for name, rows in sufficed.items():
        seen = f"measured[{name!r}] holds fewer than three sizes at which memory sufficed."
        MISTAKES.fail_if(len(rows) < 3, "measured_wrong", seen=seen)
    return {name: rows[rows[:, 0].argsort()] for name, rows in sufficed.items()}


def _require_names(what: str, axes: list[Axes]) -> None:
    """Fail unless axes have names, what was measured a unit, and curves names of their own."""
    for ax in axes:
        figure = ax.get_figure(root=True)
        across = ax.get_xlabel() + figure.get_supxlabel()
        up = ax.get_ylabel() + figure.get_supylabel() + ax.get_title()
        MISTAKES.fail_if(not across.strip() or not up.strip(), "axes_unnamed", what=what)
        MISTAKES.fail_if(not UNIT.search(up), "no_unit", what=what, label=up.strip())
        names = {*ax.get_legend_handles_labels()[1], *(text.get_text() for text in ax.texts)}
        single = axes[0] is not axes[1] and ax.get_title()
        named = len(names) > 1 or figure.legends or ax.get_legend() or single
        MISTAKES.fail_if(not named, "curves_unnamed", what=what)


def _require_curve(drawn: list[tuple[Axes, np.ndarray]], curve: str, wanted: np.ndarray) -> Axes:
    """Fail unless a curve, (N, 2), is drawn on log-log axes, in whatever unit."""
    places = [ax for ax, points in drawn if _shows(points, wanted)]
    if not places:
        found = (MISTAKES.explain("points", points, wanted, same=_shows) for _, points in drawn)
        raise MISTAKES.failure(next(filter(None, found), "curve_missing"), curve=curve)
    scales = [(ax.get_xscale(), ax.get_yscale()) for ax in places]
    x, y = scales[0]
    MISTAKES.fail_if(("log", "log") not in scales, "not_loglog", curve=curve, x=x, y=y)
    return places[scales.index(("log", "log"))]


def _shows(points: np.ndarray, wanted: np.ndarray) -> bool:
    """Tell whether points are those of a curve, apart from units and what is not finite."""
    points = points[np.isfinite(points).all(1)]
    if len(points) != len(wanted):
        return False
    points, wanted = (array[array[:, 0].argsort()] for array in (points, wanted))
    with np.errstate(all="ignore"):
        units = points / wanted
    return np.allclose(units, units[-1], rtol=ROUNDED, atol=0)


__all__ = ["exercise", *exercise.points]
