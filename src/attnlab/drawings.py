"""Drawings of networks as boxes and arrows, in the book's look."""

from matplotlib.axes import Axes

from attnlab import plotting

GREY = "#8a8f98"
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

    Parameters
    ----------
    ax : Axes
        Emptied of its frame and ticks.
    repeated : bool
        Whether c enters every step of the decoder, or only starts it.
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
