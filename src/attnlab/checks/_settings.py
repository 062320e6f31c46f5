"""What a student's notebook may have set: a check sets it for itself and puts it back."""

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import torch

from nbmark import graded

PRINTED = {"precision": 8, "edgeitems": 3, "threshold": 1000, "floatmode": "maxprec"}
PRINTED |= {"sign": "-", "nanstr": "nan", "infstr": "inf", "legacy": False}


class Exercise(graded.Exercise):
    """The checks of one exercise, each run under settings of its own."""

    def check(
        self, points: int, **told: Any
    ) -> Callable[[Callable[..., str]], Callable[..., None]]:
        """Make a graded check as `nbmark.graded.Exercise` does."""
        decorate = super().check(points, **told)
        return lambda test: decorate(own_settings()(test))


@contextmanager
def own_settings() -> Iterator[None]:
    """Set number type, device, gradients, threads, print and error options and random state."""
    with ExitStack() as kept:
        kept.callback(torch.set_default_dtype, torch.get_default_dtype())
        kept.callback(torch.set_num_threads, torch.get_num_threads())
        kept.callback(torch.default_generator.set_state, torch.default_generator.get_state())
        kept.callback(np.random.set_state, np.random.get_state())
        kept.callback(random.setstate, random.getstate())
        kept.enter_context(torch.device("cpu"))
        kept.enter_context(torch.enable_grad())
        kept.enter_context(np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"))
        kept.enter_context(np.printoptions(**PRINTED))
        torch.set_default_dtype(torch.float32)
        torch.set_num_threads(1)  # the cases are small: threads would wait for each other
        torch.default_generator.manual_seed(0)  # that of the CPU alone
        np.random.seed(0)
        random.seed(0)
        yield
