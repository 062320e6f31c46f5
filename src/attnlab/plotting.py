"""The book's look: one style, heat maps, log-log plots, and figures that follow the page's theme.

Figures become inline SVG in the colours and the type of the page, so that they are as readable on a
dark page as on a light one. Panels that belong together are separate figures in one row: on a phone
they stand one below the other instead of shrinking.
"""

import hashlib
import html
import io
import re
from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from IPython.display import display
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

# One hue for each of what attention deals with, after Okabe and Ito's colour-blind safe set: on a
# light page each has a contrast of at least 4.5:1. The book's pages have lighter ones in the dark.
# Pair them with different markers, never rely on the hue alone.
HUES = {"key": "#006BA8", "query": "#B84A00", "value": "#00755A", "output": "#9A4A7D"}
COLOURS = tuple(HUES.values())
MARKERS = ("o", "s", "^", "D")

# Each stands for a colour of the page until `show` names that; no palette may contain them: the
# text, the text on a cell of much weight, and weight itself.
INK, INK_ON_WEIGHT, WEIGHT = "#1f2331", "#1f2332", "#006BA9"
NAMES = {hue.lower(): f"var(--attn-{name},{hue})" for name, hue in HUES.items()} | {
    INK: "currentColor",
    INK_ON_WEIGHT: "var(--attn-on-weight,currentColor)",
    WEIGHT.lower(): f"var(--attn-weight,{HUES['key']})",
}

# Weight 0 is the page itself; in full colour a cell is light enough to write on, or dark enough.
WEIGHTS = LinearSegmentedColormap.from_list(
    "weights", [(*to_rgb(WEIGHT), 0.0), (*to_rgb(WEIGHT), 0.72)]
)
MUCH = 0.65  # share of the full colour from which on a dark page's cell is a light one

# Zero is the page itself; orange below it, blue above.
BLUE, ORANGE = to_rgb(HUES["key"]), to_rgb(HUES["query"])
SIGNED = LinearSegmentedColormap.from_list(
    "signed",
    [(0, (*ORANGE, 0.8)), (0.5, (*ORANGE, 0.0)), (0.5, (*BLUE, 0.0)), (1, (*BLUE, 0.8))],
)

STYLE = {
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.prop_cycle": plt.cycler(color=COLOURS),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "figure.constrained_layout.use": True,
    "font.size": 9.5,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 5,
    "svg.fonttype": "none",
    "svg.hashsalt": "attnlab",
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


def use_book_style() -> None:
    """Set the book's look for all figures made from here on."""
    plt.rcParams.update(STYLE)


def panel(width: float = 3.4, height: float = 2.8) -> tuple[Figure, Axes]:
    """Open a figure with one pair of axes, in the book's look; the size is in inches.

    Two panels of the default width share a row on a desktop, and one fills a phone's screen.
    """
    use_book_style()
    return plt.subplots(figsize=(width, height))


def show(*figures: Figure, alt: str, caption: str | None = None) -> None:
    """Put figures on the page, in one row where there is room, and close them.

    Parameters
    ----------
    *figures : Figure, one panel each; none raises ValueError
    alt : str, what is to be seen, for readers who cannot see it; if empty, ValueError is raised
    caption : str, optional
        Text below the figure. It may hold HTML.
    """
    display(
        {"text/html": markup(*figures, alt=alt, caption=caption), "text/plain": f"[figure: {alt}]"},
        raw=True,
    )


def markup(*figures: Figure, alt: str, caption: str | None = None) -> str:
    """Give the HTML that `show` puts on the page, of the same arguments; close the figures."""
    if not figures:
        raise ValueError("show() got no figure; pass the Figure that panel() returned")
    if not alt.strip():
        raise ValueError("alt is empty; say in a sentence what the figure shows")
    panels = "".join(_to_svg(figure) for figure in figures)
    text = f"<figcaption>{caption}</figcaption>" if caption else ""
    return (
        '<figure class="attn-figure" style="margin:1rem 0">'
        f'<div role="img" aria-label="{html.escape(alt)}" '
        'style="display:flex;flex-wrap:wrap;gap:0.5rem;justify-content:center">'
        f"{panels}</div>{text}</figure>"
    )


def _to_svg(figure: Figure) -> str:
    """Draw a figure as SVG in the page's colours and type, with ids of its own, and close it."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    plt.close(figure)
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub("|".join(NAMES), lambda colour: NAMES[colour[0]], svg)
    svg = re.sub(r"'DejaVu Sans'(, [^;\"]*)?(?=[;\"])", "var(--font-ui, sans-serif)", svg)
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    prefix = "f" + hashlib.sha256(svg.encode()).hexdigest()[:8] + "-"
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{prefix}", svg)
    size = r'<svg[^>]*?\bwidth="([\d.]+)pt" height="([\d.]+)pt" viewBox="([^"]+)"[^>]*>'
    return re.sub(
        size,
        r'<svg aria-hidden="true" viewBox="\3" '
        r'style="width:\1pt;max-width:100%;height:auto;aspect-ratio:\1/\2">',
        svg,
        count=1,
    )


def heatmap(
    ax: Axes,
    weights: ArrayLike,
    *,
    largest: float = 1.0,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    blocked: ArrayLike | None = None,
    numbers: str | None = None,
) -> None:
    """Draw a matrix of attention weights, queries downwards and keys to the right.

    Parameters
    ----------
    ax : Axes
    weights : array, shape (S_q, S_k); zero is drawn as the bare page
    largest : float, optional, the weight that gets the full colour
    rows, columns : sequence of str, optional
        Names of the queries and of the keys, their positions unless given; a missing one, or
        weights that are no matrix, raise ValueError.
    blocked : bool array, shape (S_q, S_k), optional, True where the mask forbids: hatched cells
    numbers : str, optional
        Format of the number written into each cell that is not blocked, such as ``".2f"``.
    """
    weights = _matrix(ax, "weights", weights, "one matrix (S_q, S_k)", rows, columns)
    S_q, S_k = weights.shape
    blocked = np.zeros((S_q, S_k), bool) if blocked is None else np.asarray(blocked, bool)
    ax.pcolormesh(weights, cmap=WEIGHTS, vmin=0, vmax=largest, linewidth=0)
    if blocked.any():
        hatched = np.ma.masked_where(~blocked, np.ones((S_q, S_k)))
        ax.pcolor(hatched, hatch="////", facecolor="none", edgecolor="#8a8f98", linewidth=0)
    if numbers:
        for i, j in np.argwhere(~blocked):
            ink = INK_ON_WEIGHT if weights[i, j] > MUCH * largest else INK
            words = format(weights[i, j], numbers)
            ax.text(j + 0.5, i + 0.5, words, ha="center", va="center", color=ink)
    ax.set(xlabel="key", ylabel="query")


def loglog(
    ax: Axes, x: ArrayLike, y: ArrayLike, label: str, *, series: int = 0, fit: bool = True
) -> float:
    """Plot points on log-log axes, with the straight line that fits them.

    Parameters
    ----------
    ax : Axes
    x, y : array, shape (n,), finite numbers above 0, two or more; anything else raises ValueError
    label : str, name in the legend; the slope is added to it
    series : int, optional, which colour and marker to use
    fit : bool, optional, whether to draw the fitted line and name its slope

    Returns
    -------
    slope : float, exponent p of the fit y = c x^p, by least squares on the logarithms
    """
    x, y = np.asarray(x, float), np.asarray(y, float)
    points = np.concatenate([x, y])
    if len(x) < 2 or not ((points > 0) & (points < np.inf)).all():
        raise ValueError("a log-log plot needs two or more points, all of them positive")
    slope, offset = np.polyfit(np.log(x), np.log(y), 1)
    colour, marker = COLOURS[series % len(COLOURS)], MARKERS[series % len(MARKERS)]
    ax.loglog(x, y, marker, color=colour, label=f"{label}: slope {slope:.2f}" if fit else label)
    if fit:
        ax.loglog(x, np.exp(offset) * x**slope, color=colour, linewidth=1.1)
    ax.legend()
    return float(slope)


def matrix(
    ax: Axes,
    values: ArrayLike,
    *,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    largest: float | None = None,
) -> None:
    """Draw a matrix of numbers of either sign: zero is the bare page, the sign is the hue.

    Parameters
    ----------
    ax : Axes
    values : array, shape (n, m); anything else raises ValueError
    rows, columns : sequence of str, optional, names, where there are any
    largest : float, optional, the size in full colour; that of the largest number unless given
    """
    values = _matrix(ax, "values", values, "one matrix (n, m)", rows or [], columns or [])
    largest = np.abs(values).max() if largest is None else largest
    ax.pcolormesh(values, cmap=SIGNED, vmin=-largest, vmax=largest, linewidth=0)


def _matrix(
    ax: Axes, name: str, values: ArrayLike, fits: str, *labels: Sequence[str] | None
) -> np.ndarray:
    """Read a matrix, and set up axes for it: names of rows and columns, or numbers, or nothing."""
    values = np.asarray(values, dtype=float)
    if values.ndim != 2:
        raise ValueError(f"{name} has shape {values.shape}, but {fits} fits")
    for axis, names, count in zip((ax.yaxis, ax.xaxis), labels, values.shape, strict=True):
        names = range(count) if names is None else names
        axis.set_ticks(np.arange(count if len(names) else 0) + 0.5, names)
        axis.set_tick_params(length=0)
    ax.set(aspect="equal", ylim=(len(values), 0), xlim=(0, values.shape[1]))
    ax.spines[:].set_visible(True)
    ax.spines[:].set_alpha(0.4)
    return values
