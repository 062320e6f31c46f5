"""Compare Flash attention with naive attention and PyTorch's own on this CPU: ``make bench``.

Times are processor seconds of one thread. Each round runs the three one after the other, so that
whatever disturbs the machine disturbs all of them, and the ratios are medians over the rounds. The
memory of naive and tiled attention is counted on the meta device, so any length can be asked for.
"""

import argparse
import itertools
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch
import torch.nn.functional as F
from files import BUILD
from provenance import provenance
from torch import Tensor

from attnlab.attention import scaled_dot_product_attention
from attnlab.flash import flash_attention
from attnlab.masks import make_causal_mask
from attnlab.measurement_records import write_record
from attnlab.profiling import fit_exponent, measure

SIZES = (512, 1024, 2048, 4096, 8192)
B, H, D = 1, 8, 64
NAMES = ("ours", "naive", "SDPA")
ROUNDS, FEWEST, SECONDS = 9, 3, 30  # nine rounds, or as many as fit the seconds but three
MEMORY_SHARE = 0.5  # of the memory that is free now, at most, for one call
MET, MISSED, OPEN = "met   ", "MISSED", "open  "
EXIT_CODE = "Ends with an error, exit code 1, if a bar is missed; one that stays open is no error."


class Case(NamedTuple):
    """One row of the table."""

    n: int
    causal: bool
    backward: bool

    def __str__(self) -> str:
        direction = "forward+backward" if self.backward else "forward"
        return f"{self.n:6} {'causal' if self.causal else 'full':7} {direction:17}"


class Limit(NamedTuple):
    """The largest ratio of our time to another's over some lengths."""

    other: str
    causal: tuple[bool, ...]
    backward: bool
    sizes: tuple[int, ...]
    most: float


LIMITS = (
    Limit("naive", (False,), False, (2048, 4096, 8192), 0.5),
    Limit("naive", (True,), False, (2048, 4096, 8192), 0.2),
    Limit("SDPA", (False, True), False, (2048, 4096, 8192), 1.5),
    Limit("naive", (False,), True, (2048, 4096), 0.75),
    Limit("naive", (True,), True, (2048, 4096), 0.5),
    Limit("SDPA", (False, True), True, (2048, 4096), 1.35),
)


def make_inputs(case: Case, device: str) -> list[Tensor]:
    """Draw Q, K and V, each (B, H, n, d)."""
    torch.manual_seed(0)
    shape = (B, H, case.n, D)
    return [torch.randn(shape, device=device, requires_grad=case.backward) for _ in range(3)]


def naive(Q: Tensor, K: Tensor, V: Tensor, mask: Tensor | None = None) -> Tensor:
    """Give the output of attention that holds the whole matrix of weights."""
    return scaled_dot_product_attention(Q, K, V, mask)[0]


def run(attention: Callable, case: Case, *inputs: Tensor) -> None:
    """Run attention once, with the gradients of its inputs if the case has them."""
    with torch.set_grad_enabled(case.backward):
        output = attention(*inputs)
        if case.backward:
            torch.autograd.grad(output, inputs, output.detach())


def contestants(case: Case, device: str) -> dict[str, Callable]:
    """Give ours, naive attention and PyTorch's, none of them compiled."""
    mask = make_causal_mask(case.n, device) if case.causal else None
    functions = {
        "ours": partial(flash_attention, is_causal=case.causal),
        "naive": partial(naive, mask=mask),
        "SDPA": partial(F.scaled_dot_product_attention, is_causal=case.causal),
    }
    return {name: partial(run, function, case) for name, function in functions.items()}


def peaks(case: Case) -> dict[str, int | None]:
    """Count peak bytes beyond the inputs; SDPA has another algorithm on the meta device."""
    on = {"ours": "meta", "naive": "meta", "SDPA": "cpu"}
    return {
        name: measure(
            contestants(case, device)[name], *make_inputs(case, device), repeats=1
        ).peak_bytes
        for name, device in on.items()
    }


def times(case: Case, names: list[str]) -> dict[str, list[float]]:
    """Run the contestants in rounds and give the processor seconds of each."""
    inputs, functions = make_inputs(case, "cpu"), contestants(case, "cpu")
    seconds = {name: [] for name in names}
    started = time.process_time()
    for done in range(ROUNDS):
        if done >= FEWEST and time.process_time() - started > SECONDS:
            break
        for name in names:
            start = time.process_time()
            functions[name](*inputs)
            seconds[name].append(time.process_time() - start)
    return seconds


def available_memory() -> float:
    """Give the bytes that can be used without swapping, where the system says so."""
    try:
        with open("/proc/meminfo") as file:
            lines = dict(line.split(":") for line in file)
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError):
        return 8 * 2**30


def bench(case: Case) -> dict:
    """Measure one row; a contestant that needs too much memory has no time."""
    memory = peaks(case)
    fits = [name for name in NAMES if memory[name] <= MEMORY_SHARE * available_memory()]
    seconds = times(case, fits)
    others = [name for name in fits if name != "ours"]
    pairs = {name: zip(seconds["ours"], seconds[name], strict=True) for name in others}
    return {
        **case._asdict(),
        "seconds": {name: statistics.median(values) for name, values in seconds.items()},
        "ours_to": {
            name: statistics.median(ours / other for ours, other in pairs[name]) for name in others
        },
        "peak_bytes": memory,
        "rounds": len(seconds["ours"]),
    }


def exponents(rows: list[dict]) -> list[dict]:
    """Fit the growth of memory over n >= 1024, for each direction and mask."""
    fits = []
    for causal, backward, name in itertools.product((False, True), (False, True), NAMES):
        chosen = [r for r in rows if (r["causal"], r["backward"]) == (causal, backward)]
        chosen = [r for r in chosen if r["n"] >= 1024]
        if len(chosen) > 2:
            law = fit_exponent([r["n"] for r in chosen], [r["peak_bytes"][name] for r in chosen])
            fits.append({"name": name, "causal": causal, "backward": backward, **law._asdict()})
    return fits


def verdicts(rows: list[dict], fits: list[dict]) -> list[str]:
    """Say of each bar whether the measurements keep it, and by how much."""
    lines = [judge_times(limit, rows) for limit in LIMITS]
    for name, least, most in (("ours", 0, 1.1), ("naive", 1.9, 2.1)):
        found = [fit["exponent"] for fit in fits if fit["name"] == name]
        if found:
            outcome = MET if least <= min(found) and max(found) <= most else MISSED
            span = f"{min(found):.2f} to {max(found):.2f}"
            lines.append(f"{outcome} memory exponent of {name} within {least} to {most}: {span}")
    return list(filter(None, lines))


def judge_times(limit: Limit, rows: list[dict]) -> str | None:
    """Say whether one limit is kept; it stays open where another could not be measured."""
    chosen = [
        row
        for row in rows
        if row["backward"] == limit.backward
        if row["causal"] in limit.causal and row["n"] in limit.sizes
    ]
    if not chosen:
        return None
    ratios = [(r["ours_to"][limit.other], r["n"]) for r in chosen if limit.other in r["ours_to"]]
    unknown = {row["n"] for row in chosen if limit.other not in row["ours_to"]}
    worst, at = max(ratios, default=(0, None))
    outcome = MISSED if worst > limit.most else OPEN if unknown else MET
    masks = " and ".join("causal" if causal else "full" for causal in limit.causal)
    found = [f"{worst:.2f} at n = {at}"] if ratios else []
    found += [f"too little memory at n = {n}" for n in sorted(unknown)]
    what = f"{outcome} {masks} {'forward+backward' if limit.backward else 'forward'}"
    return f"{what}: at most {limit.most} of {limit.other}'s time, {', '.join(found)}"


def numbers(row: dict) -> str:
    """Write what was measured of one row of the table."""
    seconds = [row["seconds"].get(name) for name in NAMES]
    ratios = [row["ours_to"].get(name) for name in NAMES[1:]]
    cells = [f"{s * 1000:10.1f}" if s else f"{'-':>10}" for s in seconds]
    cells += [f"{r:8.2f}" if r else f"{'-':>8}" for r in ratios]
    return "".join(cells + [f"{row['peak_bytes'][name] / 2**20:9.1f}" for name in NAMES])


def main(arguments: list[str] | None = None) -> int:
    """Run all cases, print the table, write _build/bench.json and give the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog=EXIT_CODE)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="lengths n")
    sizes = [int(n) for n in parser.parse_args(arguments).sizes.split(",")]
    torch.set_num_threads(1)
    print(f"B {B}, H {H}, d {D}, float32, one thread; milliseconds, ratios, MiB beyond the inputs")
    head = "".join(f"{name + ' ms':>10}" for name in NAMES) + f"{'/naive':>8}{'/SDPA':>8}"
    print(f"{'n':>6} {'mask':7} {'direction':17}{head}" + "".join(f"{n:>9}" for n in NAMES))
    bench(Case(64, True, True))  # warms up
    rows = []
    for case in itertools.starmap(Case, itertools.product(sizes, (False, True), (False, True))):
        print(case, end="", flush=True)  # what is being measured
        rows.append(bench(case))
        print(numbers(rows[-1]), flush=True)
    fits = exponents(rows)
    lines = verdicts(rows, fits)
    setting = {"B": B, "H": H, "d": D, "dtype": "float32", "threads": 1}
    record = {**provenance("cpu"), "setting": setting, "rows": rows, "exponents": fits}
    write_record(BUILD / "bench.json", record)
    print(*lines, f"wrote {BUILD / 'bench.json'}", sep="\n")
    return int(any(line.startswith(MISSED) for line in lines))


if __name__ == "__main__":
    sys.exit(main())
