"""The figures that a reader edits, paints or rearranges: what Python accepts, and what it says."""

import pytest
import torch
from traitlets import TraitError

from attnlab.figures import AttentionByHand, MaskPainter, SelfOrCross

NAIVE = torch.tensor(MaskPainter().odds).log()  # (10, 10)


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
    assert "by accident" in SelfOrCross(v_from="target", target=5).describe()


def test_each_word_of_the_target_finds_its_own_in_the_source():
    weights = torch.tensor(SelfOrCross(source=8, target=8).compute()["weights"])
    words = SelfOrCross().words
    found = dict(zip(words[1], [words[0][j] for j in weights.argmax(-1)], strict=True))
    pairs = {"ein": "a", "Hund": "dog", "biss": "bit", "Mann": "man", "im": "in", "Park": "park"}
    assert found.items() >= pairs.items()
    assert found["den"] == "the"


def test_a_flipped_cell_that_lies_outside_a_smaller_mask_comes_back_with_its_size():
    figure = MaskPainter(flipped=[(0, 9)], size=10)
    assert figure.mask()[0, 9]
    figure.size = 6
    assert torch.equal(figure.mask(), torch.ones(6, 6).tril().bool())
    figure.size = 10
    assert figure.mask()[0, 9]


@pytest.mark.parametrize("preset", ["causal and padding", "inverted"])
@pytest.mark.parametrize("filling", ["score −∞", "weight 0, rows divided"])
def test_the_rows_that_it_calls_empty_are_those_where_plain_pytorch_gives_nan(preset, filling):
    figure = MaskPainter(preset=preset, filling=filling)
    plain = NAIVE[:6, :6].masked_fill(~figure.mask(), -torch.inf).softmax(-1)
    empty = plain.isnan().any(-1).nonzero().flatten().tolist()
    assert figure.compute()["empty"] == empty != []
    shown = torch.tensor(figure.compute()["weights"], dtype=plain.dtype)
    assert torch.allclose(shown, plain.nan_to_num(0.0), atol=1e-6)


def test_causal_masks_leak_nothing_and_a_score_of_0_does():
    for preset in ("causal", "causal and padding", "sliding window"):
        assert MaskPainter(preset=preset).compute()["future"] == 0
    for traits in ({"preset": "off by one"}, {"filling": "score 0"}, {"flipped": [(0, 5)]}):
        assert MaskPainter(**traits).compute()["future"] > 0
