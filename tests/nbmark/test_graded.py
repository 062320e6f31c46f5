import numpy as np
import pytest
from jupyter_client.manager import start_new_kernel

from nbmark.answers import MIME
from nbmark.graded import CheckFailed, Exercise, NotAttempted, call, require


@pytest.fixture
def shown(monkeypatch):
    """Collect what passed checks put out."""
    outputs = []
    monkeypatch.setattr("nbmark.graded.display", lambda data, raw: outputs.append(data))
    return outputs


@pytest.fixture
def exercise():
    """Make an exercise of two checks worth 2 and 3 points."""
    exercise = Exercise("9.1")

    @exercise.check(points=2)
    def is_even(number):
        require(number=number)
        if number % 2:
            raise CheckFailed("odd", f"{number} is odd. Add one.", "    1 % 2 = 1")
        from nbmark.answers import record

        record("number", number)
        return f"{number} is even."

    @exercise.check(points=3)
    def is_small(number):
        return "It is small."

    exercise.is_even, exercise.is_small = is_even, is_small
    return exercise


def test_a_check_that_passes_says_what_it_showed_counts_points_and_puts_out_answers(
    exercise, shown
):
    assert exercise.is_even(4) is None
    text = shown[0]["text/plain"]
    assert text == "✓ 4 is even.\n2 of 2 points. Exercise 9.1: 2 of 5 points so far."
    assert list(shown[0][MIME]) == ["number"]


def test_points_add_up_over_cells_and_are_lost_again(exercise, shown):
    exercise.is_even(4)
    exercise.is_even(4)
    exercise.is_small(1)
    assert "5 of 5 points so far" in shown[-1]["text/plain"]
    with pytest.raises(CheckFailed, match="3 of 5 points so far"):
        exercise.is_even(3)


def test_a_check_that_fails_names_cause_remedy_and_example(exercise, shown):
    with pytest.raises(CheckFailed) as caught:
        exercise.is_even(3)
    assert caught.value.cause == "odd"
    assert str(caught.value) == (
        "3 is odd. Add one.\n\n    1 % 2 = 1\n\n0 of 2 points. Exercise 9.1: 0 of 5 points so far."
    )
    assert shown == []


@pytest.mark.parametrize("untouched", [None, ...])
def test_a_value_that_was_handed_out_is_not_attempted(exercise, untouched):
    with pytest.raises(NotAttempted, match="Not attempted yet: `number` is still"):
        exercise.is_even(untouched)


def stub(x):
    raise NotImplementedError


def broken(x):
    y = np.ones(3)
    return x @ y


def test_a_stub_is_not_attempted():
    with pytest.raises(NotAttempted, match="`stub` still raises NotImplementedError"):
        call(stub, 1)


def test_an_error_of_the_student_comes_with_its_line_and_without_a_traceback():
    with pytest.raises(CheckFailed) as caught:
        call(broken, np.ones(2), case="two keys")
    assert caught.value.cause == "raised"
    assert "`broken` raised ValueError with two keys: matmul" in str(caught.value)
    assert "return x @ y" in caught.value.example


def test_what_is_no_function_is_named():
    with pytest.raises(CheckFailed, match="needs your function, but got 3"):
        call(3)
    with pytest.raises(NotAttempted):
        call(None)


def test_what_the_function_returns_is_handed_on():
    assert call(max, 2, 5) == 5


CELL = """
from nbmark.graded import CheckFailed, Exercise, call
exercise = Exercise("9.1")
@exercise.check(points=2)
def check(function):
    if call(function) != 1:
        raise CheckFailed("value", "It gives another number. Return 1.")
    return "It gives 1."
"""


def test_jupyter_shows_the_message_alone():
    manager, client = start_new_kernel(kernel_name="python3")
    errors = []

    def note(message):
        if message["msg_type"] in ("error", "stream"):
            errors.append(message["content"])

    try:
        for source in (CELL, "check(lambda: 2)", "def f():\n    return 1 / 0", "check(f)"):
            client.execute_interactive(source, output_hook=note, stop_on_error=False, timeout=60)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        manager.cleanup_resources()
    wrong, raised = ("\n".join(error["traceback"]) for error in errors)
    points = "\n\n0 of 2 points. Exercise 9.1: 0 of 2 points so far."
    assert wrong == f"It gives another number. Return 1.{points}"
    assert raised.startswith("`f` raised ZeroDivisionError: division by zero\n\n    line 2 of your")
    assert raised.endswith(f"return 1 / 0{points}")
