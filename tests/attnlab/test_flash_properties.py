"""What holds for tiled attention on every shape and tiling, drawn at random by hypothesis."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from attnlab.attention import scaled_dot_product_attention
from attnlab.flash import flash_attention, online_softmax_steps

sizes, lengths, blocks = st.integers(1, 5), st.integers(1, 13), st.integers(1, 15)
seeds = st.integers(0, 2**31)


def draw_inputs(seed, S_q, S_k, d_k, d_v):
    torch.manual_seed(seed)
    shapes = (3, S_q, d_k), (3, S_k, d_k), (3, S_k, d_v)
    return [3 * torch.randn(shape, dtype=torch.float64) for shape in shapes]


@given(lengths, lengths, sizes, sizes, blocks, blocks, st.booleans(), seeds)
def test_no_tiling_changes_output_or_gradients(
    S_q, S_k, d_k, d_v, block_q, block_k, is_causal, seed
):
    leaves = [x.requires_grad_() for x in draw_inputs(seed, S_q, S_k, d_k, d_v)]
    reach = S_k - S_q if is_causal else S_k
    mask = torch.arange(S_k) <= torch.arange(S_q)[:, None] + reach  # (S_q, S_k)
    expected, _ = scaled_dot_product_attention(*leaves, mask)
    actual = flash_attention(*leaves, is_causal, block_q, block_k)
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-13)
    dO = torch.randn_like(expected)
    gradients = (torch.autograd.grad(output, leaves, dO) for output in (actual, expected))
    torch.testing.assert_close(*gradients, rtol=0, atol=1e-12)


@given(lengths, lengths, sizes, sizes, blocks, seeds)
def test_each_step_of_the_online_softmax_is_attention_over_the_keys_so_far(
    S_q, S_k, d_k, d_v, block_k, seed
):
    Q, K, V = draw_inputs(seed, S_q, S_k, d_k, d_v)
    steps = list(online_softmax_steps(Q, K, V, block_k))
    assert [step.keys.start for step in steps] == list(range(0, S_k, block_k))
    assert steps[-1].keys.stop == S_k
    scores = Q @ K.mT / d_k**0.5  # (3, S_q, S_k)
    for step in steps:
        seen = scores[..., : step.keys.stop]
        m = seen.amax(-1, keepdim=True)
        weights = torch.exp(seen - m)
        torch.testing.assert_close(step.m, m, rtol=0, atol=1e-13)
        torch.testing.assert_close(step.l, weights.sum(-1, keepdim=True), rtol=0, atol=1e-12)
        torch.testing.assert_close(step.O, weights @ V[:, : step.keys.stop], rtol=0, atol=1e-12)
    torch.testing.assert_close(steps[-1].O / steps[-1].l, flash_attention(Q, K, V))
