"""The encoder-decoder: what each part may see, and that training repeats itself."""

import math

import pytest
import torch
from torch import nn

from attnlab import tasks
from attnlab.recurrent import Decoder, Encoder
from attnlab.seq2seq import (
    Seq2Seq,
    alignment_error_rate,
    cross_entropy,
    pull,
    train,
    translate,
)
from attnlab.tasks import EOS, PAD, SPECIALS

pytestmark = pytest.mark.usefixtures("_one_thread")
B, T_x, T_y, d_embed, d_state, source_size, target_size = 3, 5, 7, 11, 26, 17, 19
EVERY_KIND = pytest.mark.parametrize("kind", [None, "bahdanau", "luong"])
WITH_ATTENTION = pytest.mark.parametrize("kind", ["bahdanau", "luong"])


def build(kind, seed=0):
    torch.manual_seed(seed)
    return Seq2Seq(source_size, target_size, d_embed, d_state, kind)


def sentences(seed=1):
    torch.manual_seed(seed)
    source = torch.randint(SPECIALS, source_size, (B, T_x))
    return source, torch.randint(SPECIALS, target_size, (B, T_y))


def close(a, b):
    torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)


@EVERY_KIND
def test_shapes_are_what_the_docstring_says(kind):
    logits, weights = build(kind)(*sentences())
    assert logits.shape == (B, T_y, target_size)
    assert (weights is None) == (kind is None)
    if kind:
        assert weights.shape == (B, T_y, T_x)
        close(weights.sum(-1), torch.ones(B, T_y))


@EVERY_KIND
def test_padding_of_the_source_changes_nothing(kind):
    model, (source, target) = build(kind), sentences()
    source[1, 3:] = PAD  # shorter than its neighbours
    logits, weights = model(source, target)
    alone, alone_weights = model(source[1:2, :3], target[1:2])
    close(logits[1:2], alone)
    if kind:
        close(weights[1:2, :, :3], alone_weights)
        assert (weights[1, :, 3:] == 0).all()


@EVERY_KIND
def test_prediction_never_sees_the_word_it_predicts_or_a_later_one(kind):
    model, (source, target) = build(kind), sentences()
    other = target.clone()
    other[:, 3:] = SPECIALS + (other[:, 3:] - SPECIALS + 1) % (target_size - SPECIALS)
    logits, _ = model(source, target)
    changed, _ = model(source, other)
    assert torch.equal(logits[:, :4], changed[:, :4])
    assert not torch.allclose(logits[:, 4], changed[:, 4])


@EVERY_KIND
def test_writing_step_by_step_predicts_what_teacher_forcing_predicts(kind):
    model, (source, _) = build(kind), sentences()
    model.decoder.out.bias.data[:SPECIALS] = -100.0  # no end, no padding
    words, weights = translate(model, source, T_y)
    logits, forced_weights = model(source, words)
    assert torch.equal(logits.argmax(-1), words)
    if kind:
        close(weights, forced_weights)


def test_decoder_without_attention_lives_on_the_last_state_alone():
    model, (source, target) = build(None), sentences()
    memory, last = model.encode(source)
    forgotten = memory._replace(states=torch.full_like(memory.states, math.nan))
    logits, _, _ = model.decoder(target, last, forgotten)
    assert logits.isfinite().all()
    assert memory.keys is None


def summary_matters_at(repeat_summary):
    torch.manual_seed(0)
    model = Seq2Seq(source_size, target_size, d_embed, d_state, repeat_summary=repeat_summary)
    source, target = sentences()
    memory, last = model.encode(source)
    memory = memory._replace(summary=memory.summary.detach().requires_grad_())
    logits, _, _ = model.decoder(target, tuple(part.detach() for part in last), memory)
    (found,) = torch.autograd.grad(logits[:, -1].sum(), memory.summary, allow_unused=True)
    return found is not None and bool((found != 0).all())


def test_a_repeated_summary_enters_beside_the_words_and_otherwise_it_does_not():
    assert summary_matters_at(repeat_summary=True)
    assert not summary_matters_at(repeat_summary=False)


def test_a_repeated_summary_is_both_parts_of_the_last_state_and_writes_as_it_was_forced():
    torch.manual_seed(0)
    model = Seq2Seq(source_size, target_size, d_embed, d_state, repeat_summary=True)
    model.decoder.out.bias.data[:SPECIALS] = -100.0  # no end, no padding
    source, _ = sentences()
    memory, (hidden, cell) = model.encode(source)
    assert torch.equal(memory.summary, torch.cat([hidden[0], cell[0]], -1))
    words, _ = translate(model, source, T_y)
    assert torch.equal(model(source, words)[0].argmax(-1), words)


@WITH_ATTENTION
def test_attention_and_a_repeated_summary_do_not_go_together(kind):
    with pytest.raises(ValueError, match=f"goes with attention=None, not with '{kind}'"):
        Seq2Seq(source_size, target_size, d_embed, d_state, kind, repeat_summary=True)


def test_the_pull_on_a_score_is_what_the_rule_of_section_1_2_says():
    model, (source, target) = build("bahdanau").double(), sentences()
    source[1, 3:] = PAD
    found = pull(model, source, target)
    gaps = found.states[:, None] - found.contexts[:, :, None]  # (B, T_y, T_x, d_state)
    rule = found.weights * (gaps @ found.context_gradients[..., None]).squeeze(-1)
    torch.testing.assert_close(found.score_gradients, rule, rtol=1e-9, atol=1e-15)
    assert (found.score_gradients[1, :, 3:] == 0).all()
    assert found.score_gradients[:, 0].abs().sum() > 0
    close(found.score_gradients.sum(-1), torch.zeros(B, T_y).double())


def test_pulling_leaves_the_model_as_it_was_even_under_no_grad():
    model, (source, target) = build("bahdanau"), sentences()
    with torch.no_grad():
        pull(model, source, target)
    assert all(parameter.grad is None for parameter in model.parameters())
    assert not model.decoder.attention._forward_hooks
    assert not model.decoder.attention.v_a._forward_hooks


@pytest.mark.parametrize("kind", [None, "luong"])
def test_only_bahdanaus_scores_can_be_pulled(kind):
    with pytest.raises(ValueError, match='no attention="bahdanau"'):
        pull(build(kind), *sentences())


@WITH_ATTENTION
def test_decoder_with_attention_reads_every_state(kind):
    model, (source, target) = build(kind), sentences()
    memory, last = model.encode(source)
    memory = memory._replace(states=memory.states.detach().requires_grad_())
    logits, _, _ = model.decoder(target, last, memory)
    logits[:, -1].square().sum().backward()
    assert (memory.states.grad.abs().sum(-1) > 0).all()


def test_bahdanaus_previous_state_asks_and_luongs_new_state():
    source, target = sentences()
    other = target.clone()
    other[:, 2] = SPECIALS + (other[:, 2] - SPECIALS + 1) % (target_size - SPECIALS)
    for kind, first_changed in (("bahdanau", 4), ("luong", 3)):  # word 2 enters at step 3
        model = build(kind)
        (_, weights), (_, changed) = model(source, target), model(source, other)
        differs = (weights - changed).abs().amax((0, 2)) > 0
        assert differs.tolist().index(True) == first_changed


def test_last_state_holds_the_end_of_each_direction():
    encoder, (source, _) = Encoder(source_size, d_embed, d_state), sentences()
    states, (hidden, cell) = encoder(source)
    half = d_state // 2
    close(hidden[0, :, :half], states[:, -1, :half])  # forwards: after the last word
    close(hidden[0, :, half:], states[:, 0, half:])  # backwards: after the first
    assert hidden.shape == cell.shape == (1, B, d_state)


@EVERY_KIND
def test_training_twice_from_one_seed_gives_the_same_model_and_says_nothing(kind, capsys):
    results = []
    for _ in range(2):
        model = build(kind, seed=5)
        batches = [tasks.reverse(B, 4, 11, seed) for seed in range(5)]
        losses = train(model, batches)
        results.append((losses, model.state_dict()))
    assert results[0][0] == results[1][0]
    assert all(torch.equal(results[0][1][name], value) for name, value in results[1][1].items())
    assert capsys.readouterr() == ("", "")


@EVERY_KIND
def test_gradients_longer_than_the_clip_are_shortened_to_it(kind):
    model = build(kind)
    train(model, [sentences()], clip=1e-3)
    norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm().item()
    assert norm == pytest.approx(1e-3, rel=1e-2)


@WITH_ATTENTION
def test_short_strings_are_learnt_backwards_within_seconds(kind):
    torch.manual_seed(0)
    model = Seq2Seq(SPECIALS + 7, SPECIALS + 7, 16, 32, kind)
    losses = train(model, [tasks.reverse(32, 4, 7, seed) for seed in range(250)])
    assert len(losses) == 250
    source, target = tasks.reverse(64, 4, 7, seed=1000)
    words, weights = translate(model, source, 4)
    assert (words == target).float().mean() > 0.95
    assert alignment_error_rate(weights, torch.tensor([[3, 2, 1, 0]]).expand(64, -1)) < 0.6


def test_cross_entropy_counts_no_padding():
    model, (source, target) = build("luong"), sentences()
    target[:, 4:] = PAD
    close(cross_entropy(model, source, target), cross_entropy(model, source, target[:, :4]))


def test_untrained_model_pays_about_the_logarithm_of_the_vocabulary():
    loss = cross_entropy(build(None), *sentences()).item()
    assert loss == pytest.approx(math.log(target_size), abs=0.2)


def test_nothing_is_written_behind_the_end_mark():
    model, (source, _) = build("luong"), sentences()
    nn.init.zeros_(model.decoder.out.weight)
    model.decoder.out.bias.data = nn.functional.one_hot(torch.tensor(EOS), target_size).float()
    words, weights = translate(model, source, T_y)
    assert (words[:, 0] == EOS).all()
    assert (words[:, 1:] == PAD).all()
    assert weights.shape == (B, T_y, T_x)


def test_alignment_error_rate_counts_wrong_links_of_real_words_only():
    alignment = torch.tensor([[1, 0, 2, -1], [2, -1, -1, -1]])
    right = nn.functional.one_hot(alignment.clamp(min=0), 3).float()
    assert alignment_error_rate(right, alignment) == 0
    assert alignment_error_rate(right.roll(1, -1), alignment) == 1
    right[0, 0] = right[0, 0].roll(1)
    assert alignment_error_rate(right, alignment) == pytest.approx(0.25)


def test_unknown_attention_and_odd_width_are_refused_by_name():
    with pytest.raises(ValueError, match="'additive'; choose None, 'bahdanau' or 'luong'"):
        Decoder(target_size, d_embed, d_state, "additive")
    with pytest.raises(ValueError, match="d_state=9 is odd"):
        Encoder(source_size, d_embed, 9)
