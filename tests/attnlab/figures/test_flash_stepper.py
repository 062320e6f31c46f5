"""What the steps of Flash attention must add up to."""

import numpy as np
import pytest
import torch
from traitlets import TraitError

from attnlab import reference
from attnlab.figures import FlashStepper

EVERY = pytest.mark.parametrize(
    ("block_q", "causal"), [(b, c) for b in (1, 2, 4) for c in (False, True)]
)


def last_steps(figure):
    """Give what each step shows that finishes a block of queries."""
    found = []
    for step in range(1, figure.compute()["total"] + 1):
        figure.step = step
        found.append(figure.compute())
    return [result for result in found if result["last"]]


@EVERY
def test_the_outputs_that_leave_the_chip_are_those_of_attention(block_q, causal):
    figure = FlashStepper(block_q=block_q, causal=causal)
    rows = [row["output"] for result in last_steps(figure) for row in result["rows"]]
    mask = np.tri(8, dtype=bool) if causal else None
    wanted, _ = reference.scaled_dot_product_attention(figure.Q, figure.K, figure.V, mask)
    assert rows == pytest.approx(np.asarray(wanted), abs=1e-12)


@EVERY
def test_the_bytes_of_all_steps_are_those_counted_in_a_real_run(block_q, causal):
    result = last_steps(FlashStepper(block_q=block_q, causal=causal))[-1]
    assert result["moved"] == result["flash"]
    assert result["done"] == result["total"]


def test_larger_blocks_of_queries_move_less():
    moved = [FlashStepper(block_q=b).compute()["flash"] for b in (1, 2, 4)]
    assert moved == sorted(moved, reverse=True)


def test_inputs_of_another_shape_are_refused_with_the_one_that_fits():
    with pytest.raises(TraitError, match=r"K has shape \(7, 2\); pass \(8, 2\)"):
        FlashStepper(K=torch.zeros(7, 2))
