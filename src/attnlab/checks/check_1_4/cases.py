"""What the student's functions of exercise 1.4 are called with, and what is right for it."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnlab.checks._diagnose import differs, read_array
from attnlab.transformer import TransformerEncoder, sinusoidal_positions
from nbmark.answers import case_rng

TOLERANCE = 1e-4  # wide enough for float32
WIDE = {"uniformity": 1e-3}  # and for 1e-4 added inside the logarithm
SIZES = 3, 11, 5, 7  # layers, sequences, heads, positions: no two alike, none a usual base


def close(given: Any, right: Any) -> bool:
    """Tell whether two arrays are the same for this exercise."""
    return not differs(given, right, TOLERANCE)


def fits(score: str, given: Any, right: Any, coarse: float = 0.0) -> bool:
    """Tell whether a score is right, with what its number type leaves open."""
    return not differs(given, right, max(WIDE.get(score, TOLERANCE), coarse))


def draw_encoder(rng: np.random.Generator, L: int, H: int) -> TransformerEncoder:
    """Make an encoder whose heads look at some keys more than at others."""
    torch.default_generator.manual_seed(int(rng.integers(2**31)))
    model = TransformerEncoder(11, 6 * H, H, L)
    for layer in model.layers:
        layer.attend.W_q.weight.data *= 4
        layer.attend_norm.weight.data.uniform_(0.5, 2)
    return model


@torch.no_grad()
def maps_of(model: TransformerEncoder, x: Tensor) -> np.ndarray:
    """Give the maps of all layers, (L, B, H, S, S), as the model itself returns them."""
    return read_array("maps", model(x, return_weights=True)[1])


@torch.no_grad()
def recompute(
    model: TransformerEncoder, x: Tensor, positions: bool = True, norm: bool = True
) -> np.ndarray:
    """Run the layers one by one, with or without two of the steps that are easily forgotten."""
    state, maps = model.embedding(x), []
    if positions:
        state = state + sinusoidal_positions(*state.shape[1:])
    for layer in model.layers:
        entering = layer.attend_norm(state) if norm else state
        maps.append(layer.attend(entering, entering, entering)[1])
        state, _ = layer(state)
    return read_array("maps", maps)


def draw_maps(stage: str) -> tuple[np.ndarray, np.ndarray]:
    """Give the smallest maps that show a mistake, and general ones; no two scores nearly alike."""
    rng = case_rng(stage)
    odds = [np.exp(1.5 * rng.standard_normal((*n, n[-1]))) for n in ((1, 1, 1, 3), SIZES)]
    small, general = (o / o.sum(-1, keepdims=True) for o in odds)
    return small, general  # (1, 1, 1, 3, 3), (L, B, H, S, S)


def along(maps: np.ndarray, offset: int) -> np.ndarray:
    """Give the weights on key = query + offset, (L, B, H, S - abs(offset))."""
    return np.diagonal(maps, offset, -2, -1)


def relation(maps: np.ndarray, offset: int) -> np.ndarray:
    """Give their mean, (L, H)."""
    return along(maps, offset).mean((1, 3))


def entropies(maps: np.ndarray, more: float = 0.0) -> np.ndarray:
    """Give that of each row over log S, (L, B, H, S); `more` is added inside the logarithm."""
    logs = np.log(maps + more, out=np.zeros_like(maps), where=maps + more > 0)
    return -(maps * logs).sum(-1) / np.log(maps.shape[-1])


def uniformity(maps: np.ndarray, more: float = 0.0) -> np.ndarray:
    """Give the mean of that, (L, H)."""
    return entropies(maps, more).mean((1, 3))


class Case:
    """What ``"relation"``, ``"adjacency"`` or ``"uniformity"`` is called with, and gives."""

    def __init__(self, score: str, maps: np.ndarray, offset: int | None = None) -> None:
        self.maps, self.offset, self.S = maps, offset, maps.shape[-1]
        if score == "uniformity":
            self.sides = [entropies(maps)]  # whose means the score is the larger of
        else:
            self.sides = [along(maps, k) for k in ([-1, 1] if offset is None else [offset])]
        self.means = [side.mean((1, 3)) for side in self.sides]
        self.right = np.max(self.means, axis=0)  # (L, H)
        self.nats = self.right * np.log(self.S)  # of a uniformity
        self.by_all = self.right * self.sides[0].shape[-1] / self.S  # queries, of other scores

    def __str__(self) -> str:
        sizes = " x ".join(map(str, self.maps.shape))
        return f"maps of {sizes}" + ("" if self.offset is None else f" and offset {self.offset:+d}")
