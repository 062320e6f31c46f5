"""What comes through one vector of fixed size, and what through looking back (section 1.1.2)."""

import math

from matplotlib.figure import Figure as Picture
from traitlets import Enum, Unicode

from attnlab import plotting
from attnlab.figures._base import Array, Figure, bundle, fixed, start_of

LENGTHS = tuple(range(5, 51, 5))
SIZES = (32, 128, 256)
SYMBOLS = 20  # a random symbol out of so many carries log2 of it in bits
FLOAT = 32  # bits of a number

START = start_of("bottleneck")  # what section 1.1.2 measured once, for use outside of its page


class Bottleneck(Figure):
    """Lengthen a string, widen the vector it must pass through, and see what a decoder reads.

    It follows Bahdanau et al. (2015), "Neural Machine Translation by Jointly Learning to Align
    and Translate", figure 2; equation eq-bits of the book.

    Attributes
    ----------
    length : int, symbols in the string, one of `LENGTHS`
    numbers : int, numbers in the vector, one of `SIZES`
    right : nested list, shape (4, 10), measured share of symbols right: a column for each length
        A row for each size of the vector, then one for the model that looks back.
    bits : nested list, shape (4, 10), bits that the decoder has read, in the same order
    """

    _esm = bundle("bottleneck")
    title = Unicode("What comes through one vector").tag(sync=True)
    length = Enum(LENGTHS, 20).tag(sync=True)
    numbers = Enum(SIZES, 128).tag(sync=True)
    right = Array(2, digits=3, start=START["right"]).tag(sync=True)
    bits = Array(2, digits=1, start=START["bits"]).tag(sync=True)

    def compute(self) -> dict:
        """Give the bits in the string and in the vector, and what each model reads of them."""
        row, column = SIZES.index(self.numbers), LENGTHS.index(self.length)
        return {
            "sent": self.length * math.log2(SYMBOLS),
            "room": FLOAT * self.numbers,
            "vector": {"right": self.right[row][column], "bits": self.bits[row][column]},
            "back": {"right": self.right[-1][column], "bits": self.bits[-1][column]},
        }

    def describe(self) -> str:
        """Say what the string needs, what the vector could hold, and what is read."""
        found = self.compute()
        vector, back = found["vector"], found["back"]
        return (
            f"A string of {self.length} symbols carries {fixed(found['sent'], 0)} bits. A vector "
            f"of {self.numbers} numbers has room for {found['room']}, yet its decoder reads "
            f"{fixed(vector['bits'], 0)} and gets {fixed(100 * vector['right'], 0)} % of "
            f"the symbols right. Looking back, the other reads {fixed(back['bits'], 0)} bits and "
            f"gets {fixed(100 * back['right'], 0)} % right."
        )

    def still(self) -> list[Picture]:
        """Draw the share right and the bits read against the length."""
        row, pictures = SIZES.index(self.numbers), []
        labels = {row: f"{self.numbers} numbers", -1: "looking back"}
        for ylabel, measured in (("share of symbols right", self.right), ("bits read", self.bits)):
            fig, ax = plotting.panel(3.4, 2.6)
            for series, (place, label) in enumerate(labels.items()):
                marker = plotting.MARKERS[series]
                ax.plot(LENGTHS, measured[place], marker, linestyle="-", label=label)
            ax.axvline(self.length, color="#8a8f98", linestyle="--", linewidth=1)
            ax.set(xlabel="symbols in the string", ylabel=ylabel)
            ax.set_ylim(0, 1.05 if measured is self.right else None)
            ax.legend()
            pictures.append(fig)
        return pictures
