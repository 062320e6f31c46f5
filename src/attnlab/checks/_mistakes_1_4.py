"""What known mistakes make of the three scores of exercise 1.4, worked out from the maps."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Mistake = tuple[str, Any]  # cause, and the values that it leads to

SAID = {
    # relation_score
    "offset_sign": "Your keys lie on the other side, at query - offset. With offset 1 the key is "
    "the one to the right, query + 1.",
    "offset_absolute": "A negative offset gives the score of the positive one. With offset -2 the "
    "key lies two places to the left.",
    "both_sides": "You count both sides. The offset has a sign: +2 and -2 are two relations.",
    "counts_outside": "You divide by all S queries. Those whose key would fall outside the "
    "sequence do not count: divide by S - abs(offset).",
    "wraps_around": "Your keys wrap around the end of the sequence. Leave a query out where "
    "query + offset lies outside of 0 ... S - 1.",
    "argmax_share": "You count how often the key gets the largest weight. Average the weight "
    "itself.",
    "first_query": "You look at one query alone. Average over all that have a key there.",
    # adjacency
    "one_side": "You look to one side alone. Take the larger of offset -1 and offset +1, head by "
    "head.",
    "mean_of_both": "You average the two sides. A head that looks only to the left should score "
    "1, not 0.5: take the larger side.",
    "sum_of_both": "You add the two sides up. Take the larger one.",
    "smaller_of_both": "You take the smaller of the two sides. Take the larger one.",
    "larger_per_query": "You choose the side anew for each query. Average each side first, then "
    "take the larger mean of a head.",
    "larger_per_sequence": "You choose the side anew for each sequence. Average over the batch "
    "first, then take the larger side.",
    "includes_itself": "You let the diagonal count. A position is not its own neighbour: offsets "
    "-1 and +1 alone.",
    # uniformity
    "not_normalised": "Your entropy is in nats and not yet divided. Divide it by log S, its "
    "largest value, so that 1 means uniform.",
    "bits_not_normalised": "Your entropy is in bits and not yet divided. Divide it by the "
    "logarithm of S to the same base, so that 1 means uniform.",
    "mixed_logarithms": "Entropy and log S have different bases. Take both logarithms to the "
    "same base; which one does not matter then.",
    "sign": "Your entropy is negative. The logarithm of a weight below 1 is negative, so entropy "
    "has a minus in front of its sum.",
    "reversed": "Yours is 1 where a head looks at one key. Uniformity is the other way round: 1 "
    "where all keys get the same.",
    "wrong_length": "You divide by the logarithm of another number than S. The largest entropy of "
    "a row is log S, with S the number of keys.",
    "divided_by_S": "You divide by S. The largest entropy of a row is log S.",
    "perplexity": "You give the share of keys in use, exp(entropy) / S. Asked for is entropy over "
    "log S.",
    "averaged_first": "You average the maps and take the entropy of the mean. Take the entropy of "
    "each row first, then average.",
    "large_epsilon": "What you add inside the logarithm is so large that it shifts the entropy. "
    "Skip weights of 0, or add something like 1e-12.",
    "nan_at_zero": "A computer takes 0 times log 0 for nan. A weight of 0 adds nothing to the "
    "entropy: leave it out.",
    "nan_to_zero": "You turn the nan of a whole row into 0, and lose what its other weights add. "
    "Leave out the single weights that are 0.",
    # all three
    "not_finite": "Look at what you divide by, and at slices that may be empty.",
    "max_not_mean": "You keep the largest value. Take the mean over queries and sequences.",
    "sum_not_mean": "You add up where a mean is asked for. Divide by how many there are, or the "
    "score grows with the batch and the length.",
    "first_sequence": "You look at the first sequence alone. Average over the whole batch.",
}


def along(maps: np.ndarray, offset: int) -> np.ndarray:
    """Give the weights on key = query + offset, (L, B, H, S - abs(offset))."""
    return np.diagonal(maps, offset, -2, -1)


def relation(maps: np.ndarray, offset: int) -> np.ndarray:
    """Give the right relation score, (L, H)."""
    return along(maps, offset).mean((1, 3))


def adjacency(maps: np.ndarray) -> np.ndarray:
    """Give the right adjacency, (L, H)."""
    return np.maximum(relation(maps, -1), relation(maps, 1))


def row_entropy(maps: np.ndarray, more: float = 0.0) -> np.ndarray:
    """Give the entropy of each row in nats, (L, B, H, S); `more` is added inside the logarithm."""
    logs = np.log(maps + more, out=np.zeros_like(maps), where=maps + more > 0)
    return -(maps * logs).sum(-1)


def uniformity(maps: np.ndarray) -> np.ndarray:
    """Give the right uniformity, (L, H)."""
    return row_entropy(maps).mean((1, 3)) / np.log(maps.shape[-1])


def wrong_means(values: np.ndarray) -> Iterator[Mistake]:
    """Give what known mistakes make of means over sequences and queries, (L, B, H, queries)."""
    yield "max_not_mean", values.max(-1).mean(1)
    yield "max_not_mean", values.max((1, 3))
    yield "sum_not_mean", values.sum((1, 3))
    yield "sum_not_mean", values.sum(-1).mean(1)
    yield "sum_not_mean", values.mean(-1).sum(1)
    yield "first_sequence", values[:, 0].mean(-1)


def wrong_relations(maps: np.ndarray, offset: int) -> Iterator[Mistake]:
    """Give what known mistakes make of the relation score, (L, H)."""
    S, found, queries = maps.shape[-1], along(maps, offset), np.arange(maps.shape[-1])
    other = relation(maps, -offset)
    yield "offset_sign", other
    yield "offset_absolute", relation(maps, abs(offset))
    yield "both_sides", relation(maps, offset) + other
    yield "both_sides", (relation(maps, offset) + other) / 2
    yield "both_sides", np.maximum(relation(maps, offset), other)
    yield "counts_outside", found.sum(-1).mean(1) / S
    yield "wraps_around", maps[..., queries, (queries + offset) % S].mean((1, 3))
    have_key = slice(max(0, -offset), S - max(0, offset))
    in_python = queries[: S - max(0, offset)]  # a negative index counts from the end
    yield "wraps_around", maps[..., in_python, in_python + offset].mean((1, 3))
    hits = maps.argmax(-1)[..., have_key] == queries[have_key] + offset
    yield "argmax_share", hits.mean((1, 3))
    yield "first_query", found[..., 0].mean(1)
    yield from wrong_means(found)


def wrong_adjacencies(maps: np.ndarray) -> Iterator[Mistake]:
    """Give what known mistakes make of the adjacency, (L, H)."""
    S, left, right = maps.shape[-1], relation(maps, -1), relation(maps, 1)
    yield "one_side", left
    yield "one_side", right
    yield "mean_of_both", (left + right) / 2
    yield "sum_of_both", left + right
    yield "smaller_of_both", np.minimum(left, right)
    padded = [np.pad(along(maps, side), [(0, 0)] * 3 + [(side < 0, side > 0)]) for side in (-1, 1)]
    yield "larger_per_query", np.maximum(*padded).mean((1, 3))
    yield "larger_per_query", np.maximum(along(maps, -1), along(maps, 1)).mean((1, 3))
    yield "larger_per_sequence", np.maximum(*(along(maps, i).mean(-1) for i in (-1, 1))).mean(1)
    yield "counts_outside", adjacency(maps) * (S - 1) / S
    yield "includes_itself", np.maximum(adjacency(maps), relation(maps, 0))
    means = zip(*(wrong_means(along(maps, side)) for side in (-1, 1)), strict=True)
    for (cause, before), (_, after) in means:
        yield cause, np.maximum(before, after)


def wrong_uniformities(maps: np.ndarray) -> Iterator[Mistake]:
    """Give what known mistakes make of the uniformity, (L, H)."""
    L, B, H, S = maps.shape[:4]
    rows, right, longest = row_entropy(maps), uniformity(maps), np.log(S)
    yield "not_normalised", rows.mean((1, 3))
    yield "bits_not_normalised", rows.mean((1, 3)) / np.log(2)
    for base in (2, 10):
        yield "mixed_logarithms", right / np.log(base)
        yield "mixed_logarithms", right * np.log(base)
    yield "sign", -right
    yield "reversed", 1 - right
    for other in (L, B, H, S * S):
        with np.errstate(divide="ignore", invalid="ignore"):
            yield "wrong_length", rows.mean((1, 3)) / np.log(other)
    yield "divided_by_S", rows.mean((1, 3)) / S
    yield "perplexity", np.exp(rows).mean((1, 3)) / S
    for axes in (1, -2, (1, -2)):
        yield "averaged_first", uniformity(maps.mean(axes, keepdims=True))
    lost = np.where((maps == 0).any(-1), 0, rows)
    yield "nan_to_zero", lost.mean((1, 3)) / longest
    yield from wrong_means(rows / longest)
    for more in (1e-1, 1e-2, 1e-3):
        yield "large_epsilon", row_entropy(maps, more=more).mean((1, 3)) / longest
