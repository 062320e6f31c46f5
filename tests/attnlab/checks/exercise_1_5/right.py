"""Right answers to exercise 1.5: profiles put together from parts, fits, exponents, figures."""

import functools
import math
import statistics
import time
import timeit

import matplotlib.pyplot as plt
import numpy as np
import torch
from answers import EVERY_SEED, Call, stub

from attnlab import plotting
from attnlab.checks.check_1_5.cases import fit
from attnlab.peak_memory import PeakMemory
from attnlab.profiling import fit_exponent as fit_of_the_book
from attnlab.profiling import is_out_of_memory, measure

CUDA = torch.cuda.is_available()

# Profiles


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


def on_either_device(fn, n_values):
    """Measure on the device that there is, as the solution does."""
    if not CUDA:
        return profiler()(fn, n_values)

    def waited(fn, n):
        result = fn(n)
        torch.cuda.synchronize()
        return result

    def on_cuda(fn, n):
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        waited(fn, n)
        return torch.cuda.max_memory_allocated() - before

    return profiler(lambda fn, n: median_of(functools.partial(waited, fn), n), on_cuda)(
        fn, n_values
    )


ON_CPU = {
    "smallest": profiler(functools.partial(median_of, centre=min)),
    "processor time": profiler(functools.partial(median_of, clock=time.process_time)),
    "time.time": profiler(functools.partial(median_of, repeats=3, clock=time.time)),
    "timeit": profiler(lambda fn, n: min(timeit.repeat(lambda: fn(n), number=1, repeat=6))),
    "memory first": memory_first,
    "the book's": measured_by_the_book,
    "a generator": generated,
    "arrays": lambda fn, n_values: np.array(profiler()(fn, n_values), dtype=float),
}


PROFILES = {"median": on_either_device} | ({} if CUDA else ON_CPU)


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


FITS = [polyfit, by_hand, solved, in_torch, covariance, statistics_line, of_the_book]


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
GROWTH = {
    "as fitted": EXPONENTS,
    "the last two": EXPONENTS | {"naive": peaks("naive", -2)},
    "two decimals": {name: round(value, 2) for name, value in EXPONENTS.items()},
    "NumPy": {name: np.float32(value) for name, value in EXPONENTS.items()},
    "torch": {name: torch.tensor(value) for name, value in EXPONENTS.items()},
    "all of the fused": EXPONENTS | {"fused": peaks("fused", 0)},
}
RAN_OUT = {name: [*rows, (4096, None, None)] for name, rows in MEASURED.items()}


# Figures


def loglog(draw="loglog", unit=1.0, names=tuple(MEASURED), columns=(1, 2), **scales):
    fig, axes = plt.subplots(1, 2)
    for ax, column in zip(axes, columns, strict=False):
        for name in names:
            n, y = zip(*[(row[0], unit * row[column]) for row in MEASURED[name]], strict=True)
            getattr(ax, draw)(n, y, label=name)
        ax.set(xlabel="n", ylabel=("seconds", "peak_bytes")[column - 1], **scales)
    return fig


def rounded():
    """Draw as a report has it: milliseconds, MiB to one decimal, n in thousands."""
    fig, axes = plt.subplots(2, 1)
    for ax, column, unit, name in zip(axes, (1, 2), (1e-3, 2**20), ("ms", "MiB"), strict=True):
        for label, rows in MEASURED.items():
            y = [round(row[column] / unit, 1 if column == 2 else 3) for row in rows]
            ax.loglog([row[0] / 1000 for row in rows], y, "o--", label=label)
        ax.set(xlabel="thousand tokens", ylabel=name)
        ax.legend()
    return fig


def in_one(draw):
    fig, ax = plt.subplots()
    for rows in MEASURED.values():
        for column in (1, 2):
            draw(ax, [row[0] for row in rows], [row[column] for row in rows])
    ax.set(xlabel="n", ylabel="s, bytes")
    ax.legend(ax.lines, ["naive, s", "naive, bytes", "fused, s", "fused, bytes"])
    return fig


def book_style():
    figures = []
    for column in (1, 2):
        fig, ax = plotting.panel()
        for series, (name, rows) in enumerate(MEASURED.items()):
            plotting.loglog(
                ax, [r[0] for r in rows], [r[column] for r in rows], name, series=series
            )
        ax.set(xlabel="n", ylabel=("seconds", "bytes")[column - 1])
        figures.append(fig)
    return figures


LOG = {"xscale": "log", "yscale": "log"}
FIGURES = {
    "loglog": loglog,
    "MiB": lambda: loglog(unit=1 / 2**20),
    "plot": lambda: loglog("plot", **LOG),
    "scatter": lambda: loglog("scatter", **LOG),
    "errorbar": lambda: loglog("errorbar", **LOG),
    "base two": lambda: in_one(lambda ax, n, y: ax.loglog(n, y, "o-", base=2)),
    "backwards": lambda: in_one(lambda ax, n, y: ax.loglog(n[::-1], y[::-1])),
    "thousands": lambda: in_one(lambda ax, n, y: ax.loglog(np.array(n) / 1000, y)),
    "the book's": book_style,
    "rounded": rounded,
}


def with_measured(answer):
    """Make what the last two checks are called with."""
    return Call(lambda: (answer() if callable(answer) else answer, MEASURED))


RIGHT = {
    "measures_memory": PROFILES,
    "measures_time": PROFILES,
    "survives_out_of_memory": PROFILES,
    "fits_powers": {function.__name__: function for function in FITS},
    "memory_grows_as_predicted": {label: with_measured(e) for label, e in GROWTH.items()}
    | {"memory ran out at last": Call(lambda: (EXPONENTS, RAN_OUT))},
    "shows_both_curves": {label: with_measured(draw) for label, draw in FIGURES.items()},
}
UNTOUCHED = {check: [stub, None] for check in RIGHT} | {
    "memory_grows_as_predicted": [with_measured(None), Call(lambda: (EXPONENTS, None))],
    "shows_both_curves": [with_measured(None), Call(lambda: (loglog(), None))],
}
SEEDS = EVERY_SEED
FIXED = set(RIGHT) - {"measures_memory", "fits_powers"}
SEEDED = {"fits_powers"}
