"""Checks of exercise 1.8: predict, run and explain where the bottleneck is.

Any prediction earns its point. The functions that measure are judged on cases that are drawn; what
was trained is the student's own, and findings are held against it. A person reads why.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from attnlab.checks._diagnose import ask, differs, first_cause, read_array, read_number, show
from attnlab.checks._settings import Exercise
from attnlab.checks.check_1_8 import cases
from attnlab.checks.check_1_8.cases import EFFECTS, LENGTHS, QUESTIONS, RUNS
from attnlab.checks.check_1_8.contracts import TOLD
from attnlab.checks.check_1_8.mistakes import MISTAKES
from nbmark.answers import case_rng, record
from nbmark.graded import CheckFailed, require

Results = dict[str, tuple[np.ndarray, np.ndarray]]  # shares and bits, (4,) each, of each run

exercise = Exercise("1.8")


@exercise.check(points=1, **TOLD["records_a_prediction"])
def records_a_prediction(prediction: Any) -> str:
    """Show that all four questions have an answer, whatever it is."""
    require(prediction=prediction)
    _read_words("prediction", prediction)
    record("predicted", True)
    return "Your prediction stands. Leave it as it is, whatever comes out."


def _read_words(name: str, answers: Any) -> dict[str, str]:
    """Read one of the three words for each question."""
    right, what = ", ".join(map(repr, QUESTIONS)), f"it is of type {type(answers).__name__}"
    if isinstance(answers, Mapping):
        missing = [key for key in QUESTIONS if key not in answers]
        odd = [key for key in answers if key not in QUESTIONS]
        what = f"{', '.join(map(repr, missing or odd))} {'is missing' if missing else 'is odd'}"
    complete = isinstance(answers, Mapping) and set(answers) == set(QUESTIONS)
    MISTAKES.fail_if(not complete, "wrong_keys", name=f"`{name}`", right=right, what=what)
    for key, value in answers.items():
        require(**{name: value})
        known = isinstance(value, str) and value.strip().lower() in EFFECTS
        MISTAKES.fail_if(not known, "wrong_word", name=name, key=key, value=value)
    return {key: value.strip().lower() for key, value in answers.items()}


@exercise.check(points=2, **TOLD["counts_what_is_right"])
def counts_what_is_right(share_by_position: Callable) -> str:
    """Show that shares are counted place by place."""
    require(share_by_position=share_by_position)
    rng = case_rng("shares")
    tried = [cases.draw_strings(rng, n, T) for n, T in ((2, 3), (7, 5), (12, 6))]
    given = []
    for written, target in tried:
        words = f"written and target of shape {tuple(written.shape)}"
        result = ask(share_by_position, written.clone(), target.clone(), case=words)
        given.append(read_array("share_by_position(written, target)", result))
    right = [cases.shares(*case) for case in tried]
    for (written, target), yours, ours in zip(tried, given, right, strict=True):
        if differs(yours, ours):
            cause = first_cause(given, [MISTAKES.made("shares", *case) for case in tried])
            rows = {"written": written[:3], "target": target[:3], "yours": yours, "right": ours}
            raise MISTAKES.failure(cause or "shares_value", show(**rows))
    record("shares", given[-1])
    return "Your shares tell place by place how many strings are right there."


@exercise.check(points=2, **TOLD["counts_bits"])
def counts_bits(bits_read: Callable) -> str:
    """Show that bits are what a string carries, less what it still costs."""
    require(bits_read=bits_read)
    rng = case_rng("bits")
    tried = [(0.0, 2, 4), (1.0, 1, 8), (0.5, 4, 8)]
    tried += [(round(float(rng.uniform(0.2, 1.5)), 3), int(rng.integers(5, 30)), 20)]
    given = []
    for case in tried:
        words = "nats = {}, length = {}, n_symbols = {}".format(*case)
        given.append(read_number("bits_read(...)", ask(bits_read, *case, case=words)))
    for case, yours in zip(tried, given, strict=True):
        if abs(yours - cases.bits(*case)) > 1e-5:
            made = [MISTAKES.made("bits", *each) for each in tried]
            cause = first_cause(given, made, partial(np.isclose, rtol=1e-6, atol=1e-6))
            words = "    nats = {:g}, length = {}, n_symbols = {}\n".format(*case)
            example = words + show(4, yours=yours, right=cases.bits(*case))
            raise MISTAKES.failure(cause or "bits_value", example)
    record("bits", given)
    return "Your bits are what the string carries, less what it still costs."


@exercise.check(points=1, **TOLD["names_effects"])
def names_effects(effect: Callable) -> str:
    """Show that a difference counts where it is larger than the noise."""
    require(effect=effect)
    rng = case_rng("effects")
    a, b = rng.uniform(0.2, 0.4, 2).round(3).tolist()
    tried = [(0.5, 0.9, 0.1), (0.9, 0.5, 0.1), (0.5, 0.55, 0.1), (0.55, 0.5, 0.1)]
    tried += [(0.5, 0.52, 0.3), (0.52, 0.5, 0.3)]
    for noise in (0.9 * b, 1.1 * b):
        tried += [(a, a + b, noise), (a + b, a, noise)]
    given = [ask(effect, *case, case="effect({:g}, {:g}, {:g})".format(*case)) for case in tried]
    given = [word.strip().lower() if isinstance(word, str) else word for word in given]
    right = [cases.effect(*case) for case in tried]
    for case, yours, ours in zip(tried, given, right, strict=True):
        if yours != ours:
            made = [MISTAKES.made("effect", *each) for each in tried]
            cause = first_cause(given, made, lambda x, y: x == y)
            before, after, noise = (f"{x:.3g}" for x in case)
            facts = {"given": yours, "before": before, "after": after, "noise": noise}
            raise MISTAKES.failure(cause or "effect_value", **facts)
    record("effects", given)
    return "A difference counts where it is larger than what another seed brings."


@exercise.check(points=2, **TOLD["runs_the_experiment"])
def runs_the_experiment(results: Any, bits_read: Callable | None = None) -> str:
    """Show that five models were trained and tested at all lengths."""
    read = _read_results(results, not _is_wrong(bits_read))
    at = {name: tuple(np.concatenate(pair).round(6)) for name, pair in read.items()}
    for name in RUNS:
        alike = [other for other in RUNS if at[other] == at[name]]
        MISTAKES.fail_if(len(alike) > 1, "same_model", names=" and ".join(map(repr, alike)))
    shares = read["base"][0]
    MISTAKES.fail_if(shares[0] <= shares[-1], "order")
    swapped = read["narrower"][0].sum() >= read["wider"][0].sum()
    MISTAKES.fail_if(swapped, "runs_exchanged")
    record("runs", len(read))
    wider = read["wider"][0][-1]
    return f"""Five models, four lengths. At {LENGTHS[-1]} symbols {shares[-1]:.0%} are right with
        the base model and {wider:.0%} with the wider one."""


def _is_wrong(bits_read: Callable | None) -> bool:
    """Tell whether bits are counted wrong, which costs the check of that function alone."""
    if bits_read is None:
        return False
    try:
        given = read_number("bits", ask(bits_read, 0.5, 4, 8))
    except CheckFailed:
        return True
    return differs(given, cases.bits(0.5, 4, 8))


def _read_results(results: Any, counted: bool = False) -> Results:
    """Read shares and bits of each run; where they were counted right, see that they can be."""
    require(results=results)
    right, what = ", ".join(map(repr, RUNS)), "it is no dictionary"
    missing = [name for name in RUNS if not isinstance(results, Mapping) or name not in results]
    if isinstance(results, Mapping):
        what = f"{', '.join(map(repr, missing))} {'are' if len(missing) > 1 else 'is'} missing"
    MISTAKES.fail_if(missing, "wrong_runs", right=right, what=what)
    read = {}
    for name in RUNS:
        require(results=results[name])
        pair = results[name]
        fits = isinstance(pair, tuple | list | np.ndarray) and len(pair) == 2
        what = f"{name!r} holds no two lists"
        MISTAKES.fail_if(not fits, "wrong_runs", right=right, what=what)
        shares, bits = (read_array(f"results[{name!r}]", each, finite=True) for each in pair)
        fits = shares.shape == bits.shape == (len(LENGTHS),)
        MISTAKES.fail_if(not fits, "wrong_runs", right=right, what=f"{name!r} lacks a length")
        low, high = shares.min(), shares.max()
        what = f"shares from {low:.3g} to {high:.3g}"
        MISTAKES.fail_if(low < 0 or high > 1, "not_measured", name=name, what=what)
        over = counted and (bits > np.array(LENGTHS) * 3 + 1e-6).any()
        MISTAKES.fail_if(over, "not_measured", name=name, what="more bits than a string carries")
        read[name] = shares, bits
    return read


@exercise.check(points=1, **TOLD["findings_follow"])
def findings_follow(findings: Any, results: Any) -> str:
    """Show that findings are what the student's own results say."""
    require(findings=findings)
    given, read = _read_words("findings", findings), _read_results(results)
    base, second = read["base"][0], read["second seed"][0]
    noise = abs(base[-1] - second[-1])
    pairs = {"longer": ("the base model's share right", base[0], base[-1])}
    for name in QUESTIONS[1:]:
        pairs[name] = (
            f"the share right at 16 symbols, base to {name},",
            base[-1],
            read[name][0][-1],
        )
    for key, (what, before, after) in pairs.items():
        right = cases.effect(before, after, noise * (1 + 1e-9))
        facts = {"key": key, "what": what, "before": before, "after": after, "noise": noise}
        MISTAKES.fail_if(given[key] != right, "finding", **facts, right=right, given=given[key])
    record("findings follow", True)
    return "Your findings are what your results say. Now compare them with your prediction."


__all__ = ["exercise", *exercise.points]
