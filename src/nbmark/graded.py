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

What else is told beside the points: the parts of its `Contract`, which a release writes into the
exercise's text, and the ``hints`` of that text, each with the causes that it is about.
"""

import functools
import html
import textwrap
from collections.abc import Callable, Mapping
from typing import Any

from IPython.display import display

from nbmark import failing
from nbmark.answers import MIME, collect
from nbmark.contract import Contract
from nbmark.failing import WIDTH, CheckFailed, NotAttempted, call, require
from nbmark.progress import Progress

__all__ = ["CheckFailed", "Contract", "Exercise", "NotAttempted", "call", "require"]


class Exercise:
    """The checks of one exercise and what each is worth; knows what passed in this kernel."""

    def __init__(self, number: str) -> None:
        self.number = number  # such as "1.3"
        self.points: dict[str, int] = {}  # what each check is worth, by its name
        self.progress = Progress(number, self.points)

    def check(
        self, points: int, hints: Mapping[str, str] | None = None, **contract: str
    ) -> Callable[[Callable[..., str]], Callable[..., None]]:
        """Make a graded check of a function that raises CheckFailed or returns what it showed.

        `contract` has the fields of a `Contract`; `hints` the titles of hints in the exercise's
        text, in their order, each with the causes, separated by blanks, that it is about.
        """
        contract, hints = Contract(**contract), dict(hints or {})

        def decorate(test: Callable[..., str]) -> Callable[..., None]:
            name = test.__name__
            self.points[name] = points
            worth = "1 point" if points == 1 else f"{points} points"

            @functools.wraps(test)
            def run(*args: Any, **kwargs: Any) -> None:
                self.progress.begin(name, args)
                with collect() as recorded, failing.keep_calls():
                    try:
                        said = test(*args, **kwargs)
                    except CheckFailed as failed:
                        failed.hint = self.progress.failed(name, failed.cause, hints)
                        failed.points = f"0 of {worth}. {self.progress}"
                        raise failed from None
                self.progress.passed(name, args)
                told = f"{points} of {worth}. {self.progress} {self.progress.next()}"
                _show(said, told, recorded)

            run.points = points  # the one home of what the cell that calls it is worth
            run.contract, run.hints = contract, hints
            return run

        return decorate


def _show(said: str, points: str, recorded: dict[str, Any]) -> None:
    """Put out that a check passed, with the answers that it recorded."""
    said = " ".join(said.split())
    text = f"{textwrap.fill(f'✓ {said}', WIDTH)}\n{points}"
    markup = f"<p>✓ {html.escape(said)}<br><small>{html.escape(points)}</small></p>"
    data = {"text/plain": text, "text/html": markup}
    display(data | ({MIME: recorded} if recorded else {}), raw=True)
