"""The encoder against PyTorch's own, its positions against the formula, and what it keeps."""

import math

import pytest
import torch
from torch import nn

from attnlab.masks import make_causal_mask, make_padding_mask, to_mha
from attnlab.transformer import EncoderLayer, TransformerEncoder, sinusoidal_positions

B, H, S, d_k, L, d_ff, vocab = 2, 3, 5, 7, 4, 11, 13
d_model = H * d_k
LENGTHS = (5, 2)
MASKS = {
    "none": None,
    "causal": make_causal_mask(S),
    "padding": make_padding_mask(LENGTHS, S),
    "both": make_causal_mask(S) & make_padding_mask(LENGTHS, S),
}


def encoder(dtype=torch.float64, **settings):
    torch.manual_seed(0)
    return TransformerEncoder(vocab, d_model, H, L, d_ff, **settings).to(dtype)


def some_tokens():
    return torch.randint(vocab, (B, S), generator=torch.Generator().manual_seed(1))


def permuted(model, tokens, order):
    """Give the states of the reordered tokens, and the reordered states."""
    return model(tokens[:, order]), model(tokens)[:, order]


def copy_into(theirs, layer):
    """Give PyTorch's encoder layer the weights of ours."""
    mha = layer.attend
    projections = (mha.W_q, mha.W_k, mha.W_v)
    with torch.no_grad():
        theirs.self_attn.in_proj_weight.copy_(torch.cat([W.weight for W in projections]))
        theirs.self_attn.in_proj_bias.copy_(torch.cat([W.bias for W in projections]))
    theirs.self_attn.out_proj.load_state_dict(mha.W_o.state_dict())
    theirs.linear1.load_state_dict(layer.feed_forward[0].state_dict())
    theirs.linear2.load_state_dict(layer.feed_forward[2].state_dict())
    theirs.norm1.load_state_dict(layer.attend_norm.state_dict())
    theirs.norm2.load_state_dict(layer.feed_forward_norm.state_dict())


def shake_norms(model):
    """Make the normalisations' gains and biases random, so that one left out or swapped shows."""
    for module in model.modules():
        if isinstance(module, nn.LayerNorm):
            nn.init.normal_(module.weight)
            nn.init.normal_(module.bias)


def torch_layer():
    return nn.TransformerEncoderLayer(
        d_model, H, d_ff, dropout=0.0, batch_first=True, norm_first=True, dtype=torch.float64
    )


def torch_mask(mask):
    return None if mask is None else to_mha(mask.expand(B, 1, S, S), H)


@pytest.mark.parametrize("width", [1, 2, 12, 13])
def test_positions_follow_the_formula(width):
    P = sinusoidal_positions(S, width, dtype=torch.float64)
    assert P.shape == (S, width)
    for t in range(S):
        for i in range(width):
            wave = math.cos if i % 2 else math.sin
            expected = wave(t / 10000 ** (2 * (i // 2) / width))
            assert P[t, i].item() == pytest.approx(expected, abs=1e-14)


def test_dot_product_of_two_positions_depends_on_their_distance_alone():
    P = sinusoidal_positions(23, 12, dtype=torch.float64)
    products = P @ P.T
    for distance in range(-22, 23):
        diagonal = products.diagonal(distance)
        torch.testing.assert_close(diagonal, diagonal[:1].expand_as(diagonal))


def test_far_positions_are_as_exact_as_near_ones():
    far = sinusoidal_positions(1_000_001, 2)[-1].tolist()
    assert far == pytest.approx([math.sin(1e6), math.cos(1e6)], abs=1e-7)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_positions_come_in_the_dtype_asked_for(dtype):
    assert sinusoidal_positions(S, d_model, dtype).dtype == dtype


@pytest.mark.parametrize(("max_len", "width"), [(-1, 4), (3, 0)])
def test_sizes_that_make_no_positions_are_refused(max_len, width):
    with pytest.raises(ValueError, match=r"(max_len is -1|d_model is 0), but it must be at"):
        sinusoidal_positions(max_len, width)


@pytest.mark.parametrize("name", MASKS)
def test_layer_and_its_gradients_agree_with_pytorchs(name):
    ours, theirs = EncoderLayer(d_model, H, d_ff).double(), torch_layer()
    shake_norms(ours)
    copy_into(theirs, ours)
    x = torch.randn(B, S, d_model, dtype=torch.float64, requires_grad=True)
    output, _ = ours(x, MASKS[name])
    expected = theirs(x, src_mask=torch_mask(MASKS[name]))
    torch.testing.assert_close(output, expected)
    direction = torch.randn_like(output)
    gradient, expected_gradient = (
        torch.autograd.grad(y, x, direction)[0] for y in (output, expected)
    )
    torch.testing.assert_close(gradient, expected_gradient)


@pytest.mark.parametrize("name", MASKS)
def test_encoder_agrees_with_pytorchs_stack_on_embeddings_plus_positions(name):
    ours, tokens = encoder(), some_tokens()
    shake_norms(ours)
    theirs = nn.TransformerEncoder(torch_layer(), L, ours.norm, enable_nested_tensor=False)
    for torch_one, own_one in zip(theirs.layers, ours.layers, strict=True):
        copy_into(torch_one, own_one)
    x = ours.embedding(tokens) + sinusoidal_positions(S, d_model, torch.float64)
    expected = theirs(x, mask=torch_mask(MASKS[name]))
    torch.testing.assert_close(ours(tokens, MASKS[name]), expected)


def test_weights_are_those_of_every_layer_in_order():
    model, tokens = encoder(), some_tokens()
    _, weights = model(tokens, MASKS["padding"], return_weights=True)
    assert weights.shape == (L, B, H, S, S)
    x = model.embedding(tokens) + sinusoidal_positions(S, d_model, torch.float64)
    for layer, layer_weights in zip(model.layers, weights, strict=True):
        x, expected = layer(x, MASKS["padding"])
        assert torch.equal(layer_weights, expected)


def test_asking_for_weights_changes_no_state():
    model, tokens = encoder(), some_tokens()
    assert torch.equal(model(tokens, return_weights=True)[0], model(tokens))


def test_reordered_tokens_give_reordered_states_without_positions():
    order = torch.tensor([3, 0, 4, 1, 2])
    states, expected = permuted(encoder(positions=False), some_tokens(), order)
    torch.testing.assert_close(states, expected)


def test_positions_tell_one_order_from_another():
    states, unmoved = permuted(encoder(), some_tokens(), torch.tensor([3, 0, 4, 1, 2]))
    assert ((states - unmoved).abs().amax(-1) > 0.1).all()


def test_equal_tokens_at_different_places_differ_only_with_positions():
    tokens = torch.tensor([[1, 2, 1]])
    for positions in (False, True):
        states = encoder(positions=positions)(tokens)[0]
        assert torch.allclose(states[0], states[2]) != positions


@torch.no_grad()
def test_padding_moves_no_state_of_a_real_token():
    model, tokens, mask = encoder(torch.float32), some_tokens(), MASKS["padding"]
    other = tokens.where(mask[:, 0, 0], (tokens + 1) % vocab)
    assert not torch.equal(other, tokens)
    moved = (model(other, mask) - model(tokens, mask)).abs().amax(-1)  # (B, S)
    assert (moved[mask[:, 0, 0]] == 0).all()
    assert (moved[~mask[:, 0, 0]] > 0).all()


def test_padded_sequence_has_the_states_it_has_alone():
    model, tokens = encoder(), some_tokens()
    alone = model(tokens[1:, : LENGTHS[1]])
    torch.testing.assert_close(model(tokens, MASKS["padding"])[1:, : LENGTHS[1]], alone)


@torch.no_grad()
def test_later_token_moves_no_earlier_state_under_a_causal_mask():
    model, tokens, mask = encoder(torch.float32), some_tokens(), MASKS["causal"]
    for t in range(S):
        other = tokens.clone()
        other[:, t] = (tokens[:, t] + 1) % vocab
        moved = (model(other, mask) - model(tokens, mask)).abs().amax(-1)  # (B, S)
        assert (moved[:, :t] == 0).all()
        assert (moved[:, t:] > 0).all()


def test_sequence_with_nothing_to_attend_to_gives_no_nan_in_states_or_gradients():
    model = encoder()
    model(some_tokens(), make_padding_mask([S, 0], S)).square().sum().backward()
    assert all(p.grad.isfinite().all() for p in model.parameters())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_states_and_weights_have_the_models_dtype(dtype):
    states, weights = encoder(dtype)(some_tokens(), MASKS["causal"], return_weights=True)
    assert states.dtype == weights.dtype == dtype
    assert states.isfinite().all()


def test_every_parameter_but_the_keys_bias_learns():
    model = encoder()
    (model(some_tokens()) * torch.randn(B, S, d_model)).sum().backward()
    still = {n for n, p in model.named_parameters() if p.grad.abs().max() < 1e-12}
    assert still == {f"layers.{i}.attend.W_k.bias" for i in range(L)}


def test_feed_forward_network_is_four_times_as_wide_unless_told():
    model = TransformerEncoder(vocab, d_model, H, n_layers=1)
    assert model.layers[0].feed_forward[0].out_features == 4 * d_model


def test_inputs_stay_as_they_were():
    tokens, mask = some_tokens(), make_causal_mask(S)
    encoder()(tokens, mask)
    assert torch.equal(tokens, some_tokens())
    assert torch.equal(mask, make_causal_mask(S))


@pytest.mark.parametrize(("size", "layers"), [(0, 1), (3, 0)])
def test_encoder_of_nothing_is_refused(size, layers):
    with pytest.raises(ValueError, match=r"(vocab_size|n_layers) is 0, but it must be at least 1"):
        TransformerEncoder(size, d_model, H, layers)


def test_heads_that_do_not_divide_the_width_are_refused():
    with pytest.raises(ValueError, match="d_model=21 does not split into n_heads=4"):
        TransformerEncoder(vocab, d_model, 4, L)


@pytest.mark.parametrize("strange", [-1, vocab])
def test_token_outside_the_vocabulary_is_named(strange):
    tokens = some_tokens()
    tokens[1, 3] = strange
    with pytest.raises(ValueError, match=rf"token id {strange} lies outside 0 \.\.\. 12; raise"):
        encoder()(tokens)


def test_tokens_of_the_wrong_kind_are_refused():
    with pytest.raises(TypeError, match=r"tokens are torch\.float32; .* tokens\.long\(\)"):
        encoder()(some_tokens().float())
    with pytest.raises(ValueError, match=r"shape \(5,\), but \(B, S\) fits; .* tokens\[None\]"):
        encoder()(some_tokens()[0])
