"""What the heads, split and merged, must agree with."""

import pytest
import torch
from traitlets import TraitError

from attnlab.figures import SplitAndMerge
from attnlab.multihead import MultiHeadAttention


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("h", [1, 2, 3, 4, 6, 12])
def test_the_count_is_that_of_the_module_whatever_the_number_of_heads(h, bias):
    found = SplitAndMerge(d_model=24, h=h, bias=bias).compute()
    assert found["total"] == sum(
        p.numel() for p in MultiHeadAttention(24, h, 0.0, bias).parameters()
    )
    assert found["total"] == h * found["one_head"] + found["W_o"] + found["biases"]


def test_the_figure_draws_no_random_number_of_the_page():
    before = torch.get_rng_state()
    SplitAndMerge().compute()
    assert torch.equal(torch.get_rng_state(), before)


def test_a_number_of_heads_that_does_not_divide_is_refused_with_those_that_do():
    with pytest.raises(TraitError, match=r"'h'.*\[1, 2, 3, 4, 6, 12\].*not the int 5"):
        SplitAndMerge(h=5)


def test_projections_of_another_shape_are_refused_with_the_one_that_fits():
    with pytest.raises(TraitError, match=r"Q has shape \(6, 12\); pass \(6, 48\)"):
        SplitAndMerge(Q=torch.zeros(6, 12))
