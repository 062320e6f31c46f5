"""The maps of exercise 1.4: as a function gives them, as a figure shows them, and mistaken."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from attnlab.checks._mistakes_1_4 import Mistake
from attnlab.transformer import TransformerEncoder, sinusoidal_positions

ORDER = "The order of the axes is (layers, B, H, S, S)."
WHOLE = "Let the model's own forward do the work: it can return the weights of all layers."
SAID_OF_MAPS = {
    "axis_order": f"Your axes come in another order. {ORDER}",
    "one_layer": "You return the maps of one layer alone. Stack those of all layers, the first "
    "one first: (layers, B, H, S, S).",
    "heads_averaged": "You average over the heads, and what each of them does is lost. Keep all "
    "heads: (layers, B, H, S, S).",
    "batch_averaged": "You average over the sequences. Keep each of them: (layers, B, H, S, S).",
    "first_sequence": "You return the maps of the first sequence alone. Keep all of them.",
    "transposed": "Your maps are transposed. A row belongs to a query and sums to 1 over the keys.",
    "layers_reversed": "Your layers come in reverse. The one next to the embedding is index 0.",
    "softmax_twice": "You apply a softmax to what is one already. The model returns weights, not "
    "scores.",
    "no_positions": f"Your maps are those of a model without positions. {WHOLE}",
    "no_norm": f"Your maps leave out the normalisation in front of the attention. {WHOLE}",
}
ONE_SCALE = "Draw the weights themselves, all on one scale, such as vmin=0 and vmax=1."
SAID_OF_SQUARES = {
    "transposed": "Your maps are transposed. Queries run down and keys to the right, as in "
    "maps[0, sequence, head].",
    "other_layer": "You show another layer. Layer 1 of the text is the one next to the embedding, "
    "which is index 0: maps[0].",
    "heads_averaged": "You show the mean over the heads. Draw each head by itself: four maps for "
    "each sequence.",
    "sequences_averaged": "You show the mean over the sequences. Draw each sequence by itself: "
    "five maps for each head.",
    "layers_averaged": "You show the mean over the layers. Draw layer 1 alone, index 0.",
    "rescaled": f"Your maps are divided by their largest weight. {ONE_SCALE}",
    "logarithms": f"You show the logarithms of the weights. {ONE_SCALE}",
    "upside_down": "The rows of your maps are in reverse order. Row 0 is the first query.",
}


@torch.no_grad()
def maps_of(model: TransformerEncoder, x: Tensor) -> np.ndarray:
    """Give the maps of all layers, (L, B, H, S, S), as the model itself returns them."""
    return model(x, return_weights=True)[1].double().cpu().numpy()


def wrong_maps(model: TransformerEncoder, x: Tensor) -> Iterator[Mistake]:
    """Give what known mistakes make of the maps of all layers."""
    right = maps_of(model, x)
    yield "axis_order", right.swapaxes(0, 1)
    yield "axis_order", right.swapaxes(1, 2)
    yield "axis_order", np.moveaxis(right, 2, 0)
    yield "one_layer", right[-1]
    yield "one_layer", right[0]
    yield "heads_averaged", right.mean(2)
    yield "batch_averaged", right.mean(1)
    yield "first_sequence", right[:, 0]
    yield "transposed", right.swapaxes(-1, -2)
    yield "layers_reversed", right[::-1]
    yield "softmax_twice", np.exp(right) / np.exp(right).sum(-1, keepdims=True)
    yield "no_positions", _recomputed(model, x, positions=False)
    yield "no_norm", _recomputed(model, x, norm=False)


@torch.no_grad()
def _recomputed(
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
    return torch.stack(maps).double().numpy()


def wrong_squares(maps: np.ndarray) -> Iterator[Mistake]:
    """Give what a figure shows by mistake instead of maps[0], from all maps (L, B, H, S, S)."""
    first = maps[0]  # (B, H, S, S)
    yield "transposed", first.swapaxes(-1, -2)
    yield "other_layer", maps[1:]
    yield "heads_averaged", first.mean(1)
    yield "sequences_averaged", first.mean(0)
    yield "layers_averaged", maps.mean(0)
    yield "rescaled", first / first.max((-2, -1), keepdims=True)
    yield "rescaled", first / first.max(-1, keepdims=True)
    with np.errstate(divide="ignore"):
        for logarithm in (np.log, np.log2, np.log10):
            yield "logarithms", logarithm(first)
    yield "upside_down", first[..., ::-1, :]
