"""How the answers in the folders ``exercise_1_N`` are written down, for `test_checks` to try.

``right.py`` holds

``RIGHT``
    by check and label, answers that earn the points: what the check is called with.
``UNTOUCHED``
    by check, a list of what the notebook hands out: told as not attempted.
``SEEDS``
    the seeds under which the checks draw other cases.
``UNSEEDED``
    where some draw nothing, those checks, tried under the first of the seeds alone.
``SEEDED``
    the checks whose recorded values are others under another seed.

``wrong.py`` holds

``WRONG``
    by check and label, an answer, the cause that must be told, and words of the message.
``PASS_BEFORE``
    whether an answer goes to all checks in turn, so that those before the one named pass.
``UNTOLD``
    causes of the exercise's table that no answer here brings out.

Tests that fit one exercise alone stand in ``test_check_1_N.py``.
"""

from collections.abc import Callable
from typing import Any

EVERY_SEED = ["0", "1", "2", "12345"]


class Call:
    """All that a check is called with, made when the test runs: ``Call(lambda: (fig, maps))``."""

    def __init__(self, make: Callable[[], tuple]) -> None:
        self.make = make


def arguments(answer: Any) -> tuple:
    """Give what to call a check with."""
    return answer.make() if isinstance(answer, Call) else (answer,)


def stub(*args: Any, **kwargs: Any) -> None:
    """Stand for a function as it is handed out."""
    raise NotImplementedError
