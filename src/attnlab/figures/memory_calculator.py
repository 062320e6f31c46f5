"""How long a sequence each GPU's memory holds, naive and Flash (section 1.9)."""

from bisect import bisect_right
from collections.abc import Callable

from matplotlib.figure import Figure as Picture
from traitlets import Bool, Enum, Float, List, Tuple, Unicode

from attnlab import cost, plotting
from attnlab.figures._base import Figure, bundle, fixed

LENGTHS = tuple(2**i for i in range(9, 21))  # 512 ... 1,048,576
COUNTS = tuple(2**i for i in range(8))  # 1 ... 128
ITEMSIZE = {"float32": 4, "bfloat16": 2}

# GiB that PyTorch finds on the card, as its reports of memory that ran out say (of the H200, what
# its driver says), and whether PyTorch's Flash kernel runs there: compute capability 8.0 or newer.
# The reports are capacity2025t4 ... capacity2025h200 in references.bib.
GPUS = (
    ("T4", 14.56, False),
    ("RTX 4090", 23.64, True),
    ("A100-40", 39.5, True),
    ("A100-80", 79.25, True),
    ("H100", 79.11, True),
    ("H200", 140.4, True),
)


class MemoryCalculator(Figure):
    """Add up what one layer's attention takes, and see where each GPU's memory ends.

    Nothing else is counted: the model's weights and its other layers come on top.

    Attributes
    ----------
    n : int, length of the sequence, a power of two from 512 to 1,048,576
    batch, heads : int, powers of two from 1 to 128
    d_k : int, width of a head: 32, 64 or 128
    dtype : str, ``"float32"`` or ``"bfloat16"``
    training : bool, whether the backward pass follows
    gpus : list of (str, float, bool), names of GPUs, memory in GiB, whether Flash runs there
    """

    _esm = bundle("memory_calculator")
    title = Unicode("Where the memory of a GPU ends").tag(sync=True)
    n = Enum(LENGTHS, 32768).tag(sync=True)
    batch = Enum(COUNTS, 1).tag(sync=True)
    heads = Enum(COUNTS, 8).tag(sync=True)
    d_k = Enum((32, 64, 128), 64).tag(sync=True)
    dtype = Enum(tuple(ITEMSIZE), "bfloat16").tag(sync=True)
    training = Bool(False).tag(sync=True)
    gpus = List(Tuple(Unicode(), Float(min=0.0), Bool()), GPUS).tag(sync=True)

    def naive(self, n: int) -> int:
        """Give the bytes of Q, K, V, output, in training their gradients, and of the tables."""
        sizes = self.batch, self.heads, n, n, ITEMSIZE[self.dtype]
        return self.vectors(n) + cost.peak_bytes(*sizes, training=self.training)

    def flash(self, n: int) -> int:
        """Give the bytes of the same vectors, and of one number for each query and head."""
        return self.vectors(n) + cost.flash_extra_bytes(self.batch, self.heads, n)

    def vectors(self, n: int) -> int:
        """Give the bytes of Q, K, V and the output, and in training of their gradients."""
        sizes = self.batch, self.heads, n, n, self.d_k, self.d_k, ITEMSIZE[self.dtype]
        beyond = cost.flash_extra_bytes(self.batch, self.heads, n)
        return (cost.flash_saved_bytes(*sizes) - beyond) * (2 if self.training else 1)

    def runs(self) -> list[bool]:
        """Say of each GPU whether the Flash kernel runs there: never in float32."""
        return [able and self.dtype == "bfloat16" for *_, able in self.gpus]

    def compute(self) -> dict:
        """Give the bytes at n, and the longest n of each GPU, 0 for Flash where it does not run."""
        return {
            "naive": self.naive(self.n),
            "flash": self.flash(self.n),
            "longest": [
                [longest(self.naive, gib * 2**30), longest(self.flash, gib * 2**30) * runs]
                for (_, gib, _), runs in zip(self.gpus, self.runs(), strict=True)
            ],
        }

    def describe(self) -> str:
        """Say what attention takes, and on which of the GPUs it fits."""
        found = self.compute()
        where = []
        for i in range(2):
            pairs = zip(self.gpus, found["longest"], strict=True)
            names = [name for (name, *_), most in pairs if most[i] >= self.n]
            every = "all" if len(names) == len(self.gpus) else ", ".join(names)
            where.append(every or "none")
        use = "training" if self.training else "forward"
        said = f"One layer over {self.n:,} positions, batch {self.batch}, "
        said += f"{self.heads} × {self.d_k}, {self.dtype}, {use}: "
        said += f"naive attention takes {size(found['naive'])}, "
        said += f"Flash {size(found['flash'])}. "
        said += f"Naive fits on {where[0]}, Flash on {where[1]}."
        return said + (" In float32 the Flash kernel does not run." * (self.dtype == "float32"))

    def still(self) -> list[Picture]:
        """Draw the two curves against the GPUs, and the longest sequence on each."""
        found = self.compute()
        curves, ax = plotting.panel(3.4, 3.0)
        ends, ax_ends = plotting.panel(3.4, 3.0)
        for series, need in enumerate((self.naive, self.flash)):
            look = {"color": plotting.COLOURS[series], "marker": plotting.MARKERS[series]}
            look["label"] = ("naive", "Flash")[series]
            ax.loglog(LENGTHS, [need(n) / 2**30 for n in LENGTHS], **look)
            n = [pair[series] or None for pair in found["longest"]]
            ax_ends.semilogx(n, range(len(n)), linestyle="", **look)
        for _, gib, _ in self.gpus:
            ax.axhline(gib, linewidth=0.8, color=plotting.COLOURS[2])
        ax.annotate("these GPUs", (LENGTHS[0], max(gib for _, gib, _ in self.gpus) * 1.3))
        ax.axvline(self.n, linestyle=":", color=plotting.INK, linewidth=1)
        ax.set(xlabel="sequence length n", ylabel="GiB")
        ax.legend(loc="lower right")
        ax_ends.axvline(self.n, linestyle=":", color=plotting.INK, linewidth=1)
        ax_ends.set_yticks(range(len(self.gpus)), [name for name, *_ in self.gpus])
        ax_ends.set(xlabel="longest n that fits", ylim=(len(self.gpus) - 0.5, -0.5))
        ax_ends.grid(alpha=0.3)
        return [curves, ends]


def longest(need: Callable[[int], int], memory: float) -> int:
    """Find the largest n whose need, which grows with n, does not exceed the memory, or 0."""
    return bisect_right(range(2**60), memory, key=need) - 1


def size(count: float) -> str:
    """Write a number of bytes in MiB, GiB, TiB or PiB; twin of the script's."""
    for unit, scale in (("PiB", 2**50), ("TiB", 2**40), ("GiB", 2**30)):
        if count >= scale:
            return f"{fixed(count / scale, 1)} {unit}"
    return f"{fixed(count / 2**20, 1)} MiB"
