"""Drawings of networks and of tiles as boxes and arrows, in the book's look."""

from itertools import product

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from attnlab import plotting

GREY = "#8a8f98"
BLOCKS = 4  # of queries, and of keys and values
# Name, place, and whose part it is: the encoder's states, the vector, the decoder's states.
STATES = (
    ("$h_1$", 0, 0),
    ("$h_2$", 1, 0),
    ("…", 2, None),
    ("$h_T$", 3, 0),
    ("$c$", 4, 2),
    ("$s_1$", 5, 1),
    ("$s_2$", 6, 1),
    ("…", 7, None),
    ("$s_{T'}$", 8, 1),
)
READ = (("$x_1$", 0), ("$x_2$", 1), ("$x_T$", 3))
WRITTEN = (("$y_1$", 5), ("$y_2$", 6), ("$y_{T'}$", 8))


def encoder_decoder(ax: Axes, *, repeated: bool) -> None:
    """Draw an encoder and a decoder with one vector c between them.

    Where it is `repeated`, c enters every step of the decoder; else it only starts it.
    """
    for name, x, series in STATES:
        frame = None if series is None else plotting.COLOURS[series]
        box = frame and {"boxstyle": "round", "fc": "none", "ec": frame}
        ax.text(x, 0, name, bbox=box, ha="center", va="center", fontsize=11)
    for words, y in ((READ, -1), (WRITTEN, 1)):
        for name, x in words:
            ax.text(x, y, name, ha="center", va="center", fontsize=11)
    arrows = [((x, 0), (x + 1, 0)) for x in range(8)]
    arrows += [((x, -1), (x, 0)) for _, x in READ] + [((x, 0), (x, 1)) for _, x in WRITTEN]
    arrows += [((5, 1), (6, 0)), ((6, 1), (7, 0))]  # what is written enters the next step
    style = {"arrowstyle": "-|>", "shrinkA": 12, "shrinkB": 12, "color": GREY}
    for tail, tip in arrows:
        ax.annotate("", tip, tail, arrowprops=style)
    if repeated:
        rail = style | {"color": plotting.COLOURS[2], "shrinkA": 0}
        ax.plot([4, 4, 8], [-0.35, -1, -1], color=plotting.COLOURS[2], linewidth=1.2)
        for x in (6, 8):
            ax.annotate("", (x, 0), (x, -1), arrowprops=rail)
    ax.axis((-0.5, 8.5, -1.4, 1.4))
    ax.axis("off")


def tiles(ax: Axes, *, here: tuple[int, int] = (1, 2)) -> None:
    """Draw the tiles of Flash Attention while its two loops stand at one of them.

    The tile that is computed is `here`: its block of queries, its block of keys and values.
    """
    row, column = here
    for place in product(range(BLOCKS), repeat=2):
        _square(ax, place, filled=place <= here, alpha=1 if place == here else 0.2)
    for b in range(BLOCKS):
        _square(ax, (b, -1.2), name=f"$Q_{b + 1}$", on_chip=b == row)
        _square(ax, (-1.2, b), name=f"$K_{b + 1}, V_{b + 1}$", on_chip=b == column)
    box = {"boxstyle": "round", "fc": "none", "ec": plotting.COLOURS[0]}
    centred = {"ha": "center", "va": "center"}
    ax.text(BLOCKS + 1.5, row + 0.5, r"$m,\ \ell,\ \tilde{O}$", bbox=box, fontsize=11, **centred)
    style = {"arrowstyle": "-|>", "color": GREY, "shrinkA": 0, "shrinkB": 0}
    loops = (((0, -1.5), (BLOCKS, -1.5)), ((-1.5, 0), (-1.5, BLOCKS)))
    for tail, tip in (*loops, ((BLOCKS, row + 0.5), (BLOCKS + 0.7, row + 0.5))):
        ax.annotate("", tip, tail, arrowprops=style)
    ax.text(BLOCKS / 2, -1.85, "inner loop", fontsize=9, **centred)
    ax.text(-1.85, BLOCKS / 2, "outer loop", fontsize=9, rotation=90, **centred)
    ax.axis((-2.2, BLOCKS + 2.5, BLOCKS + 0.1, -2.2))
    ax.set_aspect("equal")
    ax.axis("off")


def _square(
    ax: Axes,
    place: tuple[float, float],
    *,
    filled: bool = False,
    alpha: float = 1,
    name: str = "",
    on_chip: bool = False,
) -> None:
    """Draw a tile, or a block with its name; `place` is a row and a column."""
    row, column = place
    fill = (plotting.COLOURS[0], alpha) if filled else "none"
    edge = plotting.COLOURS[0] if on_chip else GREY
    width = 1.8 if on_chip else 0.8
    square = Rectangle((column, row), 1, 1, facecolor=fill, edgecolor=edge, linewidth=width)
    ax.add_patch(square)
    ax.text(column + 0.5, row + 0.5, name, ha="center", va="center", fontsize=8)
