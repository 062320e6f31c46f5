import base64

import numpy as np
import pytest
import torch

from nbmark.answers import (
    MIME,
    SEED,
    answers,
    case_rng,
    collect,
    decode,
    difference,
    encode,
    record,
)

VALUES = {
    "whole number": 3,
    "number that is none": float("nan"),
    "truth value": True,
    "text": "head",
    "nothing": None,
    "matrix": np.arange(6.0).reshape(2, 3),
    "transposed matrix": np.arange(6).reshape(2, 3).T,
    "no rows": np.zeros((0, 3), np.float32),
    "tensor that wants a gradient": torch.ones(2, 3, requires_grad=True),
    "half-precision tensor": torch.tensor([1.0, 0.5], dtype=torch.bfloat16),
    "nested": [(1, 2.5), {"a": np.eye(2)}, "x"],
}


def same(left, right):
    if isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in right)
    if isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if right is None or isinstance(right, bool | str):
        return left is right or left == right
    right = right.detach().float().numpy() if isinstance(right, torch.Tensor) else np.asarray(right)
    return left.shape == right.shape and np.array_equal(left, right, equal_nan=True)


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())
def test_a_value_comes_back_as_it_was(value):
    assert same(decode(encode(value)), value)


@pytest.mark.parametrize(
    "value", [object(), 1j, np.array(["a"]), np.array([None]), {1: 2}, [object()], {1, 2}]
)
def test_a_value_that_others_could_not_read_safely_is_refused(value):
    with pytest.raises(TypeError, match="cannot be recorded"):
        encode(value)


@pytest.mark.parametrize(
    "forged",
    [
        {},
        3,
        {"dtype": "O", "shape": [1], "data": "AAAAAAAAAAA="},
        {"dtype": "<f8", "shape": [2], "data": "AAAA"},
        {"dtype": "<f8", "shape": [-1, 0], "data": ""},
        {"dtype": "<f8", "shape": [1], "data": "?"},
        {"dtype": ["<f8"], "shape": [1], "data": ""},
        [{"dict": 3}],
    ],
)
def test_what_nobody_encoded_is_refused(forged):
    with pytest.raises(ValueError, match="no recorded value"):
        decode(forged)


def test_a_stage_draws_the_same_numbers_whatever_ran_before():
    first = case_rng("mask").random(3)
    case_rng("scale").random(5)
    assert np.array_equal(case_rng("mask").random(3), first)
    assert not np.array_equal(case_rng("scale").random(3), first)


def test_the_seed_of_the_environment_changes_the_cases(monkeypatch):
    before = case_rng("mask").random(3)
    monkeypatch.setenv(SEED, "7")
    assert not np.array_equal(case_rng("mask").random(3), before)


def test_a_seed_that_is_none_is_named(monkeypatch):
    monkeypatch.setenv(SEED, "-1")
    with pytest.raises(ValueError, match="'-1' is no seed"):
        case_rng()


def test_a_recorded_value_is_an_output_of_its_own(monkeypatch):
    shown = []
    monkeypatch.setattr("nbmark.answers.display", lambda data, raw: shown.append({"data": data}))
    record("w", [1, 2])
    record("v", "x")
    found = answers([*shown, {"output_type": "stream", "text": "hello"}])
    assert same(found, {"w": [1, 2], "v": "x"})
    assert [list(output["data"]) for output in shown] == [[MIME], [MIME]]


def test_a_collection_holds_back_what_is_recorded_and_takes_each_name_once(monkeypatch):
    monkeypatch.setattr("nbmark.answers.display", None)
    with collect() as collected:
        record("w", 1.5)
        with pytest.raises(ValueError, match="'w' is recorded already"):
            record("w", 2.5)
    assert same({name: decode(value) for name, value in collected.items()}, {"w": 1.5})


@pytest.mark.parametrize("forged", [[], "x", {"w": {"dtype": "x"}}])
def test_malformed_answers_are_an_error_and_never_a_crash(forged):
    with pytest.raises(ValueError, match=r"answers|recorded"):
        answers([{"data": {MIME: forged}}])


def test_an_answer_given_twice_is_an_error():
    output = {"data": {MIME: {"w": encode(1)}}}
    with pytest.raises(ValueError, match="'w' is recorded twice"):
        answers([output, output])


def test_data_is_plain_base64_of_the_numbers():
    assert base64.b64decode(encode(1.0)["data"]) == np.float64(1.0).tobytes()


def outputs(tolerance=None, **values):
    encoded = {name: encode(value) for name, value in values.items()}
    if tolerance:
        encoded = {k: {"value": v, "tolerance": tolerance} for k, v in encoded.items()}
    return [{"data": {MIME: encoded}}]


TWO = np.array([1.0, 2.0])
EQUAL = {
    "rounding": (1.0, 1.0001, None),
    "a tolerance of its own": (1.0, 1.04, 0.05),
    "another precision": (TWO, TWO.astype(np.float32), None),
    "no number": (np.nan, np.nan, None),
    "truth values": (np.array([True]), np.array([True]), None),
    "nested": ([{"a": TWO}, "x"], [{"a": TWO + 1e-5}, "x"], None),
}
DIFFERENT = {
    "a number": (1.0, 1.001, None),
    "beyond its own tolerance": (1.0, 1.2, 0.05),
    "a shape": (TWO, TWO[:, None], None),
    "a length": ([1, 2], [1], None),
    "a text": ("a", "b", None),
    "a truth value": (True, False, None),
    "nothing": (TWO, None, None),
    "text for a number": (1, "1", None),
    "a key": ({"a": 1}, {"b": 1}, None),
    "infinity": (1.0, np.inf, None),
}


@pytest.mark.parametrize(("right", "given", "tolerance"), EQUAL.values(), ids=EQUAL)
def test_answers_that_agree_are_no_difference(right, given, tolerance):
    assert difference(outputs(tolerance, x=right), outputs(x=given)) == ""


@pytest.mark.parametrize(("right", "given", "tolerance"), DIFFERENT.values(), ids=DIFFERENT)
def test_answers_that_differ_are_named_and_no_value_is_told(right, given, tolerance):
    said = difference(outputs(tolerance, x=right), outputs(x=given))
    assert said == "its answers are not the solution's: x"


def test_a_student_cannot_choose_the_tolerance():
    assert difference(outputs(x=1.0), outputs(tolerance=99, x=2.0)) != ""


def test_a_recorded_tolerance_leaves_the_value_as_it_is(monkeypatch):
    monkeypatch.setattr("nbmark.answers.display", None)
    with collect() as collected:
        record("w", 1.5, tolerance=0.1)
    assert collected["w"]["tolerance"] == 0.1
    assert answers([{"data": {MIME: collected}}]) == {"w": 1.5}
