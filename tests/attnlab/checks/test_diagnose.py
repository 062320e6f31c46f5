"""The core of the checks: the table of mistakes, the loop over it, and the readers."""

import numpy as np
import pytest
import torch

from attnlab.checks._diagnose import (
    Mistake,
    Mistakes,
    agrees,
    ask,
    ask_with_any,
    differs,
    first_cause,
    read_array,
    read_number,
    require_unchanged,
    show_wrong_row,
)
from attnlab.profiling import PowerLaw
from nbmark.graded import CheckFailed, NotAttempted

MISTAKES = Mistakes(
    doubled=Mistake("You double {what}.").makes(total=lambda x: 2 * x, mean=lambda x: x),
    shifted=Mistake("You add a number.").makes(total=lambda x: [x + 1, x + 2]),
    lost="It is lost.",
)


def test_the_first_mistake_that_makes_of_a_case_what_was_given_is_found():
    assert MISTAKES.explain("total", np.array(6.0), 3) == "doubled"
    assert MISTAKES.explain("total", np.array(5.0), 3) == "shifted"
    assert MISTAKES.explain("mean", np.array(3.0), 3) == "doubled"
    assert MISTAKES.explain("total", np.array(9.0), 3) is None
    assert MISTAKES.explain("total", 6.2, 3, same=lambda a, b: abs(a - b) < 0.5) == "doubled"


def test_a_mistake_has_to_explain_every_case_by_the_same_of_its_values():
    def cause(given, same=agrees):
        return first_cause(given, [MISTAKES.made("total", 1 + i) for i in range(len(given))], same)

    assert cause([2, 4]) == "doubled"
    assert cause([2, 3]) == "shifted"
    assert cause([2, 4, 5]) is None
    assert cause([2, 4], lambda a, b: False) is None


def test_a_failure_says_what_was_seen_and_fills_the_slots():
    failed = MISTAKES.failure("doubled", "    x = 1", "All is large.", what="x")
    assert failed.cause == "doubled"
    assert str(failed) == "You double x.\n\nFound: All is large.\n\n    x = 1"
    assert MISTAKES.failure("lost", of="`x`:").message == "`x`: It is lost."
    with pytest.raises(KeyError):
        MISTAKES.failure("doubled")
    MISTAKES.fail_if(0, "lost")
    with pytest.raises(CheckFailed, match=r"It is lost\.\n\nFound: It is gone") as caught:
        MISTAKES.fail_if([1], "lost", "    x = 1", "It is gone.")
    assert (caught.value.cause, caught.value.example) == ("lost", "    x = 1")


def test_a_general_cause_becomes_one_of_the_table_and_others_stay():
    with pytest.raises(CheckFailed, match="It is lost") as caught:  # noqa: SIM117
        with MISTAKES.instead_of(raised="lost"):
            raise CheckFailed("raised", "ValueError", "line 1")
    assert (caught.value.cause, caught.value.example) == ("lost", "line 1")
    with pytest.raises(CheckFailed, match="ValueError"), MISTAKES.instead_of(other="lost"):
        raise CheckFailed("raised", "ValueError")


@pytest.mark.parametrize(
    "value",
    [
        [[1, 2], [3, 4]],
        ((1, 2), (3, 4)),
        np.array([[1, 2], [3, 4]], dtype=np.float32),
        np.array([[1, 2], [3, 4]], dtype=object),
        torch.tensor([[1.0, 2], [3, 4]], requires_grad=True),
        torch.tensor([[1, 2], [3, 4]], dtype=torch.bfloat16),
        [torch.tensor([1, 2]), np.array([3, 4])],
    ],
)
def test_numbers_are_read_however_they_are_kept(value):
    array = read_array("x", value, finite=True)
    assert array.dtype == np.float64
    assert array.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("value", [[[1, 2], [3]], "text", {"a": 1}, object(), [1, "b"], 1j])
def test_what_does_not_read_as_numbers_is_told_by_its_type(value):
    with pytest.raises(CheckFailed, match=f"type {type(value).__name__}") as caught:
        read_array("x", value)
    assert caught.value.cause == "no_numbers"


@pytest.mark.parametrize("value", [None, ..., [1, None], [[1, ...]], np.array([1, None])])
def test_an_empty_place_is_not_attempted(value):
    with pytest.raises(NotAttempted, match="`x`"):
        read_array("x", value)


@pytest.mark.parametrize("value", [np.nan, [1, np.inf]])
def test_finite_numbers_are_asked_for_where_nan_is_no_answer(value):
    read_array("x", value)
    with pytest.raises(CheckFailed, match="nan or inf"):
        read_array("x", value, finite=True)


def test_one_number_is_read_from_whatever_holds_one():
    assert read_number("x", torch.tensor([[2.5]])) == 2.5
    assert read_number("x", PowerLaw(2.5, 0.1)) == 2.5
    for value in ([1, 2], [], np.ones((1, 3))):
        with pytest.raises(CheckFailed, match="Give one number") as caught:
            read_number("x", value)
        assert caught.value.cause == "wrong_shape"


def test_arrays_differ_in_a_value_in_shape_and_where_they_are_nan():
    assert not differs([1.0, 2], [1, 2 + 1e-6])
    assert differs([1.0, 2], [1, 2 + 1e-4])
    assert not differs([1.0, 2], [1, 2 + 1e-4], 1e-3)
    assert differs([1.0, 1.0], 1.0)
    assert differs(np.nan, np.nan)


def test_a_function_is_asked_without_its_warnings_and_has_to_return_something():
    assert ask(lambda x: np.log(x) + 0, np.zeros(1)) == -np.inf
    with pytest.raises(CheckFailed, match="return statement"):
        ask(lambda: None)


def test_a_function_may_take_tensors_or_arrays():
    def takes_tensors(x):
        return x.unsqueeze(0)

    def takes_arrays(x):
        return x[np.newaxis].astype(int)

    def takes_none(x):
        raise ValueError(type(x).__name__)

    x = np.arange(3.0)
    assert isinstance(ask_with_any(takes_tensors, "x", x), torch.Tensor)
    assert isinstance(ask_with_any(takes_arrays, "x", x), np.ndarray)
    with pytest.raises(CheckFailed, match="raised ValueError with a case: Tensor"):
        ask_with_any(takes_none, "x", x, case="a case")
    with pytest.raises(CheckFailed, match="changes its input x"):
        ask_with_any(lambda x: x.zero_(), "x", x)
    assert x.tolist() == [0, 1, 2]


def test_what_was_changed_is_shown_by_its_first_row():
    require_unchanged("x", [1, 2], [1, 2])
    with pytest.raises(CheckFailed, match="changes its input x") as caught:
        require_unchanged("x", np.array([[1, 2], [3, 4]]), np.array([[1, 2], [3, 5]]))
    assert caught.value.example == "    before  [3 4]\n    after   [3 5]"
    with pytest.raises(CheckFailed, match="changes its input x"):
        require_unchanged("x", [1, 2], [1])
    with pytest.raises(CheckFailed, match="changes its input x"):
        require_unchanged("x", [1.0], [np.nan])


def test_the_first_wrong_row_is_shown_with_the_digits_that_it_takes():
    right = np.array([[1.0, 0], [0.5, 0.5]])
    coarse, fine = right.copy(), right.copy()
    coarse[1, 0], fine[1, 0] = 0.25, 0.50002
    assert show_wrong_row(coarse, right, mask=right > 0) == (
        "    mask        [ True  True]\n    your row 1  [0.25 0.5 ]\n    expected    [0.5 0.5]"
    )
    assert "[0.50002 0.5    ]" in show_wrong_row(fine, right)
