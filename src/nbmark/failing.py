"""How a check calls a student's function, and how it fails: with the case, kept for the student."""

import linecache
import re
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from IPython import get_ipython

WIDTH = 88

_calls: list["Case"] = []  # of the check under way
_kept: list["Case"] = []  # the one at which a check failed last


class Case(tuple):
    """The arguments of a call, as they were before it: ``function(*case)`` makes it once more.

    `options` are arguments by name, `gave` is what came back, `function` what was called.
    """

    def __new__(cls, function: Any, args: tuple, options: dict[str, Any]) -> "Case":
        """Copy the arguments."""
        made = super().__new__(cls, map(_copy, args))
        made.function, made.options, made.gave = function, options, None
        return made

    @property
    def again(self) -> str:
        """Write the call that makes it once more."""
        options = [f"{name}={value!r}" for name, value in self.options.items()]
        name = getattr(self.function, "__name__", "function")
        name = name if name.isidentifier() else "your_function"  # a lambda
        return f"{name}({', '.join(['*last_case()', *options])})"

    def __repr__(self) -> str:
        said = [f"{self.again} with"]
        for place, arg in enumerate(self):
            shape = getattr(arg, "shape", None)
            kind = type(arg).__name__
            said.append(f"  {place}: " + (f"{kind} {tuple(shape)}" if shape else repr(arg)))
        return "\n".join(said)


def last_case() -> Case:
    """Give the case at which a check failed last: what it called your function with.

    Raises
    ------
    LookupError
        Where no check has failed at a call of a function yet.
    """
    if not _kept:
        raise LookupError("No check has failed at a call of your function yet.")
    return _kept[-1]


class CheckFailed(AssertionError):  # noqa: N818 - a finding, named as it reads
    """A check found what is wrong: a cause's short name, what is wrong and what to do, an example.

    `found` is what was seen, where that is not the example. Jupyter shows the message alone,
    without a traceback: the fault is the student's, and a traceback would lead through our code.
    """

    def __init__(self, cause: str, message: str, example: str = "", found: str = "") -> None:
        self.cause, self.message, self.example = cause, " ".join(message.split()), example
        self.found = " ".join(found.split())
        self.points = self.hint = self.kept = ""  # lines that are added when the cell ends
        self.case: Case | None = None  # where it is not the last one that was called
        self.error: Exception | None = None  # what the student's code raised
        super().__init__(cause, message, example)

    def __str__(self) -> str:
        found = f"Found: {self.found}" if self.found else ""
        texts = [textwrap.fill(text, WIDTH) for text in (self.message, found)]
        parts = [*texts, self.example.strip("\n"), self.kept, self.hint, self.points]
        return "\n\n".join(part for part in parts if part)

    def at(self, case: "Case | None") -> "CheckFailed":
        """Say at which call it was found."""
        self.case = case
        return self

    def _render_traceback_(self) -> list[str]:
        """Give IPython the lines to show in place of a traceback."""
        return str(self).splitlines()


class NotAttempted(CheckFailed):
    """The cell to fill in is as it was handed out."""

    def __init__(self, what: str) -> None:
        super().__init__("not_attempted", f"Not attempted yet: {what}.")


def require(**values: Any) -> None:
    """Raise NotAttempted where a value is still the None or ``...`` that was handed out."""
    for name, value in values.items():
        if value is None or value is ...:
            raise NotAttempted(f"`{name}` is still {value!r}{_assigned(name) if not value else ''}")


def _assigned(name: str) -> str:
    """Tell of the last cell of this kernel that gave a name a value, where that was not None."""
    shell = get_ipython()
    cells = reversed(shell.user_ns.get("In", [])) if shell else ()
    for cell in cells:
        if found := re.search(rf"^ *{name} *= *(?!None\b|\.\.\.)(\S.*)", cell, re.MULTILINE):
            comma = r" Write numbers with a point, as 0.5." if re.search(r"\d,\d", found[1]) else ""
            return f""", although a cell says `{name} = {found[1][:40]}`: it ended with an error, or
                what stands there returns None, as print and plt.show do.{comma}"""
    return ", or what was assigned to it returns None, as print and plt.show do"


@contextmanager
def keep_calls() -> Iterator[None]:
    """Keep the call at which a check fails, for `last_case`."""
    _calls.clear()
    try:
        yield
    except CheckFailed as failed:
        case = failed.case or (_calls[-1] if _calls else None)
        if case is not None and failed.cause != "not_attempted":
            _kept[:] = [case]
            failed.kept = f"To try this case in a cell of your own: {case.again}"
        raise
    finally:
        _calls.clear()


def last_call() -> Case | None:
    """Give the last call that the check under way has made."""
    return _calls[-1] if _calls else None


def call(function: Callable[..., Any], *args: Any, case: str = "", **kwargs: Any) -> Any:
    """Call the student's function, and turn what it raises into a failed check.

    `case` is the call in words. The stub, which raises NotImplementedError, is not attempted; else
    the cause is ``"raised"``, with the error and the student's line, or ``"not_callable"``.
    """
    name = getattr(function, "__name__", repr(function))
    if not callable(function):
        require(function=function)
        raise CheckFailed("not_callable", f"This check needs your function, but got {name}.")
    _calls.append(Case(function, args, kwargs))
    try:
        _calls[-1].gave = result = function(*args, **kwargs)
    except NotImplementedError:
        raise NotAttempted(f"`{name}` still raises NotImplementedError") from None
    except CheckFailed:
        raise
    except Exception as error:
        said = f"`{name}` raised {type(error).__name__}{f' with {case}' if case else ''}: {error}"
        failed = CheckFailed("raised", said, _place(function, error))
        failed.error = error
        raise failed from None
    return result


def _copy(value: Any) -> Any:
    """Copy an array or a tensor, which a function may change."""
    if hasattr(value, "detach"):
        return value.detach().clone()
    if isinstance(value, list | dict) or type(value).__module__ == "numpy":
        return value.copy()
    return value


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
