"""The Triton kernels against the oracle, on the CPU in Triton's interpreter or on a CUDA GPU.

Triton decides at its import where kernels run, so test_flash_triton.py runs this file in a
process of its own; pytest does not collect it by itself.
"""

import math
import os

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlab import flash, reference
from attnlab.attention import scaled_dot_product_attention
from attnlab.flash_triton import flash_attention

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
DEVICE = "cpu" if INTERPRETED else "cuda"
HALVES = [torch.float16] if INTERPRETED else [torch.float16, torch.bfloat16]
DTYPES = [torch.float32, *HALVES]
EPS = torch.finfo(torch.float32).eps

# S_q, S_k, d_k, d_v, block_q, block_k
SHAPES = {
    "one tile": (5, 7, 11, 13, 16, 16),
    "tiles that fit": (32, 64, 16, 32, 16, 32),
    "partial last tiles": (37, 53, 11, 13, 16, 16),
    "last key a query sees alone in its tile": (37, 54, 11, 13, 16, 16),
    "more queries than keys": (53, 37, 17, 5, 32, 16),
    "more queries than keys, wide tiles": (53, 37, 5, 17, 16, 32),
    "blocks of queries that see nothing": (67, 13, 11, 13, 16, 16),
    "one query": (1, 41, 11, 13, 16, 16),
    "one key": (41, 1, 11, 13, 16, 16),
    "default blocks": (71, 89, 23, 67, None, None),
}
ROUNDED = ("partial last tiles", "default blocks")
CASES = [
    pytest.param(dtype, causal, shape, id=f"{name}, {str(dtype)[6:]}{', causal' * causal}")
    for name, shape in SHAPES.items()
    for causal in (False, True)
    # Dtypes meet the interpreter's loops in these shapes alone; a GPU compiles each anew.
    for dtype in (DTYPES if not INTERPRETED or name in ROUNDED else DTYPES[:1])
]


def inputs(S_q, S_k, d_k, d_v, dtype=torch.float32, leading=(2,)):
    shapes = (*leading, S_q, d_k), (*leading, S_k, d_k), (*leading, S_k, d_v), (*leading, S_q, d_v)
    return tuple(torch.randn(shape).to(DEVICE, dtype) for shape in shapes)


def causal_mask(S_q, S_k, is_causal):
    """Give the mask by its definition: query i sees key j where j <= i + S_k - S_q."""
    rows = [[not is_causal or j <= i + S_k - S_q for j in range(S_k)] for i in range(S_q)]
    return torch.tensor(rows, dtype=torch.bool).reshape(S_q, S_k)


def doubles(*tensors):
    return tuple(tensor.detach().cpu().double() for tensor in tensors)


def oracle(Q, K, V, is_causal):
    mask = causal_mask(Q.shape[-2], K.shape[-2], is_causal).numpy()
    arrays = (tensor.numpy() for tensor in doubles(Q, K, V))
    return torch.from_numpy(reference.scaled_dot_product_attention(*arrays, mask)[0])


def oracle_gradients(Q, K, V, dO, is_causal):
    Q, K, V, dO = doubles(Q, K, V, dO)
    leaves = [tensor.requires_grad_() for tensor in (Q, K, V)]
    mask = causal_mask(Q.shape[-2], K.shape[-2], is_causal)
    return torch.autograd.grad(scaled_dot_product_attention(*leaves, mask)[0], leaves, dO)


def output_and_gradients(Q, K, V, dO, *arguments):
    leaves = [tensor.detach().requires_grad_() for tensor in (Q, K, V)]
    output = flash_attention(*leaves, *arguments)
    return output.detach(), *torch.autograd.grad(output, leaves, dO)


def gradients(*arguments):
    return output_and_gradients(*arguments)[1:]


def error_bounds(Q, K, V, dO, is_causal):
    """Bound what rounding can do to the output and the gradients of Q, K and V.

    A score is off by a float32 eps times its row's largest sum of |q k| / sqrt(d_k), a weight by
    twice that of itself. Beside it stand a few roundings in float32 and three in the dtype of the
    inputs: of the weight, of the output that the row term reads, and of the result. What the
    dtype cannot resolve near zero comes on top.
    """
    low, dtype = torch.finfo(Q.dtype), Q.dtype
    mask, scale = causal_mask(Q.shape[-2], K.shape[-2], is_causal), 1 / math.sqrt(Q.shape[-1])
    Q, K, V, dO = doubles(Q, K, V, dO)
    weights = scaled_dot_product_attention(Q, K, V, mask)[1]
    Q, K, V, dO = (tensor.abs() for tensor in (Q, K, V, dO))
    size = (Q @ K.mT * scale).amax(-1, keepdim=True)  # (..., S_q, 1)
    off = (2 * size + 8) * EPS + (0 if dtype == torch.float32 else 3 * low.eps)
    floor = low.smallest_normal * low.eps
    dS = dO @ V.mT + (dO * (weights @ V)).sum(-1, keepdim=True)  # (..., S_q, S_k)
    weights_off, dS_off = off * weights + floor, off * weights * dS + floor
    return (
        weights_off @ V + floor,
        scale * dS_off @ K + floor,
        scale * dS_off.mT @ Q + floor,
        weights_off.mT @ dO + floor,
    )


def assert_within(actual, expected, bound):
    assert actual.isfinite().all()
    error = (doubles(actual)[0] - expected).abs()
    assert (error <= bound).all(), f"{(error / bound).nan_to_num().max():.3g} times the bound"


def assert_right(Q, K, V, dO, is_causal, block_q=None, block_k=None):
    output_bound, *gradient_bounds = error_bounds(Q, K, V, dO, is_causal)
    output, *actual = output_and_gradients(Q, K, V, dO, is_causal, block_q, block_k)
    assert_within(output, oracle(Q, K, V, is_causal), output_bound)
    expected = oracle_gradients(Q, K, V, dO, is_causal)
    for triple in zip(actual, expected, gradient_bounds, strict=True):
        assert_within(*triple)
    assert {tensor.dtype for tensor in (output, *actual)} == {Q.dtype}


@pytest.mark.parametrize(("dtype", "is_causal", "shape"), CASES)
def test_output_agrees_with_the_oracle_and_gradients_with_float64(dtype, is_causal, shape):
    assert_right(*inputs(*shape[:4], dtype, leading=(1,)), is_causal, *shape[4:])


sizes, sides = st.integers(1, 41), st.sampled_from([16, 32])


@settings(max_examples=8)
@given(sizes, sizes, sizes, sizes, st.booleans(), sides, sides, st.integers(0, 2**31))
def test_any_shape_and_any_block_will_do(S_q, S_k, d_k, d_v, is_causal, block_q, block_k, seed):
    torch.manual_seed(seed)
    tensors = inputs(S_q, S_k, d_k, d_v, leading=())
    assert_right(*tensors, is_causal, block_q, block_k)


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_logits_of_ten_thousand_cost_accuracy_but_nothing_more(dtype, is_causal):
    Q, K, V, dO = inputs(19, 37, 11, 13, dtype)
    Q, K = 100 * Q, 100 * K
    assert (Q.float() @ K.float().mT / math.sqrt(11)).abs().max() > 1e4
    assert_right(Q, K, V, dO, is_causal, 16, 16)


@pytest.mark.parametrize("dtype", DTYPES)
def test_query_whose_scores_are_all_very_low_still_takes_a_mean_of_values(dtype):
    Q, K, V, dO = inputs(3, 37, 11, 13, dtype)
    assert_right(torch.full_like(Q, 60), torch.full_like(K, -60), V, dO, False, 16, 16)


@pytest.mark.parametrize("dtype", DTYPES)
def test_query_that_sees_no_key_gets_zeros_and_a_gradient_of_zero(dtype):
    Q, K, V, dO = inputs(29, 7, 11, 13, dtype)
    output, *grads = output_and_gradients(Q, K, V, dO, True, 16, 16)
    assert (output[:, :22] == 0).all()
    assert (grads[0][:, :22] == 0).all()
    assert (output[:, 22:] != 0).all()


@pytest.mark.parametrize("leading", [(), (3,), (2, 3), (2, 1, 3)])
def test_any_number_of_leading_dimensions_will_do(leading):
    tensors = inputs(17, 19, 11, 13, leading=leading)
    assert_right(*tensors, True, 16, 16)


@pytest.mark.parametrize("leading", [(2, 0, 3), (2,)])
@pytest.mark.parametrize(("S_q", "S_k"), [(0, 5), (5, 0), (0, 0)])
def test_nothing_to_attend_from_or_to_gives_zeros(leading, S_q, S_k):
    Q, K, V, dO = inputs(S_q, S_k, 11, 13, leading=leading)
    assert torch.equal(flash_attention(Q, K, V), torch.zeros_like(dO))
    assert all((gradient == 0).all() for gradient in gradients(Q, K, V, dO))


@pytest.mark.parametrize(("first", "second"), [(-3, -2), (-2, -1)])
def test_layout_in_memory_changes_nothing(first, second):
    tensors = inputs(19, 23, 11, 13, leading=(2, 3))
    other = [x.transpose(first, second).contiguous().transpose(first, second) for x in tensors]
    assert not any(x.is_contiguous() for x in other)
    for pair in zip(output_and_gradients(*tensors), output_and_gradients(*other), strict=True):
        assert torch.equal(*pair)


def test_inputs_are_neither_changed_nor_shared():
    tensors = inputs(19, 23, 11, 13)
    before = [tensor.clone() for tensor in tensors]
    for result in output_and_gradients(*tensors):
        result.fill_(5)
    assert all(torch.equal(*pair) for pair in zip(tensors, before, strict=True))


def test_only_the_gradients_that_are_asked_for_are_needed():
    Q, K, V, dO = inputs(5, 19, 11, 13)
    expected = gradients(Q, K, V, dO)[1]
    flash_attention(Q, K.requires_grad_(), V).backward(dO)
    assert torch.equal(K.grad, expected)
    assert Q.grad is None


@pytest.mark.parametrize("spoilt", ["K", "V"])
def test_nan_behind_the_causal_mask_reaches_no_query(spoilt):
    Q, K, V, dO = inputs(37, 53, 11, 13)
    (K if spoilt == "K" else V)[1, 29, 3] = math.nan
    output, expected = (f(Q, K, V, True) for f in (flash_attention, flash.flash_attention))
    assert output[1].isnan().any(-1).sum() == 53 - 29
    torch.testing.assert_close(output, expected, equal_nan=True)
    assert all(gradient.isfinite().all() for gradient in gradients(Q, K, V, dO, True))


@pytest.mark.parametrize("of_dO", [False, True])
def test_second_derivative_is_refused_with_the_way_out(of_dO):
    Q, K, V, dO = inputs(5, 7, 11, 13)
    output = flash_attention(Q.requires_grad_(), K, V)
    with pytest.raises(RuntimeError, match=r"without create_graph=True, or call attnlab"):
        torch.autograd.grad(output, Q, dO.requires_grad_(of_dO), create_graph=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_autocast_changes_nothing(dtype):
    tensors = inputs(19, 23, 11, 13, dtype)
    expected = output_and_gradients(*tensors)
    with torch.autocast(DEVICE, dtype=torch.float16):
        actual = output_and_gradients(*tensors)
    assert all(map(torch.equal, actual, expected))


@pytest.mark.parametrize("is_causal", [False, True])
def test_plain_loop_in_pytorch_says_the_same(is_causal):
    Q, K, V, dO = inputs(37, 29, 11, 13)
    bound = 2 * error_bounds(Q, K, V, dO, is_causal)[0]
    expected = flash.flash_attention(Q, K, V, is_causal, 16, 16)
    assert_within(flash_attention(Q, K, V, is_causal, 16, 16), doubles(expected)[0], bound)


@pytest.mark.skipif(not INTERPRETED, reason="a GPU computes bfloat16 rightly")
def test_bfloat16_is_refused_in_the_interpreter():
    Q, K, V, _ = inputs(5, 7, 11, 13, torch.bfloat16)
    with pytest.raises(TypeError, match=r"wrong numbers in torch\.bfloat16: use torch\.float32"):
        flash_attention(Q, K, V)
