"""What a figure shows, read from its artists and not from its pixels; and a picture of our own."""

import os
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.container import Container
from matplotlib.figure import Figure

from attnlab import plotting
from attnlab.checks._diagnose import COMMON
from nbmark.answers import PICTURES
from nbmark.graded import require


def read_figures(fig: Any) -> list[Figure]:
    """Give the figures that the student means: one, several, their axes, what subplots returns."""
    require(fig=fig)
    figures = list(dict.fromkeys(_figures_in(fig)))
    COMMON.fail_if(not figures, "no_figure", kind=type(fig).__name__)
    return figures


def _figures_in(item: Any) -> Iterator[Figure]:
    if isinstance(item, list | tuple | np.ndarray) and not isinstance(item, Container):
        for inner in item:
            yield from _figures_in(inner)
    elif isinstance(item, Artist) and (figure := item.get_figure(root=True)) is not None:
        yield figure


def axes_of(figures: Iterable[Figure]) -> list[Axes]:
    """Give all pairs of axes."""
    return [ax for figure in figures for ax in figure.axes]


def heat_maps(figures: Iterable[Figure], S: int) -> Iterator[tuple[Axes, np.ndarray]]:
    """Give the S x S matrices that figures show, side by side or not; blank cells count as 0."""
    for ax in axes_of(figures):
        for matrix in _matrices_on(ax):
            rows, columns = (size // S for size in matrix.shape)
            if rows and columns and matrix.shape == (rows * S, columns * S):
                for tile in matrix.reshape(rows, S, columns, S).swapaxes(1, 2).reshape(-1, S, S):
                    yield ax, tile


def _matrices_on(ax: Axes) -> Iterator[np.ndarray]:
    """Give the numbers behind images and collections; in rows, where their places are unknown."""
    for artist in (*ax.images, *ax.collections):
        if artist.get_array() is None:
            continue
        values = np.ma.filled(np.ma.asarray(artist.get_array(), dtype=float), 0.0)
        values = np.where(np.isnan(values), 0.0, values)
        if values.ndim == 1 and hasattr(artist, "get_coordinates"):
            values = values.reshape(np.array(artist.get_coordinates().shape[:2]) - 1)
        if values.ndim == 1 and (S := round(values.size**0.5)) ** 2 == values.size:
            values = values.reshape(S, S)
        if values.ndim == 2:
            yield values


def curves(figures: Iterable[Figure]) -> Iterator[tuple[Axes, np.ndarray]]:
    """Give the points, (N, 2), of each line and scatter with their axes; hidden ones are NaN."""
    for ax in axes_of(figures):
        for line in ax.lines:
            yield ax, np.array(line.get_xydata(), dtype=float)
        for collection in ax.collections:
            points = np.ma.asarray(collection.get_offsets(), dtype=float)
            yield ax, np.ma.filled(points, np.nan)


def has_axis_labels(figures: Iterable[Figure]) -> bool:
    """Tell whether both axes are named, on some panel or for a whole figure."""
    axes = axes_of(figures)
    across = [f.get_supxlabel() for f in figures] + [ax.get_xlabel() for ax in axes]
    down = [f.get_supylabel() for f in figures] + [ax.get_ylabel() for ax in axes]
    return any(map(str.strip, across)) and any(map(str.strip, down))


def show_weights(weights: np.ndarray, allowed: np.ndarray) -> None:
    """Show a student's weights, (S_q, S_k), NaN left blank, beside what the mask allows.

    When marking nobody would see it.
    """
    if os.environ.get(PICTURES) == "0":
        return
    (yours, left), (shape, right) = plotting.panel(2.6, 2.2), plotting.panel(2.6, 2.2)
    plotting.heatmap(left, np.ma.masked_invalid(weights))
    plotting.heatmap(right, 0.5 * allowed, blocked=~allowed)
    left.set_title("your weights")
    right.set_title("hatched: must be 0")
    outside = np.nan_to_num(np.abs(weights[~allowed])).sum()
    said = f"Your weights hold {outside:.3f} in all where the mask blocks."
    plotting.show(yours, shape, alt=f"Your weights beside the mask. {said}", caption=said)
