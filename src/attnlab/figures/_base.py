"""The class that every figure extends, and how its numbers and arrays are written."""

import json
import re
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import anywidget
import numpy as np
from IPython.display import display
from matplotlib.figure import Figure as Picture
from numpy.typing import ArrayLike
from traitlets import TraitError, TraitType, Unicode

from attnlab import plotting

HERE = Path(__file__).parent
SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def script(name: str) -> str:
    """Read a script without its comments and indents, which no page needs to carry."""
    text = HERE.joinpath(f"{name}.js").read_text(encoding="utf-8")
    text = re.sub(r"(?<=;) // .*$", "", text, flags=re.M)
    return re.sub(r"^\s*(//.*\n\s*)*", "", text, flags=re.M)


def bundle(name: str, *parts: str) -> str:
    """Join the script ``<name>.js`` with the shared one and further parts, from which it imports.

    A module that a widget carries can import nothing by a relative path, least of all from disk.
    """
    taken = [re.sub(r"^export (?=const )", "", script(part), flags=re.M) for part in parts]
    joined = re.sub(r"^export (?=const )", "", script("shared"), flags=re.M)
    joined += "".join([*taken, script(name)])
    return re.sub(r'^import \{[^}]*\} from "\./\w+\.js";\n', "", joined, flags=re.M)


def start_of(name: str) -> dict:
    """Read the values that a figure's traits start with, from ``<name>.json`` beside its script."""
    return json.loads(HERE.joinpath(f"{name}.json").read_text(encoding="utf-8"))


def style() -> str:
    """Give the figures' style sheet: the book's hues, and shared.css without its comments."""
    hues = ";".join(f"--attn-{i}:{colour}" for i, colour in enumerate(plotting.COLOURS))
    text = HERE.joinpath("shared.css").read_text(encoding="utf-8")
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return f".attn-live{{{hues}}}\n" + re.sub(r"(?<=[{};,])\s+", "", text)


def fixed(x: float, digits: int) -> str:
    """Write a number with so many decimals, rounded as JavaScript does; twin of shared.js."""
    text = str(Decimal(float(x)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))
    return re.sub(r"^-(?=[0.]+$)", "", text).replace("-", "−")


def number(x: float) -> str:
    """Write a number with three decimals, a small one as a power of ten; twin of shared.js."""
    if x == 0 or abs(x) >= 0.001:
        return fixed(x, 3)
    mantissa, exponent = f"{x:.1e}".split("e")
    power = str(int(exponent)).translate(SUPERSCRIPTS)
    return f"{mantissa.replace('-', '−')} × 10{power}"


class Array(TraitType):
    """A trait that holds an array of finite numbers as nested lists, which a page can read.

    It has `ndim` axes, and the shape of `start` if it starts with one. It keeps so many `digits`
    behind the point: fewer make a lighter page, and 0 makes integers.
    """

    def __init__(self, ndim: int, digits: int = 6, start: ArrayLike | None = None):
        self.ndim, self.digits = ndim, digits
        self.shape = None if start is None else np.shape(start)
        super().__init__([] if start is None else np.asarray(start).tolist())

    def validate(self, obj: object, value: ArrayLike) -> list:
        """Turn an array, a tensor or nested lists into nested lists."""
        try:
            array = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            raise TraitError(f"{self.name} is {value!r}; pass an array of numbers") from None
        if array.ndim != self.ndim or self.shape not in (None, array.shape):
            fits = self.shape or f"{self.ndim} axes"
            raise TraitError(f"{self.name} has shape {array.shape}; pass {fits}")
        if not np.isfinite(array).all():
            raise TraitError(f"{self.name} holds a value that is not finite; pass finite numbers")
        array = array.round(self.digits)
        return (array if self.digits else array.astype(np.int64)).tolist()


class Figure(anywidget.AnyWidget):
    """An interactive figure: see `attnlab.figures` for how to write one.

    Its `title` is its name for a reader who cannot see it.
    """

    title = Unicode().tag(sync=True)
    _css = style()

    def compute(self) -> dict:
        """Compute with attnlab what the figure shows; twin of ``compute`` in its script."""
        raise NotImplementedError

    def describe(self) -> str:
        """Say in words what the figure shows now; twin of ``describe`` in its script."""
        raise NotImplementedError

    def still(self) -> list[Picture]:
        """Draw the panels of the picture that stands where nothing moves."""
        raise NotImplementedError

    @classmethod
    def own_traits(cls) -> list[str]:
        """Name the traits that are this figure's own and known to its script."""
        shared = Figure.class_trait_names()
        names = cls.class_trait_names(sync=True)
        return sorted(n for n in names if n not in shared and not n.startswith("_"))

    def state(self) -> dict:
        """Give the own traits as the script sees them."""
        return {name: getattr(self, name) for name in self.own_traits()}

    def picture(self) -> str:
        """Give the HTML of the picture, with the sentence that it shows."""
        said = self.describe()
        alt = f"{self.title}, as a picture. {said}"
        still = plotting.markup(*self.still(), alt=alt, caption=said)
        return f'<div class="attn-still">{still}</div>'

    def _ipython_display_(self) -> None:
        """Put the picture and the living figure on the page; the style shows one of them."""
        still = {"text/html": self.picture(), "text/plain": f"[figure: {self.describe()}]"}
        display(still, raw=True)
        data, metadata = self._repr_mimebundle_()
        display(data, metadata=metadata, raw=True)
