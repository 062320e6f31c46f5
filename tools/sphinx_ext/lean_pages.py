"""Lets a page show before its scripts are there, and gives all pages one style sheet.

The theme, Sphinx and the extensions bring thirteen style sheets, each of which holds up a page, and
as many scripts, of which eight do. The sheets become one file, cut down to what the pages use
(used_styles.py); the scripts wait until the page is read. A script that stands in the page itself
would wait for the style sheet, and the page for it: it goes first.
"""

import hashlib
import re
from pathlib import Path
from posixpath import dirname, normpath
from typing import Any
from urllib.parse import urlsplit

from sphinx.application import Sphinx
from used_styles import cut, words_of

THEME = ("_static/styles/theme.css", "_static/styles/pydata-sphinx-theme.css")
OPTIONS = "_static/documentation_options.js"  # what scripts within the page add to
# Font Awesome's own fonts, in whose place icons.py puts smaller ones.
FONT = re.compile(r"@font-face\{[^{}]*fontawesome/webfonts[^{}]*\}")
IMPORT = re.compile(r"""@import\s+(?:url\()?["']?([^"'()]+)["']?\)?;""")
ADDRESS = re.compile(r"""url\(\s*(["']?)(?!data:|#)([^"')]+)\1\s*\)""")


def read_sheet(outdir: Path, name: str) -> str:
    """Read a style sheet with those that it imports; addresses become those in _static."""
    folder = normpath(f"../{dirname(name)}")

    def fetch(match: re.Match) -> str:
        return read_sheet(outdir, normpath(f"{dirname(name)}/{match[1]}"))

    def move(match: re.Match) -> str:
        if urlsplit(match[2]).netloc or match[2].startswith("/"):
            return match[0]
        return f'url("{normpath(f"{folder}/{match[2]}")}")'

    text = ADDRESS.sub(move, outdir.joinpath(name).read_text(encoding="utf-8-sig"))
    text = IMPORT.sub(fetch, text)
    return FONT.sub("", re.sub(r'@charset "[^"]*";', "", text))


def name_sheet(outdir: Path, names: tuple[str, ...]) -> str:
    """Name the file that joins style sheets by their content; one yet to come has a hash."""
    digest = hashlib.sha256(repr(names).encode())
    for path in (outdir / name for name in names):
        digest.update(path.read_bytes() if path.is_file() else b"")
    return f"_static/all.{digest.hexdigest()[:10]}.css"


def write_sheets(app: Sphinx, error: Exception | None) -> None:
    """Join the style sheets, once all of them are there."""
    outdir, wanted = Path(app.outdir), wanted_sheets(app)
    words = words_of(outdir) if wanted and error is None else set()
    for names, path in wanted.items() if words else ():
        text = "\n".join(read_sheet(outdir, normpath(name)) for name in names)
        outdir.joinpath(path).write_text(cut(text, words), encoding="utf-8")


def wanted_sheets(app: Sphinx) -> dict[tuple[str, ...], str]:
    """Give the files that this build's pages ask for, each by what it joins."""
    if not hasattr(app, "lean_sheets"):
        app.lean_sheets = {}
    return app.lean_sheets


def put_in_page(script: Any, outdir: Path) -> Any:
    """Put Sphinx's options, a few lines that others add to, into the page; leave other scripts."""
    if script.filename != OPTIONS:
        return script
    text = outdir.joinpath(OPTIONS).read_text(encoding="utf-8")
    return type(script)("", priority=script.priority, body=text)


def wait_for_page(script: Any) -> Any:
    """Let a script of Sphinx's list run after the page is read."""
    if {"async", "defer"} & script.attributes.keys():
        return script
    attributes = script.attributes | {"defer": "defer"}
    return type(script)(script.filename, priority=script.priority, **attributes)


def make_lean(app: Sphinx, page: str, _template: str, context: dict[str, Any], _doctree) -> None:
    """Change what a page loads, after all others had their say."""
    outdir = Path(app.outdir)
    sheets = sorted(context["css_files"], key=lambda sheet: sheet.priority)
    names = tuple(dict.fromkeys([*THEME, *(str(sheet.filename) for sheet in sheets)]))
    wanted = wanted_sheets(app)
    if names not in wanted:
        wanted[names] = name_sheet(outdir, names)
    context["css_files"] = [wanted[names]]
    scripts = sorted(context["script_files"], key=lambda script: script.priority)
    scripts = [put_in_page(script, outdir) for script in scripts]
    context["scripts_in_page"] = [script for script in scripts if not script.filename]
    files = [script for script in scripts if script.filename]
    # The search's own scripts wait for nothing, and need the others.
    context["script_files"] = files if page == "search" else list(map(wait_for_page, files))


def setup(app: Sphinx) -> dict[str, bool]:
    """Run last."""
    app.connect("html-page-context", make_lean, priority=990)
    app.connect("build-finished", write_sheets, priority=990)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
