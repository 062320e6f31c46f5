"""The graded cells of an exercise: a check fails with its cause and remedy, or says what it showed.

An exercise's module makes one `Exercise` and decorates its checks::

    exercise = Exercise("1.3")

    @exercise.check(points=2)
    def row_sums(weights):
        require(weights=weights)
        if not np.allclose(np.sum(weights, -1), 1):
            raise CheckFailed("row_sums", "A row of your weights does not sum to 1. Divide ...")
        record("weights", weights)
        return "Every row of your weights sums to 1."
"""

import functools
import html
import linecache
import textwrap
from collections.abc import Callable
from typing import Any

from IPython.display import display

from nbmark.answers import MIME, collect
from nbmark.marks import so_far

WIDTH = 88


class CheckFailed(AssertionError):  # noqa: N818 - a finding, named as it reads
    """A check found what is wrong: a cause's short name, what is wrong and what to do, an example.

    Jupyter shows the message alone, without a traceback: the fault is in the student's code, and a
    traceback would lead through ours.
    """

    def __init__(self, cause: str, message: str, example: str = "") -> None:
        self.cause, self.message, self.example = cause, " ".join(message.split()), example
        self.points = ""  # a line on points, added when the cell ends
        super().__init__(cause, message, example)

    def __str__(self) -> str:
        parts = [textwrap.fill(self.message, WIDTH), self.example.strip("\n"), self.points]
        return "\n\n".join(part for part in parts if part)

    def _render_traceback_(self) -> list[str]:
        """Give IPython the lines to show in place of a traceback."""
        return str(self).splitlines()


class NotAttempted(CheckFailed):
    """The cell to fill in is as it was handed out."""

    def __init__(self, what: str) -> None:
        super().__init__("not_attempted", f"Not attempted yet: {what}.")


class Exercise:
    """The checks of one exercise and what each is worth; knows what passed in this kernel."""

    def __init__(self, number: str) -> None:
        self.number = number  # such as "1.3"
        self.points: dict[str, int] = {}  # what each check is worth, by its name
        self._passed: set[str] = set()

    def check(self, points: int) -> Callable[[Callable[..., str]], Callable[..., None]]:
        """Make a graded check of a function that raises CheckFailed or returns what it showed."""

        def decorate(test: Callable[..., str]) -> Callable[..., None]:
            self.points[test.__name__] = points
            worth = "1 point" if points == 1 else f"{points} points"

            @functools.wraps(test)
            def run(*args: Any, **kwargs: Any) -> None:
                self._passed.discard(test.__name__)
                with collect() as recorded:
                    try:
                        said = test(*args, **kwargs)
                    except CheckFailed as failed:
                        failed.points = f"0 of {worth}. {self.progress()}"
                        raise failed from None
                self._passed.add(test.__name__)
                _show(said, f"{points} of {worth}. {self.progress()}", recorded)

            run.points = points  # the one home of what the cell that calls it is worth
            return run

        return decorate

    def progress(self) -> str:
        """Say how many points the checks that passed so far are worth."""
        return f"Exercise {self.number}: {so_far(self.points, self._passed)} so far."


def _show(said: str, points: str, recorded: dict[str, Any]) -> None:
    """Put out that a check passed, with the answers that it recorded."""
    said = " ".join(said.split())
    text = f"{textwrap.fill(f'✓ {said}', WIDTH)}\n{points}"
    markup = f"<p>✓ {html.escape(said)}<br><small>{html.escape(points)}</small></p>"
    data = {"text/plain": text, "text/html": markup}
    display(data | ({MIME: recorded} if recorded else {}), raw=True)


def require(**values: Any) -> None:
    """Raise NotAttempted where a value is still the None or ``...`` that was handed out."""
    for name, value in values.items():
        if value is None or value is ...:
            raise NotAttempted(f"`{name}` is still {value!r}")


def call(function: Callable[..., Any], *args: Any, case: str = "", **kwargs: Any) -> Any:
    """Call the student's function, and turn what it raises into a failed check.

    `case` is the call in words. The stub, which raises NotImplementedError, is not attempted; else
    the cause is ``"raised"``, with the error and the student's line, or ``"not_callable"``.
    """
    name = getattr(function, "__name__", repr(function))
    if not callable(function):
        require(function=function)
        raise CheckFailed("not_callable", f"This check needs your function, but got {name}.")
    try:
        return function(*args, **kwargs)
    except NotImplementedError:
        raise NotAttempted(f"`{name}` still raises NotImplementedError") from None
    except CheckFailed:
        raise
    except Exception as error:
        said = f"`{name}` raised {type(error).__name__}{f' with {case}' if case else ''}: {error}"
        raise CheckFailed("raised", said, _place(function, error)) from None


def _place(function: Callable[..., Any], error: Exception) -> str:
    """Show the student's line at which an error arose, as far as it is known."""
    file = getattr(getattr(function, "__code__", None), "co_filename", None)
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    text = linecache.getline(file, line).strip() if file and line else ""
    return f"    line {line} of your cell:  {text}" if text else ""
