"""How far a student has come with an exercise, and which hint comes next: kept in the kernel alone.

It changes what messages say, never what a check decides.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from nbmark.marks import so_far


class Progress:
    """What passed and what failed of one exercise's checks in this kernel."""

    def __init__(self, number: str, points: Mapping[str, int]) -> None:
        self.number, self.points = number, points
        self._passed: dict[str, dict[str, Any]] = {}  # by check, the functions that passed
        self._failures: Counter[tuple[str, str]] = Counter()  # by check and cause

    def begin(self, check: str, args: Sequence[Any]) -> None:
        """Forget what a check said before, and what others said of an older version."""
        self._passed.pop(check, None)
        now = _functions(args)
        for other, before in list(self._passed.items()):
            if any(before.get(name, function) is not function for name, function in now.items()):
                del self._passed[other]

    def passed(self, check: str, args: Sequence[Any]) -> None:
        """Note that a check passed."""
        self._passed[check] = _functions(args)
        for key in [key for key in self._failures if key[0] == check]:
            del self._failures[key]

    def failed(self, check: str, cause: str, hints: Mapping[str, str]) -> str:
        """Note that a check failed; from the second time on name the next hint of the text."""
        self._failures[check, cause] += 1
        again = self._failures[check, cause] - 2
        if again < 0 or not hints or cause == "not_attempted":
            return ""
        about = [title for title, causes in hints.items() if cause in causes.split()]
        others = [title for title in hints if title not in about]
        title = [*about, *others][min(again, len(hints) - 1)]
        return f"The same once more: open the hint “{title}” in the text above."

    def next(self) -> str:
        """Name the next check that has not passed."""
        left = [check for check in self.points if check not in self._passed]
        if not left:
            return "That was the last one."
        return f"Next: {left[0].replace('_', ' ')}."

    def __str__(self) -> str:
        return f"Exercise {self.number}: {so_far(self.points, self._passed)} so far."


def _functions(args: Sequence[Any]) -> dict[str, Any]:
    """Give the functions among arguments by their names: a new definition is another object."""
    named = ((getattr(arg, "__name__", ""), arg) for arg in args if callable(arg))
    return {name: arg for name, arg in named if name}
