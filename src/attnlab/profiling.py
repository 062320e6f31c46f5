"""Measuring on real hardware, and saying so where the hardware is missing."""

import gc
import json
import math
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from attnlab.arguments import check_counts
from attnlab.measurement_records import write_record
from attnlab.peak_memory import PeakMemory
from nbmark.skip import skip_cell

Item = TypeVar("Item")

# What errors say of memory that ran out: of CUDA, of its libraries, of PyTorch on a CPU.
OUT_OF_MEMORY = ("out of memory", "STATUS_ALLOC_FAILED", "DefaultCPUAllocator")

USE_OF_TIMES = "ATTNLAB_TIMES"  # "recorded" in a build of the book, "record" in `make times`


def require_cuda(
    what: str = "this cell", recorded: str | None = None, capability: tuple[int, int] | None = None
) -> None:
    """Go on where there is a CUDA GPU; end the notebook cell here where there is none.

    The cell ends without an error, with one line that says what was skipped and where the
    recorded result stands. It raises `nbmark.skip.CellSkipped`, at which a script stops.

    Parameters
    ----------
    what : str
        What the rest of the cell does, as the subject of the sentence: "the sweep to n = 32768".
    recorded : str, optional
        Where the reader finds the result of the same cell from a machine with a GPU.
    capability : (int, int), optional, the least compute capability that will do
    """
    least = "" if capability is None else " of compute capability {}.{}".format(*capability)
    if torch.cuda.is_available() and not (
        least and torch.cuda.get_device_capability() < capability
    ):
        return
    reason = f"{what} needs a CUDA GPU{least} and there is none here."
    skip_cell(reason if recorded is None else f"{reason} Recorded result: {recorded}.")


class Measurement(NamedTuple):
    """What one call costs. Out of memory is a result too: both numbers are then None."""

    seconds: float | None  # median; None on the meta device, where nothing is computed
    peak_bytes: int | None  # the most that was held at once, beyond the inputs
    out_of_memory: bool = False


def measure(
    fn: Callable, *args: object, repeats: int = 5, device: str | None = None
) -> Measurement:
    """Measure the time and the peak memory of ``fn(*args)``.

    On CUDA the time is taken between two events and the memory is what the allocator handed out
    beyond what was in use before. On a CPU the time is that of one thread's processor, which
    other programs disturb little, and the memory is what tensors hold, counted exactly by
    `attnlab.peak_memory.PeakMemory`. On the meta device there is no time, only memory.

    Parameters
    ----------
    fn : callable
        What to measure. It runs for the memory and then for the time; on CUDA once before, since
        libraries take memory of their own at their first call.
    *args : object, its arguments; the tensors among them say which device is measured
    repeats : int, optional, how many times to take the time; at least once, or ValueError is raised
    device : str, optional, "cuda", "cpu" or "meta", where the arguments hold no tensor that tells
    """
    check_counts(least=1, repeats=repeats)
    tensors = [x for x in tree_leaves(args) if isinstance(x, Tensor)]
    device = torch.device(device or (tensors[0].device if tensors else "cpu")).type
    try:
        peak = (_peak_on_cuda if device == "cuda" else _peak_of_tensors)(fn, args)
        if device == "meta":
            return Measurement(None, peak)
        clock = _seconds_on_cuda if device == "cuda" else _seconds_on_cpu
        return Measurement(statistics.median(clock(fn, args) for _ in range(repeats)), peak)
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
    gc.collect()
    if device == "cuda":
        torch.cuda.empty_cache()
    return Measurement(None, None, out_of_memory=True)


def is_out_of_memory(error: Exception) -> bool:
    """Tell whether the error says that memory ran out, on any device."""
    named = isinstance(error, MemoryError | torch.OutOfMemoryError)
    return named or any(sign in str(error) for sign in OUT_OF_MEMORY)


def _peak_on_cuda(fn: Callable, args: Sequence) -> int:
    fn(*args)
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    fn(*args)
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated() - before


def _peak_of_tensors(fn: Callable, args: Sequence) -> int:
    with PeakMemory() as memory:
        fn(*args)
    return memory.peak


def _seconds_on_cuda(fn: Callable, args: Sequence) -> float:
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    fn(*args)
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / 1000


def _seconds_on_cpu(fn: Callable, args: Sequence) -> float:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        start = time.process_time()
        fn(*args)
        return time.process_time() - start
    finally:
        torch.set_num_threads(threads)


class PowerLaw(NamedTuple):
    """The exponent of a measured power law, and how far off it may be."""

    exponent: float
    stderr: float

    def __float__(self) -> float:
        return self.exponent

    def __str__(self) -> str:
        return f"{self.exponent:.2f} ± {self.stderr:.2f}"


def fit_exponent(n: Sequence, y: Sequence, n_min: float = 1024) -> PowerLaw:
    """Fit p in y = c n^p, by least squares on the logarithms of the large n.

    Small n say little of the growth: there, whatever does not grow still counts. So only points
    with n >= `n_min` are used. A None in `y`, as after running out of memory, is left out. Fewer
    than three points, or one that is not finite and positive, raise ValueError.
    """
    pairs = [(n, y) for n, y in zip(n, y, strict=True) if n >= n_min and y is not None]
    if len(pairs) < 3 or not all(0 < x < math.inf for pair in pairs for x in pair):
        raise ValueError(f"an exponent with its error needs three positive points, got {pairs}")
    x, y = np.log(np.array(pairs, dtype=float)).T  # (points,) each
    slope, offset = np.polyfit(x, y, 1)
    residual = ((y - offset - slope * x) ** 2).sum() / (len(x) - 2)
    return PowerLaw(float(slope), math.sqrt(residual / ((x - x.mean()) ** 2).sum()))


def steady(path: str | Path, name: str, measured: dict[str, list[float]]) -> dict:
    """Give the times to draw: those measured just now, or in a build of the book recorded ones.

    No two runs take the same time. So that one source gives one book, byte for byte, the build
    draws what ``make times`` recorded on one machine; what a page claims of times is still measured
    in each run of the tests.

    Parameters
    ----------
    path : str or Path, the file of records, from the notebook's folder
    name : str, of this measurement in the file
    measured : dict of str to list of float, the times of each curve

    Raises
    ------
    LookupError
        In a build, if the file holds no record of just these curves with just as many points.
    """
    use, path = os.environ.get(USE_OF_TIMES), Path(path)
    if use not in {"recorded", "record"}:
        return measured
    records = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    if use == "record":
        short = {curve: [float(f"{t:.4g}") for t in times] for curve, times in measured.items()}
        write_record(path, records | {name: short})
        return measured
    recorded = records.get(name, {})
    if {c: len(t) for c, t in recorded.items()} != {c: len(t) for c, t in measured.items()}:
        raise LookupError(f"{path} holds no such times of {name!r}: run `make times`")
    return {curve: recorded[curve] for curve in measured}


def progress(items: Iterable[Item], label: str) -> Iterator[Item]:
    """Go through the items and keep one line on the terminal, or below the cell, up to date.

    The label says what is being done, in front of the bar. The line disappears after the last item,
    in a notebook with all that the cell showed before: show results after the loop. A file or a
    pipe gets no line.
    """
    items, paint = list(items), _painter()
    started = time.monotonic()
    for done, item in enumerate(items):
        bar = f"[{'#' * (20 * done // len(items)):20}]"
        paint(f"{label} {bar} {done} of {len(items)}, {time.monotonic() - started:.0f} s")
        yield item
    paint("")


def _painter() -> Callable[[str], None]:
    """Give the function that shows a line in the place of the last one."""
    if sys.stdout.isatty():
        return lambda line: print(f"\r\033[K{line}", end="", flush=True)
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if not hasattr(shell, "kernel"):
        return lambda line: None
    from IPython.display import clear_output, display

    handle = display({"text/plain": ""}, raw=True, display_id=True)
    # An empty text would stay below the cell as an empty box.
    return lambda line: handle.update({"text/plain": line}, raw=True) if line else clear_output()
