"""A trace is what the forward pass computed, and a part that is taken away comes back."""

import math

import pytest
import torch
from torch import nn

from attnlab.attention import masked_softmax, scaled_dot_product_attention
from attnlab.tasks import SPECIALS
from attnlab.trace import trace, without
from attnlab.translator import Translator, shifted

H, T_x, T_y, d_k, L, d_ff, source_size, target_size = 3, 5, 7, 11, 2, 13, 17, 19
d_model = H * d_k


@pytest.fixture
def model():
    return Translator(source_size, target_size, d_model, H, L, d_ff)


@pytest.fixture
def pair():
    source = torch.randint(SPECIALS, source_size, (1, T_x))
    return source, torch.randint(SPECIALS, target_size, (1, T_y))


def attentions(t):
    """Give every attention of a trace."""
    for side in (t.encoder, t.decoder):
        for layer in side.layers:
            yield from filter(None, (layer.attend, layer.cross_attend))


def test_trace_ends_in_the_logits_and_holds_the_maps_of_the_forward_pass(model, pair):
    logits, maps = model(*pair)
    t = trace(model, *pair)
    assert torch.equal(t.logits, logits[0])
    for i in range(L):
        assert torch.equal(t.encoder.layers[i].attend.weights, maps.encoder[i, 0])
        assert torch.equal(t.decoder.layers[i].attend.weights, maps.decoder[i, 0])
        assert torch.equal(t.decoder.layers[i].cross_attend.weights, maps.cross[i, 0])
    torch.testing.assert_close(model.out(t.decoder.states), t.logits)


def test_the_books_own_functions_lead_from_each_matrix_to_the_next(model, pair):
    found = list(attentions(trace(model, *pair)))
    assert len(found) == 3 * L
    for a in found:
        heads, weights = scaled_dot_product_attention(a.Q, a.K, a.V, a.mask)
        torch.testing.assert_close(heads, a.heads)
        torch.testing.assert_close(weights, a.weights)
        torch.testing.assert_close(masked_softmax(a.scaled, a.mask), a.weights)
        torch.testing.assert_close(a.scores / math.sqrt(d_k), a.scaled)
        assert torch.equal(a.masked.isinf(), ~a.mask.expand_as(a.masked))
        assert torch.equal(torch.cat(list(a.heads), -1), a.concat)
        assert torch.equal(a.before + a.output, a.after)


def test_projections_are_those_of_the_module(model, pair):
    t, module = trace(model, *pair), model.layers[1].cross_attend
    a = t.decoder.layers[1].cross_attend
    torch.testing.assert_close(torch.cat(list(a.Q), -1), module.W_q(a.query))
    torch.testing.assert_close(torch.cat(list(a.V), -1), module.W_v(a.key))
    torch.testing.assert_close(module.W_o(a.concat), a.output)
    assert torch.equal(a.key, t.encoder.states)


def test_each_sublayer_adds_to_what_the_one_before_left(model, pair):
    for side in trace(model, *pair)[:2]:
        torch.testing.assert_close(side.embeddings + side.positions, side.x)
        x = side.x
        for layer in side.layers:
            for part in filter(None, layer):
                torch.testing.assert_close(part.before, x)
                x = part.after
    t = trace(model, *pair)
    assert torch.equal(t.decoder.tokens, shifted(pair[1])[0])
    torch.testing.assert_close(
        model.norm(t.decoder.layers[-1].feed_forward.after), t.decoder.states
    )


def test_shapes_carry_no_batch_axis(model, pair):
    a = trace(model, *pair).decoder.layers[0].cross_attend
    assert a.Q.shape == a.heads.shape == (H, T_y, d_k)
    assert a.K.shape == a.V.shape == (H, T_x, d_k)
    assert a.scores.shape == a.masked.shape == a.weights.shape == (H, T_y, T_x)
    assert a.mask.shape == (T_y, T_x)
    assert a.concat.shape == a.output.shape == a.after.shape == (T_y, d_model)


def test_a_trace_leaves_no_hook_behind_not_even_after_an_error(model, pair):
    trace(model, *pair)
    with pytest.raises(ValueError, match="outside"):
        trace(model, pair[0] + 1000, pair[1])
    assert not [module for module in model.modules() if module._forward_hooks]


def test_several_sentences_are_refused(model, pair):
    with pytest.raises(ValueError, match="one sentence, not 2 and 1"):
        trace(model, pair[0].expand(2, -1), pair[1])


def test_uniform_attention_spreads_its_weight_over_what_is_allowed(model, pair):
    with without([layer.attend for layer in model.layers], "uniform"):
        _, maps = model(*pair)
    even = torch.ones(T_y, T_y).tril() / torch.arange(1, T_y + 1)[:, None]
    torch.testing.assert_close(maps.decoder, even.expand_as(maps.decoder))
    assert not torch.allclose(maps.cross, maps.cross.mean(-1, keepdim=True).expand_as(maps.cross))


def test_removed_attention_adds_nothing_and_comes_back(model, pair):
    before = model(*pair)[0]
    with without([model.layers[0].cross_attend], "removed"):
        t = trace(model, *pair)
    a = t.decoder.layers[0].cross_attend
    assert torch.equal(t.decoder.layers[0].feed_forward.before, a.before)
    assert torch.equal(model(*pair)[0], before)
    assert not [module for module in model.modules() if module._forward_hooks]


def test_an_unknown_way_to_take_a_part_away_is_refused(model):
    with (
        pytest.raises(ValueError, match="'halved'; choose 'removed' or 'uniform'"),
        without([nn.Identity()], "halved"),
    ):
        pass
