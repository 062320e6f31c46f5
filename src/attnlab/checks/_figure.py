"""What a figure shows, read from its artists and not from its pixels."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nbmark.graded import CheckFailed, require


def read_figure(fig: Any) -> Figure:
    """Give the Figure that the student means: it, its axes, or the pair that subplots returns.

    Raises
    ------
    NotAttempted, CheckFailed
        If there is none; the second with cause ``"not_a_figure"``.
    """
    require(fig=fig)
    first = fig
    while isinstance(first, tuple | list | np.ndarray) and len(first):
        first = first[0]
    found = first if isinstance(first, Figure) else getattr(first, "figure", None)
    if not isinstance(found, Figure):
        said = f"`fig` is of type {type(fig).__name__}. Keep what plt.subplots returns first: "
        raise CheckFailed("not_a_figure", said + "fig, axes = plt.subplots(1, 3).")
    return found


def heat_maps(fig: Figure, shape: tuple[int, int]) -> Iterator[tuple[Axes, np.ndarray]]:
    """Give the matrices of this shape that a figure shows, drawn by imshow, pcolormesh or the like.

    Cells that are masked or NaN, and so left blank, count as 0.
    """
    for ax in fig.axes:
        for artist in (*ax.images, *ax.collections):
            data = artist.get_array()
            if data is not None and np.size(data) == shape[0] * shape[1]:
                data = np.ma.filled(np.ma.asarray(data, dtype=np.float64), 0.0)
                yield ax, np.nan_to_num(data).reshape(shape)


def has_axis_labels(fig: Figure) -> bool:
    """Tell whether both axes are named, on some panel or for the whole figure."""
    across = [ax.get_xlabel() for ax in fig.axes] + [fig.get_supxlabel()]
    down = [ax.get_ylabel() for ax in fig.axes] + [fig.get_supylabel()]
    return any(map(str.strip, across)) and any(map(str.strip, down))
