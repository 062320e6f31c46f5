"""The translator: PyTorch's own decoder, what each part may see, and writing word by word."""

import pytest
import torch
from torch import nn

from attnlab.masks import make_causal_mask, make_padding_mask, to_mha
from attnlab.tasks import EOS, PAD, SPECIALS
from attnlab.translator import DecoderLayer, Translator, translate

B, H, T_x, T_y, d_k, L, d_ff, source_size, target_size = 2, 3, 5, 7, 11, 2, 13, 17, 19
d_model = H * d_k


def build(**settings):
    torch.manual_seed(0)
    return Translator(source_size, target_size, d_model, H, L, d_ff, **settings).double()


def sentences():
    torch.manual_seed(1)
    source = torch.randint(SPECIALS, source_size, (B, T_x))
    return source, torch.randint(SPECIALS, target_size, (B, T_y))


def copy_attention(theirs, ours):
    projections = ours.W_q, ours.W_k, ours.W_v
    theirs.in_proj_weight.copy_(torch.cat([W.weight for W in projections]))
    theirs.in_proj_bias.copy_(torch.cat([W.bias for W in projections]))
    theirs.out_proj.load_state_dict(ours.W_o.state_dict())


@torch.no_grad()
def test_decoder_layer_agrees_with_pytorchs():
    ours = DecoderLayer(d_model, H, d_ff).double()
    for parameter in ours.parameters():  # norms too, which begin at 0 and 1
        nn.init.normal_(parameter, std=0.5)
    theirs = nn.TransformerDecoderLayer(
        d_model, H, d_ff, 0.0, batch_first=True, norm_first=True, dtype=torch.float64
    )
    copy_attention(theirs.self_attn, ours.attend)
    copy_attention(theirs.multihead_attn, ours.cross_attend)
    pairs = {"linear1": ours.feed_forward[0], "linear2": ours.feed_forward[2]}
    pairs |= {"norm1": ours.attend_norm, "norm2": ours.cross_attend_norm}
    for name, module in (pairs | {"norm3": ours.feed_forward_norm}).items():
        getattr(theirs, name).load_state_dict(module.state_dict())
    y, states = torch.randn(B, T_y, d_model).double(), torch.randn(B, T_x, d_model).double()
    causal, padding = make_causal_mask(T_y), make_padding_mask((5, 3), T_x)
    output, weights, cross_weights = ours(y, states, causal, padding)
    masks = {"tgt_mask": to_mha(causal.expand(B, 1, T_y, T_y), H)}
    masks["memory_key_padding_mask"] = ~padding[:, 0, 0]
    torch.testing.assert_close(output, theirs(y, states, **masks))
    assert weights.shape == (B, H, T_y, T_y)
    assert cross_weights.shape == (B, H, T_y, T_x)


def test_shapes_are_what_the_docstring_says():
    logits, maps = build()(*sentences())
    assert logits.shape == (B, T_y, target_size)
    assert maps.encoder.shape == (L, B, H, T_x, T_x)
    assert maps.decoder.shape == (L, B, H, T_y, T_y)
    assert maps.cross.shape == (L, B, H, T_y, T_x)


def test_prediction_never_sees_the_word_it_predicts_or_a_later_one():
    model, (source, target) = build(), sentences()
    other = target.clone()
    other[:, 3:] = SPECIALS + (other[:, 3:] - SPECIALS + 1) % (target_size - SPECIALS)
    logits, changed = model(source, target)[0], model(source, other)[0]
    assert torch.equal(logits[:, :4], changed[:, :4])
    assert not torch.allclose(logits[:, 4], changed[:, 4])


def test_padding_behind_the_source_changes_nothing():
    model, (source, target) = build(), sentences()
    padded = nn.functional.pad(source, (0, 4), value=PAD)
    logits, maps = model(padded, target)
    torch.testing.assert_close(logits, model(source, target)[0])
    assert (maps.cross[..., T_x:] == 0).all()


def test_every_source_word_reaches_every_prediction():
    model, (source, target) = build(), sentences()
    logits = model(source, target)[0]
    for j in range(T_x):
        other = source.clone()
        other[:, j] = SPECIALS + (other[:, j] - SPECIALS + 1) % (source_size - SPECIALS)
        assert ((model(other, target)[0] - logits).abs().amax(-1) > 0).all()


def test_writing_word_by_word_predicts_what_teacher_forcing_predicts():
    model, (source, _) = build(), sentences()
    model.out.bias.data[:SPECIALS] = -100.0  # no end, no padding
    words = translate(model, source, T_y)
    assert torch.equal(model(source, words)[0].argmax(-1), words)


def test_nothing_is_written_behind_the_end_mark():
    model, (source, _) = build(), sentences()
    nn.init.zeros_(model.out.weight)
    model.out.bias.data = nn.functional.one_hot(torch.tensor(EOS), target_size).double()
    words = translate(model, source, T_y)
    assert (words[:, 0] == EOS).all()
    assert (words[:, 1:] == PAD).all()


def test_without_bias_no_projection_of_an_attention_has_one():
    names = [name for name, _ in build(bias=False).named_parameters()]
    assert not [name for name in names if ".W_" in name and name.endswith("bias")]
    assert "layers.1.cross_attend.W_q.bias" in dict(build().named_parameters())


@pytest.mark.parametrize("sizes", [(d_model + 1, H, L), (d_model, H, 0)])
def test_sizes_that_make_no_model_are_refused(sizes):
    with pytest.raises(ValueError, match=r"does not split|at least 1"):
        Translator(source_size, target_size, *sizes)
