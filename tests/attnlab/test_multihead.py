"""Multi-head attention against the oracle, head by head, and against PyTorch's module."""

import pytest
import torch
from torch import nn

from attnlab import reference
from attnlab.masks import make_causal_mask, make_padding_mask, to_key_padding, to_mha
from attnlab.multihead import MultiHeadAttention

B, H, S_q, S_k, d_k = 2, 3, 5, 7, 11
d_model = H * d_k
EPS = torch.finfo(torch.float64).eps
TOLERANCE = 4 * d_model * EPS  # four projections, each a sum of d_model numbers of size 1 or so


def module(dtype=torch.float64, **settings):
    return MultiHeadAttention(d_model, H, **settings).to(dtype)


def tokens(S, dtype=torch.float64):
    return torch.randn(B, S, d_model, dtype=dtype)


def rows(i):
    return slice(i * d_k, (i + 1) * d_k)


def assert_close(actual, expected, atol=TOLERANCE):
    torch.testing.assert_close(actual, expected, rtol=0, atol=atol)


def oracle(mha, query, key, value, mask=None):
    """Run the paper's equation: each head alone, side by side, then W^O."""
    query, key, value = (x.double() for x in (query, key, value))
    project = {
        name: (layer.weight.detach().double(), layer.bias.detach().double())
        for name, layer in mha.named_children()
        if name.startswith("W_")
    }
    heads, weights = [], []
    for i in range(H):
        Q, K, V = (
            x @ project[name][0][rows(i)].T + project[name][1][rows(i)]
            for name, x in (("W_q", query), ("W_k", key), ("W_v", value))
        )
        head_mask = None if mask is None else mask.expand(-1, H, -1, -1)[:, i].numpy()
        head, head_weights = reference.scaled_dot_product_attention(Q, K, V, head_mask)
        heads.append(torch.from_numpy(head))
        weights.append(torch.from_numpy(head_weights))
    output = torch.cat(heads, dim=-1) @ project["W_o"][0].T + project["W_o"][1]
    return output, torch.stack(weights, dim=1)


def pytorchs_module(mha):
    """Copy the weights into PyTorch's own module."""
    theirs = nn.MultiheadAttention(d_model, H, batch_first=True, dtype=torch.float64)
    inward = (mha.W_q, mha.W_k, mha.W_v)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([layer.weight for layer in inward]))
        theirs.in_proj_bias.copy_(torch.cat([layer.bias for layer in inward]))
        theirs.out_proj.weight.copy_(mha.W_o.weight)
        theirs.out_proj.bias.copy_(mha.W_o.bias)
    return theirs


@pytest.mark.parametrize("masked", [False, True], ids=["unmasked", "masked"])
def test_output_and_weights_agree_with_the_oracle_head_by_head(masked):
    mha, query, key, value = module(), tokens(S_q), tokens(S_k), tokens(S_k)
    mask = torch.rand(B, H, S_q, S_k) < 0.5 if masked else None
    output, weights = mha(query, key, value, mask)
    expected = oracle(mha, query, key, value, mask)
    assert_close(output, expected[0])
    assert_close(weights, expected[1])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_module_moved_to_another_dtype_computes_in_it(dtype):
    mha, query, key = module(dtype), tokens(S_q, dtype), tokens(S_k, dtype)
    output, weights = mha(query, key, key, make_padding_mask([4, 7], S_k))
    expected = oracle(mha, query, key, key, make_padding_mask([4, 7], S_k))
    assert output.dtype == weights.dtype == dtype
    # Q, K, scores, weights, V, context and output are rounded once each, all of size 1 or so.
    assert_close(output.double(), expected[0], atol=7 * torch.finfo(dtype).eps)
    assert_close(weights.double(), expected[1], atol=7 * torch.finfo(dtype).eps)


def test_agrees_with_pytorchs_module_without_a_mask():
    mha, query, key, value = module(), tokens(S_q), tokens(S_k), tokens(S_k)
    expected = pytorchs_module(mha)(query, key, value, average_attn_weights=False)
    for actual, theirs in zip(mha(query, key, value), expected, strict=True):
        assert_close(actual, theirs)


@pytest.mark.parametrize("heads", [1, H])
def test_agrees_with_pytorchs_module_through_to_mha(heads):
    mha, query, key = module(), tokens(S_q), tokens(S_k)
    mask = torch.rand(B, heads, S_q, S_k) < 0.5
    mask[..., 0] = True
    theirs = pytorchs_module(mha)(
        query, key, key, attn_mask=to_mha(mask, H), average_attn_weights=False
    )
    for actual, expected in zip(mha(query, key, key, mask), theirs, strict=True):
        assert_close(actual, expected)


def test_agrees_with_pytorchs_module_through_to_key_padding():
    mha, query, key = module(), tokens(S_q), tokens(S_k)
    mask = make_padding_mask([4, 7], S_k)
    theirs = pytorchs_module(mha)(
        query, key, key, key_padding_mask=to_key_padding(mask), average_attn_weights=False
    )
    for actual, expected in zip(mha(query, key, key, mask), theirs, strict=True):
        assert_close(actual, expected)


def test_agrees_with_pytorchs_module_through_both_masks_at_once():
    mha, x = module(), tokens(S_k)
    causal, padding = make_causal_mask(S_k), make_padding_mask([4, 7], S_k)
    attn_mask = to_mha(causal, H)  # one for all batches
    theirs, _ = pytorchs_module(mha)(
        x, x, x, attn_mask=attn_mask, key_padding_mask=to_key_padding(padding)
    )
    assert_close(mha(x, x, x, causal & padding)[0], theirs)


def test_unconverted_mask_gives_another_output_in_pytorchs_module():
    mha, x = module(), tokens(S_k)
    position = torch.arange(S_k)
    mask = ((position[:, None] + position) % 2 == 0).expand(B, H, S_k, S_k)
    output, _ = mha(x, x, x, mask)
    right, _ = pytorchs_module(mha)(x, x, x, attn_mask=to_mha(mask, H))
    wrong, _ = pytorchs_module(mha)(x, x, x, attn_mask=mask.flatten(0, 1))
    assert_close(right, output)
    assert wrong.isfinite().all()
    assert (wrong - output).abs().max() > 0.01


def test_head_i_owns_columns_i_d_k_to_i_plus_1_d_k_of_the_width():
    x = tokens(S_q)
    heads = module().split_heads(x)
    assert heads.shape == (B, H, S_q, d_k)
    for i in range(H):
        assert torch.equal(heads[:, i], x[..., rows(i)])


def test_merging_undoes_splitting():
    mha, x = module(), tokens(S_q)
    assert torch.equal(mha.merge_heads(mha.split_heads(x)), x)


@pytest.mark.parametrize("i", range(H))
@pytest.mark.parametrize("name", ["W_q", "W_k"])
@torch.no_grad()
def test_zeroed_rows_of_a_head_level_the_weights_of_that_head_only(name, i):
    mha, query, key = module(bias=False), tokens(S_q), tokens(S_k)
    expected = mha(query, key, key)[1]
    getattr(mha, name).weight[rows(i)] = 0
    expected[:, i] = 1 / S_k
    assert_close(mha(query, key, key)[1], expected)


@pytest.mark.parametrize("i", range(H))
@torch.no_grad()
def test_zeroed_value_rows_of_a_head_empty_the_context_of_that_head_only(i):
    mha, query, key = module(bias=False), tokens(S_q), tokens(S_k)
    mha.W_o.weight.copy_(torch.eye(d_model))  # the output shows the context as it is
    expected = mha(query, key, key)[0]
    mha.W_v.weight[rows(i)] = 0
    expected[..., rows(i)] = 0
    assert_close(mha(query, key, key)[0], expected)


def test_fully_masked_sequence_gets_the_bias_alone_and_finite_gradients():
    mha, x = module(), tokens(S_k).requires_grad_()
    with torch.autograd.set_detect_anomaly(True):
        output, weights = mha(x, x, x, make_padding_mask([0, 7], S_k))
        output.square().sum().backward()
    assert (weights[0] == 0).all()
    assert torch.equal(output[0], mha.W_o.bias.expand(S_k, d_model))
    assert all(tensor.grad.isfinite().all() for tensor in (x, *mha.parameters()))
