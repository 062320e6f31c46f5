"""Calls the student's three scores of exercise 1.4 and says what is wrong with what they return."""

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from attnlab.checks._diagnose import ask_with_any, first_cause, grain_of, read_array, show
from attnlab.checks.check_1_4.cases import Case, close, fits
from attnlab.checks.check_1_4.mistakes import MISTAKES
from nbmark.failing import last_call


def compare(function: Callable, score: str, *arguments: tuple) -> np.ndarray:
    """Give a score's values in all cases, the smallest first; fail unless they are right."""
    cases = [Case(score, *each) for each in arguments]
    answers = [_ask(function, case) for case in cases]
    grain = max(grain for _, grain, _ in answers)
    pairs = [(value, case) for (value, _, _), case in zip(answers, cases, strict=True)]
    calls = {case: call for (_, _, call), case in zip(answers, cases, strict=True)}
    for value, case in reversed(pairs):
        _require_shape(value, case)  # of general maps first
    finite = [(value, case) for value, case in pairs if np.isfinite(value).all()]
    for value, case in finite:
        if not fits(score, value, case.right, grain):
            made = [_made(score, case) for _, case in finite]
            cause = first_cause([value for value, _ in finite], made, close) or "wrong_value"
            worst = np.unravel_index(np.abs(value - case.right).argmax(), value.shape)
            head = tuple(map(int, worst))
            facts = {"case": case, "head": head, "given": value[head], "right": case.right[head]}
            raise MISTAKES.failure(cause, _example(value, case), **facts).at(calls[case])
    for value, case in pairs:
        if not np.isfinite(value).all():
            seen = f"With {case} your score is {value[~np.isfinite(value)][0]}."
            cause = "nan_at_zero" if (case.maps == 0).any() else "not_finite"
            raise MISTAKES.failure(cause, _example(value, case), seen).at(calls[case])
    return right_scores(score, *arguments)


def right_scores(score: str, *arguments: tuple) -> np.ndarray:
    """Give what is right in all cases, one after the other."""
    return np.concatenate([Case(score, *each).right.ravel() for each in arguments])


def _ask(function: Callable, case: Case) -> tuple[np.ndarray, float, Any]:
    offset = () if case.offset is None else (case.offset,)
    given = ask_with_any(function, "maps", case.maps, *offset, case=str(case))
    name = f"{getattr(function, '__name__', 'score')}(maps)"
    return read_array(name, given), grain_of(given), last_call()


def _made(score: str, case: Case) -> Iterator[tuple[str, np.ndarray]]:
    """Give each cause with the wrong score that it makes, the larger one where there are sides."""
    yield from MISTAKES.made(score, case)
    for sides in zip(*(MISTAKES.made("mean", side) for side in case.sides), strict=True):
        yield sides[0][0], np.max([mean for _, mean in sides], axis=0)


def _require_shape(given: np.ndarray, case: Case) -> None:
    """Fail unless there is one number for each layer and head."""
    if given.shape != case.right.shape:
        known = MISTAKES.explain("shape", given.shape, *case.maps.shape[:4], same=operator.eq)
        seen = f"With {case} your score has shape {given.shape}."
        fits = f"(layers, H), here {case.right.shape}"
        raise MISTAKES.failure(known or "wrong_shape", seen=seen, fits=fits)


def _example(given: np.ndarray, case: Case) -> str:
    """Show a single small map with its score, or nothing for larger ones."""
    if given.size > 1:
        return ""
    label = "map" if case.offset is None else f"map, offset {case.offset:+d}"
    return show(**{label: case.maps[0, 0, 0]}, yours=given.ravel(), expected=case.right.ravel())
