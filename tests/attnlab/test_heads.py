"""Statistics of attention maps against maps whose numbers are known."""

import math

import pytest
import torch

from attnlab import heads
from attnlab.masks import make_causal_mask, make_padding_mask

L, B, H, S = 5, 3, 2, 7
LENGTHS = [7, 4, 3]
DTYPES = [torch.float32, torch.float64, torch.bfloat16]


def uniform_maps(mask=None, dtype=torch.float64):
    allowed = torch.ones(B, H, S, S, dtype=torch.bool) if mask is None else mask.expand(B, H, S, S)
    return (allowed / allowed.sum(-1, keepdim=True)).to(dtype)


def one_hot_maps(offset):
    """Each query puts everything on the key at `offset`, or on itself at the sequence's edge."""
    keys = torch.arange(S) + offset
    keys = torch.where((keys < 0) | (keys >= S), torch.arange(S), keys)
    return torch.eye(S, dtype=torch.float64)[keys].expand(B, H, S, S)


def random_maps(mask=None):
    scores = torch.randn(L, B, H, S, S, dtype=torch.float64)
    return (scores if mask is None else scores.masked_fill(~mask, -math.inf)).softmax(-1)


def all_statistics(weights, mask):
    delimiters = torch.zeros(weights.shape[-4], weights.shape[-1], dtype=torch.bool)
    delimiters[:, 0] = True
    return {
        "entropy": heads.entropy(weights, mask),
        "uniformity": heads.uniformity(weights, mask),
        "previous": heads.previous_token_score(weights, mask),
        "next": heads.next_token_score(weights, mask),
        "far": heads.position_score(weights, 3, mask),
        "delimiter": heads.delimiter_score(weights, delimiters, mask),
    }


@pytest.mark.parametrize("mask", [None, make_causal_mask(S), make_padding_mask(LENGTHS, S)])
def test_a_uniform_head_has_the_entropy_of_its_keys_and_uniformity_one(mask):
    allowed = torch.ones(B, 1, S, S).bool() if mask is None else mask.expand(B, 1, S, S)
    counted = allowed.diagonal(dim1=-2, dim2=-1)
    expected = allowed.sum(-1)[counted].double().log().mean()
    maps = uniform_maps(mask)
    torch.testing.assert_close(heads.entropy(maps, mask), expected.expand(H))
    torch.testing.assert_close(heads.uniformity(maps, mask), torch.ones(H, dtype=torch.float64))


@pytest.mark.parametrize("offset", [-3, -1, 0, 1, 3])
def test_a_head_that_looks_at_one_offset_scores_there_and_nowhere_else(offset):
    maps = one_hot_maps(offset)
    for other in (-3, -1, 1, 3):
        expected = torch.full((H,), float(other == offset), dtype=torch.float64)
        torch.testing.assert_close(heads.position_score(maps, other), expected)
    assert (heads.entropy(maps) == 0).all()
    assert (heads.uniformity(maps) == 0).all()


def test_previous_and_next_token_scores_are_the_two_neighbours():
    maps = random_maps()
    torch.testing.assert_close(
        heads.previous_token_score(maps), maps.diagonal(-1, -2, -1).mean(dim=(-3, -1))
    )
    torch.testing.assert_close(
        heads.next_token_score(maps), maps.diagonal(1, -2, -1).mean(dim=(-3, -1))
    )


def test_delimiter_score_adds_the_delimiters_up_and_leaves_them_out_as_queries():
    maps = random_maps()
    delimiters = torch.zeros(B, S, dtype=torch.bool)
    delimiters[:, 0] = delimiters[:, 4] = True
    others = [1, 2, 3, 5, 6]
    expected = (maps[..., others, 0] + maps[..., others, 4]).mean(dim=(-3, -1))
    torch.testing.assert_close(heads.delimiter_score(maps, delimiters), expected)


def test_statistics_have_one_number_for_each_layer_and_head():
    for name, value in all_statistics(random_maps(), None).items():
        assert value.shape == (L, H), name


def test_heads_are_told_apart():
    maps = torch.stack([one_hot_maps(-1)[:, 0], one_hot_maps(1)[:, 0]], dim=1)  # (B, 2, S, S)
    torch.testing.assert_close(
        heads.previous_token_score(maps), torch.tensor([1.0, 0.0], dtype=torch.float64)
    )


def test_padding_changes_no_statistic():
    mask = make_padding_mask(LENGTHS, S)
    padded = random_maps(mask)
    sums = {}
    for b, length in enumerate(LENGTHS):  # each sentence alone, without its padding
        alone = padded[:, b : b + 1, :, :length, :length]
        for name, value in all_statistics(alone, None).items():
            n = {"previous": length - 1, "next": length - 1, "delimiter": length - 1}.get(name)
            n = max(0, length - 3) if name == "far" else length if n is None else n
            total, count = sums.get(name, (0.0, 0))
            sums[name] = (total + value.nan_to_num() * n, count + n)
    for name, value in all_statistics(padded, mask).items():
        total, count = sums[name]
        torch.testing.assert_close(value, total / count, msg=name)


def test_what_stands_in_the_rows_of_padding_does_not_matter():
    mask = make_padding_mask(LENGTHS, S)
    maps = random_maps(mask)
    spoilt = maps.masked_fill(~mask.mT, 1.0)
    assert not torch.equal(maps, spoilt)
    for name, value in all_statistics(spoilt, mask).items():
        torch.testing.assert_close(value, all_statistics(maps, mask)[name], msg=name)


def test_an_offset_beyond_the_sequence_leaves_nothing_to_average():
    for offset in (S, -S, S + 3):
        assert heads.position_score(random_maps(), offset).isnan().all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_statistics_keep_the_dtype_and_the_maps(dtype):
    mask = make_padding_mask(LENGTHS, S)
    maps = random_maps(mask).to(dtype)
    before = maps.clone()
    exact = all_statistics(maps.double(), mask)
    for name, value in all_statistics(maps, mask).items():
        assert value.dtype == dtype, name
        tolerance = 4 * S * torch.finfo(dtype).eps
        torch.testing.assert_close(
            value.double(), exact[name], rtol=tolerance, atol=tolerance, msg=name
        )
    assert torch.equal(maps, before)


@pytest.mark.parametrize("shape", [(H, S, S), (B, H, S, S + 1)])
def test_maps_of_another_shape_are_refused(shape):
    with pytest.raises(ValueError, match=r"\(\.\.\., B, H, S, S\) fits"):
        heads.entropy(torch.rand(shape))


def test_a_mask_that_is_not_boolean_is_refused():
    with pytest.raises(TypeError, match="True = may attend"):
        heads.entropy(random_maps(), torch.zeros(S, S))
