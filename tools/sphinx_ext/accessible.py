"""Mends what the theme and Sphinx leave inaccessible, and lets the keyboard scroll what is wide.

tests/book/test_accessibility.py looks for more of the kind.
"""

import re
from pathlib import Path

from sphinx.application import Sphinx

MENDED = (
    # The arrow that folds the sections in the sidebar has no name.
    (
        r'<summary>(?=<span class="toctree-toggle")',
        '<summary aria-label="Sections of this chapter">',
    ),
    # The book's title above the sidebar is in no landmark.
    (
        r'<div class="sidebar-primary-item">(?=\s*<a class="navbar-brand)',
        '<div class="sidebar-primary-item" role="banner">',
    ),
    # A role that ARIA gave up.
    (r'role="doc-biblioentry"', 'role="listitem"'),
    # The empty corner of a table is no heading.
    (r'<th class="head">(?:<p></p>)?</th>', '<td class="head"></td>'),
)


def mend(html: str) -> str:
    """Replace what is wrong in a page."""
    for wrong, right in MENDED:
        html = re.sub(wrong, right, html)
    return html


def mend_pages(app: Sphinx, error: Exception | None) -> None:
    """Mend all pages that were written; what is mended already stays."""
    if error or app.builder.format != "html":
        return
    for path in Path(app.outdir).glob("**/*.html"):
        html = path.read_text(encoding="utf-8")
        if (mended := mend(html)) != html:
            path.write_text(mended, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect it, and load the script on every page."""
    app.connect("build-finished", mend_pages)
    app.add_js_file("accessible.js", defer="defer")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
