"""Several maps of attention weights in one row, with words on both sides."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike

from attnlab import plotting


class Map(NamedTuple):
    """One map: weights (S_q, S_k), the words that ask and are asked, and what a mask blocks.

    Cells (row, column) that are `marked` get a frame.
    """

    weights: ArrayLike
    rows: Sequence[str]
    columns: Sequence[str]
    blocked: ArrayLike | None = None
    marked: Iterable[tuple[int, int]] = ()


def show_maps(
    maps: Mapping[str, Map],
    *,
    alt: str,
    caption: str | None = None,
    size: tuple[float, float] = (3.1, 2.8),
    labels: tuple[str, str] = ("", ""),
    **look: Any,
) -> None:
    """Put maps on the page side by side, as `attnlab.plotting.show` puts figures.

    Parameters
    ----------
    maps : dict of Map, under their titles; none raises ValueError
    alt, caption : str, as `attnlab.plotting.show` takes them
    size : (float, float), optional, width and height of each map in inches
    labels : (str, str), optional, what stands below and what beside each map
    **look : `numbers` and `largest`, as `attnlab.plotting.heatmap` takes them
    """
    figures = []
    frame = {"fill": False, "edgecolor": plotting.COLOURS[1], "linewidth": 1.6}
    for title, (weights, rows, columns, blocked, marked) in maps.items():
        fig, ax = plotting.panel(*size)
        plotting.heatmap(ax, weights, rows=rows, columns=columns, blocked=blocked, **look)
        for i, j in marked:
            ax.add_patch(Rectangle((j, i), 1, 1, **frame))
        ax.tick_params(labelsize=8)
        ax.tick_params(axis="x", rotation=60)
        ax.set(title=title, xlabel=labels[0], ylabel=labels[1])
        figures.append(fig)
    plotting.show(*figures, alt=alt, caption=caption)
