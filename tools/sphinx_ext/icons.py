"""Gives the theme its icons as a font of these few alone, which stands in a style sheet.

The theme brings all of Font Awesome, a font of 153 kB and a script of 530; templates/ leaves the
script out, and the font here takes precedence. An icon that is missing here would load the whole
font, which a test notices.
"""

import base64
import io
import re
from pathlib import Path

import pydata_sphinx_theme
from fontTools import subset
from fontTools.ttLib import TTFont
from sphinx.application import Sphinx

STATIC = Path(pydata_sphinx_theme.__file__).parent / "theme" / "pydata_sphinx_theme" / "static"
FONTS = STATIC / "vendor" / "fontawesome" / "webfonts"
# Of each font the family and weight that the theme calls it by, and the icons that pages show
# beside those that the theme's own variables hold.
FACES = {
    "fa-solid-900": (
        *("Font Awesome 6 Free", 900),
        "angle-left angle-right arrow-up bars chevron-down circle-half-stroke code download expand "
        "file file-pdf lightbulb list magnifying-glass moon pencil-alt play rocket sun xmark",
    ),
    "fa-brands-400": ("Font Awesome 6 Brands", 400, "bitbucket github gitlab"),
}
FOLDED = "\uf107"  # the angle beside a folded table of contents


def shown() -> set[str]:
    """Name the icons that there are."""
    return {name for *_, names in FACES.values() for name in names.split()}


def characters(css: str, names: list[str]) -> set[str]:
    """Find the characters of named icons in the theme's style sheet, and of its variables."""
    found = set(re.findall(r'--pst-[\w-]+:"(.)"', css)) | {FOLDED}
    for name in names:
        code = re.search(rf'\.fa-{name}:before[^{{}}]*\{{content:"\\([0-9a-f]+)"', css)
        if code is None:
            raise LookupError(f"the theme's style sheet has no icon {name!r}")
        found.add(chr(int(code[1], 16)))
    return found


def cut(font: str, wanted: set[str]) -> str:
    """Cut a font down to some characters, and give it as base64."""
    options = subset.Options(flavor="woff", desubroutinize=True, hinting=False)
    options.drop_tables += ["FFTM"]
    with TTFont(FONTS / f"{font}.ttf", recalcTimestamp=False) as whole:
        cutter = subset.Subsetter(options)
        cutter.populate(text="".join(sorted(wanted)))
        cutter.subset(whole)
        whole.flavor = "woff"
        whole.save(part := io.BytesIO())
    return base64.b64encode(part.getvalue()).decode()


def write_fonts(app: Sphinx) -> None:
    """Write the style sheet with the fonts."""
    css = STATIC.joinpath("styles", "pydata-sphinx-theme.css").read_text(encoding="utf-8")
    rules = []
    for font, (family, weight, names) in FACES.items():
        data = cut(font, characters(css, names.split()))
        rules.append(
            f'@font-face{{font-family:"{family}";font-weight:{weight};font-display:block;'
            f'src:url(data:font/woff;base64,{data}) format("woff")}}\n'
        )
    path = Path(app.outdir, "_static", "icons.css")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(rules), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the fonts at the start, behind the theme's style sheets."""
    app.connect("builder-inited", write_fonts)
    app.add_css_file("icons.css", priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
