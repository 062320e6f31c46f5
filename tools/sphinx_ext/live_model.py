"""Writes the model that HeadsOverview loads when its reader asks for it: 31 MB beside the pages.

No page names these files, so nothing is fetched before. They come from the package of
requirements-model.txt, and are written with the page that has the figure.
"""

from pathlib import Path

from sphinx.application import Sphinx

FIGURE = "HeadsOverview"


def write_model(app: Sphinx, _page: str, _template: str, _context: dict, doctree) -> None:
    """Write the shards once the page with the figure is written."""
    from figure_pages import Mount

    if not doctree or all(mount.name != FIGURE for mount in doctree.findall(Mount)):
        return
    from attnlab import live

    live.write(Path(app.outdir, live.FOLDER))


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect it; figure_pages makes the mounts."""
    app.connect("html-page-context", write_model)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
