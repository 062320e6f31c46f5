"""What a student's notebook may have set: a check sets it for itself and puts it back."""

from collections.abc import Callable
from typing import Any

from attnlab.settings import own_settings
from nbmark import graded


class Exercise(graded.Exercise):
    """The checks of one exercise, each run under settings of its own."""

    def check(
        self, points: int, **told: Any
    ) -> Callable[[Callable[..., str]], Callable[..., None]]:
        """Make a graded check as `nbmark.graded.Exercise` does."""
        decorate = super().check(points, **told)
        return lambda test: decorate(own_settings()(test))
