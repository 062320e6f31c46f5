"""Draws a diagram as SVG in the page's colours, by day, at night and on paper."""

from collections.abc import Callable
from html import escape
from itertools import pairwise

LINE, PAD = 18, 10  # height of a line, room around a box's text
NARROW, WIDE = set("iljtfr.,:;'|()[] "), set("mwMW%@·√")
Point = dict[str, float]


def width_of(text: str) -> float:
    """Guess how wide a line is in the page's font, of which only its kind is known; rather more."""
    share = sum(0.36 if c in NARROW else 0.9 if c in WIDE or c.isupper() else 0.6 for c in text)
    return 14 * share


def size_of(lines: list[str]) -> dict[str, float]:
    """Give the size of a box with these lines in it."""
    return {"width": max(map(width_of, lines)) + 2 * PAD, "height": LINE * len(lines) + 1.4 * PAD}


def draw(chart, name: str, lay_out: Callable) -> str:
    """Draw a chart; `name` makes its ids unique on the page, `lay_out` finds the places."""
    sizes = {box: size_of(lines) for box, lines in chart.boxes.items()}
    arrows = [{"from": start, "to": end, **size_of_words(w)} for start, end, w in chart.arrows]
    found = lay_out(sizes, arrows)
    width, height = round(found["width"]), round(found["height"])
    parts = [draw_arrow(edge["points"], name) for edge in found["edges"]]
    parts += [
        draw_words(words, edge)
        for (_, _, words), edge in zip(chart.arrows, found["edges"], strict=True)
        if words
    ]
    parts += [
        draw_box(lines, found["nodes"][box], chart.links.get(box))
        for box, lines in chart.boxes.items()
    ]
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="group" '
        f'aria-labelledby="{name}-title" aria-describedby="{name}-description">'
        f'<title id="{name}-title">{escape(chart.title)}</title>'
        f'<desc id="{name}-description">{escape(chart.description)}</desc>'
        f'<marker id="{name}-head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
        f'markerHeight="8" orient="auto"><path d="M0 0 8 4 0 8z"/></marker>'
        f"{''.join(parts)}</svg>"
    )


def size_of_words(words: str) -> dict[str, float]:
    """Give the room that an arrow's words take."""
    return {"width": width_of(words) + PAD, "height": LINE} if words else {"width": 0, "height": 0}


def place(point: Point) -> str:
    """Write a point."""
    return f"{point['x']:.1f} {point['y']:.1f}"


def middle(a: Point, b: Point) -> Point:
    """Give the point half-way."""
    return {axis: (a[axis] + b[axis]) / 2 for axis in "xy"}


def draw_arrow(points: list[Point], name: str) -> str:
    """Draw a line that bends softly at each point."""
    way = f"M{place(points[0])}"
    for bend, after in pairwise(points[1:]):
        end = after if after is points[-1] else middle(bend, after)
        way += f"Q{place(bend)} {place(end)}"
    return f'<path class="arrow" d="{way}" marker-end="url(#{name}-head)"/>'


def draw_words(words: str, edge: dict) -> str:
    """Write what stands on an arrow."""
    return text_at([words], edge, "words")


def text_at(lines: list[str], at: Point, kind: str) -> str:
    """Write lines around a middle."""
    top = at["y"] - LINE * (len(lines) - 1) / 2
    spans = "".join(
        f'<tspan x="{at["x"]:.1f}" y="{top + LINE * i:.1f}">{escape(line)}</tspan>'
        for i, line in enumerate(lines)
    )
    return f'<text class="{kind}" dominant-baseline="central">{spans}</text>'


def draw_box(lines: list[str], box: dict, link: tuple[str, str] | None) -> str:
    """Draw a box, as a link if it is one."""
    x, y = box["x"] - box["width"] / 2, box["y"] - box["height"] / 2
    drawn = (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{box["width"]:.1f}" height="{box["height"]:.1f}" '
        f'rx="5"/>{text_at(lines, box, "name")}'
    )
    if link is None:
        return drawn
    address, tooltip = link
    tooltip = f"<title>{escape(tooltip)}</title>" if tooltip else ""
    return f'<a href="{escape(address.replace(" ", "%20"))}">{drawn}{tooltip}</a>'
