"""Wrong parts of exercise 1.6, taken as given: a module is tried with right ones in their place."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from attnlab.serving_modules import exchange_parts


@contextmanager
def right_parts(module: Any) -> Iterator[None]:
    """Put right functions where the module's code calls the student's, and the latter back.

    Of a module in another process `exchange` does that there.
    """
    exchange = getattr(module, "exchange", None) or partial(exchange_parts, module)
    exchange(True)
    try:
        yield
    finally:
        exchange(False)
