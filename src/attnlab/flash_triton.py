"""Flash attention as Triton kernels, forward and backward, for CUDA GPUs.

The contract of `attnlab.flash.flash_attention` and the same tile loop. There one Python loop
visits all tiles; here one GPU program runs for each block of queries, and in the backward pass
also one for each block of keys, many at a time. `attnlab.flash_triton_kernels` holds the programs.

Where there is no GPU, the same kernels run on CPU tensors in Triton's interpreter, slowly, if
Python was started with ``TRITON_INTERPRET=1``.
"""

import math
from types import ModuleType

import torch
from torch import Tensor

from attnlab.flash import check_inputs, run_tiles
from attnlab.flash_tiles import saved_for_first_derivative

# Side of a tile where the caller names none. Float32 takes twice the memory on the chip.
SIDES = {torch.float32: 32, torch.float16: 64, torch.bfloat16: 64}
SMALLEST_SIDE = 16  # tl.dot multiplies no smaller tiles
# With these the compiler keeps all tiles in registers at width 64. They are not tuned for speed.
LAUNCH = {"num_warps": 8, "num_stages": 2}


def flash_attention(
    Q: Tensor,
    K: Tensor,
    V: Tensor,
    is_causal: bool = False,
    block_q: int | None = None,
    block_k: int | None = None,
) -> Tensor:
    """Compute what `attnlab.flash.flash_attention` does, on a CUDA GPU.

    Differences: it takes float32, float16 and bfloat16. All sums are float32, but in half precision
    the weights are rounded before they multiply the values. Blocks are powers of 2 from 16 on; 64
    unless given, and 32 in float32.

    Raises
    ------
    TypeError, ValueError
        As there; if the dtype is another, such as bfloat16 in the interpreter; if the devices
        differ, or a block is no power of 2 from 16 on.
    ModuleNotFoundError, RuntimeError
        If Triton is not installed; if the inputs are not on a CUDA GPU and the kernels are not
        interpreted, or for a second derivative.
    """
    check_support(Q, K, V)
    block_q, block_k = (SIDES[Q.dtype] if side is None else side for side in (block_q, block_k))
    check_inputs(Q, K, V, block_q, block_k)
    check_sides(block_q, block_k)
    check_place(Q, kernels().INTERPRETED)
    G = math.prod(Q.shape[:-2])  # batch and heads, or whatever leads
    flat = (x.reshape(G, *x.shape[-2:]).contiguous() for x in (Q, K, V))  # (G, S, d)
    output = run_tiles(TritonAttention.apply, *flat, is_causal, block_q, block_k)  # (G, S_q, d_v)
    return output.reshape(*Q.shape[:-1], V.shape[-1])  # (..., S_q, d_v)


class TritonAttention(torch.autograd.Function):
    """Attention on (G, S, d) that remembers O, m and l, and no weight."""

    @staticmethod
    def forward(ctx, Q, K, V, is_causal, block_q, block_k):
        """Run one program for each block of queries of each head."""
        G, S_q, _ = Q.shape
        O = Q.new_empty(G, S_q, V.shape[2])  # (G, S_q, d_v)
        m, l = Q.new_empty(2, G, S_q, dtype=torch.float32)  # (G, S_q) each
        ctx.options = options(Q, K, V, is_causal, block_q, block_k)
        with torch.cuda.device_of(Q):
            kernels().forward[programs(Q, block_q)](Q, K, V, O, m, l, **ctx.options)
        ctx.save_for_backward(Q, K, V, O, m, l)
        return O

    @staticmethod
    def backward(ctx, dO):
        """Run one program for each block of queries, then one for each block of keys."""
        Q, K, V, O, m, l = saved_for_first_derivative(ctx)
        dO = dO.contiguous()
        D = (dO.float() * O.float()).sum(-1)  # (G, S_q): the row term
        dQ, dK, dV = (torch.empty_like(x) for x in (Q, K, V))
        by_query, by_key = (
            programs(Q, ctx.options["BLOCK_Q"]),
            programs(K, ctx.options["BLOCK_K"]),
        )
        with torch.cuda.device_of(Q):
            kernels().backward_queries[by_query](Q, K, V, dO, m, l, D, dQ, **ctx.options)
            kernels().backward_keys[by_key](Q, K, V, dO, m, l, D, dK, dV, **ctx.options)
        return dQ, dK, dV, None, None, None


def programs(x: Tensor, block: int) -> tuple[int]:
    """Give the launch grid with one program for each block of rows of each head."""
    return (x.shape[0] * math.ceil(x.shape[1] / block),)


def options(Q, K, V, is_causal: bool, block_q: int, block_k: int) -> dict[str, float]:
    """Give what every kernel takes beside its matrices."""
    d_k, d_v = Q.shape[2], V.shape[2]
    sizes = {"S_q": Q.shape[1], "S_k": K.shape[1], "scale": 1 / math.sqrt(d_k)}
    widths = {"d_k": d_k, "d_v": d_v, "PAD_K": padded(d_k), "PAD_V": padded(d_v)}
    tiles = {"IS_CAUSAL": is_causal, "BLOCK_Q": block_q, "BLOCK_K": block_k}
    return sizes | widths | tiles | LAUNCH


def padded(width: int) -> int:
    """Give the side of a tile that holds `width` columns."""
    return max(SMALLEST_SIDE, 1 << (width - 1).bit_length())


def kernels() -> ModuleType:
    """Import the kernels, and with them Triton, at their first use."""
    try:
        from attnlab import flash_triton_kernels
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "attnlab.flash_triton needs Triton, which runs on Linux alone: install it with "
            "`pip install -e '.[triton]'`, or call attnlab.flash.flash_attention"
        ) from error
    return flash_triton_kernels


def check_support(Q: Tensor, K: Tensor, V: Tensor) -> None:
    """Raise where the dtype is one that `attnlab.flash` supports alone, or devices differ."""
    if Q.dtype not in SIDES:
        raise TypeError(
            f"Q is {Q.dtype}, but the kernels know float32, float16 and bfloat16; "
            "call attnlab.flash.flash_attention for others"
        )
    if not Q.device == K.device == V.device:
        raise ValueError(
            f"Q, K and V are on {Q.device}, {K.device} and {V.device}: move them to one"
        )


def check_sides(*sides: int) -> None:
    """Raise unless each side of a tile is one that the GPU can multiply."""
    for side in sides:
        if side < SMALLEST_SIDE or side & (side - 1):
            raise ValueError(
                f"a block of {side} is no power of 2 from {SMALLEST_SIDE} on, as Triton's tiles are"
            )


def check_place(Q: Tensor, interpreted: bool) -> None:
    """Raise unless the kernels run where `Q` is, and are right there."""
    if interpreted and Q.dtype == torch.bfloat16:
        raise TypeError(
            "Triton's interpreter computes wrong numbers in torch.bfloat16: use torch.float32 or "
            "torch.float16 there"
        )
    if not interpreted and not Q.is_cuda:
        raise RuntimeError(
            f"the inputs are on {Q.device}, but the kernels are compiled for a CUDA GPU: move the "
            "inputs to one, call attnlab.flash.flash_attention, or start Python with "
            "TRITON_INTERPRET=1 to run the kernels on the CPU, slowly"
        )
