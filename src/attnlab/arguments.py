"""What the package asks of plain arguments: a wrong number is named, not worked with."""

import math
import operator


def is_whole(number: object) -> bool:
    """Say whether it is an integer of Python, NumPy or PyTorch; a truth value is none."""
    if str(getattr(number, "dtype", type(number).__name__)).endswith("bool"):
        return False
    try:
        operator.index(number)
    except TypeError:
        return False
    return True


def check_whole(**numbers: object) -> None:
    """Raise TypeError unless each is a whole number, as 2.0 is not."""
    for name, number in numbers.items():
        if not is_whole(number):
            raise TypeError(f"{name} is {number!r}, but a whole number fits: pass an int")


def check_counts(least: int = 0, **counts: object) -> None:
    """Raise TypeError unless each is a whole number, ValueError if one is below `least`."""
    check_whole(**counts)
    for name, count in counts.items():
        if count < least:
            raise ValueError(f"{name} is {count}, but it must be at least {least}")


def check_positive(**numbers: float) -> None:
    """Raise ValueError unless each is a finite number above 0."""
    for name, number in numbers.items():
        if not 0 < number < math.inf:
            raise ValueError(f"{name} is {number}, but it must be a finite number above 0")


def check_probability(**numbers: float) -> None:
    """Raise TypeError for a truth value, ValueError for what lies outside of 0 ... 1, as NaN."""
    for name, number in numbers.items():
        if isinstance(number, bool):
            raise TypeError(
                f"{name} is {number}, but a probability fits: pass a number from 0 to 1"
            )
        if not 0 <= number <= 1:
            raise ValueError(f"{name} is {number}, but a probability lies between 0 and 1")
