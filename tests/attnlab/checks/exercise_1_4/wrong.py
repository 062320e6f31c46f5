"""Wrong answers to exercise 1.4: what was written, its cause, and words of the message."""

import math

import matplotlib.pyplot as plt
import numpy as np
import torch
from answers import Call
from exercise_1_4.right import (
    HEADS,
    ROLES,
    asked_for,
    changed,
    embedded,
    grid,
    maps,
    model,
    named,
    sequences,
    torch_adjacency,
    torch_relation,
    torch_uniformity,
)
from torch import nn

from attnlab.transformer import TransformerEncoder


def without_norm(model, x):
    state, maps = embedded(model, x), []
    for layer in model.layers:
        maps.append(layer.attend(state, state, state)[1])
        state, _ = layer(state)
    return torch.stack(maps)


def without_positions(model, x):
    state, maps = model.embedding(x), []
    for layer in model.layers:
        state, weights = layer(state)
        maps.append(weights)
    return torch.stack(maps)


def negative_index(m, k):
    """Takes weight [i, i + k] while i + k is short of S, also where i + k is negative."""
    S = m.shape[-1]
    return torch.stack([m[..., i, i + k] for i in range(S) if i + k < S]).mean((0, 2))


def both(maps):
    return torch.diagonal(maps, -1, -2, -1), torch.diagonal(maps, 1, -2, -1)


def changing(maps):
    maps[maps == 0] = 1e-12
    maps += 1e-6
    return torch_uniformity(maps)


def of_all(draw):
    """Call the check with a figure drawn from the maps of all layers."""
    return Call(lambda: (draw(maps()), model(), sequences()))


MAPS = {
    "all that the model returns": (
        lambda m, x: m(x, return_weights=True),
        "returns_pair",
        "states and the weights",
    ),
    "states": (lambda m, x: m(x, return_weights=True)[0], "states_for_maps", "the second thing"),
    "states alone": (lambda m, x: m(x), "states_for_maps", "return_weights=True"),
    "sequences first": (
        lambda m, x: asked_for(m, x).transpose(0, 1),
        "axis_order",
        "another order",
    ),
    "heads before sequences": (
        lambda m, x: asked_for(m, x).transpose(1, 2),
        "axis_order",
        "another order",
    ),
    "heads first": (
        lambda m, x: asked_for(m, x).permute(2, 0, 1, 3, 4),
        "axis_order",
        "another order",
    ),
    "first layer": (lambda m, x: asked_for(m, x)[0], "one_layer", "Stack those of all layers"),
    "last layer": (lambda m, x: asked_for(m, x)[-1], "one_layer", "Stack those of all layers"),
    "two layers": (lambda m, x: asked_for(m, x)[:2], "wrong_shape", "4 layers"),
    "mean over heads": (lambda m, x: asked_for(m, x).mean(2), "heads_averaged", "Keep each of"),
    "mean over sequences": (lambda m, x: asked_for(m, x).mean(1), "batch_averaged", "Keep each of"),
    "first sequence": (
        lambda m, x: asked_for(m, x)[:, 0],
        "first_sequence",
        "first sequence alone",
    ),
    "first sequence with its axis": (
        lambda m, x: asked_for(m, x[:1]),
        "wrong_shape",
        "5 sequences",
    ),
    "transposed": (lambda m, x: asked_for(m, x).mT, "transposed", "belongs to a query"),
    "layers reversed": (lambda m, x: asked_for(m, x).flip(0), "layers_reversed", "in reverse"),
    "softmax of weights": (lambda m, x: asked_for(m, x).softmax(-1), "softmax_twice", "softmax"),
    "no norm": (without_norm, "no_norm", "normalisation"),
    "no positions": (without_positions, "no_positions", "without positions"),
    "logarithms": (lambda m, x: asked_for(m, x).log(), "maps_logarithms", "the weights"),
    "softmax over queries": (
        lambda m, x: asked_for(m, x).softmax(-2),
        "wrong_maps",
        "return_weights=True",
    ),
    "layers and sequences in one axis": (
        lambda m, x: asked_for(m, x).reshape(-1, *x.shape, x.shape[1]),
        "wrong_shape",
        "S, S), here (2, 5, 3, 7, 7)",
    ),
    "a name that forward lacks": (
        lambda m, x: m(x, return_maps=True),
        "wrong_arguments",
        "TypeError",
    ),
    "nothing": (lambda m, x: None, "returns_nothing", "returns None"),
}
FIGURES = {
    "empty": (lambda maps: plt.figure(), "no_maps", "20 x 20"),
    "curves": (lambda maps: grid(maps[0], lambda ax, m: ax.plot(m)), "no_maps", "ax.imshow"),
    "text": (lambda maps: "a figure", "no_figure", "matplotlib Figure"),
    "pyplot": (lambda maps: plt, "no_figure", "matplotlib Figure"),
    "layer 2": (lambda maps: grid(maps[1]), "other_layer", "index 0"),
    "transposed": (lambda maps: grid(maps[0].swapaxes(-1, -2)), "transposed", "swapped"),
    "mean over heads": (
        lambda maps: grid(maps[0].mean(1, keepdims=True)),
        "heads_averaged",
        "each of them by itself",
    ),
    "mean over sequences": (
        lambda maps: grid(maps[0].mean(0, keepdims=True)),
        "sequences_averaged",
        "Draw each by itself",
    ),
    "mean over layers": (lambda maps: grid(maps.mean(0)), "layers_averaged", "index 0"),
    "divided by the map's largest": (
        lambda maps: grid(maps[0] / maps[0].max((-2, -1), keepdims=True)),
        "rescaled",
        "all on one scale",
    ),
    "divided by the row's largest": (
        lambda maps: grid(maps[0] / maps[0].max(-1, keepdims=True)),
        "rescaled",
        "one scale",
    ),
    "logarithms": (lambda maps: grid(np.log(maps[0])), "logarithms", "weights themselves"),
    "decimal logarithms": (
        lambda maps: grid(np.log10(maps[0])),
        "logarithms",
        "weights themselves",
    ),
    "each on its own scale": (
        lambda maps: grid(maps[0], lambda ax, m: ax.imshow(m)),
        "own_scales",
        "cannot be compared",
    ),
    "from below": (
        lambda maps: grid(maps[0], lambda ax, m: ax.imshow(m, origin="lower", vmin=0, vmax=1)),
        "first_row_below",
        "Queries run down",
    ),
    "a mesh from below": (
        lambda maps: grid(maps[0], lambda ax, m: ax.pcolormesh(m, vmin=0, vmax=1)),
        "first_row_below",
        "ax.invert_yaxis()",
    ),
    "upside down": (lambda maps: grid(maps[0][..., ::-1, :]), "upside_down", "first query"),
    "one sequence": (lambda maps: grid(maps[0][:1]), "maps_missing", "4 of the 20 maps"),
    "one head": (
        lambda maps: grid(maps[0][:, :1]),
        "maps_missing",
        "sequence 0, head 1 is missing",
    ),
    "one sequence five times": (
        lambda maps: grid(maps[0][[0, 0, 0, 0, 0]]),
        "maps_missing",
        "sequence 1, head 0",
    ),
    "shifted": (lambda maps: grid(maps[0] + 0.1), "other_maps", "attention_maps(model, sequences)"),
    "half of the keys": (lambda maps: grid(maps[0][..., :10]), "no_maps", "20 x 20"),
    "other sequences": (
        lambda maps: grid(asked_for(model(), sequences().flip(1)).detach().numpy()[0]),
        "other_maps",
        "five sequences",
    ),
}
RELATIONS = {
    "offset sign": (lambda m, k: torch_relation(m, -k), "offset_sign", "other side"),
    "transposed maps": (lambda m, k: torch_relation(m.mT, k), "offset_sign", "other side"),
    "offset absolute": (
        lambda m, k: torch_relation(m, abs(k)),
        "offset_absolute",
        "two places to the left",
    ),
    "counts outside": (
        lambda m, k: torch.diagonal(m, k, -2, -1).sum(-1).mean(1) / m.shape[-1],
        "counts_outside",
        "do not count",
    ),
    "wraps around": (
        lambda m, k: m.roll(-k, -1).diagonal(dim1=-2, dim2=-1).mean((1, 3)),
        "wraps_around",
        "wrap around",
    ),
    "wraps around by a negative index": (negative_index, "wraps_around", "wrap around"),
    "rounded": (lambda m, k: torch_relation(m, k).round(decimals=2), "rounded", "as it comes out"),
    "percent": (lambda m, k: 100 * torch_relation(m, k), "percent", "the factor 100"),
    "median": (
        lambda m, k: np.median(np.diagonal(m, k, -2, -1), (1, 3)),
        "median_not_mean",
        "Take the mean",
    ),
    "one place off": (lambda m, k: torch_relation(m, k + 1), "off_by_one", "one place off"),
    "first query dropped": (
        lambda m, k: torch.diagonal(m, k, -2, -1)[..., 1:].mean((1, 3)),
        "query_dropped",
        "all that have",
    ),
    "last query dropped": (
        lambda m, k: torch.diagonal(m, k, -2, -1)[..., :-1].mean((1, 3)),
        "query_dropped",
        "all that have",
    ),
    "first sequence dropped": (
        lambda m, k: torch_relation(m[:, 1:], k),
        "sequence_dropped",
        "whole batch",
    ),
    "thresholded": (
        lambda m, k: (torch.diagonal(m, k, -2, -1) > 0.2).double().mean((1, 3)),
        "thresholded",
        "small ones too",
    ),
    "max not mean": (
        lambda m, k: torch.diagonal(m, k, -2, -1).amax((1, 3)),
        "max_not_mean",
        "the mean",
    ),
    "max over queries": (
        lambda m, k: torch.diagonal(m, k, -2, -1).amax(-1).mean(1),
        "max_not_mean",
        "the mean",
    ),
    "sum not mean": (
        lambda m, k: torch.diagonal(m, k, -2, -1).sum((1, 3)),
        "sum_not_mean",
        "how many there are",
    ),
    "sum over queries": (
        lambda m, k: torch.diagonal(m, k, -2, -1).sum(-1).mean(1),
        "sum_not_mean",
        "how many there are",
    ),
    "first sequence": (lambda m, k: torch_relation(m[:, :1], k), "first_sequence", "whole batch"),
    "both sides": (
        lambda m, k: torch_relation(m, k) + torch_relation(m, -k),
        "both_sides",
        "two relations",
    ),
    "mean of both sides": (
        lambda m, k: (torch_relation(m, k) + torch_relation(m, -k)) / 2,
        "both_sides",
        "two relations",
    ),
    "first query": (
        lambda m, k: torch.diagonal(m, k, -2, -1)[..., 0].mean(1),
        "first_query",
        "one query alone",
    ),
    "argmax share": (
        lambda m, k: (
            (m.argmax(-1) == torch.arange(m.shape[-1]) + k)[
                ..., max(0, -k) : m.shape[-1] - max(0, k)
            ]
            .double()
            .mean((1, 3))
        ),
        "argmax_share",
        "how often",
    ),
    "not finite": (
        lambda m, k: (
            m[..., :-k, k:].diagonal(dim1=-2, dim2=-1).mean((1, 3))
            if k >= 0
            else torch_relation(m, k)
        ),
        "not_finite",
        "nan",
    ),
    "one number": (
        lambda m, k: torch.diagonal(m, k, -2, -1).mean(),
        "one_number",
        "a layer and head",
    ),
    "transposed": (lambda m, k: torch_relation(m, k).T, "transposed", "to a layer"),
    "heads averaged": (
        lambda m, k: torch.diagonal(m, k, -2, -1).mean((2, 3)),
        "heads_averaged",
        "over the heads",
    ),
    "layers averaged": (
        lambda m, k: torch_relation(m, k).mean(0),
        "layers_averaged",
        "over the layers",
    ),
    "batch not averaged": (
        lambda m, k: torch.diagonal(m, k, -2, -1).mean(-1),
        "batch_not_averaged",
        "Average over sequences",
    ),
    "wrong value": (lambda m, k: torch_relation(m, k) + 0.01, "wrong_value", "is right"),
    "hard-coded length": (
        lambda m, k: torch.diagonal(m, k, -2, -1).sum((1, 3)) / (20 - abs(k)) / m.shape[1],
        "wrong_value",
        "is right",
    ),
    "not callable": (0.5, "not_callable", "needs your function"),
    "raised": (lambda m, k: m[k, 99], "index_out_of_range", "IndexError"),
}
ADJACENCIES = {
    "Python's max": (
        lambda m: max(torch_relation(m, -1), torch_relation(m, 1)),
        "python_max",
        "torch.maximum",
    ),
    "two places away": (
        lambda m: torch.maximum(torch_relation(m, -2), torch_relation(m, 2)),
        "two_away",
        "next door",
    ),
    "rounded": (lambda m: torch_adjacency(m).round(decimals=2), "rounded", "as it comes out"),
    "percent": (lambda m: 100 * torch_adjacency(m), "percent", "factor 100"),
    "mean of both": (
        lambda m: (torch_relation(m, 1) + torch_relation(m, -1)) / 2,
        "mean_of_both",
        "the larger mean",
    ),
    "sum of both": (
        lambda m: torch_relation(m, 1) + torch_relation(m, -1),
        "sum_of_both",
        "add the two sides",
    ),
    "one side": (lambda m: torch_relation(m, 1), "one_side", "one side alone"),
    "previous alone": (lambda m: torch_relation(m, -1), "one_side", "one side alone"),
    "smaller of both": (
        lambda m: torch.minimum(torch_relation(m, 1), torch_relation(m, -1)),
        "smaller_of_both",
        "smaller",
    ),
    "larger per query": (
        lambda m: torch.maximum(
            torch.nn.functional.pad(both(m)[0], (1, 0)), torch.nn.functional.pad(both(m)[1], (0, 1))
        ).mean((1, 3)),
        "larger_per_query",
        "anew for each query",
    ),
    "counts all pairs": (
        lambda m: torch.maximum(*both(m)).mean((1, 3)),
        "larger_per_query",
        "anew for each query",
    ),
    "larger per sequence": (
        lambda m: torch.maximum(*(side.mean(-1) for side in both(m))).mean(1),
        "larger_per_sequence",
        "anew for each sequence",
    ),
    "counts outside": (
        lambda m: torch.maximum(*(side.sum(-1).mean(1) / m.shape[-1] for side in both(m))),
        "counts_outside",
        "do not count",
    ),
    "includes itself": (
        lambda m: torch.stack([torch_relation(m, offset) for offset in (-1, 0, 1)]).amax(0),
        "includes_itself",
        "diagonal",
    ),
    "max not mean": (
        lambda m: torch.maximum(*(s.amax((1, 3)) for s in both(m))),
        "max_not_mean",
        "the mean",
    ),
    "sum not mean": (
        lambda m: torch.maximum(*(s.sum((1, 3)) for s in both(m))),
        "sum_not_mean",
        "how many",
    ),
    "one number": (lambda m: max(s.mean() for s in both(m)), "one_number", "a layer and head"),
    "transposed": (lambda m: torch_adjacency(m).T, "transposed", "to a layer"),
    "queries not averaged": (
        lambda m: torch.maximum(
            torch.nn.functional.pad(both(m)[0], (1, 0)), torch.nn.functional.pad(both(m)[1], (0, 1))
        ).mean(1),
        "queries_not_averaged",
        "Average over sequences and queries",
    ),
    "first sequence": (lambda m: torch_adjacency(m[:, :1]), "first_sequence", "whole batch"),
    "wrong shape": (
        lambda m: [torch_relation(m, 1), torch_relation(m, -1)],
        "wrong_shape",
        "has shape",
    ),
}
UNIFORMITIES = {
    "largest weight": (lambda m: m.amax(-1).mean((1, 3)), "not_entropy", "Take the entropy"),
    "one minus the largest": (lambda m: 1 - m.amax(-1).mean((1, 3)), "not_entropy", "entropy"),
    "standard deviation": (
        lambda m: m.std(-1, correction=0).mean((1, 3)),
        "not_entropy",
        "standard deviation",
    ),
    "sum of squares": (lambda m: (m**2).sum(-1).mean((1, 3)), "not_entropy", "sum of squares"),
    "median": (
        lambda m: np.median(torch.special.entr(m).sum(-1), (1, 3)) / math.log(m.shape[-1]),
        "median_not_mean",
        "Take the mean",
    ),
    "rounded": (lambda m: torch_uniformity(m).round(decimals=2), "rounded", "as it comes out"),
    "percent": (lambda m: 100 * torch_uniformity(m), "percent", "factor 100"),
    "mean of the terms": (
        lambda m: torch.special.entr(m).mean(-1).mean((1, 3)) / math.log(m.shape[-1]),
        "averaged_terms",
        "Add them up",
    ),
    "nan to zero": (
        lambda m: torch.nan_to_num(-(m * m.log()).sum(-1)).mean((1, 3)) / math.log(m.shape[-1]),
        "nan_to_zero",
        "lose what its other weights add",
    ),
    "log of the number of layers": (
        lambda m: torch.special.entr(m).sum(-1).mean((1, 3)) / math.log(len(m)),
        "wrong_length",
        "another number than S",
    ),
    "not normalised": (
        lambda m: torch.special.entr(m).sum(-1).mean((1, 3)),
        "not_normalised",
        "divide by that",
    ),
    "bits not normalised": (
        lambda m: torch.special.entr(m).sum(-1).mean((1, 3)) / math.log(2),
        "bits_not_normalised",
        "is in bits",
    ),
    "mixed logarithms": (
        lambda m: torch_uniformity(m) / math.log(2),
        "mixed_logarithms",
        "different bases",
    ),
    "bits over nats": (
        lambda m: torch_uniformity(m) * math.log(2),
        "mixed_logarithms",
        "different bases",
    ),
    "nan at zero": (
        lambda m: -(m * m.log()).sum(-1).mean((1, 3)) / math.log(m.shape[-1]),
        "nan_at_zero",
        "0 times log 0",
    ),
    "sign": (lambda m: -torch_uniformity(m), "sign", "minus in front"),
    "reversed": (lambda m: 1 - torch_uniformity(m), "reversed", "other way round"),
    "wrong length": (
        lambda m: torch.special.entr(m).sum(-1).mean((1, 3)) / math.log(m.shape[-1] ** 2),
        "wrong_length",
        "another number than S",
    ),
    "divided by log B": (
        lambda m: torch.special.entr(m).sum(-1).mean((1, 3)) / math.log(m.shape[1] + 1e-30),
        "wrong_length",
        "another number than S",
    ),
    "divided by S": (
        lambda m: torch.special.entr(m).sum(-1).mean((1, 3)) / m.shape[-1],
        "divided_by_S",
        "divide by S",
    ),
    "perplexity": (
        lambda m: torch.special.entr(m).sum(-1).exp().mean((1, 3)) / m.shape[-1],
        "perplexity",
        "exp(entropy)",
    ),
    "averaged first": (
        lambda m: torch_uniformity(m.mean(1, keepdim=True)),
        "averaged_first",
        "each row first",
    ),
    "mean row": (
        lambda m: torch_uniformity(m.mean(-2, keepdim=True)),
        "averaged_first",
        "each row first",
    ),
    "max not mean": (
        lambda m: torch.special.entr(m).sum(-1).amax((1, 3)) / math.log(m.shape[-1]),
        "max_not_mean",
        "the mean",
    ),
    "sum not mean": (
        lambda m: torch.special.entr(m).sum((1, 3, 4)) / math.log(m.shape[-1]),
        "sum_not_mean",
        "how many",
    ),
    "first sequence": (lambda m: torch_uniformity(m[:, :1]), "first_sequence", "whole batch"),
    "large epsilon": (
        lambda m: -(m * (m + 1e-2).log()).sum(-1).mean((1, 3)) / math.log(m.shape[-1]),
        "large_epsilon",
        "shifts the entropy",
    ),
    "one number": (
        lambda m: torch.special.entr(m).sum(-1).mean() / math.log(m.shape[-1]),
        "one_number",
        "a layer and head",
    ),
    "not averaged": (
        lambda m: torch.special.entr(m).sum(-1) / math.log(m.shape[-1]),
        "not_averaged",
        "Average over sequences",
    ),
    "mutates input": (changing, "mutates_input", "Work on a copy"),
    "returns nothing": (lambda m: None, "returns_nothing", "returns None"),
    "no numbers": (lambda m: "uniform", "no_numbers", "does not read as numbers"),
}
NAMES = {
    "a neighbour called a relation": (
        changed(h00="relation"),
        "adjacent_as_relation",
        "a neighbour",
    ),
    "a relation called adjacent": (changed(h02="adjacent"), "relation_as_adjacent", "further away"),
    "a relation called uniform": (changed(h02="uniform"), "not_uniform", "not 0.9 or more"),
    "other called a relation": (changed(h03="relation"), "no_relation", "not 0.5 or more"),
    "other called adjacent": (changed(h03="adjacent"), "not_adjacent", "not 0.5 or more"),
    "uniform called other": (changed(h01="other"), "overlooked", "Compute all three"),
    "a relation called other": (changed(h11="other"), "overlooked", "Head (1, 1)"),
    "all other": (dict.fromkeys(HEADS, "other"), "overlooked", "5 of 8 names"),
    "all uniform": (dict.fromkeys(HEADS, "uniform"), "not_uniform", "names do not follow"),
    "layers exchanged": (
        {(1 - i, j): name for (i, j), name in ROLES.items()},
        "layers_exchanged",
        "next to the embedding",
    ),
    "both counted from one": (
        {(i + 1, j + 1): name for (i, j), name in ROLES.items()},
        "counted_from_one",
        "from 0 to 1",
    ),
    "layers counted from one": (
        {(i + 1, j): name for (i, j), name in ROLES.items()},
        "counted_from_one",
        "Layers run from",
    ),
    "heads counted from one": (
        {(i, j + 1): name for (i, j), name in ROLES.items()},
        "counted_from_one",
        "heads from 0 to 3",
    ),
    "head first": (
        {(j, i): name for (i, j), name in ROLES.items()},
        "keys_exchanged",
        "(layer, head)",
    ),
    "one layer": (
        {key: ROLES[key] for key in HEADS[:4]},
        "heads_missing",
        "Head (1, 0) has no name",
    ),
    "a third layer": (ROLES | {(2, 0): "other"}, "no_such_head", "no head (2, 0)"),
    "a new name": (
        changed(h02="twin"),
        "unknown_name",
        "'adjacent', 'relation', 'uniform', 'other'",
    ),
    "no name": (changed(h02=None), "unknown_name", "Use one of"),
    "a list": (list(ROLES.values()), "no_dictionary", "Make it a dictionary"),
    "numbered": (dict(enumerate(ROLES.values())), "wrong_keys", "no pair"),
    "text for keys": ({"0, 0": "uniform"}, "wrong_keys", "no pair"),
}


def untrained():
    model = TransformerEncoder(12, 64, 4, 2)
    return dict.fromkeys(HEADS, "uniform"), model, nn.Linear(64, 36)


WRONG = {
    "returns_all_maps": MAPS,
    "shows_twenty_maps": {label: (of_all(draw), *told) for label, (draw, *told) in FIGURES.items()},
    "scores_relations": RELATIONS,
    "scores_neighbours": ADJACENCIES,
    "scores_uniformity": UNIFORMITIES,
    "names_heads": {label: (named(roles), *told) for label, (roles, *told) in NAMES.items()}
    | {"untrained": (Call(untrained), "untrained", "trains it once more")},
}

PASS_BEFORE = False
UNTOLD = set()
