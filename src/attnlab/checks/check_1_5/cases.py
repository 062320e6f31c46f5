"""Functions whose cost is known, peaks that were counted once, and exponents that fit them."""

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
OUTPUT = 16  # bytes that `hold_memory` returns

# Peak bytes of a forward pass in float32 with B = 4, d_model = 512 and 8 heads, counted with
# attnlab.peak_memory.PeakMemory: naive on the meta device, fused on a CPU.
SIZES = (512, 1024, 2048, 4096, 8192)
RECORDED = {
    "naive": (79_691_776, 293_601_280, 1_124_073_472, 4_395_630_592, 17_381_195_776),
    "fused": (20_971_520, 41_943_040, 83_886_080, 167_772_160, 335_544_320),
}
BOUNDS = {"naive": (1.85, 2.05), "fused": (0.9, 1.1)}  # exponents of memory at large n
OTHER = {"naive": "fused", "fused": "naive"}


def logarithms(n: Sequence, y: Sequence) -> np.ndarray:
    """Give the logarithms, (2, N), of the points that were measured."""
    points = np.array([n, y], dtype=float)  # None becomes NaN
    return np.log(points[:, np.isfinite(points[1])])


def fit(n: Sequence, y: Sequence) -> float:
    """Give the right exponent: the slope of the least-squares line through the logarithms."""
    return float(np.polyfit(*logarithms(n, y), 1)[0])


def tails(rows: np.ndarray, column: int) -> list[float]:
    """Give the exponents of a column of rows, (N, 3), from the first, the second n, and so on."""
    return [fit(rows[k:, 0], rows[k:, column]) for k in range(len(rows) - 1)]


def hold_memory(n: int) -> torch.Tensor:
    """Hold 2 n² bytes at the most, allocate 3 n² in all, and return `OUTPUT`."""
    first = torch.ones(n * n, dtype=torch.uint8, device=DEVICE)
    second = first + first
    del first
    third = second + second
    del second
    return third[:OUTPUT].clone()


class Taken(NamedTuple):
    """What a call took, in seconds by two clocks, which differ on a busy machine."""

    wall: float
    processor: float
    counting: bool  # whether a counter of tensors' memory was active


class TakesTime:
    """Keeps the processor busy for ``seconds(n, call)``, and notes in `calls[n]` what each took."""

    def __init__(self, seconds: Callable[[int, int], float]) -> None:
        self.seconds = seconds  # the calls at each n are numbered from 1 on
        self.calls: dict[int, list[Taken]] = defaultdict(list)

    def __call__(self, n: int) -> torch.Tensor:
        """Wait as long as is due."""
        wall, processor, own = time.perf_counter(), time.process_time(), time.thread_time()
        due = self.seconds(n, len(self.calls[n]) + 1)
        while time.thread_time() - own < due:
            pass
        took = time.perf_counter() - wall, time.process_time() - processor
        self.calls[n].append(Taken(*took, torch._C._len_torch_dispatch_stack() > 0))
        return torch.zeros(1, device=DEVICE)


def queue_work(n: int) -> torch.Tensor:
    """Give a CUDA GPU work for some milliseconds and return before it is done."""
    torch.cuda._sleep(50_000_000)  # cycles
    return torch.zeros(n, device=DEVICE)


def failing_at(length: int, error: Exception | None = None) -> Callable[[int], torch.Tensor]:
    """Make a function that raises at one n: an error, or what too large a tensor brings about."""

    def fails_at(n: int) -> torch.Tensor:
        if n == length and error is not None:
            raise error
        return torch.ones(2**60 if n == length else n, dtype=torch.uint8, device=DEVICE)

    return fails_at
