"""The figures that a reader edits, paints or rearranges: what Python accepts, and what it says."""

import numpy as np
import pytest
import torch
from torch.nn.functional import pad
from traitlets import TraitError

from attnlab import story
from attnlab.figures import AttentionByHand, MaskPainter, SelfOrCross
from attnlab.figures.self_or_cross import read_scores
from attnlab.trace import trace

NAIVE = torch.tensor(MaskPainter().scores)  # (8, 8)


@pytest.mark.parametrize(
    ("traits", "words"),
    [
        ({"Q": [[1, 2], [3, 4]]}, r"Q has shape \(2, 2\); pass \(2, 3\)"),
        ({"K": [[1, 0, 1]] * 3}, r"K has shape \(3, 3\); pass \(2, 3\)"),
        ({"V": [[1, 0], [-10, 1]]}, r"V holds ±10; stay in -9 \.\.\. 9"),
        ({"row": 3}, "row"),
    ],
)
def test_a_matrix_of_another_size_or_with_large_numbers_is_refused(traits, words):
    with pytest.raises(TraitError, match=words):
        AttentionByHand(**traits)


def test_the_mask_keeps_the_first_query_to_its_own_key():
    figure = AttentionByHand(causal=True)
    assert figure.compute()["weights"][0] == [1, 0]
    assert figure.compute()["output"][0] == figure.V[0]
    assert "exp(−∞) / (exp(0.577) + exp(−∞)) = 0.000" in figure.describe()


@pytest.mark.parametrize("q_from", ["source", "target"])
def test_only_self_attention_takes_the_causal_mask(q_from):
    figure = SelfOrCross(q_from=q_from, causal=True)
    assert figure.compute()["masked"] == (q_from == "source")
    above = torch.tensor(figure.compute()["weights"]).triu(1)
    assert bool(above.any()) == (q_from == "target")


def test_keys_and_values_of_two_sequences_are_no_attention_even_if_the_lengths_agree():
    assert "do not pair up" in SelfOrCross(v_from="target").describe()
    assert "by accident" in SelfOrCross(v_from="target", target=7).describe()


def test_the_scores_in_the_page_are_those_of_the_storys_translator():
    assert np.abs(np.array(SelfOrCross().scores) - read_scores(story.load())).max() <= 0.0051
    assert MaskPainter().scores == SelfOrCross().scores[1][1]


@pytest.mark.parametrize("causal", [False, True])
def test_the_weights_are_those_of_the_three_attentions_of_the_translator(causal):
    s = story.sentence()
    told = trace(story.load(), s.source, s.target)
    decoder = told.decoder.layers[0]
    looks = {("target", "source"): decoder.cross_attend, ("target", "target"): decoder.attend}
    looks["source", "source"] = told.encoder.layers[0].attend
    for (asks, asked), look in looks.items():
        both = {"q_from": asks, "k_from": asked, "v_from": asked, "target": 8, "causal": causal}
        wanted = look.weights[1] if asks == "source" else look.scaled[1].softmax(-1)
        if causal and asks == asked:
            above = torch.ones(look.mask.shape).triu(1).bool()
            wanted = look.scaled[1].masked_fill(above, -torch.inf).softmax(-1)
        found = torch.tensor(SelfOrCross(**both).compute()["weights"], dtype=torch.float32)
        torch.testing.assert_close(found, wanted, rtol=0, atol=0.01)


def test_the_row_of_had_fetches_verloren():
    figure = SelfOrCross()
    source, target = figure.words
    weights = figure.compute()["weights"]
    row = weights[target.index("had")]
    assert source[int(np.argmax(row))] == "verloren"
    assert len(weights) == 4


def test_padding_in_front_moves_the_words_and_their_scores():
    plain, padded = MaskPainter(size=6), MaskPainter(size=8, preset="causal and padding")
    assert padded.compute()["tokens"] == ["pad 1", "pad 2", *plain.words[:6]]
    moved = np.array(padded.compute()["weights"])[2:, 2:]
    np.testing.assert_allclose(moved, plain.compute()["weights"], rtol=0, atol=1e-12)
    assert padded.compute()["empty"] == ["pad 1", "pad 2"]


def test_a_flipped_cell_that_lies_outside_a_smaller_mask_comes_back_with_its_size():
    figure = MaskPainter(flipped=[(0, 7)], size=8)
    assert figure.mask()[0, 7]
    figure.size = 6
    assert torch.equal(figure.mask(), torch.ones(6, 6).tril().bool())
    figure.size = 8
    assert figure.mask()[0, 7]


@pytest.mark.parametrize("preset", ["causal and padding", "inverted"])
@pytest.mark.parametrize("filling", ["score −∞", "weight 0, rows divided"])
def test_the_rows_that_it_calls_empty_are_those_where_plain_pytorch_gives_nan(preset, filling):
    figure = MaskPainter(preset=preset, filling=filling)
    scores = pad(NAIVE, (2, 0, 2, 0)) if "padding" in preset else NAIVE
    plain = scores[:6, :6].masked_fill(~figure.mask(), -torch.inf).softmax(-1)
    empty = plain.isnan().any(-1).nonzero().flatten().tolist()
    found = figure.compute()
    assert found["empty"] == [found["tokens"][i] for i in empty] != []
    shown = torch.tensor(figure.compute()["weights"], dtype=plain.dtype)
    assert torch.allclose(shown, plain.nan_to_num(0.0), atol=1e-6)


def test_causal_masks_leak_nothing_and_a_score_of_0_does():
    for preset in ("causal", "causal and padding", "sliding window"):
        assert MaskPainter(preset=preset).compute()["future"] == 0
    for traits in ({"preset": "off by one"}, {"filling": "score 0"}, {"flipped": [(0, 5)]}):
        assert MaskPainter(**traits).compute()["future"] > 0
