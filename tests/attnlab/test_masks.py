"""Masks and their conversions; how PyTorch's modules read them is in test_multihead."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnlab import masks
from attnlab.attention import masked_softmax

B, H, S_q, S_k = 2, 3, 5, 7
FLOATS = [torch.float32, torch.float64, torch.bfloat16]

sizes = st.integers(1, 5)
seeds = st.integers(0, 2**31)


def random_mask(*shape):
    return torch.rand(shape) < 0.5


def test_causal_mask_is_true_on_and_below_the_diagonal():
    expected = [[True, False, False], [True, True, False], [True, True, True]]
    assert masks.make_causal_mask(3).tolist() == [[expected]]


@pytest.mark.parametrize("seq_len", [0, 1, 7])
def test_causal_mask_has_shape_1_1_s_s(seq_len):
    mask = masks.make_causal_mask(seq_len)
    assert mask.shape == (1, 1, seq_len, seq_len)
    assert mask.dtype == torch.bool


def test_causal_mask_lies_on_the_device_that_was_asked_for():
    assert masks.make_causal_mask(S_q, device="meta").device.type == "meta"


def test_causal_mask_refuses_a_negative_length():
    with pytest.raises(ValueError, match="seq_len is -3, but it must be at least 0"):
        masks.make_causal_mask(-3)


def test_padding_mask_is_true_on_real_tokens_up_to_the_full_length():
    expected = [[[[True, True, False]]], [[[True, True, True]]], [[[False, False, False]]]]
    assert masks.make_padding_mask([2, 3, 0], 3).tolist() == expected


def test_padding_mask_takes_a_tensor_of_lengths_too():
    lengths = [4, 1]
    expected = masks.make_padding_mask(lengths, S_k)
    assert torch.equal(masks.make_padding_mask(torch.tensor(lengths), S_k), expected)
    assert expected.shape == (B, 1, 1, S_k)
    assert expected.dtype == torch.bool


@pytest.mark.parametrize("length", [-1, 8])
def test_padding_mask_names_the_length_that_lies_outside(length):
    with pytest.raises(ValueError, match=rf"length {length} lies outside 0 .*=7; raise max_len"):
        masks.make_padding_mask([3, length], S_k)


def test_padding_mask_refuses_lengths_of_two_dimensions():
    with pytest.raises(ValueError, match=r"lengths has shape \(1, 2\), but \(B,\) fits"):
        masks.make_padding_mask([[1, 2]], S_k)


@pytest.mark.parametrize(
    ("lengths", "named"),
    [
        ([2.5], "2.5"),
        ([3, math.nan], "3.0"),
        ([math.nan], "nan"),
        (torch.tensor([1.0, 0.5]), r"1\.0.*shares \* max_len"),
        (torch.tensor([True, False]), r"torch\.bool, such as True.*mask\.sum\(-1\)"),
        ([True, True], "True"),
        (torch.tensor([2 + 0j]), "complex"),
    ],
)
def test_padding_mask_refuses_lengths_that_count_nothing(lengths, named):
    with pytest.raises(TypeError, match=named):
        masks.make_padding_mask(lengths, S_k)


def test_padding_mask_of_no_sequences_is_empty():
    assert masks.make_padding_mask([], S_k).shape == (0, 1, 1, S_k)


@pytest.mark.parametrize("dtype", FLOATS)
def test_additive_mask_is_zero_or_minus_infinity(dtype):
    additive = masks.to_additive(torch.tensor([True, False]), dtype)
    assert additive.tolist() == [0.0, -math.inf]
    assert additive.dtype == dtype


def test_adding_the_additive_mask_blocks_what_the_boolean_mask_blocks():
    scores = torch.randn(B, H, S_q, S_k)
    mask = random_mask(B, 1, S_q, S_k)
    mask[..., 0] = True
    added = torch.softmax(scores + masks.to_additive(mask), dim=-1)
    assert torch.equal(added, masked_softmax(scores, mask))


@given(sizes, sizes, sizes, sizes, seeds)
def test_every_conversion_leads_back_to_the_mask(batch, heads, queries, keys, seed):
    torch.manual_seed(seed)
    mask = random_mask(batch, heads, queries, keys)
    padding = random_mask(batch, 1, 1, keys)
    assert torch.equal(masks.from_sdpa(masks.to_sdpa(mask)), mask)
    assert torch.equal(masks.from_sdpa(masks.to_additive(mask)), mask)
    converted = masks.to_mha(mask, heads)
    assert torch.equal(~converted.reshape(mask.shape), mask)
    assert torch.equal(~masks.to_key_padding(padding)[:, None, None], padding)


def test_sdpa_mask_is_the_same_mask():
    mask = random_mask(B, H, S_q, S_k)
    assert torch.equal(masks.to_sdpa(mask), mask)


def test_from_sdpa_reads_a_boolean_mask_as_it_stands():
    assert masks.from_sdpa(torch.tensor([True, False])).tolist() == [True, False]


@pytest.mark.parametrize(
    ("stranger", "named"),
    [(-1e9, r"-1e\+09"), (0.5, r"0\.5"), (math.inf, "inf"), (math.nan, "nan")],
)
def test_from_sdpa_names_the_number_that_is_no_mask(stranger, named):
    with pytest.raises(ValueError, match=rf"holds {named}; only 0 .* and -inf"):
        masks.from_sdpa(torch.tensor([0.0, -math.inf, stranger], dtype=torch.float64))


@pytest.mark.parametrize("dtype", [torch.int64, torch.int8, torch.uint8])
def test_from_sdpa_refuses_integers_whose_zeros_could_mean_either(dtype):
    with pytest.raises(TypeError, match=rf"attn_mask is {dtype}.* with \.bool\(\)"):
        masks.from_sdpa(torch.tensor([1, 0], dtype=dtype))


def test_mha_mask_means_blocked_and_lets_heads_vary_fastest():
    mask = random_mask(B, H, S_q, S_k)
    converted = masks.to_mha(mask, H)
    assert converted.shape == (B * H, S_q, S_k)
    for b in range(B):
        for h in range(H):
            assert torch.equal(converted[b * H + h], ~mask[b, h])


def test_mha_mask_repeats_a_mask_of_one_head_for_every_head():
    mask = random_mask(B, 1, S_q, S_k)
    assert torch.equal(masks.to_mha(mask, H), masks.to_mha(mask.repeat(1, H, 1, 1), H))


def test_mha_mask_for_every_batch_and_head_has_two_axes():
    mask = random_mask(1, 1, S_q, S_k)
    assert torch.equal(masks.to_mha(mask, H), ~mask[0, 0])


@pytest.mark.parametrize("n_heads", [0, -1])
def test_to_mha_refuses_heads_that_are_none(n_heads):
    with pytest.raises(ValueError, match=f"n_heads is {n_heads}, but it must be at least 1"):
        masks.to_mha(random_mask(B, 1, S_q, S_k), n_heads)


def test_key_padding_mask_is_true_on_padding():
    mask = masks.make_padding_mask([2, 3], 3)
    expected = [[False, False, True], [False, False, False]]
    assert masks.to_key_padding(mask).tolist() == expected


@pytest.mark.parametrize(
    "convert",
    [
        masks.to_additive,
        masks.to_sdpa,
        lambda mask: masks.to_mha(mask, H),
        masks.to_key_padding,
    ],
)
def test_a_mask_of_numbers_is_refused_with_the_remedy(convert):
    with pytest.raises(TypeError, match=r"the mask is torch\.float32.*from_sdpa.*\.bool\(\)"):
        convert(torch.ones(B, 1, 1, S_k))


@pytest.mark.parametrize("shape", [(S_q, S_k), (B, S_q, S_k), (B, 2, S_q, S_k)])
def test_to_mha_names_the_shape_that_does_not_fit(shape):
    with pytest.raises(ValueError, match=r"the mask has shape .* but \(B, 1 or 3, S_q, S_k\)"):
        masks.to_mha(random_mask(*shape), H)


@pytest.mark.parametrize("shape", [(B, S_k), (B, 1, S_q, S_k), (B, H, 1, S_k)])
def test_to_key_padding_refuses_a_mask_that_depends_on_head_or_query(shape):
    with pytest.raises(ValueError, match=r"the mask has shape .* but \(B, 1, 1, S_k\) fits"):
        masks.to_key_padding(random_mask(*shape))


@pytest.mark.parametrize("shape", [(), (S_k,), (S_q, 1), (B, 1, 1, S_k), (1, H, S_q, S_k)])
def test_a_mask_that_broadcasts_to_the_scores_is_accepted(shape):
    masks.check_mask(random_mask(*shape), (B, H, S_q, S_k))


@pytest.mark.parametrize("shape", [(B, S_k), (S_q,), (B, 2, S_q, S_k), (1, B, H, S_q, S_k)])
def test_a_mask_that_does_not_broadcast_is_refused_with_the_remedy(shape):
    with pytest.raises(ValueError, match=r"does not broadcast .*use mask\[:, None, None, :\]"):
        masks.check_mask(random_mask(*shape), (B, H, S_q, S_k))


@pytest.mark.parametrize(
    ("shape", "scores", "remedies"),
    [
        ((B, S_k), (B, H, B, S_k), r"mask\[:, None, None, :\] .*, mask\[None, None\] if not"),
        ((B, S_k), (S_q, B, H, B, S_k), r"mask\[:, None, None, :\]"),
        ((H, S_q, S_k), (H, H, S_q, S_k), r"mask\[:, None\] .*, mask\[None\] if not"),
    ],
)
def test_a_mask_that_can_be_read_in_two_ways_is_refused_with_both_remedies(shape, scores, remedies):
    mask = random_mask(*shape)
    with pytest.raises(ValueError, match=f"in two ways .*use {remedies}"):
        masks.check_mask(mask, scores)
    masks.check_mask(mask[:, None, None] if len(shape) == 2 else mask[:, None], scores)
    masks.check_mask(mask[None, None] if len(shape) == 2 else mask[None], scores)


@pytest.mark.parametrize("shape", [(S_q, S_k), (1, S_k), (H, S_q, S_k)])
def test_a_mask_without_all_axes_that_can_be_read_in_one_way_is_accepted(shape):
    masks.check_mask(random_mask(*shape), (B, H, S_q, S_k))
    masks.check_mask(random_mask(*shape), (1, H, S_q, S_k))


def test_a_mask_never_makes_the_scores_grow():
    with pytest.raises(ValueError, match=r"shape \(2, 7\) does not broadcast .*\(1, 7\)"):
        masks.check_mask(random_mask(B, S_k), (1, S_k))


def test_converted_masks_share_no_memory_with_the_mask():
    mask = random_mask(B, 1, 1, S_k)
    before = mask.clone()
    masks.to_additive(mask).fill_(1)
    masks.to_mha(mask, H).logical_not_()
    masks.to_key_padding(mask).logical_not_()
    masks.to_mha(mask[:1], H).logical_not_()
    assert torch.equal(mask, before)
