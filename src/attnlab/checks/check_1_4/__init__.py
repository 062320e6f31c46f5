"""Checks of exercise 1.4: maps of a trained encoder, three scores, and which head does what."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from attnlab import sequence_labelling, tasks
from attnlab.checks._diagnose import ask, read_array, show
from attnlab.checks._figures import colour_scales, heat_maps, is_turned, read_figures
from attnlab.checks._settings import Exercise
from attnlab.checks.check_1_4.cases import close, draw_encoder, draw_maps, maps_of, recompute
from attnlab.checks.check_1_4.compare import compare, right_scores
from attnlab.checks.check_1_4.contracts import TOLD
from attnlab.checks.check_1_4.follow import names_by_own_scores, own_maps, takes_larger_side
from attnlab.checks.check_1_4.mistakes import MISTAKES
from attnlab.checks.check_1_4.roles import check_roles
from attnlab.transformer import TransformerEncoder
from nbmark.answers import case_rng, record
from nbmark.graded import CheckFailed, require

SYMBOLS, HALF = 8, 10  # the notebook's task

exercise = Exercise("1.4")


@exercise.check(points=2, **TOLD["returns_all_maps"])
def returns_all_maps(attention_maps: Callable) -> str:
    """Show that the function gives every layer's maps, for models of several sizes."""
    rng = case_rng("maps")
    for L, H, B, S in ((2, 3, 5, 7), (4, 2, 1, 3)):
        model, x = draw_encoder(rng, L, H), torch.from_numpy(rng.integers(11, size=(B, S)))
        case = f"a model of {L} layers with {H} heads and {B} sequences of length {S}"
        given, right = ask(attention_maps, model, x, case=case), maps_of(model, x)
        several = given if isinstance(given, list | tuple) else ()
        alike = len({getattr(each, "shape", 0) for each in several}) <= 1
        MISTAKES.fail_if(not alike, "returns_pair")
        given = read_array("attention_maps(model, x)", given)
        if not close(given, right):
            again = partial(recompute, model, x)
            cause = MISTAKES.explain("maps", given, right, again, same=close)
            states, example = (*x.shape, model.embedding.embedding_dim), ""
            if cause is None and given.shape == right.shape:
                cause, example = "wrong_maps", show(yours=given[0, 0, 0], model=right[0, 0, 0])
            other = "states_for_maps" if given.shape == states else "wrong_shape"
            seen = f"With {case} your maps have shape {given.shape}."
            fits = f"(layers, B, H, S, S), here {right.shape}"
            raise MISTAKES.failure(cause or other, example, seen, fits=fits)
        record(f"maps of {L} layers", given[:, 0])
    return "Your function gives the maps of every layer, sequence and head, for any model."


@exercise.check(points=2, **TOLD["shows_twenty_maps"])
def shows_twenty_maps(
    fig: Any,
    model: TransformerEncoder,
    sequences: Tensor,
    attention_maps: Callable | None = None,
) -> str:
    """Show that a figure holds layer 1's four maps of each of five sequences."""
    figures, maps = read_figures(fig), maps_of(model, sequences)
    try:
        found = _require_maps(figures, maps)
    except CheckFailed:
        own = own_maps(attention_maps, model, sequences)
        if own is None:
            raise
        record("maps shown", _require_maps(figures, own))
        return """Your figure shows all 20 maps that your `attention_maps` gives. Apart from what
            its check finds wrong with it, this is right."""
    record("maps shown", found)
    return "Your figure shows all 20 maps: four heads of layer 1, five sequences."


def _require_maps(figures: list, maps: np.ndarray) -> int:
    """Fail unless the maps of layer 1 are drawn; give their number."""
    H, S = maps.shape[2:4]
    shown = np.array([matrix for _, matrix in heat_maps(figures, S)]).reshape(-1, S, S)
    shown = shown / 100 if len(shown) and 1.5 < np.nanmax(shown) <= 100.1 else shown  # percent
    found = _among(shown, maps[0])
    MISTAKES.fail_if(not len(shown), "no_maps", S=S)
    if not found.any():
        known = MISTAKES.explain("drawn", shown, maps, same=lambda *both: _among(*both).any())
        raise MISTAKES.failure(known or "other_maps")
    sequence, head = divmod(int(found.argmin()), H)
    seen = f"`fig` shows {found.sum()} of the {len(found)} maps."
    facts = {"sequence": sequence, "head": head}
    MISTAKES.fail_if(not found.all(), "maps_missing", seen=seen, **facts)
    drawn = {
        ax
        for ax, tile in heat_maps(figures, S)
        if (_among(tile[None], maps[0]) | _among(tile[None] / 100, maps[0])).any()
    }
    bars = all(not ax.images and not ax.collections for ax in drawn)
    MISTAKES.fail_if(not bars and any(map(is_turned, drawn)), "first_row_below")
    MISTAKES.fail_if(len(colour_scales(figures, S)) > 1, "own_scales")
    return len(found)


def _among(shown: np.ndarray, maps: np.ndarray) -> np.ndarray:
    """Tell for each map, (..., S, S), whether it is among the matrices shown, (N, S, S)."""
    maps = maps.reshape(-1, *maps.shape[-2:])
    hits = [np.isclose(shown, matrix, rtol=0, atol=1e-5).all((-2, -1)).any() for matrix in maps]
    return np.array(hits)


@exercise.check(points=2, **TOLD["scores_relations"])
def scores_relations(relation_score: Callable) -> str:
    """Show that the score is the mean weight at an offset, over queries that have a key."""
    small, general = draw_maps("relations")
    cases = [(small, offset) for offset in (1, -1, 2, -2, 0)]
    cases += [(general, offset) for offset in (3, -2, 6, -5)]
    record("relations", compare(relation_score, "relation", *cases))
    return "Your score is the mean weight at an offset and leaves out queries without a key there."


@exercise.check(points=2, **TOLD["scores_neighbours"])
def scores_neighbours(adjacency_score: Callable, relation_score: Callable | None = None) -> str:
    """Show that the score is the larger of the scores at offsets -1 and +1, head by head."""
    small, general = draw_maps("neighbours")
    turned = small[..., ::-1, ::-1]  # what was on the left of the diagonal is on its right
    itself = 0.8 * np.eye(5) + 0.04 * np.ones((1, 1, 1, 5, 5))
    disagreeing = np.concatenate([small, turned], axis=1)  # two sequences
    cases = [(maps,) for maps in (small, turned, itself, disagreeing, general)]
    try:
        record("adjacency", compare(adjacency_score, "adjacency", *cases))
    except CheckFailed:
        if not takes_larger_side(adjacency_score, relation_score, *cases):
            raise
        record("adjacency", right_scores("adjacency", *cases))
        return """Your score is the larger of the two that your `relation_score` gives. Apart from
            what its check finds wrong with it, this is right."""
    return "Your score is the larger side of each head."


@exercise.check(points=2, **TOLD["scores_uniformity"])
def scores_uniformity(uniformity_score: Callable) -> str:
    """Show that the score is the mean entropy of the rows over log S, with weights of 0 in them."""
    small, general = draw_maps("uniformity")
    flat = np.full((1, 1, 1, 5, 5), 0.2)
    sharp = np.eye(4)[[1, 0, 3, 3]].reshape(1, 1, 1, 4, 4)
    sparse = np.where(general < general.max(-1, keepdims=True) / 2, 0, general)
    sparse /= sparse.sum(-1, keepdims=True)
    cases = [(maps,) for maps in (small, flat, general, sharp, sparse)]
    record("uniformity", compare(uniformity_score, "uniformity", *cases))
    return "Your score is 1 for uniform rows, 0 for rows that look at one key, and right between."


@exercise.check(points=2, **TOLD["names_heads"])
def names_heads(
    head_roles: Any, model: TransformerEncoder, readout: nn.Linear, *functions: Callable
) -> str:
    """Show that each head's name follows from the scores of the student's own trained model."""
    require(head_roles=head_roles)
    seed, device = int(case_rng("heads").integers(999)), model.embedding.weight.device
    source, target = (t.to(device) for t in tasks.three_copies(400, HALF, SYMBOLS, seed))
    share = min(sequence_labelling.accuracy(model, readout, source, target))
    MISTAKES.fail_if(share < 0.8, "untrained", share=share)
    try:
        n_heads = check_roles(head_roles, maps_of(model, source))
    except CheckFailed:
        n_heads = names_by_own_scores(head_roles, model, source[:60], functions)
        if not n_heads:
            raise
        record("heads named right", n_heads)
        return f"""All {n_heads} names follow from your scores. Apart from what the checks above
            find wrong with one of these, this is right."""
    record("heads named right", n_heads)
    return f"All {n_heads} names follow from the scores of your own model."


__all__ = ["exercise", *exercise.points]
