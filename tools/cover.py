"""Draws the picture of the README and of the book's first page, for light and for dark pages.

One random query meets sixteen random keys, first with one component, then with more and more of the
same. Run it as ``.venv/bin/python tools/cover.py``.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import torch

from attnlab import plotting
from attnlab.attention import attention_weights

WIDTHS = [4, 8, 16, 32, 64, 128, 256, 512, 1024]
N_KEYS = 16
SEED = 6
IMAGES = Path(__file__).resolve().parents[1] / "images"
DARK_PAGES_INK = "#ced6dd"


def attention_by_width(scaled: bool) -> torch.Tensor:
    """Give the weights over the keys at each width, shape (len(WIDTHS), N_KEYS)."""
    generator = torch.Generator().manual_seed(SEED)
    q = torch.randn(1, WIDTHS[-1], generator=generator)  # (1, d_k)
    K = torch.randn(N_KEYS, WIDTHS[-1], generator=generator)  # (S_k, d_k)
    scale = None if scaled else 1.0
    rows = [attention_weights(q[:, :d_k], K[:, :d_k], scale=scale)[0] for d_k in WIDTHS]
    return torch.stack(rows)  # (len(WIDTHS), N_KEYS)


def draw() -> plt.Figure:
    """Draw attention without and with the scale, side by side."""
    plotting.use_book_style()
    fig, axes = plt.subplots(1, 2, figsize=(7.6, 3.5), sharey=True)
    titles = {False: r"softmax$(q K^\top)$", True: r"softmax$(q K^\top / \sqrt{d_k})$"}
    for ax, (scaled, title) in zip(axes, titles.items(), strict=True):
        plotting.heatmap(
            ax,
            attention_by_width(scaled),
            rows=[str(d_k) for d_k in WIDTHS],
            columns=[""] * N_KEYS,
        )
        ax.set(title=title, xlabel=f"{N_KEYS} random keys", ylabel="", aspect="auto")
        ax.title.set_fontsize(12)
    axes[0].set_ylabel("width $d_k$ of query and keys")
    return fig


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    light, dark = IMAGES / "cover.svg", IMAGES / "cover-dark.svg"
    figure = draw()
    figure.savefig(light, facecolor="white", metadata={"Date": None})
    figure.savefig(dark, transparent=True, metadata={"Date": None})
    text = dark.read_text(encoding="utf-8").replace(plotting.INK, DARK_PAGES_INK)
    dark.write_text(text, encoding="utf-8")
    print(f"wrote {light} and {dark}")
