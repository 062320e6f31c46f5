"""Checks of exercise 1.4: maps of a trained encoder, three scores, and which head does what."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from attnlab import sequence_labelling, tasks
from attnlab.checks import _scores_1_4 as scores
from attnlab.checks._diagnose import ask, differs, read_array, show
from attnlab.checks._figures import heat_maps, read_figures
from attnlab.checks._maps_1_4 import (
    SAID_OF_MAPS,
    SAID_OF_SQUARES,
    maps_of,
    wrong_maps,
    wrong_squares,
)
from attnlab.checks._mistakes_1_4 import (
    adjacency,
    relation,
    uniformity,
    wrong_adjacencies,
    wrong_relations,
    wrong_uniformities,
)
from attnlab.checks._roles_1_4 import check_roles
from attnlab.checks._settings import Exercise
from attnlab.transformer import TransformerEncoder
from nbmark.answers import case_rng, record
from nbmark.graded import CheckFailed, require

TOLERANCE = 1e-4  # wide enough for float32
SYMBOLS, HALF = 8, 10  # the notebook's task

exercise = Exercise("1.4")


@exercise.check(points=2)
def returns_all_maps(attention_maps: Callable) -> str:
    """Show that the function gives every layer's maps, for models of several sizes."""
    rng = case_rng("maps")
    for L, H, B, S in ((2, 3, 5, 7), (4, 2, 1, 3)):
        model, x = _random_encoder(rng, L, H), torch.from_numpy(rng.integers(11, size=(B, S)))
        case = f"a model of {L} layers with {H} heads and {B} sequences of length {S}"
        given = _read_maps(ask(attention_maps, model, x, case=case))
        right = maps_of(model, x)
        if differs(given, right, TOLERANCE):
            for cause, values in wrong_maps(model, x):
                if not differs(given, values, TOLERANCE):
                    raise CheckFailed(cause, SAID_OF_MAPS[cause])
            if given.shape == (B, S, 6 * H):
                said = "You return the states of the positions. The weights are the second thing \
                    that model(x, return_weights=True) returns."
                raise CheckFailed("states_for_maps", said)
            if given.shape != right.shape:
                said = f"With {case} your maps have shape {given.shape}, but {right.shape} fits: \
                    (layers, B, H, S, S), whatever the model."
                raise CheckFailed("wrong_shape", said)
            said = "Your maps are not the weights that the model attends with. Let the model \
                return them: its forward takes return_weights=True."
            raise CheckFailed("wrong_maps", said, show(yours=given[0, 0, 0], model=right[0, 0, 0]))
        record(f"maps of {L} layers", given[:, 0])
    return "Your function gives the maps of every layer, sequence and head, for any model."


def _random_encoder(rng: np.random.Generator, L: int, H: int) -> TransformerEncoder:
    """Make an encoder whose heads look at some keys more than at others."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(rng.integers(2**31)))
        model = TransformerEncoder(11, 6 * H, H, L)
        for layer in model.layers:
            layer.attend.W_q.weight.data *= 4
            layer.attend_norm.weight.data.uniform_(0.5, 2)
    return model


def _read_maps(value: Any) -> np.ndarray:
    """Read maps from a tensor, an array, or a list with those of each layer."""
    value = scores.without_tensors("attention_maps", value)
    if isinstance(value, list) and len({np.shape(item) for item in value}) > 1:
        said = "You return all that the model returns: its states and the weights. Return the \
            weights alone, the second of the two."
        raise CheckFailed("returns_pair", said)
    return read_array("attention_maps(model, x)", value)


@exercise.check(points=2)
def shows_twenty_maps(fig: Any, model: TransformerEncoder, sequences: Tensor) -> str:
    """Show that a figure holds layer 1's four maps of each of five sequences."""
    require(fig=fig)
    maps = maps_of(model, sequences)
    S = maps.shape[-1]
    shown = np.array([values for _, values in heat_maps(read_figures(fig), S)]).reshape(-1, S, S)
    wanted = maps[0].reshape(-1, S, S)  # (20, S, S)
    found = _among(wanted, shown)
    if not found.any():
        raise _explain_squares(shown, maps)
    if not found.all():
        sequence, head = divmod(int(found.argmin()), maps.shape[2])
        said = f"`fig` shows {found.sum()} of the {len(wanted)} maps. Draw all four heads for each \
            of the five sequences; sequence {sequence}, head {head} is missing."
        raise CheckFailed("maps_missing", said)
    record("maps shown", len(wanted))
    return "Your figure shows all 20 maps: four heads of layer 1, five sequences."


def _explain_squares(shown: np.ndarray, maps: np.ndarray) -> CheckFailed:
    """Say what a figure shows that holds none of the wanted maps."""
    S = maps.shape[-1]
    if not len(shown):
        said = f"`fig` shows no matrix of {S} x {S} weights. Draw each map as an image, for \
            example with ax.imshow(maps[0, sequence, head])."
        return CheckFailed("no_maps", said)
    for cause, values in wrong_squares(maps):
        if _among(shown, values.reshape(-1, S, S)).any():
            return CheckFailed(cause, SAID_OF_SQUARES[cause])
    said = "None of the maps in `fig` is one of layer 1's for these five sequences. Draw \
        maps[0, sequence, head], with maps = attention_maps(model, sequences)."
    return CheckFailed("other_maps", said)


def _among(wanted: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """Tell for each of the wanted matrices whether it is among others, both (N, S, S)."""
    found = [np.isclose(squares, matrix, rtol=0, atol=1e-5).all((-2, -1)) for matrix in wanted]
    return np.array([bool(hits.any()) for hits in found])


@exercise.check(points=2)
def scores_relations(relation_score: Callable) -> str:
    """Show that the score is the mean weight at an offset, over queries that have a key."""
    small, general = scores.cases("relations")
    scores.check_shape(relation_score, general, 1)
    cases = [(small, offset) for offset in (1, -1, 2, -2, 0)]
    cases += [(general, offset) for offset in (3, -2, 6, -5)]
    record("relations", scores.check_score(relation_score, cases, relation, wrong_relations))
    return "Your score is the mean weight at an offset and leaves out queries without a key there."


@exercise.check(points=2)
def scores_neighbours(adjacency_score: Callable) -> str:
    """Show that the score is the larger of the scores at offsets -1 and +1, head by head."""
    small, general = scores.cases("neighbours")
    scores.check_shape(adjacency_score, general)
    turned = small[..., ::-1, ::-1]  # what was on the left of the diagonal is on its right
    disagreeing = np.concatenate([small, turned], axis=1)  # two sequences
    itself = 0.8 * np.eye(5) + 0.04 * np.ones((1, 1, 1, 5, 5))
    cases = [(maps,) for maps in (small, turned, itself, disagreeing, general)]
    record("adjacency", scores.check_score(adjacency_score, cases, adjacency, wrong_adjacencies))
    return "Your score is the larger side of each head."


@exercise.check(points=2)
def scores_uniformity(uniformity_score: Callable) -> str:
    """Show that the score is the mean entropy of the rows over log S, with weights of 0 in them."""
    small, general = scores.cases("uniformity")
    scores.check_shape(uniformity_score, general)
    flat = np.full((1, 1, 1, 5, 5), 0.2)
    sharp = np.eye(4)[[1, 0, 3, 3]].reshape(1, 1, 1, 4, 4)
    sparse = np.where(general < general.max(-1, keepdims=True) / 2, 0, general)
    sparse /= sparse.sum(-1, keepdims=True)
    cases = [(maps,) for maps in (small, flat, general, sharp, sparse)]
    given = scores.check_score(uniformity_score, cases, uniformity, wrong_uniformities)
    record("uniformity", given)
    return "Your score is 1 for uniform rows, 0 for rows that look at one key, and right between."


@exercise.check(points=2)
def names_heads(head_roles: Any, model: TransformerEncoder, readout: nn.Linear) -> str:
    """Show that each head's name follows from the scores of the student's own trained model."""
    require(head_roles=head_roles)
    source, target = tasks.three_copies(
        400, HALF, SYMBOLS, seed=int(case_rng("heads").integers(999))
    )
    shares = sequence_labelling.accuracy(model, readout, source, target)
    if min(shares) < 0.8:
        said = f"Your model copies only {min(shares):.0%} right, so its heads have learned little. \
            Run the cell that trains it once more, from a new model on."
        raise CheckFailed("untrained", said)
    n_heads = check_roles(head_roles, maps_of(model, source))
    record("heads named right", n_heads)
    return f"All {n_heads} names follow from the scores of your own model."
