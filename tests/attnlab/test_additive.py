"""Bahdanau's and Luong's attention against loops written from the formulas."""

import math

import numpy as np
import pytest
import torch

from attnlab.additive import BahdanauAttention, LuongAttention
from attnlab.masks import make_padding_mask

B, T_y, T_x, d_dec, d_enc, d_attn = 2, 3, 5, 7, 11, 13
LENGTHS = (5, 2)
ALL_FOUR = pytest.mark.parametrize("name", ["bahdanau", "dot", "general", "concat"])


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(0)


def build(name, dtype=torch.float64):
    if name == "bahdanau":
        return BahdanauAttention(d_dec, d_enc, d_attn).to(dtype)
    return LuongAttention(d_dec, d_dec if name == "dot" else d_enc, score=name).to(dtype)


def states(attention, steps=None, dtype=torch.float64):
    shape = (B, d_dec) if steps is None else (B, steps, d_dec)
    return torch.randn(shape, dtype=dtype), torch.randn(B, T_x, attention.d_enc, dtype=dtype)


def padding():
    return make_padding_mask(LENGTHS, T_x)[:, 0, 0]  # (B, T_x)


def oracle_score(name, attention, s, h):
    """Score one decoder state against one encoder state, by the formula, in NumPy."""
    weight = {key: value.numpy() for key, value in attention.state_dict().items()}
    if name == "dot":
        return sum(s[i] * h[i] for i in range(len(s)))
    if name == "general":
        W_a = weight["W_a.weight"]
        return sum(s[i] * W_a[i, j] * h[j] for i in range(len(s)) for j in range(len(h)))
    hidden = weight["W_a.weight"] @ (s if name == "bahdanau" else np.concatenate([s, h]))
    if name == "bahdanau":
        hidden = hidden + weight["U_a.weight"] @ h
    v_a = weight["v_a.weight"][0]
    return sum(v_a[i] * math.tanh(hidden[i]) for i in range(len(v_a)))


def oracle(name, attention, state, encoder_states, lengths):
    """Attend with loops over sentences and positions; state is (B, d_dec)."""
    contexts, rows = [], []
    for s, H, length in zip(state.numpy(), encoder_states.numpy(), lengths, strict=True):
        e = [math.exp(oracle_score(name, attention, s, H[j])) for j in range(length)]
        alpha = [e[j] / sum(e) for j in range(length)] + [0.0] * (len(H) - length)
        contexts.append(sum(alpha[j] * H[j] for j in range(len(H))))
        rows.append(alpha)
    return torch.tensor(np.array(contexts)), torch.tensor(np.array(rows))


@ALL_FOUR
def test_context_and_weights_agree_with_loops_over_the_formula(name):
    attention = build(name)
    state, encoder_states = states(attention)
    context, weights = attention(state, encoder_states)
    expected_context, expected_weights = oracle(name, attention, state, encoder_states, (T_x, T_x))
    torch.testing.assert_close(weights, expected_weights, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(context, expected_context, rtol=1e-12, atol=1e-12)


@ALL_FOUR
def test_padding_is_as_good_as_absent(name):
    attention = build(name)
    state, encoder_states = states(attention)
    context, weights = attention(state, encoder_states, padding())
    expected_context, expected_weights = oracle(name, attention, state, encoder_states, LENGTHS)
    torch.testing.assert_close(weights, expected_weights, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(context, expected_context, rtol=1e-12, atol=1e-12)
    assert (weights[1, LENGTHS[1] :] == 0).all()


@ALL_FOUR
def test_all_decoder_steps_at_once_give_what_single_steps_give(name):
    attention = build(name)
    state, encoder_states = states(attention, steps=T_y)
    context, weights = attention(state, encoder_states, padding())
    assert context.shape == (B, T_y, attention.d_enc)
    assert weights.shape == (B, T_y, T_x)
    for t in range(T_y):
        one_context, one_weights = attention(state[:, t], encoder_states, padding())
        torch.testing.assert_close(context[:, t], one_context)
        torch.testing.assert_close(weights[:, t], one_weights)


@ALL_FOUR
def test_keys_computed_beforehand_are_used_and_change_nothing(name, monkeypatch):
    attention = build(name)
    state, encoder_states = states(attention)
    expected = attention(state, encoder_states)
    keys = attention.keys(encoder_states)
    monkeypatch.delattr(type(attention), "keys")  # computing them again would now fail
    actual = attention(state, encoder_states, keys=keys)
    assert all(torch.equal(a, b) for a, b in zip(actual, expected, strict=True))


@ALL_FOUR
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_every_dtype_comes_back_as_it_went_in(name, dtype):
    attention = build(name, dtype)
    context, weights = attention(*states(attention, dtype=dtype), padding())
    assert context.dtype == weights.dtype == dtype
    assert (weights.float().sum(-1) - 1).abs().max() < 4 * torch.finfo(dtype).eps


@ALL_FOUR
def test_sentence_with_nothing_to_attend_to_gives_zeros_and_no_nan_in_gradients(name):
    attention = build(name)
    state, encoder_states = (x.requires_grad_() for x in states(attention))
    mask = padding() & torch.tensor([[True], [False]])
    context, weights = attention(state, encoder_states, mask)
    assert (context[1] == 0).all()
    assert (weights[1] == 0).all()
    (context.sum() + weights.square().sum()).backward()
    assert state.grad.isfinite().all()
    assert encoder_states.grad.isfinite().all()
    assert all(p.grad.isfinite().all() for p in attention.parameters())


@ALL_FOUR
def test_gradients_agree_with_finite_differences(name):
    attention = build(name)
    inputs = [x.requires_grad_() for x in states(attention)]
    assert torch.autograd.gradcheck(lambda s, h: attention(s, h, padding()), inputs)


def test_concat_is_bahdanaus_score_with_its_two_matrices_side_by_side():
    bahdanau = BahdanauAttention(d_dec, d_enc, d_dec)
    concat = LuongAttention(d_dec, d_enc, score="concat")
    with torch.no_grad():
        concat.W_a.weight.copy_(torch.cat([bahdanau.W_a.weight, bahdanau.U_a.weight], dim=1))
        concat.v_a.weight.copy_(bahdanau.v_a.weight)
    inputs = states(concat, dtype=torch.float32)
    torch.testing.assert_close(concat(*inputs), bahdanau(*inputs))


def test_general_with_the_identity_is_dot():
    general, dot = LuongAttention(d_dec, d_dec, score="general"), LuongAttention(d_dec, d_dec)
    torch.nn.init.eye_(general.W_a.weight)
    inputs = states(dot, dtype=torch.float32)
    torch.testing.assert_close(general(*inputs), dot(*inputs))


@pytest.mark.parametrize(
    ("attention", "count"),
    [
        (lambda: BahdanauAttention(d_dec, d_enc, d_attn), d_attn * (d_dec + d_enc + 1)),
        (lambda: LuongAttention(d_dec, d_dec), 0),
        (lambda: LuongAttention(d_dec, d_enc, score="general"), d_dec * d_enc),
        (lambda: LuongAttention(d_dec, d_enc, score="concat"), d_dec * (d_dec + d_enc + 1)),
    ],
    ids=["bahdanau", "dot", "general", "concat"],
)
def test_there_are_as_many_parameters_as_the_formula_has_letters(attention, count):
    assert sum(p.numel() for p in attention().parameters()) == count


def test_dot_refuses_states_of_two_widths_and_names_the_remedy():
    with pytest.raises(ValueError, match=r"d_dec=7 and d_enc=11; use score='general'"):
        LuongAttention(d_dec, d_enc, score="dot")


def test_unknown_score_is_refused_by_name():
    with pytest.raises(ValueError, match=r"'cosine'; choose 'dot', 'general' or 'concat'"):
        LuongAttention(d_dec, d_enc, score="cosine")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"state": torch.zeros(B, d_dec + 1)}, r"state has shape \(2, 8\).*d_dec=7"),
        ({"state": torch.zeros(B + 1, d_dec)}, r"state has shape \(3, 7\).*B=2"),
        ({"state": torch.zeros(d_dec)}, r"state has shape \(7,\)"),
        ({"encoder_states": torch.zeros(B, T_x, 3)}, r"shape \(2, 5, 3\).*d_enc=11"),
        ({"encoder_states": torch.zeros(T_x, d_enc)}, r"encoder_states has shape \(5, 11\)"),
        ({"mask": make_padding_mask(LENGTHS, T_x)}, r"\(2, 1, 1, 5\).*take \[:, 0, 0\]"),
        ({"mask": torch.ones(B, T_x + 1, dtype=torch.bool)}, r"mask has shape \(2, 6\).*T_x=5"),
    ],
)
def test_shape_that_does_not_fit_is_named(change, message):
    inputs = {"state": torch.zeros(B, d_dec), "encoder_states": torch.zeros(B, T_x, d_enc)}
    with pytest.raises(ValueError, match=message):
        BahdanauAttention(d_dec, d_enc, d_attn)(**inputs | change)


def test_mask_of_numbers_is_refused():
    with pytest.raises(TypeError, match="True = may attend"):
        LuongAttention(d_dec, d_dec)(
            torch.zeros(B, d_dec), torch.zeros(B, T_x, d_dec), padding().int()
        )
