"""Over all exercises: right answers earn their points, wrong ones are told their cause.

The answers are those of the folders ``exercise_1_N``; `answers` says how they are written down.
"""

import importlib
from pathlib import Path

import numpy as np
import pytest
from answers import arguments

from nbmark.answers import MIME, SEED, decode
from nbmark.graded import CheckFailed, NotAttempted

NUMBERS = sorted(path.name[9:] for path in Path(__file__).parent.glob("exercise_1_*"))
MODULE = {n: importlib.import_module(f"attnlab.checks.check_{n}") for n in NUMBERS}
TABLE = {n: importlib.import_module(f"attnlab.checks.check_{n}.mistakes").MISTAKES for n in NUMBERS}
RIGHT = {n: importlib.import_module(f"exercise_{n}.right") for n in NUMBERS}
WRONG = {n: importlib.import_module(f"exercise_{n}.wrong") for n in NUMBERS}
CHECKS = [(n, check) for n in NUMBERS for check in MODULE[n].exercise.points]


def cases(answers_of):
    """Give parameters: number, check and label of each answer, and the seeds to try it under."""
    return [
        pytest.param(n, check, label, seed, id=f"{n}-{check}-{label}-{seed}")
        for n, check in CHECKS
        for label in answers_of(n).get(check, {})
        for seed in RIGHT[n].SEEDS[: 1 if check in getattr(RIGHT[n], "UNSEEDED", ()) else None]
    ]


def recorded(shown):
    return {name: decode(value) for name, value in shown[-1].get(MIME, {}).items()}


def same(one, other):
    try:
        return np.allclose(one, other, atol=1e-5)
    except TypeError:  # texts
        return one == other


@pytest.mark.parametrize(
    ("number", "check", "label", "seed"), cases(lambda number: RIGHT[number].RIGHT)
)
def test_a_right_answer_passes_in_silence(number, check, label, seed, monkeypatch, shown, capfd):
    monkeypatch.setenv(SEED, seed)
    answer = RIGHT[number].RIGHT[check][label]
    assert getattr(MODULE[number], check)(*arguments(answer)) is None
    assert len(shown) == 1
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("number", "check", "label", "seed"), cases(lambda number: WRONG[number].WRONG)
)
def test_a_wrong_answer_is_told_its_cause(number, check, label, seed, monkeypatch, shown):
    monkeypatch.setenv(SEED, seed)
    answer, cause, words = WRONG[number].WRONG[check][label]
    for before in MODULE[number].exercise.points if WRONG[number].PASS_BEFORE else ():
        if before == check:
            break
        getattr(MODULE[number], before)(*arguments(answer))  # and earns its points
    with pytest.raises(CheckFailed) as caught:
        getattr(MODULE[number], check)(*arguments(answer))
    said = " ".join(str(caught.value).split())
    assert (caught.value.cause, words in said) == (cause, True), said


@pytest.mark.parametrize(("number", "check"), CHECKS)
def test_what_was_handed_out_is_not_attempted(number, check):
    untouched = RIGHT[number].UNTOUCHED[check]
    assert untouched
    for answer in untouched:
        with pytest.raises(NotAttempted, match=r"^Not attempted yet: `\w+` (is still|still|has)"):
            getattr(MODULE[number], check)(*arguments(answer))


@pytest.mark.parametrize(("number", "check"), CHECKS)
def test_right_answers_record_the_same_and_other_seeds_something_else(
    number, check, monkeypatch, shown
):
    def values(answer, seed):
        monkeypatch.setenv(SEED, seed)
        getattr(MODULE[number], check)(*arguments(answer))
        return recorded(shown)

    first, *others = RIGHT[number].RIGHT[check].values()
    key = values(first, "7")
    assert key
    for answer in others:
        given = values(answer, "7")
        assert given.keys() == key.keys()
        assert all(same(given[name], key[name]) for name in key)
    if check in RIGHT[number].SEEDED:
        other = values(first, "8")
        assert not all(same(other[name], key[name]) for name in key)


@pytest.mark.parametrize("number", NUMBERS)
def test_all_right_answers_together_earn_all_points(number, shown):
    checks = MODULE[number].exercise.points
    for check in checks:
        answer = next(iter(RIGHT[number].RIGHT[check].values()))
        getattr(MODULE[number], check)(*arguments(answer))
    total = sum(checks.values())
    assert f"{total} of {total} points so far" in shown[-1]["text/plain"]


@pytest.mark.parametrize("number", NUMBERS)
def test_the_graded_checks_are_all_that_is_public(number):
    assert set(MODULE[number].__all__) == {"exercise", *MODULE[number].exercise.points}
    assert set(RIGHT[number].RIGHT) == set(MODULE[number].exercise.points)


@pytest.mark.parametrize("number", NUMBERS)
def test_each_mistake_of_the_table_is_told_to_some_wrong_answer(number):
    told = {cause for answers in WRONG[number].WRONG.values() for _, cause, _ in answers.values()}
    assert set(TABLE[number].table) - told == WRONG[number].UNTOLD


@pytest.mark.parametrize(("number", "check"), CHECKS)
def test_a_right_answer_passes_whatever_its_notebook_has_set_and_finds_it_so_again(
    number, check, other_settings, shown
):
    made = arguments(next(iter(RIGHT[number].RIGHT[check].values())))
    with other_settings() as state:
        before = state()
        getattr(MODULE[number], check)(*made)
        assert state() == before
    assert len(shown) == 1
