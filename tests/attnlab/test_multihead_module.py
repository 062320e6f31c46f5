"""Multi-head attention as a module: dropout, parameters, names, errors, verification."""

import math
import subprocess
import sys

import pytest
import torch
from torch.nn import functional

from attnlab.masks import make_causal_mask
from attnlab.multihead import MultiHeadAttention, count_parameters, head_width

B, H, S_q, S_k, d_k = 2, 3, 5, 7, 11
d_model = H * d_k
EPS = torch.finfo(torch.float32).eps


def tokens(S):
    return torch.randn(B, S, d_model)


def test_weights_sum_to_one_in_training_although_dropout_is_on():
    mha = MultiHeadAttention(d_model, H, dropout=0.5)
    _, weights = mha(tokens(S_q), *(2 * [tokens(S_k)]))
    torch.testing.assert_close(weights.sum(-1), torch.ones(B, H, S_q), rtol=0, atol=S_k * EPS)


def test_output_in_training_comes_from_the_dropped_weights():
    mha, query, key = MultiHeadAttention(d_model, H, dropout=0.5), tokens(S_q), tokens(S_k)
    torch.manual_seed(1)
    output, weights = mha(query, key, key)
    torch.manual_seed(1)
    dropped = functional.dropout(weights, 0.5)
    assert not torch.equal(dropped, weights)
    context = dropped @ mha.split_heads(mha.W_v(key))  # (B, H, S_q, d_k)
    assert torch.equal(output, mha.W_o(mha.merge_heads(context)))


def test_dropout_changes_the_output_but_not_the_weights():
    mha, query, key = MultiHeadAttention(d_model, H, dropout=0.5), tokens(S_q), tokens(S_k)
    first, second = mha(query, key, key), mha(query, key, key)
    assert not torch.equal(first[0], second[0])
    assert torch.equal(first[1], second[1])


def test_evaluation_drops_nothing():
    mha, query, key = MultiHeadAttention(d_model, H, dropout=0.5), tokens(S_q), tokens(S_k)
    without = MultiHeadAttention(d_model, H)
    without.load_state_dict(mha.state_dict())
    assert torch.equal(mha.eval()(query, key, key)[0], without(query, key, key)[0])


@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
@pytest.mark.parametrize(("width", "heads"), [(33, 3), (33, 11), (35, 5), (64, 1), (64, 64)])
def test_parameter_formula_counts_what_the_module_holds(width, heads, bias):
    mha = MultiHeadAttention(width, heads, bias=bias)
    held = sum(parameter.numel() for parameter in mha.parameters())
    assert count_parameters(width, heads, bias=bias) == held


def test_parameter_count_is_4_d_squared_and_4_d_more_with_biases():
    assert count_parameters(256, 8, bias=False) == 262_144
    assert count_parameters(256, 8) == 263_168


def test_parameter_count_does_not_depend_on_the_number_of_heads():
    assert len({count_parameters(256, heads) for heads in (1, 2, 4, 8, 64, 256)}) == 1


@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
def test_state_dict_uses_the_papers_names(bias):
    names = {"weight", "bias"} if bias else {"weight"}
    expected = {f"{layer}.{name}" for layer in ("W_q", "W_k", "W_v", "W_o") for name in names}
    assert set(MultiHeadAttention(d_model, H, bias=bias).state_dict()) == expected


def test_module_tells_its_widths():
    mha = MultiHeadAttention(d_model, H)
    assert (mha.d_model, mha.n_heads, mha.d_k) == (d_model, H, d_k)
    assert mha.dropout.p == 0


@pytest.mark.parametrize(("heads", "nearest"), [(7, 8), (100, 128), (300, 256), (3, 2)])
def test_number_of_heads_that_does_not_divide_is_answered_with_one_that_does(heads, nearest):
    message = rf"d_model=256 .* n_heads={heads} heads .* nearest .* that fits is {nearest}$"
    for build in (head_width, MultiHeadAttention, count_parameters):
        with pytest.raises(ValueError, match=message):
            build(256, heads)


@pytest.mark.parametrize(("width", "heads"), [(0, 1), (8, 0), (8, -2), (-8, 2)])
def test_sizes_below_one_are_refused(width, heads):
    with pytest.raises(ValueError, match=rf"={width} and n_heads={heads} must both be at least 1"):
        MultiHeadAttention(width, heads)


@pytest.mark.parametrize("dropout", [-0.1, 1.5, math.nan])
def test_dropout_that_is_no_probability_is_refused(dropout):
    with pytest.raises(ValueError, match=f"dropout is {dropout}, but .* between 0 and 1"):
        MultiHeadAttention(d_model, H, dropout=dropout)


@pytest.mark.parametrize("position", [0, 1, 2])
@pytest.mark.parametrize("shape", [(S_q, d_model), (B, S_q, d_model - 1), (B, H, S_q, d_k)])
def test_input_of_another_shape_is_refused_by_its_name(position, shape):
    inputs = [tokens(S_q), tokens(S_q), tokens(S_q)]
    inputs[position] = torch.randn(shape)
    name = ("query", "key", "value")[position]
    with pytest.raises(ValueError, match=rf"{name} has shape .* \(B, S, d_model=33\) fits"):
        MultiHeadAttention(d_model, H)(*inputs)


@pytest.mark.parametrize("position", [0, 1, 2])
def test_inputs_of_different_batch_are_refused(position):
    inputs = [tokens(S_q), tokens(S_q), tokens(S_q)]
    inputs[position] = inputs[position][:1]
    with pytest.raises(ValueError, match=r"\(1, 5, 33\).* they need the same B"):
        MultiHeadAttention(d_model, H)(*inputs)


def test_keys_and_values_of_different_length_are_refused():
    with pytest.raises(ValueError, match=r"\(2, 7, 33\) and \(2, 5, 33\): .* its own value"):
        MultiHeadAttention(d_model, H)(tokens(S_q), tokens(S_k), tokens(S_q))


def test_mask_that_does_not_fit_is_refused():
    x = tokens(S_q)
    with pytest.raises(ValueError, match=r"\(1, 1, 7, 7\) does not broadcast .*\(2, 3, 5, 5\)"):
        MultiHeadAttention(d_model, H)(x, x, x, make_causal_mask(S_k))


def test_mask_of_numbers_is_refused():
    x = tokens(S_q)
    with pytest.raises(TypeError, match=r"the mask is torch\.int64.*\.bool\(\)"):
        MultiHeadAttention(d_model, H)(x, x, x, make_causal_mask(S_q).long())


def test_inputs_stay_as_they_were():
    mha, mask = MultiHeadAttention(d_model, H), make_causal_mask(S_q)
    inputs = [tokens(S_q), tokens(S_q), tokens(S_q), mask]
    before = [tensor.clone() for tensor in inputs]
    for result in mha(*inputs):
        result.detach().fill_(5)
    assert all(torch.equal(*pair) for pair in zip(inputs, before, strict=True))


@torch.no_grad()
def test_changed_token_never_changes_a_causal_output_before_it():
    mha, x, mask = MultiHeadAttention(d_model, H), tokens(S_k), make_causal_mask(S_k)
    output, _ = mha(x, x, x, mask)
    for t in range(S_k):
        changed = x.clone()
        changed[:, t] = 1e3
        after, _ = mha(changed, changed, changed, mask)
        assert torch.equal(after[:, :t], output[:, :t])
        assert not torch.equal(after[:, t], output[:, t])


@pytest.mark.parametrize("result", [0, 1], ids=["output", "weights"])
def test_queries_and_keys_learn_from_the_output_and_from_the_weights(result):
    mha, query, key = MultiHeadAttention(d_model, H), tokens(S_q), tokens(S_k)
    mha(query, key, key)[result].square().sum().backward()
    assert (mha.W_q.weight.grad != 0).any()
    assert (mha.W_k.weight.grad != 0).any()


def test_verification_of_section_1_8_prints_its_three_lines(tmp_path):
    command = [sys.executable, "-W", "error", "-m", "attnlab.multihead"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert run.stderr == ""
    assert run.stdout.splitlines() == [
        "output  : (2, 16, 256)",
        "weights : (2, 8, 16, 16)",
        "largest weight above the diagonal : 0.00e+00",
    ]
