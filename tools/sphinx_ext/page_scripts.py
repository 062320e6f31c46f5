"""Puts this folder's static files into the site; pages that need one of them ask for it.

Jupyter Book adds every script under the book's own ``_static`` to every page, so they stand here.
"""

from pathlib import Path

from sphinx.application import Sphinx

STATIC = Path(__file__).parent / "static"


def add_static_folder(app: Sphinx) -> None:
    """Copy the static files with the theme's."""
    app.config.html_static_path.append(str(STATIC))


def set_up_search(app: Sphinx, page: str, _template: str, _context: dict, _doctree) -> None:
    """Clean the search's excerpts."""
    if page == "search":
        app.add_js_file("search.js", defer="defer")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect both; paper.js is for every page."""
    app.connect("builder-inited", add_static_folder)
    app.connect("html-page-context", set_up_search)
    app.add_js_file("paper.js", defer="defer")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
