"""Each check sets for itself what a notebook may have set, and puts it back."""

import random

import numpy as np
import pytest
import torch

from attnlab.checks._settings import Exercise
from nbmark.graded import CheckFailed

exercise = Exercise("9.1")


def draw():
    return torch.rand(2).tolist(), np.random.rand(2).tolist(), random.random()


@exercise.check(points=2)
def finds(found, cause=None):
    made = torch.ones(2, requires_grad=True) * 2
    kind = made.dtype, str(made.device), made.requires_grad, torch.get_num_threads()
    found.append((*kind, str(np.array([0.123, 1.5])), np.geterr()["over"], draw()))
    if cause:
        raise CheckFailed(cause, "It fails.")
    return "It passes."


@pytest.mark.parametrize("cause", [None, "wrong"])
def test_a_check_finds_the_same_settings_whatever_was_set(cause, other_settings, shown):
    found = []

    def run():
        if cause:
            with pytest.raises(CheckFailed, match="It fails"):
                finds(found, cause)
        else:
            finds(found)

    run()
    draw()  # moves all three random states
    with other_settings() as state:
        before = state()
        run()
        assert state() == before
    assert found[0] == found[1]
    kind = torch.float32, "cpu", True, 1, "[0.123 1.5  ]", "warn"
    assert found[0][:6] == kind
    assert (exercise.points, finds.__name__) == ({"finds": 2}, "finds")
