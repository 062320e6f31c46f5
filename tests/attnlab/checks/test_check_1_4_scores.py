"""The three scores of exercise 1.4: every right way passes, every wrong one is told its cause."""

import math

import numpy as np
import pytest
import torch

from attnlab.checks import check_1_4
from nbmark.graded import CheckFailed, NotAttempted

SEEDS = (0, 1, 2, 12345)


@pytest.fixture(autouse=True, params=SEEDS)
def _seed(request, monkeypatch):
    monkeypatch.setenv("NBMARK_SEED", str(request.param))


def torch_relation(maps, offset):
    return torch.diagonal(maps, offset, -2, -1).mean(dim=(1, 3))


def numpy_relation(maps, offset):
    return np.diagonal(np.asarray(maps), offset, -2, -1).mean(axis=(1, 3))


def array_only_relation(maps, offset):
    if not isinstance(maps, np.ndarray):
        raise TypeError("I take arrays")
    S = maps.shape[-1]
    queries = [i for i in range(S) if 0 <= i + offset < S]
    return sum(maps[..., i, i + offset] for i in queries).mean(1) / len(queries)


def looped_relation(maps, offset):
    L, B, H, S, _ = maps.shape
    scores = []
    for layer in range(L):
        row = []
        for head in range(H):
            seen = [
                float(maps[layer, b, head, i, i + offset])
                for b in range(B)
                for i in range(S)
                if 0 <= i + offset < S
            ]
            row.append(sum(seen) / len(seen))
        scores.append(row)
    return scores


def masked_relation(maps, offset):
    place = torch.arange(maps.shape[-1])
    on = (place[None, :] - place[:, None] == offset).to(maps.dtype)  # (S, S)
    return torch.einsum("lbhij,ij->lh", maps, on) / on.sum() / maps.shape[1]


def double_relation(maps, offset):
    return torch_relation(torch.as_tensor(maps).double(), offset)


def sliced_relation(maps, offset):
    S = maps.shape[-1]
    queries = torch.arange(max(0, -offset), S - max(0, offset))
    return maps[..., queries, queries + offset].mean(-1).mean(1)


RIGHT_RELATIONS = [
    torch_relation,
    numpy_relation,
    array_only_relation,
    looped_relation,
    masked_relation,
    double_relation,
    sliced_relation,
]


def negative_index(m, k):
    """Takes weight [i, i + k] while i + k is short of S, also where i + k is negative."""
    S = m.shape[-1]
    return torch.stack([m[..., i, i + k] for i in range(S) if i + k < S]).mean((0, 2))


WRONG_RELATIONS = {
    "offset_sign": (lambda m, k: torch_relation(m, -k), "other side"),
    "transposed maps": (lambda m, k: torch_relation(m.mT, k), "other side"),
    "offset_absolute": (lambda m, k: torch_relation(m, abs(k)), "two places to the left"),
    "counts_outside": (
        lambda m, k: torch.diagonal(m, k, -2, -1).sum(-1).mean(1) / m.shape[-1],
        "do not count",
    ),
    "wraps_around": (
        lambda m, k: m.roll(-k, -1).diagonal(dim1=-2, dim2=-1).mean((1, 3)),
        "wrap around",
    ),
    "wraps_around by a negative index": (negative_index, "wrap around"),
    "max_not_mean": (lambda m, k: torch.diagonal(m, k, -2, -1).amax((1, 3)), "the mean"),
    "max over queries": (lambda m, k: torch.diagonal(m, k, -2, -1).amax(-1).mean(1), "the mean"),
    "sum_not_mean": (lambda m, k: torch.diagonal(m, k, -2, -1).sum((1, 3)), "how many there are"),
    "sum over queries": (
        lambda m, k: torch.diagonal(m, k, -2, -1).sum(-1).mean(1),
        "how many there are",
    ),
    "first_sequence": (lambda m, k: torch_relation(m[:, :1], k), "whole batch"),
    "both_sides": (lambda m, k: torch_relation(m, k) + torch_relation(m, -k), "two relations"),
    "mean of both sides": (
        lambda m, k: (torch_relation(m, k) + torch_relation(m, -k)) / 2,
        "two relations",
    ),
    "first_query": (
        lambda m, k: torch.diagonal(m, k, -2, -1)[..., 0].mean(1),
        "one query alone",
    ),
    "argmax_share": (
        lambda m, k: (
            (m.argmax(-1) == torch.arange(m.shape[-1]) + k)[
                ..., max(0, -k) : m.shape[-1] - max(0, k)
            ]
            .double()
            .mean((1, 3))
        ),
        "how often",
    ),
    "not_finite": (
        lambda m, k: (
            m[..., :-k, k:].diagonal(dim1=-2, dim2=-1).mean((1, 3))
            if k >= 0
            else torch_relation(m, k)
        ),
        "nan",
    ),
    "one_number": (lambda m, k: torch.diagonal(m, k, -2, -1).mean(), "each layer and head"),
    "transposed": (lambda m, k: torch_relation(m, k).T, "heads x layers"),
    "heads_averaged": (lambda m, k: torch.diagonal(m, k, -2, -1).mean((2, 3)), "layers x seq"),
    "layers_averaged": (lambda m, k: torch_relation(m, k).mean(0), "each layer and head"),
    "batch_not_averaged": (lambda m, k: torch.diagonal(m, k, -2, -1).mean(-1), "average over seq"),
    "wrong_value": (lambda m, k: torch_relation(m, k) + 0.01, "is right"),
    "hard-coded length": (
        lambda m, k: torch.diagonal(m, k, -2, -1).sum((1, 3)) / (20 - abs(k)) / m.shape[1],
        "is right",
    ),
    "not_callable": (0.5, "function itself"),
    "raised": (lambda m, k: m[k, 99], "IndexError"),
}
CAUSES = {
    "wraps_around by a negative index": "wraps_around",
    "log of the number of layers": "wrong_length",
    "transposed maps": "offset_sign",
    "max over queries": "max_not_mean",
    "sum over queries": "sum_not_mean",
    "mean of both sides": "both_sides",
    "hard-coded length": "wrong_value",
    "previous alone": "one_side",
    "counts all pairs": "larger_per_query",
    "bits over nats": "mixed_logarithms",
    "divided by log B": "wrong_length",
    "mean row": "averaged_first",
}


def assert_told(check, table, name):
    wrong, words = table[name]
    with pytest.raises(CheckFailed) as caught:
        check(wrong)
    assert caught.value.cause == CAUSES.get(name, name), str(caught.value)
    assert words in " ".join(str(caught.value).split())


@pytest.mark.parametrize("right", RIGHT_RELATIONS)
def test_right_relation_scores_pass_quietly(right, capsys):
    check_1_4.scores_relations(right)
    out, err = capsys.readouterr()
    assert "mean weight at an offset" in " ".join(out.split())
    assert err == ""


@pytest.mark.parametrize("name", WRONG_RELATIONS)
def test_wrong_relation_scores_are_told_why(name):
    assert_told(check_1_4.scores_relations, WRONG_RELATIONS, name)


def torch_adjacency(maps):
    return torch.maximum(torch_relation(maps, -1), torch_relation(maps, 1))


def stacked_adjacency(maps):
    return torch.stack([sliced_relation(maps, offset) for offset in (-1, 1)]).amax(0)


def numpy_adjacency(maps):
    return np.maximum(numpy_relation(maps, 1), numpy_relation(maps, -1))


def looped_adjacency(maps):
    left, right = looped_relation(maps, -1), looped_relation(maps, 1)
    return [
        [max(pair) for pair in zip(*rows, strict=True)] for rows in zip(left, right, strict=True)
    ]


def where_adjacency(maps):
    left, right = (masked_relation(maps, offset) for offset in (-1, 1))
    return torch.where(left > right, left, right)


def array_adjacency(maps):
    return np.max([array_only_relation(maps, 1), array_only_relation(maps, -1)], axis=0)


def both(maps):
    return torch.diagonal(maps, -1, -2, -1), torch.diagonal(maps, 1, -2, -1)


RIGHT_ADJACENCIES = [
    torch_adjacency,
    stacked_adjacency,
    numpy_adjacency,
    looped_adjacency,
    where_adjacency,
    array_adjacency,
]
WRONG_ADJACENCIES = {
    "mean_of_both": (
        lambda m: (torch_relation(m, 1) + torch_relation(m, -1)) / 2,
        "take the larger side",
    ),
    "sum_of_both": (lambda m: torch_relation(m, 1) + torch_relation(m, -1), "larger one"),
    "one_side": (lambda m: torch_relation(m, 1), "one side alone"),
    "previous alone": (lambda m: torch_relation(m, -1), "one side alone"),
    "smaller_of_both": (
        lambda m: torch.minimum(torch_relation(m, 1), torch_relation(m, -1)),
        "smaller",
    ),
    "larger_per_query": (
        lambda m: torch.maximum(
            torch.nn.functional.pad(both(m)[0], (1, 0)), torch.nn.functional.pad(both(m)[1], (0, 1))
        ).mean((1, 3)),
        "anew for each query",
    ),
    "counts all pairs": (lambda m: torch.maximum(*both(m)).mean((1, 3)), "anew for each query"),
    "larger_per_sequence": (
        lambda m: torch.maximum(*(side.mean(-1) for side in both(m))).mean(1),
        "anew for each sequence",
    ),
    "counts_outside": (
        lambda m: torch.maximum(*(side.sum(-1).mean(1) / m.shape[-1] for side in both(m))),
        "do not count",
    ),
    "includes_itself": (
        lambda m: torch.stack([torch_relation(m, offset) for offset in (-1, 0, 1)]).amax(0),
        "diagonal",
    ),
    "max_not_mean": (lambda m: torch.maximum(*(s.amax((1, 3)) for s in both(m))), "the mean"),
    "sum_not_mean": (lambda m: torch.maximum(*(s.sum((1, 3)) for s in both(m))), "how many"),
    "one_number": (lambda m: max(s.mean() for s in both(m)), "each layer and head"),
    "transposed": (lambda m: torch_adjacency(m).T, "heads x layers"),
    "queries_not_averaged": (
        lambda m: torch.maximum(
            torch.nn.functional.pad(both(m)[0], (1, 0)), torch.nn.functional.pad(both(m)[1], (0, 1))
        ).mean(1),
        "average over sequences and queries",
    ),
    "first_sequence": (lambda m: torch_adjacency(m[:, :1]), "whole batch"),
    "wrong_shape": (lambda m: [torch_relation(m, 1), torch_relation(m, -1)], "has shape"),
}


@pytest.mark.parametrize("right", RIGHT_ADJACENCIES)
def test_right_adjacencies_pass_quietly(right, capsys):
    check_1_4.scores_neighbours(right)
    out, err = capsys.readouterr()
    assert "larger side" in out
    assert err == ""


@pytest.mark.parametrize("name", WRONG_ADJACENCIES)
def test_wrong_adjacencies_are_told_why(name):
    assert_told(check_1_4.scores_neighbours, WRONG_ADJACENCIES, name)


def torch_uniformity(maps):
    return torch.special.entr(maps).sum(-1).mean((1, 3)) / math.log(maps.shape[-1])


def xlogy_uniformity(maps):
    return -torch.xlogy(maps, maps).sum(-1).mean((1, 3)) / np.log(maps.shape[-1])


def where_uniformity(maps):
    maps = np.asarray(maps, dtype=float)
    logs = np.log(np.where(maps > 0, maps, 1))
    return -(maps * logs).sum(-1).mean((1, 3)) / np.log(maps.shape[-1])


def bits_uniformity(maps):
    bits = -(maps * (maps + 1e-12).log2()).sum(-1)
    return bits.mean(dim=(1, 3)) / math.log2(maps.shape[-1])


def repaired_uniformity(maps):
    terms = np.nan_to_num(np.array(maps) * np.log(np.array(maps)))
    return -terms.sum(-1).mean((1, 3)) / np.log(maps.shape[-1])


def looped_uniformity(maps):
    L, _, H, S, _ = maps.shape
    table = np.zeros((L, H))
    for layer in range(L):
        for head in range(H):
            rows = maps[layer, :, head].reshape(-1, S).tolist()
            entropies = [-sum(w * math.log(w) for w in row if w > 0) for row in rows]
            table[layer, head] = sum(entropies) / len(entropies) / math.log(S)
    return table


def categorical_uniformity(maps):
    entropy = torch.distributions.Categorical(probs=maps).entropy()  # (L, B, H, S)
    return entropy.mean((1, 3)) / math.log(maps.shape[-1])


def summed_over_queries_first(maps):
    """Give the same: a mean over queries of sums over keys, in the other order."""
    return torch.special.entr(maps).sum(-2).mean((1, 3)) / math.log(maps.shape[-1])


def changing(maps):
    maps[maps == 0] = 1e-12
    maps += 1e-6
    return torch_uniformity(maps)


RIGHT_UNIFORMITIES = [
    torch_uniformity,
    xlogy_uniformity,
    where_uniformity,
    bits_uniformity,
    repaired_uniformity,
    looped_uniformity,
    categorical_uniformity,
    summed_over_queries_first,
]
WRONG_UNIFORMITIES = {
    "nan_to_zero": (
        lambda m: torch.nan_to_num(-(m * m.log()).sum(-1)).mean((1, 3)) / math.log(m.shape[-1]),
        "lose what its other weights add",
    ),
    "log of the number of layers": (
        lambda m: torch.special.entr(m).sum(-1).mean((1, 3)) / math.log(len(m)),
        "another number than S",
    ),
    "not_normalised": (lambda m: torch.special.entr(m).sum(-1).mean((1, 3)), "Divide it by log S"),
    "bits_not_normalised": (
        lambda m: torch.special.entr(m).sum(-1).mean((1, 3)) / math.log(2),
        "is in bits",
    ),
    "mixed_logarithms": (lambda m: torch_uniformity(m) / math.log(2), "different bases"),
    "bits over nats": (lambda m: torch_uniformity(m) * math.log(2), "different bases"),
    "nan_at_zero": (
        lambda m: -(m * m.log()).sum(-1).mean((1, 3)) / math.log(m.shape[-1]),
        "0 times log 0",
    ),
    "sign": (lambda m: -torch_uniformity(m), "minus in front"),
    "reversed": (lambda m: 1 - torch_uniformity(m), "other way round"),
    "wrong_length": (
        lambda m: torch.special.entr(m).sum(-1).mean((1, 3)) / math.log(m.shape[-1] ** 2),
        "another number than S",
    ),
    "divided by log B": (
        lambda m: torch.special.entr(m).sum(-1).mean((1, 3)) / math.log(m.shape[1] + 1e-30),
        "another number than S",
    ),
    "divided_by_S": (
        lambda m: torch.special.entr(m).sum(-1).mean((1, 3)) / m.shape[-1],
        "divide by S",
    ),
    "perplexity": (
        lambda m: torch.special.entr(m).sum(-1).exp().mean((1, 3)) / m.shape[-1],
        "exp(entropy)",
    ),
    "averaged_first": (lambda m: torch_uniformity(m.mean(1, keepdim=True)), "each row first"),
    "mean row": (lambda m: torch_uniformity(m.mean(-2, keepdim=True)), "each row first"),
    "max_not_mean": (
        lambda m: torch.special.entr(m).sum(-1).amax((1, 3)) / math.log(m.shape[-1]),
        "the mean",
    ),
    "sum_not_mean": (
        lambda m: torch.special.entr(m).sum((1, 3, 4)) / math.log(m.shape[-1]),
        "how many",
    ),
    "first_sequence": (lambda m: torch_uniformity(m[:, :1]), "whole batch"),
    "large_epsilon": (
        lambda m: -(m * (m + 1e-2).log()).sum(-1).mean((1, 3)) / math.log(m.shape[-1]),
        "shifts the entropy",
    ),
    "one_number": (
        lambda m: torch.special.entr(m).sum(-1).mean() / math.log(m.shape[-1]),
        "each layer and head",
    ),
    "not_averaged": (
        lambda m: torch.special.entr(m).sum(-1) / math.log(m.shape[-1]),
        "average over sequences",
    ),
    "mutates_input": (changing, "Work on a copy"),
    "returns_nothing": (lambda m: None, "returns None"),
    "no_numbers": (lambda m: "uniform", "does not read as numbers"),
}


@pytest.mark.parametrize("right", RIGHT_UNIFORMITIES)
def test_right_uniformities_pass_quietly(right, capsys):
    check_1_4.scores_uniformity(right)
    out, err = capsys.readouterr()
    assert "1 for uniform rows" in out
    assert err == ""


@pytest.mark.parametrize("name", WRONG_UNIFORMITIES)
def test_wrong_uniformities_are_told_why(name):
    assert_told(check_1_4.scores_uniformity, WRONG_UNIFORMITIES, name)


def stub(*args):
    raise NotImplementedError


@pytest.mark.parametrize(
    "check", [check_1_4.scores_relations, check_1_4.scores_neighbours, check_1_4.scores_uniformity]
)
def test_untouched_stubs_are_not_attempted(check):
    for untouched in (stub, None):
        with pytest.raises(NotAttempted, match="Not attempted yet"):
            check(untouched)
