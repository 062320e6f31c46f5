"""What the tests of the checks share: the answers beside them, and a quiet display."""

import random
import sys
from contextlib import contextmanager
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent))  # answers, exercise_1_N


@pytest.fixture(autouse=True)
def _one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # the matrices are small: threads would wait for each other
    yield
    torch.set_num_threads(threads)


@pytest.fixture(autouse=True)
def _closed_figures():
    with mpl.rc_context({"backend": "agg"}):
        yield
        plt.close("all")


@pytest.fixture
def shown(monkeypatch):
    """Collect what passed checks put out."""
    outputs = []
    monkeypatch.setattr("nbmark.graded.display", lambda data, raw: outputs.append(data))
    return outputs


def state():
    """Give all that a check might leave changed."""
    return (
        torch.get_default_dtype(),
        torch.get_default_device(),
        torch.get_num_threads(),
        torch.is_grad_enabled(),
        torch.default_generator.get_state().tolist(),
        str(np.random.get_state()),
        random.getstate(),
        np.geterr(),
        {name: str(value) for name, value in np.get_printoptions().items()},
    )


@pytest.fixture
def other_settings():
    """Set what a notebook may have set."""

    @contextmanager
    def set_them():
        threads = torch.get_num_threads()
        torch.set_default_dtype(torch.float64)
        torch.set_default_device("meta")
        torch.set_num_threads(2)
        try:
            printed = np.printoptions(threshold=2, formatter={"float": "{:.0f}".format})
            with printed, np.errstate(all="raise"), torch.no_grad():
                yield state
        finally:
            torch.set_default_device(None)
            torch.set_default_dtype(torch.float32)
            torch.set_num_threads(threads)

    return set_them
