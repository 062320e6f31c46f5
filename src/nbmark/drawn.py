"""A drawn figure as plain data, and a figure drawn of such data: what a check reads and no more.

Only what a student's side draws is described; what comes back is drawn anew by matplotlib.
"""

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

MOST_AXES, MOST_ARTISTS = 64, 256
WORDS = ("xlabel", "ylabel", "title", "xscale", "yscale")


def describe(thing: Any) -> dict[str, Any] | None:
    """Give the figure that a thing of matplotlib belongs to, and what its axes hold; or None."""
    artist = getattr(sys.modules.get("matplotlib.artist"), "Artist", ())
    if not isinstance(thing, artist):
        return None
    figure = thing.get_figure(root=True)
    if figure is None:
        return None
    told = {
        "named": [figure.get_supxlabel(), figure.get_supylabel()],
        "legends": [_texts(legend.get_texts()) for legend in figure.legends],
        "axes": [_axes(ax) for ax in figure.axes[:MOST_AXES]],
    }
    return {"figure": figure, "axes": told}


def _axes(ax: Any) -> dict[str, Any]:
    """Give what a pair of axes holds."""
    from matplotlib.container import BarContainer

    bars = [_bars(each) for each in ax.containers if isinstance(each, BarContainer)]
    legend = ax.get_legend()
    return {
        "words": {name: str(getattr(ax, f"get_{name}")()) for name in WORDS},
        "turned": [ax.xaxis_inverted(), ax.yaxis_inverted()],
        "ticks": {name: _ticks(getattr(ax, f"{name}axis")) for name in "xy"},
        "images": [_colours(image) for image in ax.images[:MOST_ARTISTS]],
        "lines": [[line.get_xydata(), str(line.get_label())] for line in ax.lines[:MOST_ARTISTS]],
        "collections": [_collection(each) for each in ax.collections[:MOST_ARTISTS]],
        "bars": bars[:MOST_ARTISTS],
        "texts": [[*map(float, t.get_position()), t.get_text()] for t in ax.texts[:MOST_ARTISTS]],
        "labels": list(map(str, ax.get_legend_handles_labels()[1])),
        "legend": None if legend is None else _texts(legend.get_texts()),
    }


def _texts(texts: Any) -> list[str]:
    return [text.get_text() for text in texts]


def _ticks(axis: Any) -> list[Any] | None:
    """Give where labels were written by hand, and which; None where matplotlib writes them."""
    from matplotlib.ticker import FixedFormatter, FuncFormatter

    if not isinstance(axis.get_major_formatter(), FixedFormatter | FuncFormatter):
        return None
    return [list(map(float, axis.get_ticklocs())), _texts(axis.get_ticklabels())]


def _colours(artist: Any) -> dict[str, Any]:
    """Give the numbers behind colours, and between which values the colours lie."""
    values = artist.get_array()
    told = {"array": None if values is None else np.ma.asarray(values)}
    return told | {"limits": [] if values is None else list(map(float, artist.get_clim()))}


def _bars(bars: Any) -> dict[str, Any]:
    places = [[*bar.get_xy(), bar.get_width(), bar.get_height()] for bar in bars]
    told = {"places": np.array(places, dtype=float).reshape(-1, 4)}
    return told | {"across": bars.orientation == "horizontal", "label": str(bars.get_label())}


def _collection(artist: Any) -> dict[str, Any]:
    from matplotlib.contour import ContourSet

    told = _colours(artist) | {"offsets": artist.get_offsets(), "label": str(artist.get_label())}
    if hasattr(artist, "get_coordinates"):
        told["mesh"] = artist.get_coordinates()
    if isinstance(artist, ContourSet):
        paths = [[path.vertices, path.codes] for path in artist.get_paths()]
        told |= {"levels": list(map(float, artist.levels)), "filled": bool(artist.filled)}
        told |= {"paths": paths, "range": [float(artist.zmin), float(artist.zmax)]}
    return told


def restore(told: Mapping[str, Any]) -> Any:
    """Draw a figure that shows the same data; ValueError if they are none."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    figure = Figure()
    across, down = map(str, told["named"])
    figure.supxlabel(across)
    figure.supylabel(down)
    for each in told["axes"][:MOST_AXES]:
        _draw(figure.add_subplot(), each)
    for labels in told["legends"][:MOST_AXES]:
        figure.legend([Line2D([], []) for _ in labels], labels)
    return figure


def _draw(ax: Any, told: Mapping[str, Any]) -> None:
    for each in told["images"][:MOST_ARTISTS]:
        if each["array"] is not None:
            ax.imshow(_numbers(each["array"])).set_clim(*each["limits"])
    for each in told["collections"][:MOST_ARTISTS]:
        _draw_collection(ax, each)
    for points, label in told["lines"][:MOST_ARTISTS]:
        ax.plot(*np.asarray(points, dtype=float).reshape(-1, 2).T, label=label)
    for each in told["bars"][:MOST_ARTISTS]:
        _draw_bars(ax, each)
    for x, y, text in told["texts"][:MOST_ARTISTS]:
        ax.text(float(x), float(y), str(text))
    ax.set(**{name: str(told["words"][name]) for name in WORDS})
    _finish(ax, told)


def _finish(ax: Any, told: Mapping[str, Any]) -> None:
    """Write labels and a legend, and turn axes round."""
    from matplotlib.lines import Line2D

    for name, turned in zip("xy", told["turned"], strict=True):
        if ticks := told["ticks"][name]:
            getattr(ax, f"set_{name}ticks")(*ticks)
        getattr(ax, f"{name}axis").set_inverted(bool(turned))
    for label in told["labels"][:MOST_ARTISTS]:
        if label not in ax.get_legend_handles_labels()[1]:  # that of a group, such as error bars
            ax.plot([], [], label=str(label))
    if told["legend"] is not None:
        ax.legend([Line2D([], []) for _ in told["legend"]], told["legend"])


def _draw_collection(ax: Any, told: Mapping[str, Any]) -> None:
    from matplotlib.contour import ContourSet

    values = None if told["array"] is None else _numbers(told["array"])
    if "levels" in told:
        vertices, codes = zip(*told["paths"], strict=True)
        segments = [[np.asarray(each, dtype=float).reshape(-1, 2)] for each in vertices]
        drawn = ContourSet(
            ax, told["levels"], segments, [[c] for c in codes], filled=told["filled"]
        )
        drawn.zmin, drawn.zmax = map(float, told["range"])
    elif "mesh" in told:
        mesh = np.asarray(told["mesh"], dtype=float)
        shape = mesh.shape[0] - 1, mesh.shape[1] - 1
        drawn = ax.pcolormesh(mesh[..., 0], mesh[..., 1], values.reshape(shape))
    else:
        points = np.ma.asarray(told["offsets"], dtype=float).reshape(-1, 2)
        drawn = ax.scatter(points[:, 0], points[:, 1])
        if values is not None:
            drawn.set_array(values)
    drawn.set_label(str(told["label"]))
    if values is not None and "levels" not in told:
        drawn.set_clim(*told["limits"])


def _draw_bars(ax: Any, told: Mapping[str, Any]) -> None:
    x, y, width, height = np.asarray(told["places"], dtype=float).reshape(-1, 4).T
    if told["across"]:
        ax.barh(y, width, height, left=x, align="edge", label=str(told["label"]))
    else:
        ax.bar(x, height, width, bottom=y, align="edge", label=str(told["label"]))


def _numbers(values: Any) -> Any:
    return np.ma.asarray(values, dtype=float)
