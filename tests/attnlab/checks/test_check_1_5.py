"""Profiles, fits and figures of exercise 1.5: right ways pass, wrong ones are told their cause."""

import functools
import math
import statistics
import time
import timeit
import tracemalloc

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch

from attnlab import plotting
from attnlab.checks import check_1_5
from attnlab.checks._fits_1_5 import fit
from attnlab.peak_memory import PeakMemory
from attnlab.profiling import fit_exponent as fit_of_the_book
from attnlab.profiling import is_out_of_memory, measure
from nbmark.graded import CheckFailed, NotAttempted

EVERY_SEED = pytest.mark.parametrize("seed", ["0", "1", "2", "12345"])
ON_CPU = pytest.mark.skipif(torch.cuda.is_available(), reason="these profiles count on the CPU")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def assert_told(cause, words, check, *args):
    with pytest.raises(CheckFailed) as caught:
        check(*args)
    assert caught.value.cause == cause, str(caught.value)
    assert words in " ".join(str(caught.value).split())


def assert_passes(capfd, words, check, *args):
    check(*args)
    out, err = capfd.readouterr()
    assert words in " ".join(out.split())
    assert err == ""


# The profile, put together from parts


def counted(fn, n):
    with PeakMemory() as memory:
        fn(n)
    return memory.peak


def one_call(fn, n, clock=time.perf_counter):
    start = clock()
    fn(n)
    return clock() - start


def median_of(fn, n, repeats=5, clock=time.perf_counter, centre=statistics.median):
    fn(n)
    return centre([one_call(fn, n, clock) for _ in range(repeats)])


def profiler(seconds=median_of, peak=counted, caught=is_out_of_memory):
    """Make a profile out of a way to time and a way to count."""

    def profile(fn, n_values):
        rows = []
        for n in n_values:
            try:
                rows.append((n, seconds(fn, n), peak(fn, n)))
            except (RuntimeError, MemoryError) as error:
                if not caught(error):
                    raise
                rows.append((n, None, None))
        return rows

    return profile


def memory_first(fn, n_values):
    rows = []
    for n in n_values:
        try:
            peak = counted(fn, n)
            times = [one_call(fn, n) for _ in range(7)]
        except RuntimeError as error:
            if "can't allocate memory" not in str(error) and "not enough memory" not in str(error):
                raise
            rows.append([n, math.nan, math.nan])
        else:
            rows.append([n, sorted(times)[3], peak])
    return rows


def measured_by_the_book(fn, n_values):
    return [(n, *measure(fn, n)[:2]) for n in n_values]


def generated(fn, n_values):
    yield from profiler()(fn, n_values)


RIGHT_PROFILES = {
    "median": profiler(),
    "smallest": profiler(functools.partial(median_of, centre=min)),
    "processor time": profiler(functools.partial(median_of, clock=time.process_time)),
    "time.time": profiler(functools.partial(median_of, repeats=3, clock=time.time)),
    "timeit": profiler(lambda fn, n: min(timeit.repeat(lambda: fn(n), number=1, repeat=6))),
    "memory first": memory_first,
    "the book's": measured_by_the_book,
    "a generator": generated,
    "arrays": lambda fn, n_values: np.array(profiler()(fn, n_values), dtype=float),
}


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
    "swapped": (changed(lambda n, seconds, peak: (n, peak, seconds)), "n, seconds, peak_bytes"),
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
    "mutates_input": (lambda fn, n: (n.sort(), profiler()(fn, n))[1], "work on a copy"),
    "raised": (lambda fn, n_values: [(n, 0.1, fn()) for n in n_values], "TypeError"),
}


def both_at_once(fn, n):
    fn(n)
    times = []
    for _ in range(5):
        with PeakMemory():
            times.append(one_call(fn, n))
    return statistics.median(times)


WRONG_TIME = {
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
    "wrong_time_unit": (profiler(lambda fn, n: 1000 * median_of(fn, n)), "in milliseconds"),
    "wrong_time_unit ns": (
        profiler(functools.partial(median_of, clock=time.perf_counter_ns)),
        "in nanoseconds",
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


def cause_of(name):
    return name.split()[0]


@ON_CPU
@pytest.mark.parametrize("name", RIGHT_PROFILES)
def test_right_profiles_pass_quietly(name, capfd):
    assert_passes(capfd, "held at once", check_1_5.measures_memory, RIGHT_PROFILES[name])
    assert_passes(capfd, "one usual call", check_1_5.measures_time, RIGHT_PROFILES[name])
    assert_passes(capfd, "is a result", check_1_5.survives_out_of_memory, RIGHT_PROFILES[name])


@ON_CPU
@EVERY_SEED
@pytest.mark.parametrize("name", WRONG_MEMORY)
def test_wrong_memory_is_told_why(name, seed, monkeypatch):
    monkeypatch.setenv("NBMARK_SEED", seed)
    profile, words = WRONG_MEMORY[name]
    assert_told(cause_of(name), words, check_1_5.measures_memory, profile)


@ON_CPU
@pytest.mark.parametrize("name", WRONG_TIME)
def test_wrong_times_are_told_why(name):
    profile, words = WRONG_TIME[name]
    assert_told(cause_of(name), words, check_1_5.measures_time, profile)


@ON_CPU
@pytest.mark.parametrize("name", WRONG_ERRORS)
def test_wrong_ways_with_errors_are_told_why(name):
    profile, words = WRONG_ERRORS[name]
    assert_told(cause_of(name), words, check_1_5.survives_out_of_memory, profile)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")
def test_a_clock_that_does_not_wait_for_the_gpu_is_told_so():
    assert_told("not_synchronised", "synchronize()", check_1_5.check_synchronised, profiler())


# Fits


def polyfit(n, y):
    kept = [(a, b) for a, b in zip(n, y, strict=True) if b is not None]
    a, b = zip(*kept, strict=True)
    return np.polyfit(np.log(a), np.log(b), 1)[0]


def by_hand(n, y):
    pairs = [(math.log2(a), math.log2(b)) for a, b in zip(n, y, strict=True) if b]
    mean_x = sum(x for x, _ in pairs) / len(pairs)
    mean_y = sum(y for _, y in pairs) / len(pairs)
    top = sum((x - mean_x) * (y - mean_y) for x, y in pairs)
    return top / sum((x - mean_x) ** 2 for x, _ in pairs)


def solved(n, y):
    y = np.array(y, dtype=float)
    here = np.isfinite(y)
    x = np.log10(np.array(n, dtype=float)[here])
    (p, _), *_ = np.linalg.lstsq(np.stack([x, np.ones_like(x)], 1), np.log10(y[here]))
    return float(p)


def in_torch(n, y):
    y = torch.tensor([math.nan if value is None else value for value in y])
    x, here = torch.tensor(n).double().log(), y.isfinite()
    x, y = x[here], y[here].log()
    return ((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum()


def covariance(n, y):
    x, y = np.log([(a, b) for a, b in zip(n, y, strict=True) if b is not None]).T
    table = np.cov(x, y)
    return np.array([table[0, 1] / table[0, 0]])


def statistics_line(n, y):
    kept = [(math.log(a), math.log(b)) for a, b in zip(n, y, strict=True) if b is not None]
    return statistics.linear_regression(*zip(*kept, strict=True)).slope


def of_the_book(n, y):
    return fit_of_the_book(n, y, n_min=0)


RIGHT_FITS = [polyfit, by_hand, solved, in_torch, covariance, statistics_line, of_the_book]


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
    "no_number": (lambda n, y: "n²", "Give a number"),
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
    "raised": (lambda n, y: np.polyfitt(n, y, 1), "AttributeError"),
}
WRONG_FITS["wrong_fit large n alone"] = (
    lambda n, y: float(fit_of_the_book(n, y, n_min=sorted(n)[1])),
    "least-squares",
)


@EVERY_SEED
@pytest.mark.parametrize("function", RIGHT_FITS)
def test_right_fits_pass_quietly(function, seed, monkeypatch, capfd):
    monkeypatch.setenv("NBMARK_SEED", seed)
    assert_passes(capfd, "finds the exponent", check_1_5.fits_powers, function)


@EVERY_SEED
@pytest.mark.parametrize("name", WRONG_FITS)
def test_wrong_fits_are_told_why(name, seed, monkeypatch):
    monkeypatch.setenv("NBMARK_SEED", seed)
    function, words = WRONG_FITS[name]
    assert_told(cause_of(name), words, check_1_5.fits_powers, function)


# Own measurements


SIZES = [128, 256, 512, 1024, 2048]
MEASURED = {
    "naive": [(n, 1e-8 * n**1.7, 64 * n**2 + 9000 * n) for n in SIZES],
    "fused": [(n, 2e-8 * n**1.4, 10000 * n) for n in SIZES],
}


def peaks(name, first=-3, column=2):
    rows = MEASURED[name][first:]
    return fit([row[0] for row in rows], [row[column] for row in rows])


EXPONENTS = {"naive": peaks("naive"), "fused": peaks("fused")}
RIGHT_EXPONENTS = [
    EXPONENTS,
    EXPONENTS | {"naive": peaks("naive", -2)},
    {name: round(value, 2) for name, value in EXPONENTS.items()},
    {name: np.float32(value) for name, value in EXPONENTS.items()},
    {name: torch.tensor(value) for name, value in EXPONENTS.items()},
    EXPONENTS | {"fused": peaks("fused", 0)},
]
WRONG_EXPONENTS = [
    (None, "not_attempted", "Not attempted yet"),
    (list(EXPONENTS.values()), "wrong_keys", "'naive' and 'fused'"),
    ({"naive": 1.9}, "wrong_keys", "'naive' and 'fused'"),
    (dict(zip(EXPONENTS, reversed(EXPONENTS.values()), strict=True)), "exchanged", "keeps a table"),
    (EXPONENTS | {"naive": peaks("naive", 0)}, "small_n", "largest three sizes"),
    (EXPONENTS | {"naive": peaks("naive", 0, 1)}, "from_seconds", "the third number"),
    (EXPONENTS | {"fused": peaks("fused", -3, 1)}, "from_seconds", "the third number"),
    (EXPONENTS | {"naive": 2.0}, "not_from_measurements", "Compute it"),
    (EXPONENTS | {"naive": 3.0}, "not_from_measurements", "Compute it"),
    (EXPONENTS | {"fused": 0.0}, "not_from_measurements", "Compute it"),
    (EXPONENTS | {"fused": "linear"}, "no_number", "Give a number"),
    (EXPONENTS | {"fused": [1.0, 3.0]}, "returns_all_coefficients", "first of the two"),
]


@pytest.mark.parametrize("exponents", RIGHT_EXPONENTS)
def test_right_exponents_pass_quietly(exponents, capfd):
    check = check_1_5.memory_grows_as_predicted
    assert_passes(capfd, "like n without it", check, exponents, MEASURED)


@pytest.mark.parametrize(("exponents", "cause", "words"), WRONG_EXPONENTS)
def test_wrong_exponents_are_told_why(exponents, cause, words):
    assert_told(cause, words, check_1_5.memory_grows_as_predicted, exponents, MEASURED)


def test_sizes_at_which_memory_ran_out_are_no_points():
    more = {name: [*rows, (4096, None, None)] for name, rows in MEASURED.items()}
    check_1_5.memory_grows_as_predicted(EXPONENTS, more)


def test_measurements_that_grow_otherwise_send_back_to_the_profile():
    wrong = MEASURED | {"naive": [(n, 0.1, 64 * n) for n in SIZES]}
    check = check_1_5.memory_grows_as_predicted
    assert_told("measured_wrong", "Repair `profile`", check, EXPONENTS, wrong)
    assert_told("measured_wrong", "once more", check, EXPONENTS, {"naive": MEASURED["naive"]})


# The figure


def loglog(draw="loglog", unit=1.0, names=tuple(MEASURED), columns=(1, 2), **scales):
    fig, axes = plt.subplots(1, 2)
    for ax, column in zip(axes, columns, strict=False):
        for name in names:
            n, y = zip(*[(row[0], unit * row[column]) for row in MEASURED[name]], strict=True)
            getattr(ax, draw)(n, y, label=name)
        ax.set(**scales)
    return fig


def in_one(draw):
    fig, ax = plt.subplots()
    for rows in MEASURED.values():
        for column in (1, 2):
            draw(ax, [row[0] for row in rows], [row[column] for row in rows])
    return fig


def book_style():
    figures = []
    for column in (1, 2):
        fig, ax = plotting.panel()
        for series, (name, rows) in enumerate(MEASURED.items()):
            plotting.loglog(
                ax, [r[0] for r in rows], [r[column] for r in rows], name, series=series
            )
        figures.append(fig)
    return figures


LOG = {"xscale": "log", "yscale": "log"}
RIGHT_FIGURES = [
    loglog,
    lambda: loglog(unit=1 / 2**20),
    lambda: loglog("plot", **LOG),
    lambda: loglog("scatter", **LOG),
    lambda: loglog("errorbar", **LOG),
    lambda: in_one(lambda ax, n, y: ax.loglog(n, y, "o-", base=2)),
    lambda: in_one(lambda ax, n, y: ax.loglog(n[::-1], y[::-1])),
    book_style,
]
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
    (lambda: plt.figure(), "no_curves", "ax.loglog"),
    (lambda: plt.subplots()[1].bar([1], [2]), "no_figure", "matplotlib Figure"),
    (lambda: "fig.png", "no_figure", "matplotlib Figure"),
]


@pytest.mark.parametrize("draw", RIGHT_FIGURES)
def test_right_figures_pass_quietly(draw, capfd):
    assert_passes(capfd, "on log-log axes", check_1_5.shows_both_curves, draw(), MEASURED)


@pytest.mark.parametrize(("draw", "cause", "words"), WRONG_FIGURES)
def test_wrong_figures_are_told_why(draw, cause, words):
    assert_told(cause, words, check_1_5.shows_both_curves, draw(), MEASURED)


def stub(*args):
    raise NotImplementedError


@pytest.mark.parametrize(
    "check",
    [
        check_1_5.measures_memory,
        check_1_5.measures_time,
        check_1_5.survives_out_of_memory,
        check_1_5.fits_powers,
    ],
)
def test_untouched_stubs_are_not_attempted(check):
    for untouched in (stub, None):
        with pytest.raises(NotAttempted, match="Not attempted yet"):
            check(untouched)


def test_what_is_recorded_of_the_source_s_sizes_has_exponents_near_2_and_1():
    assert fit(check_1_5.SIZES, check_1_5.RECORDED["naive"]) == pytest.approx(1.944, abs=1e-3)
    assert fit(check_1_5.SIZES, check_1_5.RECORDED["fused"]) == pytest.approx(1.0)


def test_points_add_up_to_those_of_the_exercise():
    assert sum(check_1_5.exercise.points.values()) == 10
