"""A drawn figure as plain data, and a figure drawn of such data: what a check reads and no more."""

import sys
from collections.abc import Mapping
from typing import Any

MOST_AXES, MOST_ARTISTS = 64, 256
LABELS = ("get_xlabel", "get_ylabel", "get_title", "get_xscale", "get_yscale")


def describe(thing: Any) -> dict[str, Any] | None:
    """Give the figure that a thing of matplotlib belongs to, and what its axes hold; or None."""
    artist = getattr(sys.modules.get("matplotlib.artist"), "Artist", ())
    if not isinstance(thing, artist):
        return None
    figure = thing.get_figure(root=True)
    if figure is None:
        return None
    axes = [_axes(ax) for ax in figure.axes[:MOST_AXES]]
    named = [figure.get_supxlabel(), figure.get_supylabel()]
    return {"figure": figure, "axes": {"named": named, "axes": axes}}


def _axes(ax: Any) -> dict[str, Any]:
    """Give what a pair of axes holds."""
    collections = [_collection(each) for each in ax.collections[:MOST_ARTISTS]]
    return {
        "words": [str(getattr(ax, name)()) for name in LABELS],
        "images": [_array(image) for image in ax.images[:MOST_ARTISTS]],
        "lines": [line.get_xydata() for line in ax.lines[:MOST_ARTISTS]],
        "collections": collections,
    }


def _array(artist: Any) -> Any:
    import numpy as np

    values = artist.get_array()
    return None if values is None else np.ma.asarray(values)


def _collection(artist: Any) -> dict[str, Any]:
    has_places = hasattr(artist, "get_coordinates")
    return {
        "array": _array(artist),
        "mesh": artist.get_coordinates() if has_places else None,
        "offsets": artist.get_offsets(),
    }


def restore(told: Mapping[str, Any]) -> Any:
    """Draw a figure that shows the same data; ValueError if they are none."""
    from matplotlib.figure import Figure

    figure = Figure()
    across, down = map(str, told["named"])
    figure.supxlabel(across)
    figure.supylabel(down)
    for each in told["axes"][:MOST_AXES]:
        _draw(figure.add_subplot(), each)
    return figure


def _draw(ax: Any, told: Mapping[str, Any]) -> None:
    import numpy as np

    for values in told["images"][:MOST_ARTISTS]:
        if values is not None:
            ax.imshow(np.ma.asarray(values, dtype=float))
    for each in told["collections"][:MOST_ARTISTS]:
        _draw_collection(ax, each)
    for points in told["lines"][:MOST_ARTISTS]:
        ax.plot(*np.asarray(points, dtype=float).reshape(-1, 2).T)
    xlabel, ylabel, title, xscale, yscale = map(str, told["words"])
    ax.set(xlabel=xlabel, ylabel=ylabel, title=title, xscale=xscale, yscale=yscale)


def _draw_collection(ax: Any, told: Mapping[str, Any]) -> None:
    import numpy as np

    values, mesh = told["array"], told["mesh"]
    if mesh is not None:
        mesh = np.asarray(mesh, dtype=float)
        shape = mesh.shape[0] - 1, mesh.shape[1] - 1
        ax.pcolormesh(mesh[..., 0], mesh[..., 1], np.ma.asarray(values, dtype=float).reshape(shape))
    else:
        points = np.ma.asarray(told["offsets"], dtype=float).reshape(-1, 2)
        drawn = ax.scatter(points[:, 0], points[:, 1])
        if values is not None:
            drawn.set_array(np.ma.asarray(values, dtype=float))
