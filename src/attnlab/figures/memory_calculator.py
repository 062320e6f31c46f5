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

# GB, by NVIDIA's data sheets: nvidia2019t4, nvidia2022rtx4090, nvidia2021a100, nvidia2022h100 and
# nvidia2023h200 in references.bib.
GPUS = (
    ("T4", 16.0),
    ("RTX 4090", 24.0),
    ("A100-40", 40.0),
    ("A100-80", 80.0),
    ("H100", 80.0),
    ("H200", 141.0),
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
    gpus : list of (str, float), names of GPUs, and their memory in GB, here 10^9 bytes
    """

    _esm = bundle("memory_calculator")
    title = Unicode("Where the memory of a GPU ends").tag(sync=True)
    n = Enum(LENGTHS, 32768).tag(sync=True)
    batch = Enum(COUNTS, 1).tag(sync=True)
    heads = Enum(COUNTS, 8).tag(sync=True)
    d_k = Enum((32, 64, 128), 64).tag(sync=True)
    dtype = Enum(tuple(ITEMSIZE), "float32").tag(sync=True)
    training = Bool(False).tag(sync=True)
    gpus = List(Tuple(Unicode(), Float(min=0.0)), GPUS).tag(sync=True)

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

    def compute(self) -> dict:
        """Give the bytes at n, at every length of the slider, and the longest n of each GPU."""
        return {
            "naive": self.naive(self.n),
            "flash": self.flash(self.n),
            "curves": [[self.naive(n), self.flash(n)] for n in LENGTHS],
            "longest": [
                [longest(need, memory * 1e9) for need in (self.naive, self.flash)]
                for _, memory in self.gpus
            ],
        }

    def describe(self) -> str:
        """Say what attention takes, and on which of the GPUs it fits."""
        found = self.compute()
        where = []
        for need in (found["naive"], found["flash"]):
            names = [name for name, memory in self.gpus if need <= memory * 1e9]
            every = "all" if len(names) == len(self.gpus) else ", ".join(names)
            where.append(every or "none")
        use = "training" if self.training else "forward"
        said = f"One layer over {self.n:,} positions, batch {self.batch}, "
        said += f"{self.heads} × {self.d_k}, {self.dtype}, {use}: "
        said += f"naive attention takes {size(found['naive'])}, "
        said += f"Flash {size(found['flash'])}. "
        return said + f"Naive fits on {where[0]}, Flash on {where[1]}."

    def still(self) -> list[Picture]:
        """Draw the two curves against the GPUs, and the longest sequence on each."""
        found = self.compute()
        curves, ax = plotting.panel(3.4, 3.0)
        ends, ax_ends = plotting.panel(3.4, 3.0)
        for series, name in enumerate(("naive", "Flash")):
            look = {"color": plotting.COLOURS[series], "marker": plotting.MARKERS[series]}
            gb = [pair[series] / 1e9 for pair in found["curves"]]
            ax.loglog(LENGTHS, gb, label=name, **look)
            n = [pair[series] for pair in found["longest"]]
            ax_ends.semilogx(n, range(len(n)), linestyle="", label=name, **look)
        memory = [gb for _, gb in self.gpus]
        ax.axhspan(min(memory), max(memory), alpha=0.25, color=plotting.COLOURS[2])
        ax.annotate("these GPUs", (LENGTHS[0], max(memory) * 1.3))
        ax.axvline(self.n, linestyle=":", color=plotting.INK, linewidth=1)
        ax.set(xlabel="sequence length n", ylabel="GB")
        ax.legend(loc="lower right")
        ax_ends.axvline(self.n, linestyle=":", color=plotting.INK, linewidth=1)
        ax_ends.set_yticks(range(len(memory)), [name for name, _ in self.gpus])
        ax_ends.set(xlabel="longest n that fits", ylim=(len(memory) - 0.5, -0.5))
        ax_ends.grid(alpha=0.3)
        return [curves, ends]


def longest(need: Callable[[int], int], memory: float) -> int:
    """Find the largest n whose need, which grows with n, does not exceed the memory, or 0."""
    return bisect_right(range(2**60), memory, key=need) - 1


def size(count: float) -> str:
    """Write a number of bytes in MB, GB, TB or PB; twin of the script's."""
    for unit, scale in (("PB", 1e15), ("TB", 1e12), ("GB", 1e9)):
        if count >= scale:
            return f"{fixed(count / scale, 1)} {unit}"
    return f"{fixed(count / 1e6, 1)} MB"
