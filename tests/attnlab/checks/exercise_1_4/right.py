"""Right answers to exercise 1.4, as different students write them."""

import functools
import math

import matplotlib.pyplot as plt
import numpy as np
import torch
from answers import EVERY_SEED, Call, stub
from torch.nn import functional as F

from attnlab import plotting
from attnlab.transformer import TransformerEncoder, sinusoidal_positions

L, H, S = 2, 4, 20
HEADS = [(layer, head) for layer in range(L) for head in range(H)]


def asked_for(model, x):
    return model(x, return_weights=True)[1]


def without_gradients(model, x):
    with torch.no_grad():
        _, weights = model(x, return_weights=True)
    return weights.numpy()


def detached_list(model, x):
    return [layer.detach() for layer in model(x, return_weights=True)[1]]


def doubled(model, x):
    return asked_for(model, x).double()


def hooked(model, x):
    caught = []
    hooks = [
        layer.attend.register_forward_hook(
            lambda module, inputs, outputs: caught.append(outputs[1])
        )
        for layer in model.layers
    ]
    model(x)
    for hook in hooks:
        hook.remove()
    return torch.stack(caught)


def embedded(model, x):
    return model.embedding(x) + sinusoidal_positions(x.shape[1], model.embedding.embedding_dim)


def layer_by_layer(model, x):
    state, maps = embedded(model, x), []
    for layer in model.layers:
        state, weights = layer(state)
        maps.append(weights)
    return torch.stack(maps)


def one_sequence_at_a_time(model, x):
    return torch.cat([asked_for(model, row[None]) for row in x], dim=1)


MAPS = [
    asked_for,
    without_gradients,
    detached_list,
    doubled,
    hooked,
    layer_by_layer,
    one_sequence_at_a_time,
]


# The figure


@functools.cache
def model():
    """Make an encoder whose heads differ."""
    torch.manual_seed(3)
    model = TransformerEncoder(12, 16, H, L)
    for layer in model.layers:
        layer.attend.W_q.weight.data *= 5
    return model


def sequences():
    return torch.randint(12, (5, S), generator=torch.Generator().manual_seed(4))


def maps():
    return asked_for(model(), sequences()).detach().numpy()


def drawn(draw):
    """Call the check with a figure drawn from the maps of layer 1."""
    return Call(lambda: (alone(draw, maps()[0]), model(), sequences()))


def alone(draw, *args):
    """Draw without the figures that were open, or Matplotlib warns of their number."""
    plt.close("all")
    return draw(*args)


def grid(first, draw=None):
    """Draw first[sequence, head] in a row of axes for each sequence."""
    fig, axes = plt.subplots(*first.shape[:2], squeeze=False)
    for i, j in np.ndindex(first.shape[:2]):
        (draw or on_one_scale)(axes[i, j], first[i, j])
    return fig


def on_one_scale(ax, matrix):
    ax.imshow(matrix, vmin=0, vmax=1)


def turned(name):
    """Draw by a method that begins at the bottom, and turn the axis."""

    def draw(ax, matrix):
        getattr(ax, name)(matrix, vmin=0, vmax=1)
        ax.invert_yaxis()

    return draw


def with_colourbars(first):
    fig, axes = plt.subplots(4, 5)
    for i, j in np.ndindex(5, 4):
        image = axes[j, i].matshow(first[i, j], cmap="viridis", vmin=0, vmax=1)
        fig.colorbar(image, ax=axes[j, i])
    return fig


def montage(first):
    fig, ax = plt.subplots()
    ax.imshow(np.block([[first[i, j] for j in range(4)] for i in range(5)]))
    return fig


def book_panels(first):
    figures = []
    for i, j in np.ndindex(5, 4):
        fig, ax = plotting.panel()
        plotting.heatmap(ax, first[i, j])
        figures.append(fig)
    return figures


FIGURES = {
    "imshow": grid,
    "imshow on one scale": lambda first: grid(
        first, lambda ax, matrix: ax.imshow(matrix, vmin=0, vmax=1, cmap="Blues")
    ),
    "pcolormesh": lambda first: grid(first, turned("pcolormesh")),
    "pcolor": lambda first: grid(first, turned("pcolor")),
    "the book's heat map": lambda first: grid(first, plotting.heatmap),
    "matshow with colour bars": with_colourbars,
    "percent": lambda first: grid(
        first, lambda ax, matrix: ax.imshow(100 * matrix, vmin=0, vmax=100)
    ),
    "one picture": montage,
    "a figure for each": book_panels,
    "axes": lambda first: np.array(grid(first).axes).reshape(5, 4),
}


# The scores


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


def relation_in_bfloat16(maps, offset):
    return torch_relation(maps, offset).to(torch.bfloat16)


def relation_as_tuples(maps, offset):
    return tuple(map(tuple, torch_relation(maps, offset).tolist()))


def relation_with_gradients(maps, offset):
    return torch_relation(torch.as_tensor(maps).clone().requires_grad_(), offset)


def relation_by_nan(maps, offset):
    S = maps.shape[-1]
    i, j = np.indices((S, S))
    return np.nanmean(np.where(j - i == offset, maps, np.nan), axis=(1, 3, 4))


RELATIONS = [
    torch_relation,
    relation_in_bfloat16,
    relation_as_tuples,
    relation_with_gradients,
    relation_by_nan,
    numpy_relation,
    array_only_relation,
    looped_relation,
    masked_relation,
    double_relation,
    sliced_relation,
]


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


ADJACENCIES = [
    torch_adjacency,
    stacked_adjacency,
    numpy_adjacency,
    looped_adjacency,
    where_adjacency,
    array_adjacency,
]


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


def small_epsilon_uniformity(maps):
    return -(maps * (maps + 1e-4).log()).sum(-1).mean((1, 3)) / math.log(maps.shape[-1])


def uniformity_by_loss(maps):
    """As in Keras: cross entropy of a distribution with itself."""
    p = np.clip(np.asarray(maps, dtype=np.float64), 1e-7, 1)
    return (-(p * np.log(p)).sum(-1) / np.log(p.shape[-1])).mean(axis=(1, -1))


UNIFORMITIES = [
    torch_uniformity,
    small_epsilon_uniformity,
    uniformity_by_loss,
    xlogy_uniformity,
    where_uniformity,
    bits_uniformity,
    repaired_uniformity,
    looped_uniformity,
    categorical_uniformity,
    summed_over_queries_first,
]


# The names


def looking_at(offset, weight):
    """Give a map (S, S) whose rows put a weight on one offset and spread the rest evenly."""
    spread = np.full((S, S), (1 - weight) / S)
    for query in range(S):
        if 0 <= query + offset < S:
            spread[query, query + offset] += weight
        else:
            spread[query] += weight / S
    return spread


def twin(weight):
    """Look ten places away, whichever side that is."""
    half = S // 2
    return np.vstack([looking_at(half, weight)[:half], looking_at(-half, weight)[half:]])


TRAINED = np.array(
    [
        [looking_at(-1, 0.8), np.full((S, S), 1 / S), twin(0.7), looking_at(0, 0.9)],
        [looking_at(1, 0.6), looking_at(-3, 0.7), looking_at(-1, 0.3), looking_at(-1, 0.49)],
    ]
)[:, None]  # (L, 1, H, S, S)
ROLES = {
    (0, 0): "adjacent",
    (0, 1): "uniform",
    (0, 2): "relation",
    (0, 3): "other",
    (1, 0): "adjacent",
    (1, 1): "relation",
    (1, 2): "other",
    (1, 3): "other",
}


class Trained:
    """Stands for an encoder that solves the task with the maps above; its states are the ids."""

    embedding = torch.nn.Embedding(12, 2)
    layers = ()

    def __call__(self, tokens, mask=None, return_weights=False):
        weights = torch.from_numpy(TRAINED).expand(L, len(tokens), H, S, S)
        return (tokens, weights) if return_weights else tokens


def readout(tokens):
    left, twin = tokens.roll(1, 1), tokens.roll(S // 2, 1)  # (B, S)
    most = F.one_hot(tokens, 12).sum(1).argmax(-1, keepdim=True).expand_as(tokens)
    return F.one_hot(torch.stack([left, twin, most], -1), 12).flatten(-2)  # (B, S, 3 * 12)


def named(roles):
    """Call the check with names for the heads of that encoder."""
    return Call(lambda: (roles, Trained(), readout))


def changed(**names):
    """Rename heads, given as h01="uniform" for head (0, 1)."""
    return ROLES | {(int(key[1]), int(key[2])): name for key, name in names.items()}


NAMES = {
    "as scored": ROLES,
    "NumPy's and PyTorch's numbers": {
        (np.int64(layer), torch.tensor(head)): name for (layer, head), name in ROLES.items()
    },
    "capitals and spaces": {key: f" {name.title()}" for key, name in ROLES.items()},
    "in another order": dict(reversed(ROLES.items())),
    "near the threshold": changed(h13="adjacent"),  # 0.49: both names count
    "near the threshold, capital": changed(h13="Adjacent"),
    "NumPy's strings": {key: np.str_(name) for key, name in ROLES.items()},
}

FUNCTIONS = {
    "returns_all_maps": MAPS,
    "scores_relations": RELATIONS,
    "scores_neighbours": ADJACENCIES,
    "scores_uniformity": UNIFORMITIES,
}
RIGHT = {check: {f.__name__: f for f in functions} for check, functions in FUNCTIONS.items()}
RIGHT["shows_twenty_maps"] = {label: drawn(draw) for label, draw in FIGURES.items()}
RIGHT["names_heads"] = {label: named(roles) for label, roles in NAMES.items()}
UNTOUCHED = {check: [stub, None] for check in FUNCTIONS}
UNTOUCHED["shows_twenty_maps"] = [drawn(lambda first: None), drawn(lambda first: ...)]
UNTOUCHED["names_heads"] = [named(None), named(...)]
SEEDS = EVERY_SEED
SEEDED = set(FUNCTIONS)
FIXED = {"shows_twenty_maps", "names_heads"}  # no right or wrong answer here depends on it
