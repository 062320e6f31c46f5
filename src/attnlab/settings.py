"""What a student's notebook may have set: whoever calls its functions sets it and puts it back."""

import random
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import numpy as np

PRINTED = {"precision": 8, "edgeitems": 3, "threshold": 1000, "floatmode": "maxprec"}
PRINTED |= {"sign": "-", "nanstr": "nan", "infstr": "inf", "legacy": False}


@contextmanager
def own_settings() -> Iterator[None]:
    """Set number type, device, gradients, threads, print and error options and random state."""
    with ExitStack() as kept:
        kept.callback(np.random.set_state, np.random.get_state())
        kept.callback(random.setstate, random.getstate())
        kept.enter_context(np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"))
        kept.enter_context(np.printoptions(**PRINTED))
        np.random.seed(0)
        random.seed(0)
        if "torch" in sys.modules:  # a notebook that does without it should not wait for it
            set_torch(kept)
        yield


def set_torch(kept: ExitStack) -> None:
    """Set what concerns tensors, until `kept` is closed."""
    torch = sys.modules["torch"]
    kept.callback(torch.set_default_dtype, torch.get_default_dtype())
    kept.callback(torch.set_num_threads, torch.get_num_threads())
    kept.callback(torch.default_generator.set_state, torch.default_generator.get_state())
    kept.enter_context(torch.device("cpu"))
    kept.enter_context(torch.enable_grad())
    torch.set_default_dtype(torch.float32)
    torch.set_num_threads(1)  # the cases are small: threads would wait for each other
    torch.default_generator.manual_seed(0)  # that of the CPU alone
