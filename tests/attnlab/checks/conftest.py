"""What the tests of the checks share: the answers beside them, and a quiet display."""

import sys
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
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
