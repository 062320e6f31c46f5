"""Tiled attention against the oracle, case by case; its gradients against autograd's."""

import math

import pytest
import torch
from torch.nn import functional

from attnlab import reference
from attnlab.attention import scaled_dot_product_attention
from attnlab.flash import flash_attention, online_softmax_steps
from attnlab.flash_tiles import Tiles

B, H, d_k, d_v = 3, 5, 7, 11  # 15 heads: the last group of heads is a short one
BLOCKS = {"block_q": 4, "block_k": 3}
SHAPES = pytest.mark.parametrize(("S_q", "S_k"), [(17, 17), (8, 9), (5, 19), (19, 5), (2, 1)])
CAUSAL = pytest.mark.parametrize("is_causal", [False, True], ids=["full", "causal"])


def inputs(S_q, S_k, dtype=torch.float64, leading=(B, H), size=1.0):
    Q = size * torch.randn(*leading, S_q, d_k, dtype=dtype)
    K = torch.randn(*leading, S_k, d_k, dtype=dtype)
    V = torch.randn(*leading, S_k, d_v, dtype=dtype)
    return Q, K, V


def bottom_right(S_q, S_k):
    return torch.tensor([[j <= i + S_k - S_q for j in range(S_k)] for i in range(S_q)])


def oracle(Q, K, V, is_causal):
    mask = bottom_right(Q.shape[-2], K.shape[-2]).numpy() if is_causal else None
    arrays = (x.double().numpy() for x in (Q, K, V))
    return map(torch.from_numpy, reference.scaled_dot_product_attention(*arrays, mask))


def assert_equal_but_for_rounding(output, Q, K, V, is_causal):
    """Bound the error by what rounding can do.

    A score is off by d_k + 3 roundings of sum |q k| / sqrt(d_k) at most, its weight by twice as
    much relative to itself, and S_k terms are summed with one fade each. The result is rounded
    once more, to its own dtype.
    """
    expected, weights = oracle(Q, K, V, is_causal)
    eps = torch.finfo(torch.promote_types(Q.dtype, torch.float32)).eps
    S_k, Q, K, V = K.shape[-2], Q.double(), K.double(), V.double()
    size = (Q.abs() @ K.abs().mT / math.sqrt(d_k)).amax(-1, keepdim=True)  # (..., S_q, 1)
    bound = eps * ((d_k + 3) * size + 2 * S_k + 8) * (weights @ V.abs())
    bound += torch.finfo(output.dtype).eps * expected.abs()
    assert ((output.double() - expected).abs() <= bound).all()


def naive_gradients(Q, K, V, dO, is_causal):
    mask = bottom_right(Q.shape[-2], K.shape[-2]) if is_causal else None
    Q, K, V = (x.detach().requires_grad_() for x in (Q, K, V))
    output, _ = scaled_dot_product_attention(Q, K, V, mask)
    return torch.autograd.grad(output, (Q, K, V), dO)


def flash_gradients(Q, K, V, dO, is_causal, **blocks):
    Q, K, V = (x.detach().requires_grad_() for x in (Q, K, V))
    return torch.autograd.grad(flash_attention(Q, K, V, is_causal, **blocks), (Q, K, V), dO)


@CAUSAL
@SHAPES
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_output_agrees_with_the_oracle(S_q, S_k, dtype, is_causal):
    Q, K, V = inputs(S_q, S_k, dtype)
    output = flash_attention(Q, K, V, is_causal, **BLOCKS)
    assert output.dtype == dtype
    assert output.shape == (B, H, S_q, d_v)
    assert_equal_but_for_rounding(output, Q, K, V, is_causal)


@CAUSAL
def test_default_blocks_agree_with_the_oracle_where_no_size_is_a_multiple(is_causal):
    Q, K, V = inputs(521, 541, torch.float32, leading=(3,))
    output = flash_attention(Q, K, V, is_causal)
    assert_equal_but_for_rounding(output, Q, K, V, is_causal)


@CAUSAL
def test_logits_of_ten_thousand_overflow_nothing(is_causal):
    Q, K, V = inputs(17, 19, torch.float32, size=1e4)
    output = flash_attention(Q, K, V, is_causal, **BLOCKS)
    assert output.isfinite().all()
    assert_equal_but_for_rounding(output, Q, K, V, is_causal)
    gradients = flash_gradients(Q, K, V, torch.ones_like(output), is_causal, **BLOCKS)
    assert all(gradient.isfinite().all() for gradient in gradients)


@CAUSAL
@SHAPES
def test_gradients_agree_with_those_of_the_full_matrix(S_q, S_k, is_causal):
    Q, K, V = inputs(S_q, S_k)
    dO = torch.randn(B, H, S_q, d_v, dtype=torch.float64)
    actual = flash_gradients(Q, K, V, dO, is_causal, **BLOCKS)
    expected = naive_gradients(Q, K, V, dO, is_causal)
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_gradients_in_low_precision_are_as_good_as_those_of_the_full_matrix(dtype):
    Q, K, V = inputs(23, 23, dtype)
    dO = torch.randn(B, H, 23, d_v, dtype=dtype)
    exact = naive_gradients(*(x.double() for x in (Q, K, V, dO)), True)
    ours = flash_gradients(Q, K, V, dO, True, **BLOCKS)
    naive = naive_gradients(Q, K, V, dO, True)
    for actual, other, expected in zip(ours, naive, exact, strict=True):
        assert actual.dtype == dtype
        error, usual = ((x.double() - expected).abs().max() for x in (actual, other))
        assert error <= 2 * usual


def test_gradients_survive_logits_of_ten_thousand_as_well_as_those_of_the_full_matrix():
    Q, K, V = inputs(23, 23, torch.float32, size=1e4)
    dO = torch.randn(B, H, 23, d_v)
    exact = naive_gradients(*(x.double() for x in (Q, K, V, dO)), False)
    ours = flash_gradients(Q, K, V, dO, False, **BLOCKS)
    naive = naive_gradients(Q, K, V, dO, False)
    for actual, other, expected in zip(ours, naive, exact, strict=True):
        error, usual = ((x.double() - expected).abs().max() for x in (actual, other))
        assert error <= 4 * usual


@CAUSAL
def test_gradcheck_passes_in_float64(is_causal):
    leaves = [x.requires_grad_() for x in inputs(7, 5, leading=(2,))]
    assert torch.autograd.gradcheck(lambda *x: flash_attention(*x, is_causal, **BLOCKS), leaves)


@pytest.mark.parametrize("loss", [torch.sum, lambda output: output.square().sum()])
def test_second_derivative_is_refused_with_the_way_out(loss):
    Q, K, V = (x.requires_grad_() for x in inputs(3, 3))
    with pytest.raises(RuntimeError, match=r"without create_graph=True, or call attnlab"):
        torch.autograd.grad(loss(flash_attention(Q, K, V)), Q, create_graph=True)


@CAUSAL
@pytest.mark.parametrize("low", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_autocast_changes_nothing(dtype, low, is_causal):
    tensors = *inputs(17, 19, dtype), torch.randn(B, H, 17, d_v, dtype=dtype)
    expected = flash_attention(*tensors[:3], is_causal, **BLOCKS)
    expected_gradients = flash_gradients(*tensors, is_causal, **BLOCKS)
    with torch.autocast("cpu", dtype=low):
        output = flash_attention(*tensors[:3], is_causal, **BLOCKS)
        gradients = flash_gradients(*tensors, is_causal, **BLOCKS)
    assert output.dtype == dtype
    assert torch.equal(output, expected)
    assert all(map(torch.equal, gradients, expected_gradients))


def test_queries_before_the_first_key_give_zeros_and_no_gradient():
    Q, K, V = inputs(11, 6)
    output = flash_attention(Q, K, V, True, **BLOCKS)
    assert (output[..., :5, :] == 0).all()
    assert (output[..., 5:, :] != 0).all()
    dQ, dK, dV = flash_gradients(Q, K, V, torch.ones_like(output), True, **BLOCKS)
    assert (dQ[..., :5, :] == 0).all()
    assert all(gradient.isfinite().all() for gradient in (dQ, dK, dV))


def test_no_keys_at_all_give_zeros():
    Q, K, V = inputs(5, 0)
    assert torch.equal(flash_attention(Q, K, V), torch.zeros(B, H, 5, d_v, dtype=Q.dtype))


def test_causal_is_aligned_bottom_right_where_pytorch_aligns_top_left():
    Q, K, V = inputs(5, 9)
    output = flash_attention(Q, K, V, True, **BLOCKS)
    sdpa = functional.scaled_dot_product_attention
    torch.testing.assert_close(output, sdpa(Q, K, V, attn_mask=bottom_right(5, 9)))
    assert (output - sdpa(Q, K, V, is_causal=True)).abs().max() > 0.1


def test_last_queries_over_a_cache_give_the_last_rows_of_the_whole():
    Q, K, V = inputs(13, 13)
    whole = flash_attention(Q, K, V, True, **BLOCKS)
    torch.testing.assert_close(flash_attention(Q[..., -2:, :], K, V, True), whole[..., -2:, :])


@pytest.mark.parametrize("leading", [(), (3,), (2, 3, 2), (0, 5)])
def test_any_leading_dimensions_will_do(leading):
    Q, K, V = inputs(6, 7, leading=leading)
    output = flash_attention(Q, K, V, **BLOCKS)
    assert output.shape == (*leading, 6, d_v)
    assert_equal_but_for_rounding(output, Q, K, V, False)


def test_strides_do_not_matter_and_shared_heads_collect_their_gradients():
    Q, K, V = inputs(6, 7)
    Q_strided = Q.transpose(1, 2).contiguous().transpose(1, 2)
    K_shared = K[:, :1].clone().requires_grad_()
    K_heads = K[:, :1].expand(-1, H, -1, -1).clone().requires_grad_()
    outputs = [flash_attention(Q_strided, K_shared.expand(-1, H, -1, -1), V, **BLOCKS)]
    outputs.append(flash_attention(Q, K_heads, V, **BLOCKS))
    assert torch.equal(*outputs)
    for output in outputs:
        output.sum().backward()
    torch.testing.assert_close(K_shared.grad, K_heads.grad.sum(1, keepdim=True))


def test_inputs_stay_as_they_were():
    tensors = [*inputs(9, 8), torch.randn(B, H, 9, d_v, dtype=torch.float64)]
    copies = [x.clone() for x in tensors]
    flash_gradients(*tensors, True, **BLOCKS)
    assert all(map(torch.equal, tensors, copies))


@SHAPES
def test_exactly_the_tiles_with_something_to_see_are_computed(S_q, S_k):
    tiles = Tiles(torch.zeros(1, S_q, d_k), torch.zeros(1, S_k, d_k), True, 4, 3)
    computed = {(q.start, k.start) for q in tiles.queries() for k in tiles.keys(q)}
    mask = bottom_right(S_q, S_k)
    corners = [(i, j) for i in range(0, S_q, 4) for j in range(0, S_k, 3)]
    assert computed == {(i, j) for i, j in corners if mask[i : i + 4, j : j + 3].any()}


@pytest.mark.parametrize("strange", [math.nan, math.inf])
@pytest.mark.parametrize("spoilt", ["K", "V"])
@SHAPES
def test_nan_behind_the_causal_mask_reaches_no_query_whatever_the_blocks(S_q, S_k, spoilt, strange):
    Q, K, V = inputs(S_q, S_k, leading=(2,))
    key = S_k // 2
    expected, mask = flash_attention(Q, K, V, True), bottom_right(S_q, S_k)
    (K if spoilt == "K" else V)[1, key, 2] = strange
    for block_q, block_k in ((1, 1), (4, 3), (256, 512)):
        output = flash_attention(Q, K, V, True, block_q, block_k)
        assert output[1, mask[:, key]].isnan().all()
        output[1, mask[:, key]] = expected[1, mask[:, key]]
        torch.testing.assert_close(output, expected)


def test_nan_behind_the_causal_mask_spoils_no_gradient():
    Q, K, V = inputs(17, 17, leading=(2,))
    dO = torch.randn(2, 17, d_v, dtype=torch.float64)
    dO[:, 11:] = 0
    expected = flash_gradients(Q, K, V, dO, True, **BLOCKS)
    K[:, 11], V[:, 12] = math.nan, math.nan
    torch.testing.assert_close(flash_gradients(Q, K, V, dO, True, **BLOCKS), expected)


def test_shapes_can_be_asked_for_on_the_meta_device():
    Q, K, V = (x.to("meta") for x in inputs(9, 8))
    assert flash_attention(Q, K, V, True).shape == (B, H, 9, d_v)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"Q": torch.zeros(5, 7, dtype=torch.int64)}, TypeError, "need one floating dtype"),
        ({"K": torch.zeros(6, 7, dtype=torch.float64)}, TypeError, "need one floating dtype"),
        ({"V": torch.zeros(2, 6, 11)}, ValueError, "expand those that are shared"),
        ({"V": torch.zeros(6)}, ValueError, "dimensions before"),
        ({"K": torch.zeros(6, 8)}, ValueError, "width 7 and keys 8"),
        ({"Q": torch.zeros(5, 0), "K": torch.zeros(6, 0)}, ValueError, "0: both are d_k, at least"),
        ({"V": torch.zeros(4, 11)}, ValueError, "6 keys and 4 values"),
        ({"block_q": 0}, ValueError, "block_q=0"),
        ({"block_k": -1}, ValueError, "block_k=-1"),
    ],
)
def test_misfits_are_named(change, error, message):
    fitting = {"Q": torch.zeros(5, 7), "K": torch.zeros(6, 7), "V": torch.zeros(6, 11)}
    with pytest.raises(error, match=message):
        flash_attention(**fitting | change)
    if "block_q" not in change:
        with pytest.raises(error, match=message):
            next(online_softmax_steps(**fitting | {"block_k": 2} | change))
