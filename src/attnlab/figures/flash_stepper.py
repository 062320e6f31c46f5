"""Flash attention, one tile after the other (section 1.10)."""

import numpy as np
import torch
from matplotlib.figure import Figure as Picture
from torch import Tensor
from traitlets import Bool, Enum, Int, Unicode

from attnlab import plotting
from attnlab.attention import scaled_dot_product_attention
from attnlab.figures._base import Array, Figure, bundle, fixed
from attnlab.flash import online_softmax_steps
from attnlab.flash_tiles import TiledAttention, Tiles
from attnlab.memory_traffic import Traffic

N, WIDTH, BLOCK_K = 8, 2, 2
NUMBER = 4  # bytes, in float32
ON_CHIP = 48  # bytes: a tile of 4 x 2 scores fits, and nothing with a row for each position does
COLUMNS = ("Q", "K", "V", "O", "m, ℓ")  # what lies in slow memory, two numbers a row each


def draw_inputs(seed: int = 1) -> np.ndarray:
    """Draw Q, K and V, (3, 8, 2), from the standard normal, queries and keys doubled."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((3, N, WIDTH)) * np.array([2.0, 2.0, 1.0])[:, None, None]


class FlashStepper(Figure):
    """Step through the tiles of Flash attention over eight positions.

    It follows Dao et al. (2022), "FlashAttention", algorithm 1; Dao (2024), "FlashAttention-2".

    Attributes
    ----------
    step : int, how many tiles are done; what exceeds their number counts as all
    block_q : int, how many queries one block holds: 1, 2 or 4; a block of keys has two
    causal : bool, whether query i sees the keys j <= i only
    Q, K, V : nested lists, shape (8, 2), see `draw_inputs`
    """

    _esm = bundle("flash_stepper")
    title = Unicode("Flash attention, tile by tile").tag(sync=True)
    step = Int(1, min=0).tag(sync=True)
    block_q = Enum((1, 2, 4), 2).tag(sync=True)
    causal = Bool(False).tag(sync=True)
    Q, K, V = (Array(2, digits=1, start=x).tag(sync=True) for x in draw_inputs())

    def inputs(self, dtype: torch.dtype = torch.float64) -> list[Tensor]:
        """Give Q, K and V, each (1, 8, 2)."""
        return [torch.tensor([x], dtype=dtype) for x in (self.Q, self.K, self.V)]

    def visits(self) -> list[tuple[slice, slice]]:
        """Give the queries and the keys of every tile, in the order of `flash_attention`."""
        Q, K, _ = self.inputs()
        tiles = Tiles(Q, K, self.causal, self.block_q, BLOCK_K)
        return [(q, k) for q in tiles.queries() for k in tiles.keys(q)]

    def compute(self) -> dict:
        """Give the tile, what the chip holds after it, and what has crossed the border."""
        visits = self.visits()
        done = min(self.step, len(visits))
        moves = [crossing(visits, t) for t in range(done)]  # each (8, 5)
        zeros = np.zeros((N, len(COLUMNS)), int)
        q, k = visits[done - 1] if done else (slice(0, 0), slice(0, 0))
        rows = [self.row(i, k) for i in range(q.start, q.stop)]
        return {
            "done": done,
            "total": len(visits),
            "q": [q.start, q.stop],
            "k": [k.start, k.stop],
            "last": done > 0 and bool(moves[-1][:, 3].any()),
            "rows": rows,
            "now": (moves[-1] if done else zeros).tolist(),
            "times": sum(moves, zeros).tolist(),
            "moved": int(sum(moves, zeros).sum()) * WIDTH * NUMBER,
            "flash": self.count(TiledAttention.apply, self.causal, self.block_q, BLOCK_K),
            "naive": self.count(scaled_dot_product_attention),
        }

    def row(self, i: int, k: slice) -> dict:
        """Give scores, m, l, O of one query after a tile; masked keys are as good as none."""
        Q, K, V = (x[0] for x in self.inputs())
        seen = slice(0, i + 1 if self.causal else N)
        steps = list(online_softmax_steps(Q[i : i + 1], K[seen], V[seen], BLOCK_K))
        after = min(k.start // BLOCK_K, len(steps) - 1)
        before = min(k.start // BLOCK_K - 1, len(steps) - 1)
        scores = (K[k.start : min(k.stop, seen.stop)] @ Q[i] / WIDTH**0.5).tolist()
        m, l = steps[after].m.item(), steps[after].l.item()
        return {
            "scores": scores + [None] * (k.stop - k.start - len(scores)),
            "fade": float(np.exp(steps[before].m.item() - m)) if before >= 0 else 0.0,
            "m": m,
            "l": l,
            "O": steps[after].O[0].tolist(),
            "output": (steps[after].O[0] / l).tolist(),
        }

    def count(self, attention, *options) -> int:
        """Count the bytes that a whole run moves, on a chip that holds tiles and no matrix."""
        with torch.no_grad(), Traffic(ON_CHIP) as traffic:
            attention(*self.inputs(torch.float32), *options)
        return traffic.read + traffic.written

    def describe(self) -> str:
        """Say which tile was added, what it did to the sums, and what has been moved."""
        found = self.compute()
        moved = (
            f"{found['moved']} bytes have crossed, of {found['flash']} in all; "
            f"naive attention without a mask moves {found['naive']}."
        )
        if not found["done"]:
            return f"No tile of {found['total']} is done: {moved}"
        (first, stop), (key, key_stop) = found["q"], found["k"]
        said = f"Tile {found['done']} of {found['total']}: {named('query', 'queries', first, stop)}"
        said += f" and {named('key', 'keys', key, key_stop)}. "
        faded = [
            f"by {fixed(row['fade'], 2)} for query {first + i + 1}"
            for i, row in enumerate(found["rows"])
            if row["fade"] < 1
        ]
        if key == 0:
            said += "The sums start afresh. "
        elif faded:
            said += f"The maximum rises, and the sums so far are multiplied {', '.join(faded)}. "
        else:
            said += "No maximum rises: the sums so far stay. "
        said += "The output is divided by ℓ and leaves the chip. " if found["last"] else ""
        return said + moved

    def still(self) -> list[Picture]:
        """Draw the order of the tiles, and the bytes that they move."""
        found, visits = self.compute(), self.visits()
        share = np.zeros((N, N))
        order, ax = plotting.panel(3.2, 3.2)
        for t, (q, k) in enumerate(visits, 1):
            share[q, k] = 1.0 if t == found["done"] else 0.35 * (t < found["done"])
            ax.text((k.start + k.stop) / 2, (q.start + q.stop) / 2, t, ha="center", va="center")
        blocked = np.triu(np.ones((N, N), bool), 1) if self.causal else None
        names = range(1, N + 1)
        plotting.heatmap(ax, share, rows=names, columns=names, blocked=blocked)
        ax.set_xticks(range(0, N, BLOCK_K), minor=True)
        ax.set_yticks(range(0, N, self.block_q), minor=True)
        ax.grid(which="minor", alpha=0.5)
        ax.set_title("order of the tiles")
        cost, ax = plotting.panel(3.2, 1.8)
        ax.barh(["naive", "Flash"], [found["naive"], found["flash"]], color=plotting.COLOURS[:2])
        ax.set(xlabel="bytes moved", ylim=(1.6, -0.6))
        return [order, cost]


def crossing(visits: list[tuple[slice, slice]], t: int) -> np.ndarray:
    """Give 1 where the tile moves a row of `COLUMNS`, an int array of shape (8, 5)."""
    q, k = visits[t]
    moved = np.zeros((N, len(COLUMNS)), int)
    moved[q, 0] = k.start == 0  # the block of queries is fetched once
    moved[k, 1:3] = 1
    moved[q, 3:] = t + 1 == len(visits) or visits[t + 1][0] != q
    return moved


def named(one: str, many: str, start: int, stop: int) -> str:
    """Name a range of positions, counted from 1."""
    return f"{one} {stop}" if stop - start == 1 else f"{many} {start + 1} to {stop}"
