"""What an answer is and what is wrong with it: readers, known mistakes, and the loop over them.

`attnlab.checks` says how a check uses this.
"""

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from attnlab.checks._errors import ERRORS, explain_error
from nbmark.graded import CheckFailed, NotAttempted, call, require

TOLERANCE = 1e-5  # between right results, float32 ones included


def differs(given: Any, right: Any, tolerance: float = TOLERANCE) -> bool:
    """Tell whether two arrays differ in shape or in a value; NaN differs from everything."""
    given, right = np.asarray(given), np.asarray(right)
    return given.shape != right.shape or not bool((np.abs(given - right) <= tolerance).all())


def alike(given: Any, made: Any) -> bool:
    """Tell whether numbers are those that a mistake makes, infinite ones and NaN included."""
    given, made = np.asarray(given), np.asarray(made)
    return given.shape == made.shape and np.allclose(
        given, made, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True
    )


def agrees(given: Any, right: Any) -> bool:
    """Tell whether two arrays are the same but for rounding."""
    return not differs(given, right)


class Mistake:
    """A known mistake: what is wrong and what to do, with ``{slots}``; what it makes of a case."""

    def __init__(self, said: str) -> None:
        self.said, self.makers = said, {}

    def makes(self, **makers: Callable[..., Any]) -> "Mistake":
        """Say what it makes of a case, for each quantity: a value, or a list of possible ones."""
        self.makers = makers
        return self


class Mistakes:
    """The table of an exercise's mistakes by their causes, those looked for first in front."""

    def __init__(self, **table: Mistake | str) -> None:
        self.table = {
            cause: Mistake(row) if isinstance(row, str) else row for cause, row in table.items()
        }

    def made(self, quantity: str, *case: Any) -> Iterator[tuple[str, Any]]:
        """Give each cause, with what the mistake makes of a quantity in a case."""
        for cause, mistake in self.table.items():
            if quantity in mistake.makers:
                values = mistake.makers[quantity](*case)
                for value in values if isinstance(values, list) else [values]:
                    yield cause, value

    def explain(
        self, quantity: str, given: Any, *case: Any, same: Callable[[Any, Any], bool] = alike
    ) -> str | None:
        """Find the first cause that makes of a case the same as was given, if there is one."""
        return first_cause([given], [self.made(quantity, *case)], same)

    def rivals(
        self, quantity: str, given: Any, *case: Any, same: Callable[[Any, Any], bool] = alike
    ) -> list[str]:
        """Find all causes that make of a case the same as was given, in the table's order."""
        with np.errstate(all="ignore"):
            found = [cause for cause, made in self.made(quantity, *case) if same(given, made)]
        return list(dict.fromkeys(found))

    def failure(
        self,
        cause: str,
        example: str = "",
        seen: str = "",
        of: str = "",
        rivals: Sequence[str] = (),
        **facts: Any,
    ) -> CheckFailed:
        """Make the failure: the mistake's sentence with `facts` in it, then what was seen here.

        `of` stands in front, such as the name of what is wrong with a colon; `rivals` are causes
        that what was seen fits as well.
        """
        said = f"{of} {self.table[cause].said.format(**facts)}"
        for other in rivals:
            said += f" Or else: {self.table[other].said.format(**facts)}"
        return CheckFailed(cause, said, example, seen)

    def fail_if(self, wrong: Any, cause: str, *shown: str, **facts: Any) -> None:
        """Raise `failure` where something is wrong."""
        if wrong:
            raise self.failure(cause, *shown, **facts)

    @contextmanager
    def instead_of(self, **causes: str) -> Iterator[None]:
        """Turn failures with general causes, such as ``raised="..."``, into ones of this table."""
        try:
            yield
        except CheckFailed as failed:
            general = failed.cause if failed.error is None else "raised"
            if general not in causes:
                raise
            seen = failed.found or failed.message if failed.error else ""
            raise self.failure(causes[general], failed.example, seen) from None


def first_cause(
    given: Sequence[Any],
    made: Iterable[Iterable[tuple[str, Any]]],
    same: Callable[[Any, Any], bool] = alike,
) -> str | None:
    """Find the first cause that in every case, as `Mistakes.made` says, makes what was given."""
    with np.errstate(all="ignore"):
        for pairs in zip(*made, strict=True):
            if all(same(value, wrong) for value, (_, wrong) in zip(given, pairs, strict=True)):
                return pairs[0][0]
    return None


COMMON = Mistakes(
    returns_nothing="""`{name}` returns None. End it with a return statement; what print and
        plt.show give is None, too.""",
    mutates_input="""Your function changes its input {name}, and whoever called it goes on with
        wrong numbers. Work on a copy, such as x.clone() or x.copy(), or make a new array: x = x / y
        instead of x /= y.""",
    no_numbers="""`{name}` is of type {kind}, which does not read as numbers. Give an array or a
        tensor, or a list of lists of equal length, such as [[1, 2], [3, 4]].""",
    not_finite="`{name}` holds nan or inf. Put a number in its place.",
    wrong_shape="`{name}` holds {size} numbers. Give one number.",
    no_figure="""`fig` is of type {kind}. Assign the matplotlib Figure, which plt.subplots returns
        first: fig, axes = plt.subplots(1, 3).""",
)


def ask(function: Callable[..., Any], *args: Any, case: str = "", **kwargs: Any) -> Any:
    """Call the student's function like `nbmark.graded.call`, without the warnings it causes."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            result = call(function, *args, case=case, **kwargs)
        except CheckFailed as failed:
            raise _explained(failed, function, args, kwargs) from None
    if result is None:
        name = getattr(function, "__name__", "your function")
        raise COMMON.failure("returns_nothing", name=name)
    return result


def _explained(failed: CheckFailed, function: Any, args: tuple, options: dict) -> CheckFailed:
    """Say what an error in the student's code means, where that can be told."""
    error = failed.error
    found = explain_error(error, function, args) if error is not None else None
    if found is None:
        return failed
    cause, facts = found
    asked = f"{len(args)} without a name" + "".join(f", {name}=" for name in options)
    said = ERRORS[cause].format(asked=asked, **facts)
    explained = CheckFailed(cause, said, failed.example, failed.message)
    explained.error = error
    return explained


@contextmanager
def quiet_stderr() -> Iterator[None]:
    """Keep what compiled libraries print on the standard error of the process to themselves."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def ask_with_any(
    function: Callable[..., Any], name: str, array: np.ndarray, *args: Any, case: str = ""
) -> Any:
    """Call the student's function with a float32 tensor or, where it takes none, with an array.

    `name` is what the argument is called where the function changes it.
    """
    failed = None
    for given in (torch.tensor(array.copy(), dtype=torch.float32), array.copy()):
        try:
            result = ask(function, given, *args, case=case)
        except CheckFailed as error:
            if error.error is None:
                raise
            failed = failed or error
        else:
            require_unchanged(name, array, np.asarray(given), 1e-6)
            return result
    raise failed


def require_unchanged(name: str, before: Any, after: Any, tolerance: float = 0) -> None:
    """Fail where a function has changed what it was given; the first row that shows it is shown."""
    before, after = np.asarray(before), np.asarray(after)
    COMMON.fail_if(before.shape != after.shape, "mutates_input", name=name)
    off = np.atleast_1d(~(np.abs(before * 1.0 - after * 1.0) <= tolerance))
    if off.any():
        row = np.argwhere(off)[0][:-1]
        example = show(before=before[(*row,)], after=after[(*row,)])
        raise COMMON.failure("mutates_input", example, name=name)


def read_array(name: str, value: Any, finite: bool = False) -> np.ndarray:
    """Read numbers as a float64 array, whether written as list, array, tensor or lists of these.

    What is wrong with them is told with `name`; NotAttempted where a place is still empty.
    """
    require(**{name: value})
    value = _plain(value)
    try:
        if _has_gap(value):
            raise NotAttempted(f"`{name}` has an empty place left")
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise COMMON.failure("no_numbers", name=name, kind=type(value).__name__) from None
    COMMON.fail_if(finite and not np.isfinite(array).all(), "not_finite", name=name)
    return array


def grain_of(value: Any) -> float:
    """Give how far rounding may move numbers between 0 and 1 of the type that they are kept in."""
    while isinstance(value, list | tuple) and value:
        value = value[0]
    kind = str(getattr(value, "dtype", "")).removeprefix("torch.")
    return {"bfloat16": 2**-8, "float16": 2**-11}.get(kind, 0.0)


def read_number(name: str, value: Any) -> float:
    """Read a single number like `read_array`."""
    array = read_array(name, value)
    COMMON.fail_if(array.size != 1, "wrong_shape", name=name, size=array.size)
    return float(array.reshape(()))


def _plain(value: Any) -> Any:
    """Turn tensors into arrays and arrays of objects into lists, also inside of lists."""
    if isinstance(value, torch.Tensor):
        return value.detach().cpu().double().numpy()
    if isinstance(value, tuple) and hasattr(value, "__float__"):  # a number with its error
        return float(value)
    if isinstance(value, np.ndarray) and value.dtype == object:
        value = value.tolist()
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _has_gap(value: Any) -> bool:
    return value is None or value is ... or (isinstance(value, list) and any(map(_has_gap, value)))


def show(precision: int = 3, **arrays: Any) -> str:
    """Write arrays as lines with their names in front, for the example of a message."""
    width, lines = max(map(len, arrays)), []
    for name, array in arrays.items():
        text = np.array2string(
            np.asarray(array), precision=precision, suppress_small=True, max_line_width=72
        )
        label = f"    {name.replace('_', ' '):{width}}  "
        lines.append(label + text.replace("\n", "\n" + " " * len(label)))
    return "\n".join(lines)


def show_wrong_row(given: np.ndarray, right: np.ndarray, **beside: np.ndarray) -> str:
    """Show the first row that is wrong, with the digits it takes, and that of arrays beside it."""
    row = int(np.argmax([differs(a, b) for a, b in zip(given, right, strict=True)]))
    rows = {name: array[row] for name, array in beside.items()}
    rows |= {f"your row {row}": given[row], "expected": right[row]}
    return show(3 if differs(given[row], right[row], 1e-3) else 7, **rows)
