"""Writes the model that figures load when their reader asks for it: 55 MB beside the pages.

It is there as bytes for pages from a server, and as scripts for pages on disk. No page names these
files, so nothing is fetched before. They come from the package of requirements-model.txt, and are
written with the first page that has such a figure.
"""

from pathlib import Path

from sphinx.application import Sphinx

FIGURES = {"HeadsOverview", "LiveSentence"}


def write_model(app: Sphinx, _page: str, _template: str, _context: dict, doctree) -> None:
    """Write the shards once a page with such a figure is written."""
    from figure_pages import Mount

    written = getattr(app, "wrote_model", False)
    if written or not doctree or not any(m.name in FIGURES for m in doctree.findall(Mount)):
        return
    from attnlab import live

    live.write(Path(app.outdir, live.FOLDER))
    app.wrote_model = True


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect it; figure_pages makes the mounts."""
    app.connect("html-page-context", write_model)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
