"""Wrong answers to exercise 1.8: which check finds each, its cause, and words of the message.

A label begins with the cause.
"""

import math

from answers import Call
from exercise_1_8.right import EXPECTED, RESULTS, by_difference, mean_of_truth, sent_less_paid

LN2 = math.log(2)

WRONG_PREDICTIONS = {
    "wrong_keys": ({"longer": "falls"}, "'wider', 'every step', 'second seed' is missing"),
    "wrong_keys more": (EXPECTED | {"narrower": "falls"}, "'narrower' is odd"),
    "wrong_keys list": (list(EXPECTED.values()), "of type list"),
    "wrong_word": (EXPECTED | {"wider": "better"}, "'better'"),
    "wrong_word number": (EXPECTED | {"wider": 1}, "one of 'rises', 'falls' and 'stays'"),
}
WRONG_SHARES = {
    "mean_of_truth": (lambda w, t: (w == t).mean(0), ".float()"),
    "counts over the length": (lambda w, t: (w == t).sum(0) / w.shape[1], "number of strings"),
    "shares_value whole rows": (lambda w, t: [1.0] * t.shape[1], "place by place"),
    "over_strings": (lambda w, t: (w == t).float().mean(1), "not over the places"),
    "one_share": (lambda w, t: (w == t).float().mean(), "one number comes for all"),
    "shares_wrong": (lambda w, t: (w != t).float().mean(0), "what is wrong is counted"),
    "percent": (lambda w, t: 100 * mean_of_truth(w, t), "these are percent"),
    "counts": (lambda w, t: (w == t).sum(0), "these are counts"),
    "flipped": (lambda w, t: mean_of_truth(w, t.flip(1)), "turned around"),
    "prefix_right": (lambda w, t: (w == t).cumprod(1).float().mean(0), "all before it"),
    "prefix_right whole": (
        lambda w, t: (w == t).all(1).float().mean().repeat(w.shape[1]),
        "Judge each place",
    ),
    "shares_value": (lambda w, t: mean_of_truth(w, t).round(decimals=1), "place by place"),
    "shares_cumulative": (lambda w, t: mean_of_truth(w, t).cumsum(0), "its own share"),
    "returns_nothing": (lambda w, t: print(end=""), "return statement"),
}
WRONG_BITS = {
    "length_once sent": (lambda x, T, N: T * math.log(N, 2) - x / LN2, "Multiply both"),
    "not_subtracted": (lambda x, T, N: T * math.log2(N) * math.exp(-x), "is multiplied"),
    "not_subtracted share": (lambda x, T, N: T * (1 - x / math.log(N)), "is multiplied"),
    "nats": (lambda x, T, N: T * (math.log2(N) - x), "Turn the loss into bits"),
    "times_ln2": (lambda x, T, N: T * (math.log2(N) - x * LN2), "which makes it larger"),
    "all_nats": (lambda x, T, N: T * (math.log(N) - x), "both are nats"),
    "sent_in_nats": (lambda x, T, N: T * (math.log(N) - x / LN2), "Take log2"),
    "a_symbol": (lambda x, T, N: math.log2(N) - x / LN2, "Multiply by the length"),
    "length_once": (lambda x, T, N: T * math.log2(N) - x / LN2, "that of one symbol"),
    "turned_around": (lambda x, T, N: T * (x / LN2 - math.log2(N)), "who knows everything"),
    "cost_only": (lambda x, T, N: T * x / LN2, "still had to pay"),
    "sent_only": (lambda x, T, N: T * math.log2(N), "whatever the loss is"),
    "rounded": (lambda x, T, N: round(sent_less_paid(x, T, N), 1), "Do not round"),
    "bits_value": (lambda x, T, N: T * (N - x / LN2), "by hand"),
    "no_numbers": (lambda x, T, N: f"{sent_less_paid(x, T, N)} bits", "type str"),
    "wrong_shape": (lambda x, T, N: [sent_less_paid(x, T, N), T], "Give one number"),
    "plain_number": (lambda x, T, N: x.log(), "AttributeError"),
}


def exchanged(before, after, noise):
    return by_difference(after, before, noise)


WRONG_EFFECTS = {
    "noise_scaled": (lambda a, b, noise: by_difference(a, b, noise / 2), "as it is given"),
    "noise_ignored in capitals": (
        lambda a, b, noise: "Rises" if b > a else "Falls",
        "another seed",
    ),
    "noise_ignored": (lambda a, b, noise: by_difference(a, b, 0), "another seed alone"),
    "effect_exchanged": (exchanged, "from before to after"),
    "falls_unseen": (lambda a, b, noise: "rises" if b - a > noise else "stays", "is negative"),
    "relative": (lambda a, b, noise: by_difference(1, b / a, noise), "the difference itself"),
    "effect_value": (lambda a, b, noise: by_difference(a, b, noise)[:-1], "'rise' comes"),
    "noise_scaled twice": (lambda a, b, noise: by_difference(a, b, 2 * noise), "as it is given"),
    "effect_value tuple": (lambda a, b, noise: (by_difference(a, b, noise),), "say 'stays', else"),
}


def with_run(name, shares, bits):
    return RESULTS | {name: (shares, bits)}


def part(place, factor=1.0):
    """Change shares (0) or bits (1) of all runs."""
    return {
        name: tuple([factor * x for x in each] if i == place else each for i, each in enumerate(p))
        for name, p in RESULTS.items()
    }


WRONG_RUNS = {
    "wrong_runs": ({"base": RESULTS["base"]}, "'every step' are missing"),
    "wrong_runs list": (list(RESULTS.values()), "no dictionary"),
    "wrong_runs shares alone": ({n: p[0] for n, p in RESULTS.items()}, "holds no two lists"),
    "wrong_runs three lengths": (with_run("wider", [0.9, 0.5, 0.4], [1, 2, 3]), "lacks a length"),
    "not_measured percent": (part(0, 100), "shares from 31 to 90"),
    "not_measured bits": (part(1, 8), "more bits than a string carries"),
    "same_model": (RESULTS | {"second seed": RESULTS["base"]}, "'base' and 'second seed'"),
    "same_model all": (dict.fromkeys(RESULTS, RESULTS["base"]), "Train each model anew"),
    "order": (
        {n: (s[::-1], sorted(b)) for n, (s, b) in RESULTS.items()},
        "the longer a string",
    ),
    "runs_exchanged": (
        RESULTS | {"wider": RESULTS["narrower"], "narrower": RESULTS["wider"]},
        "under which name",
    ),
    "not_finite": (with_run("wider", [0.9, 0.5, 0.4, math.nan], [1, 2, 3, 4]), "nan or inf"),
    "no_numbers": (with_run("wider", ["90 %", "50 %", "40 %", "30 %"], [1, 2, 3, 4]), "type list"),
}


def found(**words):
    return EXPECTED | {name.replace("_", " "): word for name, word in words.items()}


WRONG_FINDINGS = {
    "finding": (found(every_step="falls"), "goes from 0.310 to 0.300"),
    "finding longer": (found(longer="rises"), "the base model's share right"),
    "finding seed": (found(second_seed="falls"), "two seeds differ by 0.020"),
    "finding wider": (found(wider="stays"), "That is 'rises'"),
    "wrong_word": (found(wider=0.1), "'rises', 'falls' and 'stays'"),
    "wrong_keys": ({"wider": "rises"}, "`findings` needs"),
}


def told(answers, make=lambda answer: answer):
    """Read the cause off the label."""
    return {
        label: (make(answer), label.partition(" ")[0], words)
        for label, (answer, words) in answers.items()
    }


def with_results(findings):
    return Call(lambda: (findings, RESULTS))


WRONG = {
    "records_a_prediction": told(WRONG_PREDICTIONS),
    "counts_what_is_right": told(WRONG_SHARES),
    "counts_bits": told(WRONG_BITS),
    "names_effects": told(WRONG_EFFECTS),
    "runs_the_experiment": told(WRONG_RUNS),
    "findings_follow": told(WRONG_FINDINGS, with_results),
}
PASS_BEFORE = False
UNTOLD = set()
