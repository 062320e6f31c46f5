"""Puts a notebook's figures into its page, alive without a kernel and without a widget manager.

The executed notebook holds each widget's state: its ES module, its style sheet and its traits. The
page gets the traits, in the place where the figure stands, and loads each module once, as a file;
static/figure_host.js mounts them. A browser imports no module from disk, so the file is a plain
script that hands over the module's text. Any anywidget will do; any other widget is a warning.

A page that is no notebook has one of attnlab's figures, as it starts, where it says::

    ```{living-figure} LiveSentence
    ```
"""

import json
from pathlib import Path

from docutils import nodes
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

VIEW = '<script type="application/vnd.jupyter.widget-view+json">'
HEIGHTS = Path(__file__).with_name("figure_heights.json")
FOLDER = "figures"  # of the modules, below the site's root
# What every widget's state holds beside the figure's own traits and those with an underscore.
COMMON = {"layout", "tabbable", "tooltip"}
# Ahead of all other scripts that wait for the page.
FIRST = {"defer": "defer", "fetchpriority": "high", "priority": 100}
logger = logging.getLogger(__name__)


class Mount(nodes.General, nodes.Element):
    """The place of a living figure; ``state`` is the widget's own."""

    @property
    def name(self) -> str:
        """Give the name of the figure's class."""
        return self["state"]["_anywidget_id"].rpartition(".")[2]

    def traits(self) -> str:
        """Give what the model is made with, as JSON that may stand within a script element."""
        state = self["state"]
        traits = {n: v for n, v in state.items() if n not in COMMON and n[0] != "_"}
        text = json.dumps(traits, ensure_ascii=False, separators=(",", ":"))
        return text.replace("<", r"\u003c")

    def module(self) -> str:
        """Give the script that hands the module and its style sheet to the host."""
        code = {"esm": self["state"]["_esm"], "css": self["state"].get("_css", "")}
        name, text = json.dumps(self.name), json.dumps(code, ensure_ascii=False)
        return f"(window.figureModules ??= {{}})[{name}] = {text};\n"


class LivingFigure(SphinxDirective):
    """Put a figure on the page, with the picture that stands where nothing moves."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Make the figure, and note what it is made of."""
        from attnlab import figures

        figure = getattr(figures, self.arguments[0], None)
        if figure is None:
            raise self.error(f"attnlab.figures has no {self.arguments[0]}")
        for path in Path(figures.__file__).parent.iterdir():
            self.env.note_dependency(str(path))
        shown = figure()
        still = nodes.raw("", shown.picture(), format="html")
        return [nodes.container("", still, Mount(state=shown.get_state()), classes=["cell_output"])]


def take_widgets(app: Sphinx, doctree: nodes.document) -> None:
    """Make a `Mount` of each view in a page that was just read, and drop the manager's state."""
    files = NbMetadataCollector.get_js_files(app.env, app.env.docname)
    _, state = files.pop("ipywidgets_state", (None, None))
    models = json.loads(state["body"])["state"] if state else {}
    for view in list(doctree.findall(nodes.raw)):
        if not view.astext().startswith(VIEW):
            continue
        shown = json.loads(view.astext().removeprefix(VIEW).removesuffix("</script>"))
        model = models.get(shown["model_id"], {"model_name": "a widget without state", "state": {}})
        if "_esm" in model["state"]:
            view.replace_self(Mount(state=model["state"]))
            continue
        message = "%s cannot live in a page: it brings no module of its own, as an anywidget does"
        logger.warning(message, model["model_name"], location=view)
        view.parent.remove(view)


def heights() -> dict[str, list[int]]:
    """Read how high each figure is, on a desktop and on a phone, in CSS pixels."""
    return json.loads(HEIGHTS.read_text(encoding="utf-8"))


def visit_html(translator: nodes.NodeVisitor, node: Mount) -> None:
    """Write the place, as high as the figure will be, so that the page stays where it is."""
    wide, narrow = heights().get(node.name, [0, 0])
    translator.body.append(
        f'<div class="figure-mount" data-module="{node.name}" '
        f'style="--wide:{wide}px;--narrow:{narrow}px">'
        f'<script type="application/json">{node.traits()}</script></div>\n'
    )
    raise nodes.SkipNode


def skip(_translator: nodes.NodeVisitor, _node: Mount) -> None:
    """Write nothing where nothing lives."""
    raise nodes.SkipNode


def add_modules(app: Sphinx, _page: str, _template: str, _context: dict, doctree) -> None:
    """Write the modules of a page's figures, and load them and the host."""
    mounts = {mount.name: mount for mount in doctree.findall(Mount)} if doctree else {}
    folder = Path(app.outdir, FOLDER)
    for name, mount in mounts.items():
        folder.mkdir(exist_ok=True)
        folder.joinpath(f"{name}.js").write_text(mount.module(), encoding="utf-8")
        app.add_js_file(f"../{FOLDER}/{name}.js", **FIRST)
    if mounts:
        app.add_js_file("figure_host.js", **FIRST)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register node and handlers; the style reserves the place, so it is on every page."""
    app.add_directive("living-figure", LivingFigure)
    app.add_node(Mount, html=(visit_html, None), latex=(skip, None), text=(skip, None))
    app.add_css_file("figure_pages.css")
    app.connect("doctree-read", take_widgets)
    app.connect("html-page-context", add_modules)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
