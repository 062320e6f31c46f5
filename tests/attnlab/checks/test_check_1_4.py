"""Maps, figure and names of exercise 1.4: right ways pass, wrong ones are told their cause."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from torch import nn

from attnlab import plotting
from attnlab.checks import check_1_4
from attnlab.checks._roles_1_4 import role_scores
from attnlab.transformer import TransformerEncoder, sinusoidal_positions
from nbmark.graded import CheckFailed, NotAttempted

L, H, S = 2, 4, 20
HEADS = [(layer, head) for layer in range(L) for head in range(H)]


EVERY_SEED = pytest.mark.parametrize("seed", ["0", "1", "2", "12345"])


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def assert_told(cause, words, check, *args):
    with pytest.raises(CheckFailed) as caught:
        check(*args)
    assert caught.value.cause == cause, str(caught.value)
    assert words in " ".join(str(caught.value).split())


def assert_passes(capsys, words, check, *args):
    check(*args)
    out, err = capsys.readouterr()
    assert words in " ".join(out.split())
    assert err == ""


# Task 1: the maps of all layers


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


RIGHT_MAPS = [
    asked_for,
    without_gradients,
    detached_list,
    doubled,
    hooked,
    layer_by_layer,
    one_sequence_at_a_time,
]
WRONG_MAPS = [
    (lambda m, x: m(x, return_weights=True), "returns_pair", "states and the weights"),
    (lambda m, x: m(x, return_weights=True)[0], "states_for_maps", "the second thing"),
    (lambda m, x: m(x), "states_for_maps", "return_weights=True"),
    (lambda m, x: asked_for(m, x).transpose(0, 1), "axis_order", "another order"),
    (lambda m, x: asked_for(m, x).transpose(1, 2), "axis_order", "another order"),
    (lambda m, x: asked_for(m, x).permute(2, 0, 1, 3, 4), "axis_order", "another order"),
    (lambda m, x: asked_for(m, x)[0], "one_layer", "Stack those of all layers"),
    (lambda m, x: asked_for(m, x)[-1], "one_layer", "Stack those of all layers"),
    (lambda m, x: asked_for(m, x)[:2], "wrong_shape", "4 layers"),
    (lambda m, x: asked_for(m, x).mean(2), "heads_averaged", "Keep all heads"),
    (lambda m, x: asked_for(m, x).mean(1), "batch_averaged", "Keep each of them"),
    (lambda m, x: asked_for(m, x)[:, 0], "first_sequence", "first sequence alone"),
    (lambda m, x: asked_for(m, x[:1]), "wrong_shape", "5 sequences"),
    (lambda m, x: asked_for(m, x).mT, "transposed", "belongs to a query"),
    (lambda m, x: asked_for(m, x).flip(0), "layers_reversed", "in reverse"),
    (lambda m, x: asked_for(m, x).softmax(-1), "softmax_twice", "weights, not scores"),
    (without_norm, "no_norm", "normalisation"),
    (without_positions, "no_positions", "without positions"),
    (lambda m, x: asked_for(m, x).log(), "wrong_maps", "return_weights=True"),
    (lambda m, x: asked_for(m, x).reshape(-1, *x.shape, x.shape[1]), "wrong_shape", "fits"),
    (lambda m, x: m(x, return_maps=True), "raised", "TypeError"),
    (lambda m, x: None, "returns_nothing", "returns None"),
]


@EVERY_SEED
@pytest.mark.parametrize("right", RIGHT_MAPS)
def test_right_maps_pass_quietly(right, seed, capsys, monkeypatch):
    monkeypatch.setenv("NBMARK_SEED", seed)
    assert_passes(capsys, "maps of every layer", check_1_4.returns_all_maps, right)


@EVERY_SEED
@pytest.mark.parametrize(("wrong", "cause", "words"), WRONG_MAPS)
def test_wrong_maps_are_told_why(wrong, cause, words, seed, monkeypatch):
    monkeypatch.setenv("NBMARK_SEED", seed)
    assert_told(cause, words, check_1_4.returns_all_maps, wrong)


def test_a_check_leaves_the_random_numbers_of_the_notebook_alone():
    before = torch.get_rng_state()
    check_1_4.returns_all_maps(asked_for)
    assert torch.equal(torch.get_rng_state(), before)


# Task 2: the figure


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(3)
    model = TransformerEncoder(12, 16, H, L)
    for layer in model.layers:
        layer.attend.W_q.weight.data *= 5
    return model


@pytest.fixture(scope="module")
def sequences():
    return torch.randint(12, (5, S), generator=torch.Generator().manual_seed(4))


@pytest.fixture(scope="module")
def maps(model, sequences):
    return asked_for(model, sequences).detach().numpy()


def grid(first, draw=None):
    """Draw first[sequence, head] in a row of axes for each sequence."""
    fig, axes = plt.subplots(*first.shape[:2], squeeze=False)
    for i, j in np.ndindex(first.shape[:2]):
        (draw or type(axes[i, j]).imshow)(axes[i, j], first[i, j])
    return fig


def with_colourbars(first):
    fig, axes = plt.subplots(4, 5)
    for i, j in np.ndindex(5, 4):
        image = axes[j, i].matshow(first[i, j], cmap="viridis", origin="lower")
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


RIGHT_FIGURES = [
    grid,
    lambda first: grid(first, lambda ax, matrix: ax.imshow(matrix, vmin=0, vmax=1, cmap="Blues")),
    lambda first: grid(first, lambda ax, matrix: ax.pcolormesh(matrix)),
    lambda first: grid(first, lambda ax, matrix: ax.pcolor(matrix)),
    lambda first: grid(first, plotting.heatmap),
    with_colourbars,
    montage,
    book_panels,
    lambda first: np.array(grid(first).axes).reshape(5, 4),
]


@pytest.mark.parametrize("draw", RIGHT_FIGURES)
def test_right_figures_pass_quietly(draw, maps, model, sequences, capsys):
    assert_passes(
        capsys, "all 20 maps", check_1_4.shows_twenty_maps, draw(maps[0]), model, sequences
    )


WRONG_FIGURES = [
    (lambda maps: plt.figure(), "no_maps", "20 x 20"),
    (lambda maps: grid(maps[0], lambda ax, m: ax.plot(m)), "no_maps", "ax.imshow"),
    (lambda maps: "a figure", "no_figure", "matplotlib Figure"),
    (lambda maps: plt, "no_figure", "matplotlib Figure"),
    (lambda maps: grid(maps[1]), "other_layer", "index 0"),
    (lambda maps: grid(maps[0].swapaxes(-1, -2)), "transposed", "Queries run down"),
    (lambda maps: grid(maps[0].mean(1, keepdims=True)), "heads_averaged", "Draw each head"),
    (lambda maps: grid(maps[0].mean(0, keepdims=True)), "sequences_averaged", "Draw each seq"),
    (lambda maps: grid(maps.mean(0)), "layers_averaged", "layer 1 alone"),
    (
        lambda maps: grid(maps[0] / maps[0].max((-2, -1), keepdims=True)),
        "rescaled",
        "all on one scale",
    ),
    (lambda maps: grid(maps[0] / maps[0].max(-1, keepdims=True)), "rescaled", "one scale"),
    (lambda maps: grid(np.log(maps[0])), "logarithms", "weights themselves"),
    (lambda maps: grid(np.log10(maps[0])), "logarithms", "weights themselves"),
    (lambda maps: grid(maps[0][..., ::-1, :]), "upside_down", "first query"),
    (lambda maps: grid(maps[0][:1]), "maps_missing", "4 of the 20 maps"),
    (lambda maps: grid(maps[0][:, :1]), "maps_missing", "sequence 0, head 1 is missing"),
    (lambda maps: grid(maps[0][[0, 0, 0, 0, 0]]), "maps_missing", "sequence 1, head 0"),
    (lambda maps: grid(maps[0] + 0.1), "other_maps", "attention_maps(model, sequences)"),
    (lambda maps: grid(maps[0][..., :10]), "no_maps", "20 x 20"),
]


@pytest.mark.parametrize(("draw", "cause", "words"), WRONG_FIGURES)
def test_wrong_figures_are_told_why(draw, cause, words, maps, model, sequences):
    assert_told(cause, words, check_1_4.shows_twenty_maps, draw(maps), model, sequences)


def test_maps_of_other_sequences_are_told_apart(maps, model, sequences):
    fig = grid(asked_for(model, sequences.flip(1)).detach().numpy()[0])
    assert_told("other_maps", "five sequences", check_1_4.shows_twenty_maps, fig, model, sequences)


def test_a_figure_that_is_still_none_is_not_attempted(model, sequences):
    with pytest.raises(NotAttempted):
        check_1_4.shows_twenty_maps(None, model, sequences)


# Task 6: the names


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


@pytest.fixture
def names(monkeypatch):
    """Give the check, for a trained model whose maps are those above."""
    monkeypatch.setattr(check_1_4, "maps_of", lambda model, x: TRAINED)
    monkeypatch.setattr(check_1_4.sequence_labelling, "accuracy", lambda *args: [0.99, 0.98, 0.9])
    return lambda roles: check_1_4.names_heads(roles, None, None)


def changed(**names):
    """Rename heads, given as h01="uniform" for head (0, 1)."""
    return ROLES | {(int(key[1]), int(key[2])): name for key, name in names.items()}


RIGHT_ROLES = [
    ROLES,
    {(np.int64(layer), torch.tensor(head)): name for (layer, head), name in ROLES.items()},
    {key: f" {name.title()}" for key, name in ROLES.items()},
    dict(reversed(ROLES.items())),
    changed(h13="adjacent"),  # 0.49 is near the threshold: both names count
    changed(h13="Adjacent"),
    {key: np.str_(name) for key, name in ROLES.items()},
]


@pytest.mark.parametrize("roles", RIGHT_ROLES)
def test_right_names_pass_quietly(roles, names, capsys):
    assert_passes(capsys, "All 8 names follow", names, roles)


WRONG_ROLES = [
    (changed(h00="relation"), "adjacent_as_relation", "a neighbour"),
    (changed(h02="adjacent"), "relation_as_adjacent", "further away"),
    (changed(h02="uniform"), "not_uniform", "not 0.9 or more"),
    (changed(h03="relation"), "no_relation", "not 0.5 or more"),
    (changed(h03="adjacent"), "not_adjacent", "not 0.5 or more"),
    (changed(h01="other"), "overlooked", "Compute all three"),
    (changed(h11="other"), "overlooked", "Head (1, 1)"),
    (dict.fromkeys(HEADS, "other"), "overlooked", "5 of 8 names"),
    (dict.fromkeys(HEADS, "uniform"), "not_uniform", "names do not follow"),
    ({(1 - i, j): name for (i, j), name in ROLES.items()}, "layers_exchanged", "next to the emb"),
    ({(i + 1, j + 1): name for (i, j), name in ROLES.items()}, "counted_from_one", "from 0 to 1"),
    ({(i + 1, j): name for (i, j), name in ROLES.items()}, "counted_from_one", "Layers run from"),
    ({(j, i): name for (i, j), name in ROLES.items()}, "keys_exchanged", "(layer, head)"),
    ({key: ROLES[key] for key in HEADS[:4]}, "heads_missing", "Head (1, 0) has no name"),
    (ROLES | {(2, 0): "other"}, "no_such_head", "no head (2, 0)"),
    (changed(h02="twin"), "unknown_name", "'adjacent', 'relation', 'uniform', 'other'"),
    (changed(h02=None), "unknown_name", "Use one of"),
    (list(ROLES.values()), "no_dictionary", "Make it a dictionary"),
    (dict(enumerate(ROLES.values())), "wrong_keys", "no pair"),
    ({"0, 0": "uniform"}, "wrong_keys", "no pair"),
]


@pytest.mark.parametrize(("roles", "cause", "words"), WRONG_ROLES)
def test_wrong_names_are_told_why(roles, cause, words, names):
    assert_told(cause, words, names, roles)


def test_scores_behind_the_names_are_those_of_the_maps_made_for_them():
    found = role_scores(TRAINED)
    assert found["adjacent"][0, 0] == pytest.approx(0.8 + 0.2 / S)
    assert found["relation"][0, 2] == pytest.approx(0.7 + 0.3 / S)
    assert found["uniform"][0, 1] == pytest.approx(1)


def test_names_of_a_model_that_has_not_learned_its_task_do_not_count(model):
    untrained = TransformerEncoder(12, 64, 4, 2), nn.Linear(64, 36)
    roles = dict.fromkeys(HEADS, "uniform")
    assert_told("untrained", "trains it once more", check_1_4.names_heads, roles, *untrained)


def test_points_add_up_to_those_of_the_exercise():
    assert check_1_4.exercise.points == {
        "returns_all_maps": 2,
        "shows_twenty_maps": 2,
        "scores_relations": 2,
        "scores_neighbours": 2,
        "scores_uniformity": 2,
        "names_heads": 2,
    }
