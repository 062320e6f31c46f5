"""Measure every way to compute attention on this GPU and record it: ``make profile-gpu``.

Time and peak memory of naive attention, of ours in PyTorch and in Triton, and of each backend of
PyTorch's own function, forward and with the backward pass. The record goes to chapters/data, with
device, date, versions and commit, where section 1.10 finds it.
"""

import argparse
import itertools
import re
import sys
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F
from bench import naive
from files import ROOT
from provenance import provenance
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from attnlab import flash, flash_triton
from attnlab.measurement_records import write_record
from attnlab.profiling import measure, progress

SIZES = (512, 1024, 2048, 4096, 8192)
B, H, D = 4, 8, 64  # d_model 512
DTYPES = (torch.bfloat16, torch.float32)
TOLERANCE = 0.05  # how far a variant may be from naive attention in float32, relative to its size
BACKENDS = ("FLASH_ATTENTION", "EFFICIENT_ATTENTION", "CUDNN_ATTENTION", "MATH")


def sdpa(backend: str) -> Callable:
    """Give PyTorch's function, forced to one backend."""

    def attention(Q: Tensor, K: Tensor, V: Tensor) -> Tensor:
        with sdpa_kernel(getattr(SDPBackend, backend)):
            return F.scaled_dot_product_attention(Q, K, V)

    return attention


def variants() -> dict[str, Callable]:
    """Give every way to compute attention, whether or not this device offers it."""
    ours = {"naive": naive, "flash": flash.flash_attention, "triton": flash_triton.flash_attention}
    return ours | {f"SDPA {name}": sdpa(name) for name in BACKENDS}


def make_inputs(n: int, dtype: torch.dtype, device: str, backward: bool) -> list[Tensor]:
    """Draw Q, K and V, each (B, H, n, d)."""
    torch.manual_seed(0)
    options = {"dtype": dtype, "device": device, "requires_grad": backward}
    return [torch.randn(B, H, n, D, **options) for _ in range(3)]


def call(attention: Callable, *inputs: Tensor) -> tuple[Tensor, ...]:
    """Give the output of attention, and the gradients of its inputs if they want them."""
    output = attention(*inputs)
    if not inputs[0].requires_grad:
        return (output,)
    return output, *torch.autograd.grad(output, inputs, output.detach())


def why_not(attention: Callable, dtype: torch.dtype, device: str) -> str | None:
    """Say why a variant does not run here, or give None if it does, and agrees with naive."""
    names = ("output", "dQ", "dK", "dV")
    try:
        inputs = make_inputs(64, dtype, device, backward=True)
        exact = call(naive, *(x.detach().float().requires_grad_() for x in inputs))
        for name, result, expected in zip(names, call(attention, *inputs), exact, strict=True):
            off = ((result - expected).norm() / expected.norm()).item()  # waits for the GPU
            if not off < TOLERANCE:
                return f"its {name} differs from naive attention's by {off:.0%}"
    except Exception as error:  # a compiler's own classes among them
        return in_one_line(error)
    return None


def in_one_line(error: Exception) -> str:
    """Name an error and what its message begins with."""
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"


def sweep(device: str, sizes: list[int], repeats: int) -> tuple[list[dict], list[dict]]:
    """Measure all variants that run here; give the rows and what was left out, and why."""
    rows, left_out, running = [], [], []
    for (name, attention), dtype in itertools.product(variants().items(), DTYPES):
        kind = {"variant": name, "dtype": str(dtype).removeprefix("torch.")}
        reason = why_not(attention, dtype, device)
        if reason:
            left_out.append({**kind, "why": reason})
        else:
            running.append((kind, attention, dtype))
    cases = list(itertools.product(running, (False, True), sizes))
    for (kind, attention, dtype), backward, n in progress(cases, "profile"):
        case = {**kind, "backward": backward, "n": n}
        try:
            inputs = make_inputs(n, dtype, device, backward)
            with torch.set_grad_enabled(backward):
                result = measure(call, attention, *inputs, repeats=repeats)
            rows.append({**case, **result._asdict()})
        except Exception as error:  # what was measured so far is worth keeping
            left_out.append({**case, "why": in_one_line(error)})
    return rows, left_out


def main(arguments: list[str] | None = None) -> int:
    """Run the sweep and write the record; give the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="lengths n")
    parser.add_argument("--repeats", default=10, type=int, help="how often each time is taken")
    parser.add_argument("--out", default=ROOT / "chapters" / "data", type=Path)
    options = parser.parse_args(arguments)
    if options.device == "cuda" and not torch.cuda.is_available():
        print("profile-gpu needs a CUDA GPU and PyTorch sees none here.", file=sys.stderr)
        return 1
    sizes = [int(n) for n in options.sizes.split(",")]
    setting = {"B": B, "H": H, "d": D, "causal": False}
    record = provenance(options.device) | {"setting": setting}
    record["rows"], record["left_out"] = sweep(options.device, sizes, options.repeats)
    for entry in record["left_out"]:
        *case, (_, why) = entry.items()
        print(f"left out: {', '.join(f'{name} {value}' for name, value in case)}: {why}")
    name = re.sub(r"[^a-z0-9]+", "_", record["device"].lower()).strip("_")
    target = options.out / f"flash_{name}.json"
    write_record(target, record)
    print(f"wrote {target}, {len(record['rows'])} measurements")
    return 0


if __name__ == "__main__":
    sys.exit(main())
