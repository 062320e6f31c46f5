"""The mistakes of exercise 1.5, and what each makes of a case.

Quantities: ``exponent`` of a fit; ``peaks`` of `hold_memory` and ``seconds`` beside them;
``points`` of a curve. Of some only the bounds are known: ``magnitude`` of the peaks, ``time`` of a
call, ``growth`` of the memory measured.
"""

import numpy as np

from attnlab.checks._diagnose import Mistake, Mistakes
from attnlab.checks.check_1_5.cases import BOUNDS, DEVICE, OTHER, OUTPUT, tails

BEFORE = 8 * 2**20  # bytes that are held before a profile's memory is checked
UNITS = (2**10, 2**20, 2**30, 1e3, 1e6, 1e9, 1 / 8)
TOO_FINE = 1e3, 1e6, 1e9  # milliseconds, microseconds, nanoseconds
BASES = np.log(2), np.log(10), np.log2(10)  # what the logarithms to two bases differ by
COUNTER = "torch.cuda's three functions" if DEVICE == "cuda" else "`with PeakMemory() as memory:`"
FILL_AGAIN = "run the cell that fills `measured` once more"


def _slope(x: np.ndarray, y: np.ndarray, degree: int = 1) -> float:
    return np.polyfit(x, y, degree)[0]


def _between_points(a: np.ndarray, b: np.ndarray) -> list:
    steps = [(b[j] - b[i]) / (a[j] - a[i]) for i, j in ((0, -1), (-2, -1), (0, 1))]
    return [*steps, (np.diff(b) / np.diff(a)).mean()]


def _around(values: list[float], tolerance: float) -> list[tuple[float, float]]:
    return [(value - tolerance, value + tolerance) for value in values]


def within(given: np.ndarray | float, bounds: tuple[float, float]) -> bool:
    """Tell whether one number or all of several lie between two bounds."""
    return bool(np.all((bounds[0] <= given) & (given <= bounds[1])))


MISTAKES = Mistakes(
    # The rows of a profile
    wrong_form="""`{name}` cannot be read. It should be a list with one tuple (n, seconds,
        peak_bytes) for each n.""",
    text_for_number="""`{name}` holds the text {text!r}. Give numbers, or None where there is
        none.""",
    order="Your rows come in the order {given}. Keep the order of n_values, {asked}.",
    rows_missing="""With {case} your rows are of n = {given}, but {asked} were asked for. Append a
        row for each n, and return the list after the loop.""",
    wrong_n="""Your rows are of n = {given}, but {asked} were asked for. Begin each row with the n
        that it was measured at.""",
    # Their memory
    columns_exchanged=Mistake("""Your seconds and your peak_bytes are exchanged. The order is n,
        seconds, peak_bytes.""").makes(seconds=lambda right: right),
    not_counted=Mistake(f"""Your peak_bytes are 0. On this machine {COUNTER} must surround the call.
        """).makes(peaks=lambda right: 0 * right),
    wrong_unit=Mistake("""Your peak_bytes are in another unit. Give bytes, not KiB or MiB.
        """).makes(peaks=lambda right: [right / unit for unit in UNITS]),
    peak_not_reset=Mistake("""Once a large n has been measured, smaller ones report its peak. Begin
        the count anew for each n.""").makes(peaks=np.maximum.accumulate),
    output_only=Mistake("""Your peak_bytes are the size of the output. What the function holds on
        its way counts: measure while it runs.""").makes(peaks=lambda right: 0 * right + OUTPUT),
    total_not_peak=Mistake("""You add up all that is allocated. Freed memory is used again: asked
        for is the most held at one moment.""").makes(peaks=lambda right: 1.5 * right),
    summed_over_calls=Mistake("""Your peak_bytes add up several calls. Measure the peak of one call.
        """).makes(peaks=lambda right: [k * right * x for k in range(2, 21) for x in (1, 1.5)]),
    baseline=Mistake("""Your peak_bytes include what was on the device before the call. Subtract
        what is allocated at its start.""").makes(peaks=lambda right: right + BEFORE),
    whole_process=Mistake(f"""Your peak_bytes are those of the whole process. Count what tensors
        hold: {COUNTER}.""").makes(magnitude=lambda right: (5 * right.max(), np.inf)),
    not_tensor_memory=Mistake(f"""Your peak_bytes are far too small. Do not divide them by anything.
        Python's own counters, such as tracemalloc, do not see what tensors hold: use {COUNTER}.
        """).makes(magnitude=lambda right: (-np.inf, right.min() / 20)),
    wrong_memory="""Your peak_bytes are not the most bytes that the function holds at one moment.
        Count one call for each n, from its start to its end.""",
    # Their time
    not_called="""Your profile never calls fn(n), the function that it is given. Call fn(n) for each
        n, and no function of the notebook by its name.""",
    not_timed=Mistake("""Your seconds are 0 or missing. Read a clock before and after the call, such
        as time.perf_counter().""").makes(time=lambda low, high, whole: (-np.inf, low / 1000)),
    wrong_time_unit=Mistake("""Your times are in milliseconds, microseconds or nanoseconds. Give
        seconds.""").makes(time=lambda low, high, whole: [(k * low, k * high) for k in TOO_FINE]),
    total_not_one_call=Mistake("""Your seconds are those of several calls together; your profile
        makes {calls}. Give the time of one call.
        """).makes(time=lambda low, high, whole: (high, 1.25 * whole + 0.01)),
    wrong_time="""Your seconds are not the time that one call takes. Subtract the clock before the
        call from the clock after it.""",
    timed_while_counting="""The memory counter is active while you time the call. It watches every
        operation and slows all of them down: count and time in separate calls.""",
    single_run="""A single call decides your time, and whatever else the machine does at that moment
        is in it. Time several calls and take their median or their smallest.""",
    no_warm_up="""The first call counts in your time. It is slower than the others, since memory has
        to be fetched and kernels loaded: make one call for each n before you time any.""",
    mean_not_median="""One slow call moves your result. Take the median of several calls, or the
        smallest, instead of their mean: other programs can only make a call slower.""",
    not_synchronised="""Your clock stops while the GPU still works: a call returns as soon as its
        work is queued. Call torch.cuda.synchronize() before you read the clock, both times.""",
    # Out of memory
    oom_not_caught="""Your profile ends with the error of a function that ran out of memory. Catch
        the error for this n, note None for both numbers, and go on with the next n.""",
    oom_left_out="""The row of the n at which memory ran out, or one after it, is missing. Append
        (n, None, None) where you catch the error, and go on with the next n.""",
    oom_as_number="""Your row of the n at which memory ran out is {row}. Nothing was measured:
        (64, None, None) says so, and a 0 would spoil every fit.""",
    gives_up="""After memory ran out at n = 64 your profile gives no numbers for n = 16. It has to
        go on: the next n may be smaller.""",
    hides_errors="""Your profile hides a {error} that has nothing to do with memory, and a mistake
        in fn would look like a full memory. Raise it again.""",
    # The exponent of a fit, from the logarithms a of n and b of y
    none_not_left_out="""Where memory ran out, y holds None. Leave these points out, n and y
        together, before you take logarithms.""",
    hard_coded="You return the same exponent for different data. Fit what you are given.",
    no_logarithms=Mistake("""You fit a line to n and y. Take the logarithm of both: log y = log c +
        p log n, and p is the slope.""").makes(exponent=lambda a, b: _slope(np.exp(a), np.exp(b))),
    log_of_one=Mistake("""You take the logarithm of one of the two. Take that of both, n and y.
        """).makes(exponent=lambda a, b: [_slope(np.exp(a), b), _slope(a, np.exp(b))]),
    swapped=Mistake("""You fit n against y, which gives 1/p. Put log n on the x axis, log y on the y
        axis.""").makes(exponent=lambda a, b: [_slope(b, a), 1 / _slope(a, b)]),
    intercept=Mistake("""You return log c. The exponent is the slope, the first number of
        np.polyfit.""").makes(exponent=lambda a, b: np.polyfit(a, b, 1)[1]),
    two_points=Mistake("""Two of the points decide your exponent, and the noise of both is in it.
        Fit a line through all points by least squares.""").makes(exponent=_between_points),
    through_origin=Mistake("""Your line goes through the origin, as if c were 1. Give it an
        intercept, as np.polyfit does.""").makes(exponent=lambda a, b: (a @ b) / (a @ a)),
    mixed_logarithms=Mistake("""The logarithms of n and y differ in base. Any base does, if shared.
        """).makes(exponent=lambda a, b: [_slope(a, b) * f**k for f in BASES for k in (1, -1)]),
    rounded=Mistake("""You round the exponent. Return it as it comes out of the fit.
        """).makes(exponent=lambda a, b: [round(_slope(a, b), digits) for digits in (0, 1)]),
    ratio=Mistake("""You return how much y grows from the first to the last n. Divide the logarithm
        of that by the one of the growth of n, or better, fit all points.
        """).makes(exponent=lambda a, b: np.exp(b[-1] - b[0])),
    correlation=Mistake("""You return how well a line fits, not how steep it is. The exponent is the
        slope.""").makes(exponent=lambda a, b: [np.corrcoef(a, b)[0, 1] ** k for k in (1, 2)]),
    degree_two=Mistake("""You fit a parabola to the logarithms. A power law is a straight line
        there: degree 1.""").makes(exponent=lambda a, b: list(np.polyfit(a, b, 2)[:2])),
    returns_all_coefficients="""Your exponent is more than one number. np.polyfit gives slope and
        intercept; the exponent is the slope, the first of the two.""",
    wrong_fit="""Your exponent is not the slope of the least-squares line through log n and log y.
        Fit all points, each once.""",
    # Own measurements
    wrong_keys="Make `exponents` a dictionary with the keys 'naive' and 'fused'.",
    measured_wrong=f"Repair `profile` first if it has no points yet, then {FILL_AGAIN}.",
    exchanged=Mistake("""{what} is {value:.2f}, the exponent of {other!r}. Look up which of the two
        keeps a table of n x n weights.""").makes(growth=lambda name, rows: BOUNDS[OTHER[name]]),
    from_seconds=Mistake("""{what} is that of the seconds. Fit the peak_bytes, the third number.
        """).makes(growth=lambda name, rows: _around(tails(rows, 1), 1e-3)),
    exponent_rounded=Mistake("""{what} is {value:.2f}: rounded, or the one that is expected. Give
        two decimals at least, as they come out of fit_exponent.
        """).makes(
        growth=lambda name, rows: _around([round(tails(rows, 2)[-2], k) for k in (0, 1)], 1e-6)
    ),
    small_n=Mistake("""{what} is {value:.2f}. It includes small n, where what grows like n still
        outweighs what grows like n². Fit the largest three sizes.
        """).makes(growth=lambda name, rows: _around(tails(rows, 2), 0.03)),
    not_from_measurements="""{what} is {value:.2f}, which does not follow from the peak_bytes in
        `measured`. Compute it: fit_exponent on the largest sizes.""",
    # The figure
    no_curves="`fig` shows no points. Draw each with ax.loglog(n, y).",
    axes_exchanged=Mistake("""The axes of {curve} are exchanged. Draw n to the right and what you
        measured upwards.""").makes(points=lambda wanted: wanted[:, ::-1]),
    curve_missing="""`fig` does not show {curve}. Draw seconds and peak_bytes of both functions, as
        measured: four curves against n.""",
    axes_unnamed="""Name the axes where {what} are drawn: ax.set(xlabel="sequence length n",
        ylabel="seconds"), for example.""",
    no_unit="""Say in which unit {what} are drawn. The axis is called {label!r}; write seconds, ms,
        bytes or MiB with it.""",
    curves_unnamed="""Name the curves of {what}: a label for each, then ax.legend().""",
    not_loglog="""The axes of {curve} are not both logarithmic (x is {x}, y is {y}). Only on log-log
        axes is a power law a straight line: use ax.loglog.""",
)
