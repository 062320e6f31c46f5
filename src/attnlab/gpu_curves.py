"""Speed and memory of attention on GPUs: what this machine recorded, or else what papers published.

`tools/profile_gpu.py` writes records; a file of published numbers names the paper, figure or table
of each series, and where it was read. Both become panels that look alike.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from attnlab import plotting
from attnlab.cost import attention_backward_flops, attention_flops
from attnlab.measurement_records import read_records

# Of a record's variants, those that are drawn.
DRAWN = ("naive", "flash", "triton", "SDPA FLASH_ATTENTION")
# The hue of what is drawn on many panels; others take what is left.
SERIES = ("naive", "FlashAttention", "FlashAttention-2", "FlashAttention-3")
LENGTHS = {512: "512", 1024: "1k", 4096: "4k", 16384: "16k", 65536: "64k", 2**20: "1M"}

Series = dict[str, list[tuple[int, float | None]]]


class Panel(NamedTuple):
    """One plot against the length n; a value of None stands for a run that was out of memory."""

    title: str
    unit: str  # "TFLOP/s" or "MiB"
    series: Series
    peak: float | None = None  # what the device could do at best


class Curves(NamedTuple):
    """All plots, with their text; `published` says whether others measured them."""

    panels: list[Panel]
    caption: str
    alt: str
    published: bool


def read_curves(folder: str | Path, records: str, published: str) -> Curves:
    """Read the machine's own records, and where there are none the published numbers.

    Parameters
    ----------
    folder : path, where both are
    records : str, the pattern of the records' names
    published : str, the name of the file with published numbers
    """
    found = read_records(folder, records)
    if not found:
        return read_published(folder, published)
    panels = [panel for record in found for panel in panels_of(record)]
    made = "; ".join(
        f"{record['device']}, {record['date']}, "
        + ", ".join(f"{name} {version}" for name, version in record["versions"].items())
        for record in found
    )
    devices = ", ".join(record["device"] for record in found)
    return Curves(
        panels,
        f"Measured by <code>make profile-gpu</code>: {made}. bfloat16, no "
        "mask; × marks the length at which memory ran out.",
        f"Speed and peak memory of attention against the sequence length on {devices}.",
        published=False,
    )


def read_published(folder: str | Path, name: str) -> Curves:
    """Read published numbers, a panel for each entry, with the papers that they are from."""
    entries = json.loads((Path(folder) / name).read_text("utf-8"))
    panels = [
        Panel(
            f"{entry['device']}, $d_k$ = {entry['d_k']}\n{entry['measured']}",
            entry["quantity"],
            {name: [tuple(point) for point in points] for name, points in entry["series"].items()},
            entry["peak"],
        )
        for entry in entries
    ]
    places: dict[str, list[str]] = {}
    for entry in entries:
        paper, place = entry["paper"].split(", ")
        places.setdefault(paper, []).append(place)
    sources = "; ".join(f"{paper}, {' and '.join(found)}" for paper, found in places.items())
    return Curves(
        panels,
        f"<strong>Published, not measured here</strong>: {sources}. Half precision, no mask. "
        "Memory is what comes on top of inputs and output. × marks the length at which naive "
        "attention ran out of it; the dashed line is the most that the chip can do.",
        "Panels against the sequence length. On an A100 and an H100 naive attention stays below a "
        "quarter of the chip's peak speed and runs out of memory at 16k; FlashAttention and its "
        "two successors lie above it in steps. On a TPU the memory of naive attention rises "
        "with the square of the length, that of Rabe and Staats by far less.",
        published=True,
    )


def panels_of(record: dict) -> Iterator[Panel]:
    """Give a record's speed and memory, forward and with the backward pass."""
    setting = record["setting"]
    for backward in (False, True):
        rows = [
            row
            for row in record["rows"]
            if row["dtype"] == "bfloat16" and row["backward"] == backward
        ]
        speed: Series = {}
        memory: Series = {}
        for row in rows:
            if row["variant"] in DRAWN:
                n, done = row["n"], not row["out_of_memory"]
                flops = useful_flops(setting["B"], setting["H"], n, setting["d"], backward)
                per_second = flops / row["seconds"] / 1e12 if done else None
                speed.setdefault(row["variant"], []).append((n, per_second))
                held = row["peak_bytes"] / 2**20 if done else None
                memory.setdefault(row["variant"], []).append((n, held))
        title = f"{record['device']}, $d_k$ = {setting['d']}\n"
        title += "forward and backward" if backward else "forward"
        yield Panel(title, "TFLOP/s", speed)
        yield Panel(title, "MiB", memory)


def useful_flops(batch: int, n_heads: int, n: int, d_k: int, backward: bool) -> int:
    """Count as the papers do: the backward pass has 2.5 times the operations of the forward one."""
    sizes = batch, n_heads, n, n, d_k, d_k
    forward = attention_flops(*sizes)
    return forward + attention_backward_flops(*sizes, recompute=True) if backward else forward


def draw(panel: Panel) -> Figure:
    """Draw one panel: speed on a linear scale from 0, memory on a logarithmic one."""
    fig, ax = plotting.panel(2.5, 2.25)
    rest = iter(range(1, len(plotting.COLOURS)))
    for name, points in panel.series.items():
        plot(ax, name, points, SERIES.index(name) if name in SERIES else next(rest))
    ax.set_xscale("log", base=2)
    lengths = {n for points in panel.series.values() for n, _ in points}
    shown = [n for n in LENGTHS if n in lengths]
    ax.set_xticks(shown, [LENGTHS[n] for n in shown])
    ax.minorticks_off()
    if panel.unit == "TFLOP/s":
        ax.set_ylim(0, 1.65 * panel.peak if panel.peak else None)
        ax.set_ylabel(panel.unit)
    else:
        ax.set_yscale("log")
        ax.set_ylabel("MiB")
    if panel.peak:
        ax.axhline(panel.peak, color=plotting.INK, linestyle="--", linewidth=0.9)
    ax.set_xlabel("length $n$")
    ax.set_title(panel.title, fontsize=9)
    ax.legend(fontsize=7.5, loc="upper left", handlelength=1.2, labelspacing=0.25)
    return fig


def plot(ax: Axes, name: str, points: list[tuple[int, float | None]], hue: int) -> None:
    """Plot one series, with a cross at the lower edge where it was first out of memory."""
    known = [point for point in points if point[1] is not None]
    x, y = zip(*known, strict=True) if known else ((), ())
    ax.plot(x, y, color=plotting.COLOURS[hue], marker=plotting.MARKERS[hue], label=name)
    lost = [n for n, value in points if value is None]
    if lost:
        edge = {"transform": ax.get_xaxis_transform(), "clip_on": False}
        ax.plot(lost[:1], [0.03], "x", color=plotting.COLOURS[hue], **edge)


def roofline(
    chips: dict[str, tuple[float, float]],
    intensities: dict[str, float],
    points: list[tuple[float, float, str]],
) -> Figure:
    """Draw what chips can reach against operations a byte (Williams et al. 2009).

    Parameters
    ----------
    chips : the TFLOP/s and the TB/s of each
    intensities : operations a byte, marked by a dotted line each
    points : operations a byte, TFLOP/s that were measured, and the chip
    """
    fig, ax = plotting.panel(4.8, 2.6)
    x = np.geomspace(16, 1024, 200)
    hues = dict(zip(chips, plotting.COLOURS, strict=False))
    for name, (speed, bandwidth) in chips.items():
        ax.loglog(x, np.minimum(speed, bandwidth * x), color=hues[name])
        ridge = f"{name}: ridge at {speed / bandwidth:.0f}"
        ax.annotate(ridge, (1000, 1.1 * speed), color=hues[name], ha="right", fontsize=8.5)
    for name, where in intensities.items():
        ax.axvline(where, color=plotting.INK, linewidth=0.8, linestyle=":")
        ax.annotate(name, (where, 14), rotation=90, ha="right", va="bottom", fontsize=8.5)
    for (where, speed, chip), marker in zip(points, plotting.MARKERS, strict=False):
        ax.plot(where, speed, marker, color=hues[chip])
    ax.set(xlabel="operations for each byte of HBM traffic", ylabel="TFLOP/s", ylim=(12, 1700))
    ticks = [32, 64, 128, 256, 512]
    ax.set_xticks(ticks, ticks)
    ax.minorticks_off()
    return fig
