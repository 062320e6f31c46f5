"""Wrong answers to exercise 1.5: which check finds each, its cause, and words of the message.

A label begins with the cause.
"""

import functools
import statistics
import time
import timeit
import tracemalloc

import matplotlib.pyplot as plt
import numpy as np
import torch
from answers import Call
from exercise_1_5.right import (
    CUDA,
    EXPONENTS,
    MEASURED,
    SIZES,
    counted,
    fit_of_the_book,
    in_one,
    loglog,
    median_of,
    one_call,
    peaks,
    profiler,
    with_measured,
)

from attnlab.checks.check_1_5.mistakes import MISTAKES
from attnlab.peak_memory import PeakMemory


def changed(row):
    """Make a profile that is right but for what it does with each of its rows."""
    return lambda fn, n_values: [row(*values) for values in profiler()(fn, n_values)]


def once_for_all(fn, n_values):
    memory, rows = PeakMemory(), []
    for n in n_values:
        with memory:
            fn(n)
        rows.append((n, median_of(fn, n), memory.peak))
    return rows


def output_bytes(fn, n):
    return fn(n).nbytes


def traced(fn, n):
    tracemalloc.start()
    fn(n)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def all_allocations(fn, n):
    return 1.5 * counted(fn, n)


WRONG_MEMORY = {
    "not_counted": (profiler(peak=lambda fn, n: 0), "PeakMemory() as memory"),
    "not_counted by cuda": (
        profiler(peak=lambda fn, n: torch.cuda.max_memory_allocated()),
        "must surround the call",
    ),
    "wrong_unit": (profiler(peak=lambda fn, n: counted(fn, n) / 2**20), "Give bytes"),
    "wrong_unit kB": (profiler(peak=lambda fn, n: counted(fn, n) // 1000), "not KiB"),
    "columns_exchanged": (
        changed(lambda n, seconds, peak: (n, peak, seconds)),
        "n, seconds, peak_bytes",
    ),
    "peak_not_reset": (once_for_all, "anew for each n"),
    "output_only": (profiler(peak=output_bytes), "while it runs"),
    "not_tensor_memory": (profiler(peak=traced), "tracemalloc"),
    "total_not_peak": (profiler(peak=all_allocations), "at one moment"),
    "summed_over_calls": (profiler(peak=lambda fn, n: 5 * counted(fn, n)), "peak of one call"),
    "baseline": (profiler(peak=lambda fn, n: counted(fn, n) + 8 * 2**20), "Subtract"),
    "whole_process": (profiler(peak=lambda fn, n: 4e8 + n), "whole process"),
    "wrong_memory": (profiler(peak=lambda fn, n: 1.2 * counted(fn, n)), "at one moment"),
    "returns_nothing": (lambda fn, n_values: None, "returns None"),
    "wrong_form": (lambda fn, n_values: dict.fromkeys(n_values, (1, 2)), "one tuple"),
    "wrong_form pairs": (changed(lambda n, seconds, peak: (n, peak)), "one tuple"),
    "wrong_form columns": (lambda fn, n_values: (n_values, "s", "b"), "one tuple"),
    "order": (lambda fn, n_values: profiler()(fn, sorted(n_values)), "Keep the order"),
    "rows_missing": (lambda fn, n_values: profiler()(fn, n_values[:-1]), "were asked for"),
    "rows_missing but one": (lambda fn, n_values: profiler()(fn, n_values[:1]), "after the loop"),
    "wrong_n": (changed(lambda n, seconds, peak: (2 * n, seconds, peak)), "Begin each row"),
    "wrong_n twice": (lambda fn, n_values: 2 * profiler()(fn, n_values), "Begin each row"),
    "text_for_number": (changed(lambda n, seconds, peak: (n, seconds, "2.1 MiB")), "'2.1 MiB'"),
    "mutates_input": (lambda fn, n: (n.sort(), profiler()(fn, n))[1], "Work on a copy"),
    "wrong_arguments": (lambda fn, n_values: [(n, 0.1, fn()) for n in n_values], "TypeError"),
}


def both_at_once(fn, n):
    fn(n)
    times = []
    for _ in range(5):
        with PeakMemory():
            times.append(one_call(fn, n))
    return statistics.median(times)


def within_the_counter(fn, n):
    with PeakMemory():
        return median_of(fn, n)


def of_the_notebook(fn, n_values):
    return [(n, one_call(NAIVE, n), counted(NAIVE, n)) for n in n_values]


NAIVE = {128: None}.__getitem__  # the notebook's function, which knows other n

WRONG_TIME = {
    "not_called the notebook's": (of_the_notebook, "the function that it is given"),
    "mean_not_median": (
        profiler(functools.partial(median_of, centre=statistics.mean)),
        "instead of their mean",
    ),
    "mean_not_median largest": (
        profiler(functools.partial(median_of, centre=max)),
        "instead of their mean",
    ),
    "mean_not_median of two": (
        profiler(functools.partial(median_of, repeats=2)),
        "One slow call moves",
    ),
    "single_run": (profiler(functools.partial(median_of, repeats=1)), "Time several calls"),
    "single_run after counting": (
        lambda fn, n_values: [
            (n, one_call(fn, n), p) for n, _, p in [(n, 0, counted(fn, n)) for n in n_values]
        ],
        "Time several calls",
    ),
    "no_warm_up": (
        profiler(lambda fn, n: statistics.mean([one_call(fn, n) for _ in range(5)])),
        "one call for each n before",
    ),
    "no_warm_up single": (profiler(one_call), "one call for each n before"),
    "wrong_time_unit": (profiler(lambda fn, n: 1000 * median_of(fn, n)), "in milliseconds, m"),
    "wrong_time_unit ns": (
        profiler(functools.partial(median_of, clock=time.perf_counter_ns)),
        "or nanoseconds. Give seconds",
    ),
    "total_not_one_call": (
        profiler(functools.partial(median_of, centre=sum)),
        "several calls together",
    ),
    "total_not_one_call timeit": (
        profiler(lambda fn, n: timeit.timeit(lambda: fn(n), number=4)),
        "several calls together",
    ),
    "not_timed": (profiler(lambda fn, n: (fn(n) and 0.0) or 0.0), "time.perf_counter()"),
    "not_timed None": (profiler(lambda fn, n: None), "time.perf_counter()"),
    "timed_while_counting": (profiler(both_at_once), "in separate calls"),
    "timed_while_counting all": (profiler(within_the_counter), "in separate calls"),
    "not_called": (lambda fn, n_values: [(n, 0.01, 0) for n in n_values], "never calls"),
    "wrong_time": (profiler(lambda fn, n: 2 + median_of(fn, n)), "not the time"),
}


def stops(fn, n_values):
    rows = []
    for n in n_values:
        try:
            rows.append((n, median_of(fn, n), counted(fn, n)))
        except RuntimeError:
            break
    return rows


def skips(fn, n_values):
    rows = []
    for n in n_values:
        try:
            rows.append((n, median_of(fn, n), counted(fn, n)))
        except RuntimeError:
            continue
    return rows


def gives_up(fn, n_values):
    rows, failed = [], False
    for n in n_values:
        try:
            rows.append((n, None, None) if failed else (n, median_of(fn, n), counted(fn, n)))
        except RuntimeError:
            failed = True
            rows.append((n, None, None))
    return rows


def only_cuda_errors(fn, n_values):
    rows = []
    for n in n_values:
        try:
            rows.append((n, median_of(fn, n), counted(fn, n)))
        except torch.OutOfMemoryError:
            rows.append((n, None, None))
    return rows


def swallowing(kind):
    def profile(fn, n_values):
        rows = []
        for n in n_values:
            try:
                rows.append((n, median_of(fn, n), counted(fn, n)))
            except kind:
                rows.append((n, None, None))
        return rows

    return profile


def zeros(fn, n_values):
    return [(n, s or 0, p or 0) for n, s, p in profiler()(fn, n_values)]


def texts(fn, n_values):
    return [tuple("OOM" if v is None else v for v in row) for row in profiler()(fn, n_values)]


WRONG_ERRORS = {
    "oom_not_caught": (
        lambda fn, n_values: [(n, median_of(fn, n), counted(fn, n)) for n in n_values],
        "go on with the next n",
    ),
    "oom_not_caught on a CPU": (only_cuda_errors, "note None"),
    "oom_left_out": (stops, "is missing"),
    "oom_left_out skipped": (skips, "is missing"),
    "oom_as_number": (zeros, "spoil every fit"),
    "text_for_number": (texts, "the text 'OOM'"),
    "gives_up": (gives_up, "may be smaller"),
    "hides_errors": (swallowing(Exception), "hides a ValueError"),
    "hides_errors of any kind": (swallowing(RuntimeError), "hides a RuntimeError"),
}


def kept(n, y):
    """Leave out what was not measured."""
    return np.array([(a, b) for a, b in zip(n, y, strict=True) if b is not None], dtype=float).T


def slope(x, y, degree=1):
    return np.polyfit(x, y, degree)[0]


def on_kept(function):
    return lambda n, y: function(*kept(n, y))


WRONG_FITS = {
    "no_logarithms": (on_kept(slope), "logarithm of both"),
    "log_of_one": (on_kept(lambda n, y: slope(n, np.log(y))), "both, n and y"),
    "log_of_one n": (on_kept(lambda n, y: slope(np.log(n), y)), "both, n and y"),
    "swapped": (on_kept(lambda n, y: slope(np.log(y), np.log(n))), "1/p"),
    "intercept": (on_kept(lambda n, y: np.polyfit(np.log(n), np.log(y), 1)[1]), "log c"),
    "two_points": (
        on_kept(lambda n, y: np.log(y[-1] / y[0]) / np.log(n[-1] / n[0])),
        "through all points",
    ),
    "two_points last": (
        on_kept(lambda n, y: np.log(y[-1] / y[-2]) / np.log(n[-1] / n[-2])),
        "through all points",
    ),
    "two_points mean": (
        on_kept(lambda n, y: np.mean(np.diff(np.log(y)) / np.diff(np.log(n)))),
        "through all points",
    ),
    "mixed_logarithms": (on_kept(lambda n, y: slope(np.log(n), np.log2(y))), "Any base"),
    "mixed_logarithms ten": (on_kept(lambda n, y: slope(np.log10(n), np.log(y))), "Any base"),
    "through_origin": (
        on_kept(lambda n, y: (np.log(n) @ np.log(y)) / (np.log(n) @ np.log(n))),
        "intercept",
    ),
    "rounded": (on_kept(lambda n, y: round(slope(np.log(n), np.log(y)))), "You round"),
    "ratio": (on_kept(lambda n, y: y[-1] / y[0]), "how much y grows"),
    "correlation": (on_kept(lambda n, y: np.corrcoef(np.log(n), np.log(y))[0, 1]), "how steep"),
    "degree_two": (on_kept(lambda n, y: slope(np.log(n), np.log(y), 2)), "degree 1"),
    "hard_coded": (lambda n, y: 2.0, "different data"),
    "returns_all_coefficients": (
        on_kept(lambda n, y: np.polyfit(np.log(n), np.log(y), 1)),
        "the first of the two",
    ),
    "returns_nothing": (lambda n, y: None, "End it with a return"),
    "no_numbers": (lambda n, y: "n²", "type str"),
    "none_not_left_out": (lambda n, y: slope(np.log(n), np.log(y)), "n and y together"),
    "none_not_left_out zero": (
        lambda n, y: slope(np.log(n), np.log([value or 1 for value in y])),
        "n and y together",
    ),
    "none_not_left_out nan": (
        lambda n, y: slope(np.log(n), np.log(np.array(y, dtype=float))),
        "n and y together",
    ),
    "wrong_fit": (on_kept(lambda n, y: slope(np.log(n), np.log(y)) + 0.1), "least-squares"),
    "wrong_fit large n alone": (
        lambda n, y: float(fit_of_the_book(n, y, n_min=sorted(n)[1])),
        "least-squares",
    ),
    "wrong_fit nan": (lambda n, y: np.nan, "least-squares"),
    "wrong_method": (lambda n, y: np.polyfitt(n, y, 1), "AttributeError"),
}


WRONG_EXPONENTS = [
    (list(EXPONENTS.values()), "wrong_keys", "'naive' and 'fused'"),
    ({"naive": 1.9}, "wrong_keys", "'naive' and 'fused'"),
    (dict(zip(EXPONENTS, reversed(EXPONENTS.values()), strict=True)), "exchanged", "keeps a table"),
    (EXPONENTS | {"naive": peaks("naive", 0)}, "small_n", "largest three sizes"),
    (EXPONENTS | {"naive": peaks("naive", 0, 1)}, "from_seconds", "the third number"),
    (EXPONENTS | {"fused": peaks("fused", -3, 1)}, "from_seconds", "the third number"),
    (EXPONENTS | {"naive": 2.0}, "exponent_rounded", "two decimals at least"),
    (EXPONENTS | {"naive": 1.5}, "not_from_measurements", "Compute it"),
    (EXPONENTS | {"naive": 3.0}, "not_from_measurements", "Compute it"),
    (EXPONENTS | {"fused": 0.0}, "not_from_measurements", "Compute it"),
    (EXPONENTS | {"fused": "linear"}, "no_numbers", "exponents['fused']"),
    (EXPONENTS | {"fused": [1.0, 3.0]}, "returns_all_coefficients", "first of the two"),
]
# What was measured, where the exponents or the figure follow from it
WRONG_MEASURED = [
    (MEASURED | {"naive": [(n, 0.1, 64 * n) for n in SIZES]}, "measured_wrong", "Repair `profile`"),
    (
        MEASURED | {"naive": [(n, 0.1, 64 * n) for n in SIZES]},
        "measured_wrong",
        "measured['naive'] grow with exponent 1.00",
    ),
    ({"naive": MEASURED["naive"]}, "measured_wrong", "keys 'naive' and 'fused'"),
    ({"naive": MEASURED["naive"]}, "measured_wrong", "once more"),
    (list(MEASURED.values()), "measured_wrong", "no dictionary"),
    (MEASURED | {"fused": MEASURED["fused"][:2]}, "measured_wrong", "fewer than three"),
    (
        MEASURED | {"fused": [(n, s, 0) for n, s, _ in MEASURED["fused"]]},
        "measured_wrong",
        "fewer than three",
    ),
    (MEASURED | {"fused": SIZES}, "wrong_form", "`measured['fused']` cannot"),
    (MEASURED | {"fused": [(n, 0.1, "20.4 MiB") for n in SIZES]}, "text_for_number", "'20.4 MiB'"),
    (
        dict(zip(MEASURED, reversed(MEASURED.values()), strict=True)),
        "exchanged",
        "measured['naive'] is 1.00",
    ),
]


def renamed(**names):
    fig = loglog()
    for ax in fig.axes:
        ax.set(**names)
    return fig


def unlabelled():
    fig = loglog()
    for line in [line for ax in fig.axes for line in ax.lines]:
        line.set_label("_")
    return fig


WRONG_FIGURES = [
    (lambda: loglog("plot"), "not_loglog", "x is linear, y is linear"),
    (lambda: loglog("semilogy"), "not_loglog", "x is linear, y is log"),
    (lambda: loglog("semilogx"), "not_loglog", "y is linear"),
    (lambda: loglog(columns=(2,)), "curve_missing", "seconds of naive"),
    (lambda: loglog(columns=(1,)), "curve_missing", "peak_bytes of naive"),
    (lambda: loglog(names=("naive",)), "curve_missing", "of fused"),
    (lambda: in_one(lambda ax, n, y: ax.loglog(y, n)), "axes_exchanged", "n to the right"),
    (lambda: in_one(lambda ax, n, y: ax.loglog(n[1:], y[1:])), "curve_missing", "does not show"),
    (lambda: in_one(lambda ax, n, y: ax.loglog(y)), "curve_missing", "against n"),
    (
        lambda: in_one(lambda ax, n, y: ax.plot(np.log(n), np.log(y))),
        "curve_missing",
        "as measured",
    ),
    (lambda: in_one(lambda ax, n, y: ax.loglog(n, [a**2 for a in n])), "curve_missing", "show"),
    (lambda: renamed(xlabel=""), "axes_unnamed", "Name the axes"),
    (lambda: renamed(ylabel=""), "axes_unnamed", "Name the axes"),
    (lambda: renamed(ylabel="y"), "no_unit", "in which unit seconds"),
    (lambda: unlabelled(), "curves_unnamed", "a label for each"),
    (lambda: plt.figure(), "no_curves", "ax.loglog"),
    (lambda: plt.subplots()[1].bar([1], [2]), "no_figure", "matplotlib Figure"),
    (lambda: "fig.png", "no_figure", "matplotlib Figure"),
]


def told(answers):
    """Take the cause from the label."""
    return {label: (answer, label.split()[0], words) for label, (answer, words) in answers.items()}


def labelled(answers):
    return {f"{cause} {i}": (a, cause, words) for i, (a, cause, words) in enumerate(answers)}


def beside(exponents):
    """Make what wrong measurements are checked with."""
    return [(Call(lambda m=m: (exponents, m)), *told) for m, *told in WRONG_MEASURED]


ON_CPU = {
    "measures_memory": told(WRONG_MEMORY),
    "measures_time": told(WRONG_TIME),
    "survives_out_of_memory": told(WRONG_ERRORS),
}
ON_CUDA = {"measures_time": {"no wait": (profiler(), "not_synchronised", "synchronize()")}}
WRONG = {
    "fits_powers": told(WRONG_FITS),
    "memory_grows_as_predicted": labelled(
        [(with_measured(exponents), *told) for exponents, *told in WRONG_EXPONENTS]
        + beside(EXPONENTS)
    ),
    "shows_both_curves": labelled([(with_measured(draw), *told) for draw, *told in WRONG_FIGURES]),
} | (ON_CUDA if CUDA else ON_CPU)
PASS_BEFORE = False
UNTOLD = {cause for told in (ON_CPU if CUDA else ON_CUDA).values() for _, cause, _ in told.values()}
UNTOLD &= set(MISTAKES.table)
