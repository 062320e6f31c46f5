"""The Triton kernels, each way to run them in a process of its own, and what needs no Triton.

Triton decides at its import whether kernels are compiled or interpreted, so this process never
imports it.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import attnlab
from attnlab.flash_triton import flash_attention

ROOT = Path(__file__).resolve().parents[2]
HOW_TO_GET_IT = "Triton is not installed: `pip install -e '.[triton]'`, on Linux"


@pytest.fixture
def _triton():
    """Skip the test without Triton, but fail it under CI."""
    if importlib.util.find_spec("triton") is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(HOW_TO_GET_IT)


def run(*arguments, interpret="0"):
    environment = os.environ | {"TRITON_INTERPRET": interpret, "OMP_NUM_THREADS": "1"}
    command, output = [sys.executable, *arguments], {"capture_output": True, "text": True}
    return subprocess.run(command, cwd=ROOT, env=environment, timeout=600, **output)


def assert_tests_pass(name, interpret="0"):
    """Run a file of tests and expect that all of them pass and none is skipped."""
    arguments = ("-m", "pytest", "-q", "-p", "no:cacheprovider", f"tests/attnlab/{name}")
    done = run(*arguments, interpret=interpret)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in done.stdout
    assert "skipped" not in done.stdout


@pytest.mark.usefixtures("_triton")
def test_kernels_are_right_in_tritons_interpreter():
    assert_tests_pass("kernel_tests.py", interpret="1")


@pytest.mark.usefixtures("_triton")
def test_kernels_compile_without_a_gpu():
    assert_tests_pass("kernel_compilation_tests.py")


@pytest.mark.usefixtures("_triton")
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")
def test_kernels_are_right_on_a_gpu():
    assert_tests_pass("kernel_tests.py")


# Import every module but the kernels; say whether that brought Triton where torch alone had not.
PROGRAM = """
import importlib, pkgutil, sys
import attnlab, torch
before = "triton" in sys.modules
for found in pkgutil.walk_packages(attnlab.__path__, "attnlab."):
    if not found.name.endswith(("_kernels", "__main__")):
        importlib.import_module(found.name)
print("attnlab.flash_triton" in sys.modules, ("triton" in sys.modules) != before)
"""


@pytest.mark.usefixtures("_triton")
def test_no_module_but_the_kernels_imports_triton():
    done = run("-c", PROGRAM)
    assert done.stdout.split() == ["True", "False"], done.stderr


def tensors(dtype=torch.float32, device="cpu"):
    return [torch.zeros(2, 3, 5, dtype=dtype, device=device) for _ in range(3)]


def test_without_triton_the_call_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "triton", None)
    # Another test of this process may have imported the kernels already.
    monkeypatch.delitem(sys.modules, "attnlab.flash_triton_kernels", raising=False)
    monkeypatch.delattr(attnlab, "flash_triton_kernels", raising=False)
    with pytest.raises(ModuleNotFoundError, match=r"pip install -e '\.\[triton\]'`, or call attn"):
        flash_attention(*tensors())


@pytest.mark.parametrize("dtype", [torch.float64, torch.int32, torch.complex64])
def test_dtype_that_the_kernels_do_not_know_is_refused(dtype):
    with pytest.raises(TypeError, match=rf"Q is {dtype}, .*; call attnlab\.flash\.flash_attention"):
        flash_attention(*tensors(dtype))


def test_inputs_of_different_dtypes_are_refused():
    Q, K, V = tensors()
    with pytest.raises(TypeError, match=r"torch\.float32, torch\.float16 and torch\.float32"):
        flash_attention(Q, K.half(), V)


def test_inputs_on_different_devices_are_refused():
    Q, K, V = tensors()
    with pytest.raises(ValueError, match="on cpu, cpu and meta: move them to one"):
        flash_attention(Q, K, V.to("meta"))


@pytest.mark.parametrize("blocks", [(0, 16), (8, 16), (16, 24), (-16, 16)])
def test_block_that_triton_cannot_multiply_is_refused(blocks):
    with pytest.raises(ValueError, match=r"no power of 2 from 16 on|must both be at least 1"):
        flash_attention(*tensors(), False, *blocks)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda Q, K, V: (Q[..., 1:], K, V), "queries have width 4 and keys 5"),
        (lambda Q, K, V: (Q[..., :0], K[..., :0], V), "0: both are d_k, at least 1"),
        (lambda Q, K, V: (Q, K, V[:, 1:]), "3 keys and 2 values"),
        (lambda Q, K, V: (Q, K[:1], V[:1]), "same dimensions before"),
        (lambda Q, K, V: (Q[0, 0], K[0, 0], V[0, 0]), "same dimensions before"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        flash_attention(*change(*tensors()))
