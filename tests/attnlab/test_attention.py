"""Scaled dot-product attention against the oracle and PyTorch's own function."""

import math

import pytest
import torch
from torch.nn import functional

from attnlab import reference
from attnlab.attention import attention_weights, masked_softmax, scaled_dot_product_attention
from attnlab.masks import make_causal_mask, make_padding_mask, to_sdpa

B, H, S_q, S_k, d_k, d_v = 2, 3, 5, 7, 11, 13
EPS = torch.finfo(torch.float64).eps
DTYPES = [torch.float32, torch.float64, torch.bfloat16]
MASKED = pytest.mark.parametrize("masked", [False, True], ids=["unmasked", "masked"])


def inputs(dtype=torch.float64, leading=(B, H)):
    Q = torch.randn(*leading, S_q, d_k, dtype=dtype)
    K = torch.randn(*leading, S_k, d_k, dtype=dtype)
    V = torch.randn(*leading, S_k, d_v, dtype=dtype)
    return Q, K, V


def random_mask(*shape):
    """Block half of the keys, but never all keys of one query."""
    mask = torch.rand(shape) < 0.5
    mask[..., 0] = True
    return mask


def oracle(Q, K, V, mask=None):
    arrays = (tensor.double().numpy() for tensor in (Q, K, V))
    mask = None if mask is None else mask.numpy()
    results = reference.scaled_dot_product_attention(*arrays, mask)
    return tuple(torch.from_numpy(array) for array in results)


def error_bounds(Q, K, V, weights):
    """Bound what the dtype's rounding can do to output and weights.

    Scaling Q and summing a dot product each round by eps / 2 of sum |q k| / sqrt(d_k) or less, so
    a score is off by at most eps times its row's largest such sum, and a softmax weight, whose
    numerator and denominator both feel it, by twice that of itself. Two more roundings make the
    weight and the output, and nothing is finer than the smallest normal number. The oracle's own
    rounding comes on top.
    """
    eps, tiny = torch.finfo(Q.dtype).eps + EPS, torch.finfo(Q.dtype).tiny
    Q, K, V = Q.double(), K.double(), V.double()
    size = (Q.abs() @ K.abs().mT / math.sqrt(Q.shape[-1])).amax(-1, keepdim=True)  # (..., S_q, 1)
    relative = (2 * size + 2) * eps
    return relative * (weights @ V.abs()) + tiny, relative * weights + tiny


def assert_within(actual, expected, bound):
    error = (actual.double() - expected.double()).abs()
    assert (error <= bound).all(), f"{(error / bound).nan_to_num().max():.3g} times the bound"


@MASKED
@pytest.mark.parametrize("dtype", DTYPES)
def test_output_and_weights_agree_with_the_oracle(dtype, masked):
    Q, K, V = inputs(dtype)
    mask = random_mask(B, H, S_q, S_k) if masked else None
    output, weights = scaled_dot_product_attention(Q, K, V, mask)
    expected = oracle(Q, K, V, mask)
    bounds = error_bounds(Q, K, V, expected[1])
    assert output.dtype == weights.dtype == dtype
    assert_within(output, expected[0], bounds[0])
    assert_within(weights, expected[1], bounds[1])


@MASKED
@pytest.mark.parametrize("dtype", DTYPES)
def test_output_agrees_with_pytorchs_function(dtype, masked):
    Q, K, V = inputs(dtype)
    mask = random_mask(B, 1, S_q, S_k) if masked else None
    output, weights = scaled_dot_product_attention(Q, K, V, mask)
    expected = functional.scaled_dot_product_attention(Q, K, V, to_sdpa(mask) if masked else None)
    bound, _ = error_bounds(Q, K, V, weights.double())
    assert_within(output, expected, 2 * bound)


def test_causal_mask_agrees_with_pytorchs_is_causal_where_keys_are_the_queries():
    Q, _, _ = inputs()
    output, weights = scaled_dot_product_attention(Q, Q, Q, make_causal_mask(S_q))
    expected = functional.scaled_dot_product_attention(Q, Q, Q, is_causal=True)
    assert_within(output, expected, 2 * error_bounds(Q, Q, Q, weights)[0])


def test_given_scale_replaces_the_default():
    Q, K, V = inputs()
    output, weights = scaled_dot_product_attention(Q, K, V, scale=0.3)
    expected = functional.scaled_dot_product_attention(Q, K, V, scale=0.3)
    assert_within(output, expected, 2 * error_bounds(Q, K, V, weights)[0])


@pytest.mark.parametrize("leading", [(), (3,), (2, 3), (2, 3, 5)])
def test_any_number_of_leading_dimensions_will_do(leading):
    Q, K, V = inputs(leading=leading)
    output, weights = scaled_dot_product_attention(Q, K, V)
    expected = oracle(Q, K, V)
    assert output.shape == (*leading, S_q, d_v)
    assert weights.shape == (*leading, S_q, S_k)
    assert_within(output, expected[0], error_bounds(Q, K, V, expected[1])[0])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_logits_of_ten_thousand_cost_accuracy_but_nothing_more(dtype):
    Q, K, V = inputs(dtype)
    Q, K = 100 * Q, 100 * K
    expected = oracle(Q, K, V)
    assert (Q @ K.mT / math.sqrt(d_k)).abs().max() > 1e4
    output, _ = scaled_dot_product_attention(Q, K, V)
    assert_within(output, expected[0], error_bounds(Q, K, V, expected[1])[0])


def test_logits_of_ten_thousand_leave_bfloat16_weights_that_sum_to_one():
    Q, K, V = inputs(torch.bfloat16)
    output, weights = scaled_dot_product_attention(100 * Q, 100 * K, V)
    assert output.isfinite().all()
    assert_within(weights.double().sum(-1), torch.ones(()), S_k * torch.finfo(torch.bfloat16).eps)


def test_attention_weights_are_the_weights_of_the_whole():
    Q, K, V = inputs()
    mask = random_mask(S_q, S_k)
    _, weights = scaled_dot_product_attention(Q, K, V, mask, scale=0.3)
    assert torch.equal(attention_weights(Q, K, mask, scale=0.3), weights)


def test_padding_mask_broadcasts_over_heads_and_queries():
    Q, K, V = inputs()
    mask = make_padding_mask([4, 7], S_k)
    results = scaled_dot_product_attention(Q, K, V, mask)
    full = scaled_dot_product_attention(Q, K, V, mask.expand(B, H, S_q, S_k))
    shorter, _ = scaled_dot_product_attention(Q[:1], K[:1, :, :4], V[:1, :, :4])
    assert all(torch.equal(*pair) for pair in zip(results, full, strict=True))
    torch.testing.assert_close(results[0][:1], shorter, rtol=0, atol=S_k * d_k * EPS)


@pytest.mark.parametrize("dtype", DTYPES)
def test_fully_masked_query_gets_zeros_and_leaves_the_others_alone(dtype):
    Q, K, V = inputs(dtype)
    mask = random_mask(S_q, S_k)
    expected = scaled_dot_product_attention(Q, K, V, mask)
    mask[2] = False
    for actual, before in zip(scaled_dot_product_attention(Q, K, V, mask), expected, strict=True):
        assert (actual[..., 2, :] == 0).all()
        before[..., 2, :] = 0
        assert torch.equal(actual, before)


@pytest.mark.parametrize("dtype", DTYPES)
def test_fully_masked_query_puts_no_nan_into_any_step_of_the_backward_pass(dtype):
    tensors = [tensor.requires_grad_() for tensor in inputs(dtype)]
    mask = random_mask(S_q, S_k)
    mask[2] = False
    with torch.autograd.set_detect_anomaly(True):  # raises at the step that makes a NaN
        output, weights = scaled_dot_product_attention(*tensors, mask)
        (output.square().sum() + weights.square().sum()).backward()
    assert all(tensor.grad.isfinite().all() for tensor in tensors)
    assert (tensors[0].grad[..., 2, :] == 0).all()


def test_blocked_scores_may_hold_anything():
    scores = torch.randn(S_q, S_k)
    mask = random_mask(S_q, S_k)
    mask[1] = False
    expected = masked_softmax(scores, mask)
    for filler in (math.inf, -math.inf, math.nan):
        filled = scores.masked_fill(~mask, filler).requires_grad_()
        weights = masked_softmax(filled, mask)
        weights.square().sum().backward()
        assert torch.equal(weights, expected)
        assert filled.grad.isfinite().all()
        assert (filled.grad[~mask] == 0).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_blocked_key_gets_nothing_however_low_the_others_score(dtype):
    lowest = torch.finfo(dtype).min
    scores = torch.tensor([lowest, 0, lowest], dtype=dtype)
    weights = masked_softmax(scores, torch.tensor([True, False, True]))
    assert weights.tolist() == [0.5, 0.0, 0.5]


@pytest.mark.parametrize("case", ["unmasked", "masked", "one query fully masked"])
def test_gradients_agree_with_finite_differences(case):
    tensors = [tensor.requires_grad_() for tensor in inputs(leading=())]
    mask = None if case == "unmasked" else random_mask(S_q, S_k)
    if case == "one query fully masked":
        mask[2] = False
    assert torch.autograd.gradcheck(
        lambda Q, K, V: torch.cat(scaled_dot_product_attention(Q, K, V, mask), dim=-1), tensors
    )


def test_inputs_are_neither_changed_nor_shared():
    tensors = (*inputs(), random_mask(B, H, S_q, S_k))
    before = [tensor.clone() for tensor in tensors]
    scores = torch.randn(B, H, S_q, S_k)
    scores_before = scores.clone()
    results = (*scaled_dot_product_attention(*tensors), masked_softmax(scores, tensors[-1]))
    for result in (*results, masked_softmax(scores)):
        result.fill_(5)
    assert all(torch.equal(*pair) for pair in zip(tensors, before, strict=True))
    assert torch.equal(scores, scores_before)


def test_queries_and_keys_of_different_width_are_refused():
    Q, K, V = inputs()
    with pytest.raises(ValueError, match=r"width 11 and keys have width 10: .* both to be d_k"):
        scaled_dot_product_attention(Q, K[..., 1:], V)


def test_queries_and_keys_without_width_are_refused():
    Q, K, V = inputs()
    with pytest.raises(ValueError, match=r"width 0 and .* width 0: .* d_k, at least 1"):
        scaled_dot_product_attention(Q[..., :0], K[..., :0], V)


def test_keys_and_values_of_different_number_are_refused():
    Q, K, V = inputs()
    with pytest.raises(ValueError, match="7 keys and 6 values: each key needs its own value"):
        scaled_dot_product_attention(Q, K, V[..., 1:, :])


def test_mask_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match=r"\(5, 6\) does not broadcast .*\(2, 3, 5, 7\); .* use"):
        scaled_dot_product_attention(*inputs(), random_mask(S_q, S_k - 1))


def test_mask_of_numbers_is_refused():
    with pytest.raises(TypeError, match=r"torch\.float32.* convert .* with .*from_sdpa"):
        scaled_dot_product_attention(*inputs(), torch.ones(S_q, S_k))
