"""What each graded cell of exercise 1.5 counts as right, and the hints of its text."""

TOLD = {
    "measures_memory": {
        "takes": "a function `fn` of `n`, and `n_values`, a list in any order",
        "gives": (
            "rows `(n, seconds, peak_bytes)` for each `n` in its order: tuples, lists or an array"
        ),
        "tolerance": "2 % of the peak, in bytes",
        "free": "the counter of your device",
        "hints": {
            "Hint 1: the order of things for one n": "not_called timed_while_counting no_warm_up",
            "Hint 2: from five times to one": "mean_not_median single_run total_not_one_call",
            "Hint 3: catching the right errors": "oom_not_caught oom_left_out hides_errors",
        },
    },
    "measures_time": {
        "takes": "a function `fn` of `n`, and `n_values`, a list in any order",
        "gives": "`seconds` of one usual call, in seconds",
        "tolerance": "a quarter, on this machine at this moment",
        "free": "the clock, how many calls, median or smallest",
        "hints": {
            "Hint 1: the order of things for one n": "not_called timed_while_counting no_warm_up",
            "Hint 2: from five times to one": "mean_not_median single_run total_not_one_call",
            "Hint 3: catching the right errors": "oom_not_caught oom_left_out hides_errors",
        },
    },
    "survives_out_of_memory": {
        "takes": (
            "a function `fn` of `n`, and `n_values`, a list in any order; `fn` may run out "
            "of memory or raise another error"
        ),
        "gives": (
            "None (or NaN) for both numbers where memory ran out, and a row for every "
            "other `n`; any other error comes through"
        ),
        "free": "how you tell the errors apart",
        "hints": {
            "Hint 1: the order of things for one n": "not_called timed_while_counting no_warm_up",
            "Hint 2: from five times to one": "mean_not_median single_run total_not_one_call",
            "Hint 3: catching the right errors": "oom_not_caught oom_left_out hides_errors",
        },
    },
    "fits_powers": {
        "takes": "`n` and `y`, lists of equal length in any order; `y` may hold None",
        "gives": "one number, the slope of the least-squares line through all logarithms",
        "tolerance": "$5 \\cdot 10^{-4}$, unrounded",
        "free": "the base, if it is shared; any library",
        "hints": {
            "Hint 1: leave out first": "none_not_left_out",
            "Hint 2: the line": "wrong_fit intercept returns_all_coefficients",
        },
    },
    "memory_grows_as_predicted": {
        "gives": (
            '`exponents`, a dictionary with `"naive"` and `"fused"`, numbers that '
            "follow from the `peak_bytes` in `measured`"
        ),
        "tolerance": "0.03, so that two decimals count",
        "free": (
            "how many of the largest lengths are fitted, as long as the result lies in the bounds; "
            "with a wrong `profile` or `fit_exponent`, what it makes of the three largest"
        ),
        "hints": {
            "Hint": "small_n from_seconds not_from_measurements",
        },
    },
    "shows_both_curves": {
        "gives": (
            "`fig`, with seconds and `peak_bytes` of both functions against $n$ on log-log "
            "axes that have names and units, and curves that have names"
        ),
        "tolerance": "3 %, so that rounded numbers count",
        "free": (
            "units (bytes or MiB, seconds or ms, tokens or thousands), lines or points, "
            "one figure or several"
        ),
        "hints": {
            "Hint": "no_curves not_loglog curve_missing",
        },
    },
}
