from types import SimpleNamespace

import numpy as np
import pytest
from jupyter_client.manager import start_new_kernel

from nbmark.answers import MIME
from nbmark.failing import last_case
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
    assert text == (
        "✓ 4 is even.\n2 of 2 points. Exercise 9.1: 2 of 5 points so far. Next: is small."
    )
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


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("number = None", "is still None. Or what was assigned to it returns None"),
        ("number = print(4)", "But a cell says `number = print(4)`: it ended with an error"),
        ("number = [1,017]", "Write numbers with a point"),
    ],
)
def test_none_that_a_cell_has_assigned_is_told_from_what_was_handed_out(cell, words, monkeypatch):
    shell = SimpleNamespace(user_ns={"In": ["", cell, "check(number)"]})
    monkeypatch.setattr("nbmark.failing.get_ipython", lambda: shell)
    with pytest.raises(NotAttempted) as caught:
        require(number=None)
    assert words in " ".join(str(caught.value).split())


def test_what_is_no_function_is_named():
    with pytest.raises(CheckFailed, match="needs your function, but got 3"):
        call(3)
    with pytest.raises(NotAttempted):
        call(None)


def test_what_the_function_returns_is_handed_on():
    assert call(max, 2, 5) == 5


@pytest.fixture
def grown():
    """Make an exercise of two checks of one function, with hints for the first."""
    exercise = Exercise("9.2")
    hints = {"Hint 1: begin": "", "Hint 2: the sign": "negative"}

    @exercise.check(points=1, hints=hints, takes="a number `x`", gives="its size")
    def is_right(function):
        found = [call(function, x) for x in (0.0, 2.0, 3.0)]
        if found[1] != 2:
            raise CheckFailed("negative" if found[1] < 0 else "value", "Take its size.")
        return "It is right."

    @exercise.check(points=1)
    def is_quick(function):
        return "It is quick."

    exercise.is_right, exercise.is_quick = is_right, is_quick
    return exercise


def said(check, function):
    with pytest.raises(CheckFailed) as caught:
        check(function)
    return str(caught.value)


def test_what_counts_as_right_is_one_line_of_the_parts_that_were_given(grown):
    assert str(grown.is_right.contract) == "**Takes** a number `x`. **Gives** its size."
    assert str(grown.is_quick.contract) == ""


def test_the_second_failure_for_one_cause_names_the_hint_that_is_about_it_and_then_the_others(
    grown, shown
):
    assert "hint" not in said(grown.is_right, lambda x: -x)
    assert "hint" not in said(grown.is_right, lambda x: 7)
    assert "open the hint “Hint 2: the sign”" in said(grown.is_right, lambda x: -x)
    assert "open the hint “Hint 1: begin”" in said(grown.is_right, lambda x: -x)
    assert "open the hint “Hint 1: begin”" in said(grown.is_right, lambda x: -x)
    assert "open the hint “Hint 1: begin”" in said(grown.is_right, lambda x: 7)
    grown.is_right(abs)
    assert "hint" not in said(grown.is_right, lambda x: -x)
    for _ in range(3):
        assert "hint" not in said(grown.is_right, stub)


def test_a_pass_of_an_older_version_of_a_function_counts_no_more(grown, shown):
    def first(x):
        return abs(x)

    def second(x):
        return abs(x) + 0

    second.__name__ = "first"
    grown.is_right(first)
    grown.is_quick(first)
    assert "2 of 2 points so far. That was the last one." in shown[-1]["text/plain"]
    grown.is_quick(second)
    assert "1 of 2 points so far. Next: is right." in shown[-1]["text/plain"]


def changes(x, by=1):
    x += by
    raise ValueError("no")


def test_the_case_at_which_a_check_failed_is_kept_as_it_was_before_the_call(exercise):
    keeps = Exercise("9.3")

    @keeps.check(points=1)
    def check(function, several=False):
        call(function, np.ones(3), by=2)

    assert "in a cell of your own: changes(*last_case(), by=2)" in said(check, changes)
    case = last_case()
    assert (len(case), case[0].tolist(), case.options) == (1, [1, 1, 1], {"by": 2})
    assert repr(case) == "changes(*last_case(), by=2) with\n  0: ndarray (3,)"
    with pytest.raises(ValueError, match="no"):
        changes(*case, **case.options)
    with pytest.raises(CheckFailed):
        exercise.is_even(3)  # calls nothing
    assert last_case() is case


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
    again = "\n\nTo try this case in a cell of your own: {}(*last_case())"
    assert wrong == f"It gives another number. Return 1.{again.format('your_function')}{points}"
    assert raised.startswith("`f` raised ZeroDivisionError: division by zero\n\n    line 2 of your")
    assert raised.endswith(f"return 1 / 0{again.format('f')}{points}")
