"""The Triton kernels through the whole compiler, for GPUs that need not be here.

test_flash_triton.py runs this file in a process of its own; pytest does not collect it by itself.
"""

import re

import pytest
import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from attnlab import flash_triton_kernels as kernels
from attnlab.flash_triton import LAUNCH, SIDES, flash_attention, options

DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
KERNELS = [kernels.forward, kernels.backward_queries, kernels.backward_keys]
# What multiplies tiles in half precision: the tensor cores, summing in float32.
TENSOR_CORES = {80: r"mma\.sync\.\S+\.f32\.{}\.", 90: r"wgmma\.mma_async\.\S+\.f32\.{}\."}
S, WIDTH = 97, 64


def compiled(kernel, dtype, capability):
    """Compile as a launch would: same options, same types, pointers aligned to 16 bytes."""
    tensor = torch.empty(2, S, WIDTH, dtype=DTYPES[dtype])
    side = SIDES[tensor.dtype]
    given = options(tensor, tensor, tensor, True, side, side)
    runtime = {"S_q": "i32", "S_k": "i32", "scale": "fp32"}
    constants = {name: given[name] for name in given.keys() - runtime.keys() - LAUNCH.keys()}
    types = runtime | dict.fromkeys("mlD", "*fp32") | dict.fromkeys(constants, "constexpr")
    signature = {name: types.get(name, f"*{dtype}") for name in kernel.arg_names}
    aligned = {
        (position,): [["tt.divisibility", 16]]
        for position, kind in enumerate(signature.values())
        if kind.startswith("*")
    }
    source = ASTSource(kernel, signature, constants, aligned)
    return triton.compile(source, GPUTarget("cuda", capability, 32), LAUNCH)


# Each dtype, and each GPU's own tensor cores.
@pytest.mark.parametrize(("dtype", "capability"), [("fp32", 80), ("bf16", 80), ("fp16", 90)])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_kernel_compiles_to_ptx_and_machine_code(kernel, dtype, capability, monkeypatch, tmp_path):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))  # compile, whatever was compiled before
    code = compiled(kernel, dtype, capability)
    ptx = code.asm["ptx"]
    assert f".target sm_{capability}" in ptx
    assert f".entry {kernel.__name__}(" in ptx
    assert code.asm["cubin"].startswith(b"\x7fELF")
    assert "tf32" not in ptx  # ten bits of mantissa would be no float32
    multiply = r"fma\.rn\.f32" if dtype == "fp32" else TENSOR_CORES[capability]
    assert re.search(multiply.format(dtype.replace("fp", "f")), ptx)
    assert code.metadata.shared <= 99 * 1024  # bytes that a program finds on any GPU from sm_80 on


@pytest.mark.parametrize("dtype", DTYPES.values())
def test_tensor_on_the_cpu_is_refused_with_the_ways_out(dtype):
    Q = torch.zeros(2, S, WIDTH, dtype=dtype)
    with pytest.raises(
        RuntimeError, match=r"inputs are on cpu, .*flash\.flash_attention, or .*_INT"
    ):
        flash_attention(Q, Q, Q)
