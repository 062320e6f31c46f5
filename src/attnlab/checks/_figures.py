"""What a figure shows, read from its artists and not from its pixels; and a picture of our own."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.container import BarContainer, Container
from matplotlib.contour import ContourSet
from matplotlib.figure import Figure
from matplotlib.path import Path
from matplotlib.ticker import FixedFormatter, FuncFormatter

from attnlab import plotting
from attnlab.checks._diagnose import COMMON
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
        for matrix, _ in _matrices_on(ax):
            for tile in _tiles(matrix, S):
                yield ax, tile


def colour_scales(figures: Iterable[Figure], S: int) -> set[tuple[float, float]]:
    """Give the least and the largest value of the colours of all S x S matrices shown."""
    found = [pair for ax in axes_of(figures) for pair in _matrices_on(ax)]
    scales = {artist.get_clim() for matrix, artist in found if artist and _tiles(matrix, S)}
    return {tuple(round(float(limit), 6) for limit in scale) for scale in scales}


def _tiles(matrix: np.ndarray, S: int) -> list[np.ndarray]:
    """Cut a matrix into S x S ones; none where that cannot be."""
    rows, columns = (size // S for size in matrix.shape)
    if not (rows and columns and matrix.shape == (rows * S, columns * S)):
        return []
    return list(matrix.reshape(rows, S, columns, S).swapaxes(1, 2).reshape(-1, S, S))


def contour_maps(
    figures: Iterable[Figure], S: int
) -> Iterator[tuple[Axes, np.ndarray, np.ndarray]]:
    """Give between which values the S x S places of filled contours lie: axes, lower, upper."""
    places = np.stack(np.meshgrid(np.arange(S), np.arange(S)), -1).reshape(-1, 2)
    inside = np.clip(places, 0.02, S - 1.02)
    for ax in axes_of(figures):
        for contours in (item for item in ax.collections if isinstance(item, ContourSet)):
            low, high = np.full((2, S * S), np.nan)
            for k, path in enumerate(contours.get_paths()):
                if contours.filled and len(path.vertices):
                    rings = [Path(ring).contains_points(inside) for ring in path.to_polygons()]
                    here = np.logical_xor.reduce(rings)  # a ring within a ring is a hole
                    low[here], high[here] = contours.levels[k : k + 2]
            if np.isfinite(low).all():
                slack = 0.02 * (contours.zmax - contours.zmin)
                yield ax, (low - slack).reshape(S, S), (high + slack).reshape(S, S)


def is_turned(ax: Axes) -> bool:
    """Tell whether row 0 lies at the bottom, and no labels of ticks were written that say so."""
    written = isinstance(ax.yaxis.get_major_formatter(), FixedFormatter | FuncFormatter)
    return not ax.yaxis_inverted() and not written


def _bars_on(ax: Axes) -> np.ndarray | None:
    """Give the lengths of bars, a row for each series."""
    series = [c for c in ax.containers if isinstance(c, BarContainer)]
    lengths = [
        [bar.get_width() if c.orientation == "horizontal" else bar.get_height() for bar in c]
        for c in series
    ]
    alike = len({len(row) for row in lengths}) == 1
    return np.array(lengths, dtype=float) if alike else None


def _matrices_on(ax: Axes) -> Iterator[tuple[np.ndarray, Any]]:
    """Give the numbers behind images, collections and bars, with their artist if it has colours.

    They come in rows where their places are unknown.
    """
    if (bars := _bars_on(ax)) is not None:
        yield bars, None
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
            yield values, artist


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
    across, down = _labels(figures)
    return any(map(str.strip, across)) and any(map(str.strip, down))


def names_queries_and_keys(figures: Iterable[Figure]) -> bool:
    """Tell whether one axis says that it holds queries and the other that it holds keys."""
    across, down = (" ".join(labels).lower() for labels in _labels(figures))
    queries, keys = ("quer", "attending", "from"), ("key", "attended", "to")
    return any(
        any(word in one for word in queries) and any(word in other for word in keys)
        for one, other in ((across, down), (down, across))
    )


def _labels(figures: Iterable[Figure]) -> tuple[list[str], list[str]]:
    """Give all names of axes across and down."""
    axes = axes_of(figures)
    across = [f.get_supxlabel() for f in figures] + [ax.get_xlabel() for ax in axes]
    return across, [f.get_supylabel() for f in figures] + [ax.get_ylabel() for ax in axes]


def show_weights(weights: np.ndarray, allowed: np.ndarray) -> None:
    """Show a student's weights, (S_q, S_k), NaN left blank, beside what the mask allows."""
    (yours, left), (shape, right) = plotting.panel(2.6, 2.2), plotting.panel(2.6, 2.2)
    plotting.heatmap(left, np.ma.masked_invalid(weights))
    plotting.heatmap(right, 0.5 * allowed, blocked=~allowed)
    left.set_title("your weights")
    right.set_title("hatched: must be 0")
    outside = np.nan_to_num(np.abs(weights[~allowed])).sum()
    said = f"Your weights hold {outside:.3f} in all where the mask blocks."
    plotting.show(yours, shape, alt=f"Your weights beside the mask. {said}", caption=said)
