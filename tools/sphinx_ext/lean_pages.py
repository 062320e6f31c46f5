"""Lets a page show before its scripts are there, and gives all pages one style sheet.

The theme, Sphinx and the extensions bring thirteen style sheets, each of which holds up a page, and
as many scripts, of which eight do. The sheets become one file, without the two thousand icons of
which icons.py brings the few that are shown; the scripts wait until the page is read.
"""

import hashlib
import re
from pathlib import Path
from posixpath import dirname, normpath
from typing import Any
from urllib.parse import urlsplit

from icons import FACES
from sphinx.application import Sphinx

THEME = ("_static/styles/theme.css", "_static/styles/pydata-sphinx-theme.css")
OPTIONS = "_static/documentation_options.js"  # what scripts within the page add to
SHOWN = {name for *_, names in FACES.values() for name in names.split()}
# Rules that name an icon's character, and Font Awesome's own fonts.
ICON = re.compile(r'(?:\.fa-[\w-]+:before,?)+\{content:"\\[0-9a-f]+"\}')
FONT = re.compile(r"@font-face\{[^{}]*fontawesome/webfonts[^{}]*\}")
ADDRESS = re.compile(r"""url\(\s*(["']?)(?!data:|#)([^"')]+)\1\s*\)""")


def read_sheet(outdir: Path, name: str) -> str:
    """Read a style sheet; its relative addresses become those of a file in _static."""
    folder = normpath(f"../{dirname(name)}")

    def move(match: re.Match) -> str:
        if urlsplit(match[2]).netloc or match[2].startswith("/"):
            return match[0]
        return f'url("{normpath(f"{folder}/{match[2]}")}")'

    text = ADDRESS.sub(move, outdir.joinpath(name).read_text(encoding="utf-8-sig"))
    text = re.sub(r'@charset "[^"]*";|/\*# sourceMapping.*?\*/', "", text)
    return without_icons(text) if name in THEME else text


def without_icons(theme: str) -> str:
    """Drop the rules of the icons but those that icons.py brings, and all their fonts."""

    def keep(rule: re.Match) -> str:
        return rule[0] if SHOWN.intersection(re.findall(r"fa-([\w-]+):", rule[0])) else ""

    return FONT.sub("", ICON.sub(keep, theme))


def name_sheet(outdir: Path, names: tuple[str, ...]) -> str:
    """Name the file that joins style sheets by their content; one yet to come has a hash."""
    digest = hashlib.sha256(repr(names).encode())
    for path in (outdir / name for name in names):
        digest.update(path.read_bytes() if path.is_file() else b"")
    return f"_static/all.{digest.hexdigest()[:10]}.css"


def write_sheets(app: Sphinx, error: Exception | None) -> None:
    """Join the style sheets, once all of them are there."""
    outdir = Path(app.outdir)
    for names, path in wanted_sheets(app).items() if error is None else ():
        text = "\n".join(read_sheet(outdir, normpath(name)) for name in names)
        outdir.joinpath(path).write_text(text, encoding="utf-8")


def wanted_sheets(app: Sphinx) -> dict[tuple[str, ...], str]:
    """Give the files that this build's pages ask for, each by what it joins."""
    if not hasattr(app, "lean_sheets"):
        app.lean_sheets = {}
    return app.lean_sheets


def wait_for_page(script: Any, outdir: Path) -> Any:
    """Let a script of Sphinx's list run after the page is read; put its options into the page."""
    if script.filename == OPTIONS:
        text = outdir.joinpath(OPTIONS).read_text(encoding="utf-8")
        return type(script)("", priority=script.priority, body=text)
    if not script.filename or {"async", "defer"} & script.attributes.keys():
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
    if page != "search":  # its own scripts wait for nothing
        scripts = sorted(context["script_files"], key=lambda script: script.priority)
        context["script_files"] = [wait_for_page(script, outdir) for script in scripts]


def setup(app: Sphinx) -> dict[str, bool]:
    """Run last."""
    app.connect("html-page-context", make_lean, priority=990)
    app.connect("build-finished", write_sheets, priority=990)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
