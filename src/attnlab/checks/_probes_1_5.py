"""Functions whose cost is known, for the student's profile of exercise 1.5 to measure."""

import time
from collections.abc import Callable

import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


class HoldsMemory:
    """At length n it holds 2 n² bytes at the most, allocates 3 n² in all, and returns 16."""

    output_bytes = 16

    def __call__(self, n: int) -> torch.Tensor:
        """Allocate, free and return."""
        first = torch.ones(n * n, dtype=torch.uint8, device=DEVICE)
        second = first + first
        del first
        third = second + second
        del second
        return third[: self.output_bytes].clone()

    @staticmethod
    def peak(n: int) -> int:
        """Give the right answer."""
        return 2 * n * n


class TakesTime:
    """Keeps the processor busy, and writes down how long each of its calls took.

    Parameters
    ----------
    seconds : callable
        Takes n and the number of the call at this n, from 1 on.

    Attributes
    ----------
    wall, processor : dict of int to list of float
        Seconds of each call, by n and by two clocks. On a busy machine they differ.
    counted : dict of int to list of bool
        Whether a counter of tensors' memory was active during the call.
    """

    def __init__(self, seconds: Callable[[int, int], float]) -> None:
        self.seconds = seconds
        self.wall: dict[int, list[float]] = {}
        self.processor: dict[int, list[float]] = {}
        self.counted: dict[int, list[bool]] = {}

    def __call__(self, n: int) -> torch.Tensor:
        """Wait as long as is due, with the processor busy."""
        wall, processor, own = time.perf_counter(), time.process_time(), time.thread_time()
        due = self.seconds(n, self.calls(n) + 1)
        while time.thread_time() - own < due:
            pass
        self.wall.setdefault(n, []).append(time.perf_counter() - wall)
        self.processor.setdefault(n, []).append(time.process_time() - processor)
        counting = torch._C._len_torch_dispatch_stack() > 0
        self.counted.setdefault(n, []).append(counting)
        return torch.zeros(1, device=DEVICE)

    def calls(self, n: int) -> int:
        """Give how often it was called at n."""
        return len(self.wall.get(n, []))


def queue_work(n: int) -> torch.Tensor:
    """Give a CUDA GPU work for some milliseconds and return before it is done."""
    torch.cuda._sleep(50_000_000)  # cycles
    return torch.zeros(n, device=DEVICE)


def seconds_of_queued_work() -> float:
    """Measure `queue_work` as the GPU sees it."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    queue_work(1)
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / 1000


class FailsAt:
    """Raises at one length, and returns a tensor at all others.

    Parameters
    ----------
    length : int
    error : Exception, optional
        What it raises. Unless given, it asks for more memory than any machine has.
    """

    def __init__(self, length: int, error: Exception | None = None) -> None:
        self.length, self.error = length, error

    def __call__(self, n: int) -> torch.Tensor:
        """Return a tensor, or fail."""
        if n == self.length and self.error is not None:
            raise self.error
        return torch.ones(2**60 if n == self.length else n, dtype=torch.uint8, device=DEVICE)
