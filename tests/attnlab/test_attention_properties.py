"""What holds for attention on every input, drawn at random by hypothesis."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from attnlab.attention import masked_softmax, scaled_dot_product_attention
from attnlab.masks import make_causal_mask

EPS = torch.finfo(torch.float64).eps

sizes = st.integers(1, 7)
seeds = st.integers(0, 2**31)


def seeded_tokens(seed, *shape):
    torch.manual_seed(seed)
    return torch.randn(shape, dtype=torch.float64)


def assert_equal_but_for_order(actual, expected, terms):
    """Compare sums of at most `terms` numbers of size 1 or so that were added in any order."""
    torch.testing.assert_close(actual, expected, rtol=0, atol=16 * terms * EPS)


@given(sizes, sizes, st.floats(0, 1), seeds)
def test_each_row_of_weights_sums_to_one_or_to_zero(S_q, S_k, density, seed):
    scores = seeded_tokens(seed, S_q, S_k)
    mask = torch.rand(S_q, S_k) < density
    weights = masked_softmax(scores, mask)
    assert (weights >= 0).all()
    assert (weights[~mask] == 0).all()
    assert_equal_but_for_order(weights.sum(-1), mask.any(-1).double(), S_k)


@given(sizes, sizes, sizes, sizes, seeds)
def test_order_of_the_keys_does_not_matter_if_values_follow(S_q, S_k, d_k, d_v, seed):
    Q, K = seeded_tokens(seed, S_q, d_k), torch.randn(S_k, d_k, dtype=torch.float64)
    V, mask = torch.randn(S_k, d_v, dtype=torch.float64), torch.rand(S_q, S_k) < 0.7
    order = torch.randperm(S_k)
    output, weights = scaled_dot_product_attention(Q, K, V, mask)
    shuffled = scaled_dot_product_attention(Q, K[order], V[order], mask[:, order])
    assert_equal_but_for_order(shuffled[0], output, S_k + d_k)
    assert_equal_but_for_order(shuffled[1], weights[:, order], S_k + d_k)


@given(sizes, sizes, seeds)
def test_self_attention_permutes_its_output_as_its_input_is_permuted(S, d_k, seed):
    X = seeded_tokens(seed, S, d_k)
    order = torch.randperm(S)
    output, weights = scaled_dot_product_attention(X, X, X)
    shuffled = scaled_dot_product_attention(X[order], X[order], X[order])
    assert_equal_but_for_order(shuffled[0], output[order], S + d_k)
    assert_equal_but_for_order(shuffled[1], weights[order][:, order], S + d_k)


@given(sizes, sizes, st.data())
def test_changed_token_never_changes_a_causal_output_before_it(S, d_k, data):
    t = data.draw(st.integers(0, S - 1))
    X = seeded_tokens(data.draw(seeds), 1, 1, S, d_k)
    changed = X.clone()
    changed[..., t, :] = 1e3 * torch.randn(d_k, dtype=torch.float64)
    mask = make_causal_mask(S)
    output, _ = scaled_dot_product_attention(X, X, X, mask)
    after, _ = scaled_dot_product_attention(changed, changed, changed, mask)
    assert torch.equal(after[..., :t, :], output[..., :t, :])
    assert not torch.equal(after[..., t, :], output[..., t, :])


@given(sizes, sizes, st.integers(-1000, 1000), seeds)
def test_shifting_a_row_of_scores_changes_no_weight(S_q, S_k, shift, seed):
    scores = (8 * seeded_tokens(seed, S_q, S_k)).round() / 8  # the shifted sums are exact
    mask = torch.rand(S_q, S_k) < 0.7
    assert torch.equal(masked_softmax(scores + shift, mask), masked_softmax(scores, mask))
