"""Every rung of the ladder of section 1.10 computes the same numbers as the rung below."""

import math

import numpy as np
import pytest
import torch

from attnlab import reference
from attnlab.flash_ladder import add_block, one_pass, three_passes, tiled_attention, two_passes

ROWS = [[3.0, 1.0, 4.0, 2.0], [0.0], [-1000.0, 1000.0, 999.0], [5.0] * 7]


@pytest.mark.parametrize("scores", ROWS)
def test_two_passes_and_one_give_what_three_do(scores):
    wanted = torch.tensor(scores, dtype=torch.float64).softmax(0)
    assert three_passes(scores) == pytest.approx(wanted.tolist(), abs=1e-15)
    assert two_passes(scores) == pytest.approx(wanted.tolist(), abs=1e-15)
    values = [10.0 * (j + 1) for j in range(len(scores))]
    assert one_pass(scores, values) == pytest.approx(float(wanted @ torch.tensor(values).double()))


def test_one_pass_refuses_a_score_without_a_value():
    with pytest.raises(ValueError, match="shorter"):
        one_pass([1.0, 2.0], [3.0])


def test_blocks_of_one_score_are_the_steps_of_one_pass():
    m, l, O = torch.tensor([[-math.inf]]), torch.zeros(1, 1), torch.zeros(1, 1)
    for s, v in ((3.0, 10.0), (5.0, 20.0)):
        m, l, O = add_block(m, l, O, torch.tensor([[s]]), torch.tensor([[v]]))
    assert m.item() == 5
    assert l.item() == pytest.approx(1 + math.exp(-2))
    assert (O / l).item() == pytest.approx(one_pass([3.0, 5.0], [10.0, 20.0]))


@pytest.mark.parametrize(("block_q", "block_k"), [(1, 1), (4, 3), (5, 7), (64, 64)])
def test_tiles_of_any_size_give_attention(block_q, block_k):
    torch.manual_seed(0)
    Q, K, V = (torch.randn(*shape).double() for shape in ((11, 3), (13, 3), (13, 5)))
    wanted, _ = reference.scaled_dot_product_attention(Q, K, V)
    np.testing.assert_allclose(tiled_attention(Q, K, V, block_q, block_k), wanted, atol=1e-14)
