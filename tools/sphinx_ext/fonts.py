"""Gives the pages their type: three families from npm and KaTeX's, cut down to what the book uses.

Source Serif 4 sets the text, Inter headings and all that is not text, JetBrains Mono code. A page
shows at once, in a font that each system has; that one is brought to the measures of ours, so that
no line moves when ours arrives. The text's own face is asked for ahead of all others.
"""

import hashlib
import io
import os
from pathlib import Path
from shutil import copyfile

import fontTools
from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer
from sphinx.application import Sphinx

VENDOR = Path(__file__).resolve().parents[2] / "_build" / "vendor"
CUT = VENDOR / "cut"  # what earlier builds cut
ASCII = "".join(map(chr, range(32, 127)))
# What text and code hold beside ASCII; what a font lacks comes from the system's.
TEXT = ASCII + "±²³·¹×ÄÖÜßàáäåæçèéêëíñóôöøúüćłšž–—‘’“”…←↑→↓−√∞≈≠≤≥"
FEATURES = ["kern", "liga", "mark", "mkmk", "ccmp", "locl", "tnum"]
NORMAL = "{}-latin-wght-normal.woff2"
# Of each face the package, its file, the weights kept, and how CSS calls it.
FACES = {
    "serif": ("source-serif-4", NORMAL, (400, 700), "Source Serif 4", "normal"),
    "italic": ("source-serif-4", "{}-latin-wght-italic.woff2", 400, "Source Serif 4", "italic"),
    "sans": ("inter", NORMAL, (400, 700), "Inter", "normal"),
    "mono": ("jetbrains-mono", NORMAL, (400, 700), "JetBrains Mono", "normal"),
}
# Fonts that systems have, brought to the measures of ours: width, and height above and below the
# line, in per cent.
FALLBACKS = {
    "Serif fallback": (("Times New Roman", "Liberation Serif", "Tinos"), 118.6, 87.4, 28.2),
    "Serif fallback 2": (("DejaVu Serif",), 92.8, 111.6, 36.1),
    "Sans fallback": (("Arial", "Liberation Sans", "Arimo"), 107.4, 90.2, 22.5),
    "Sans fallback 2": (("DejaVu Sans",), 93.5, 103.6, 25.8),
    "Mono fallback": (("Courier New", "Liberation Mono", "DejaVu Sans Mono"), 100, 102, 30),
}
HEAVY = ("AMS-Regular", "Main-Regular", "Main-Bold", "Math-Italic")  # of KaTeX's fonts


def cut(path: Path, characters: str, weights: tuple[int, int] | int | None = None) -> bytes:
    """Cut a font down to some characters and weights, unless an earlier build has done the same."""
    asked = repr((characters, weights, fontTools.version)).encode()
    key = hashlib.sha256(Path(__file__).read_bytes() + path.read_bytes() + asked).hexdigest()
    done = CUT / f"{key}.woff2"
    if not done.is_file():
        CUT.mkdir(exist_ok=True)
        part = CUT / f"{key}.{os.getpid()}"
        part.write_bytes(cut_anew(path, characters, weights))
        part.replace(done)
    return done.read_bytes()


def cut_anew(path: Path, characters: str, weights: tuple[int, int] | int | None) -> bytes:
    """Cut a font: first its characters, then its weights."""
    options = subset.Options(hinting=False, desubroutinize=True, layout_features=FEATURES)
    with TTFont(path, recalcTimestamp=False) as whole:
        cutter = subset.Subsetter(options)
        cutter.populate(text=characters)
        cutter.subset(whole)
        whole.flavor = None
        whole.save(part := io.BytesIO())
    part.seek(0)
    with TTFont(part, recalcTimestamp=False) as font:
        if weights:
            font = instancer.instantiateVariableFont(font, {"wght": weights})
        font.flavor = "woff2"
        font.save(done := io.BytesIO())
    return done.getvalue()


def rules() -> str:
    """Write the style sheet that names the faces and what stands in for them."""
    found = []
    for file, (_, _, weights, family, style) in FACES.items():
        weight = weights if isinstance(weights, int) else "{} {}".format(*weights)
        found.append(
            f'@font-face{{font-family:"{family}";font-style:{style};font-weight:{weight};'
            f'font-display:swap;src:url("fonts/{file}.woff2") format("woff2")}}\n'
        )
    for family, (names, width, above, below) in FALLBACKS.items():
        sources = ",".join(f'local("{name}")' for name in names)
        found.append(
            f'@font-face{{font-family:"{family}";src:{sources};size-adjust:{width}%;'
            f"ascent-override:{above}%;descent-override:{below}%;line-gap-override:0%}}\n"
        )
    return "".join(found)


def write_fonts(app: Sphinx) -> None:
    """Write the fonts with their licences, and their style sheet."""
    folder = Path(app.outdir, "_static", "fonts")
    folder.mkdir(parents=True, exist_ok=True)
    for file, (package, name, weights, *_) in FACES.items():
        source = VENDOR / "node" / package
        folder.joinpath(f"{file}.woff2").write_bytes(
            cut(source / name.format(package), TEXT, weights)
        )
        copyfile(source / "LICENSE", folder / f"{package}.LICENSE.txt")
    folder.with_name("fonts.css").write_text(rules(), encoding="utf-8")


def cut_katex(app: Sphinx, error: Exception | None) -> None:
    """Cut KaTeX's heavy fonts down to the characters of the pages, once all are written."""
    target = Path(app.outdir, "vendor", "katex", "fonts")
    if error or app.builder.format != "html" or not target.is_dir():
        return
    pages = Path(app.outdir).rglob("*.html")
    characters = set(ASCII).union(*(page.read_text(encoding="utf-8") for page in pages))
    for name in HEAVY:
        source = VENDOR / "site" / "vendor" / "katex" / "fonts" / f"KaTeX_{name}.woff2"
        target.joinpath(source.name).write_bytes(cut(source, "".join(sorted(characters))))


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the text's fonts at the start, and KaTeX's at the end."""
    app.connect("builder-inited", write_fonts)
    app.connect("build-finished", cut_katex)
    app.add_css_file("fonts.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
