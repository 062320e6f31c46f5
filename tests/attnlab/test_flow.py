"""A flow holds what a layer computed, in the shapes of the chart, and disturbs nothing."""

import math

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from attnlab.flow import SHAPES, Flow, UnequalWidths, drawn_shape, follow
from attnlab.masks import make_causal_mask, make_padding_mask
from attnlab.multihead import MultiHeadAttention

SIZES = {"B": 2, "H": 3, "S_q": 5, "S_k": 7, "d_k": 11, "d_v": 13, "d_model": 17}
B, H, S_q, S_k, d_k, d_v, d_model = SIZES.values()


@pytest.fixture
def layer():
    return UnequalWidths(d_model, H, d_k, d_v)


@pytest.fixture
def sequences():
    return torch.randn(B, S_q, d_model), torch.randn(B, S_k, d_model)


@pytest.fixture
def mask():
    return make_padding_mask([S_k, S_k - 3], S_k)


def test_no_axis_can_pass_for_another():
    assert len({*SIZES.values(), H * d_k, H * d_v}) == len(SIZES) + 2


def test_each_box_has_the_shape_that_is_drawn(layer, sequences, mask):
    flow = follow(layer, *sequences, mask)
    assert list(SHAPES) == list(Flow._fields)
    for box, tensor in flow._asdict().items():
        assert tensor.shape == drawn_shape(box, SIZES), box


def test_a_chart_that_leaves_out_the_heads_would_be_found(layer, sequences):
    assert follow(layer, *sequences).merged.shape != drawn_shape("output", SIZES)
    assert drawn_shape("merged", SIZES) == (B, S_q, H * d_v)


def test_each_tensor_follows_from_the_one_before(layer, sequences, mask):
    flow = follow(layer, *sequences, mask)
    assert torch.equal(flow.W_q, layer.W_q(flow.query))
    assert torch.equal(flow.W_k, layer.W_k(flow.source))
    assert torch.equal(flow.W_v, layer.W_v(flow.source))
    for name in "QKV":
        heads = torch.stack(getattr(flow, f"W_{name.lower()}").chunk(H, -1), 1)
        assert torch.equal(getattr(flow, name), heads)
    torch.testing.assert_close(flow.scores, flow.Q @ flow.K.mT / math.sqrt(d_k))
    assert torch.equal(flow.masked, flow.scores.masked_fill(~mask, -math.inf))
    assert torch.equal(flow.weights, flow.masked.softmax(-1))
    assert torch.equal(flow.context, flow.weights @ flow.V)
    assert torch.equal(flow.merged, torch.cat(flow.context.unbind(1), -1))
    assert torch.equal(flow.output, layer.W_o(flow.merged))


def test_a_layer_that_is_followed_gives_what_it_gives_unwatched(sequences):
    layer = MultiHeadAttention(d_model, 1, dropout=0.5).eval()
    x, causal = sequences[0], make_causal_mask(S_q)
    flow, (output, weights) = follow(layer, x, x, causal), layer(x, x, x, causal)
    assert torch.equal(flow.output, output)
    assert torch.equal(flow.weights, weights)


def test_without_a_mask_nothing_is_masked(layer, sequences):
    flow = follow(layer, *sequences)
    assert torch.equal(flow.masked, flow.scores)


def test_unequal_widths_are_attention_all_the_same(layer, sequences, mask):
    flow = follow(layer, *sequences, mask)
    fused = scaled_dot_product_attention(flow.Q, flow.K, flow.V, attn_mask=mask)
    torch.testing.assert_close(flow.context, fused)
