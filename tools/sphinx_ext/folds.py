"""What a page folds away: one line that says what is inside, and the rest behind it.

A fold is a native ``<details>``, so it opens with no script, by keyboard and by touch. Other
extensions build it from `Fold` and `FoldLine`.
"""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator


class Fold(nodes.General, nodes.Element):
    """Something that unfolds; its first child is its `FoldLine`."""


class FoldLine(nodes.General, nodes.TextElement):
    """The line that is seen while the fold is closed."""


TAGS = {Fold: "details", FoldLine: "summary"}


def open_tag(translator: HTML5Translator, node: nodes.Element) -> None:
    """Begin the element of a fold or of its line."""
    translator.body.append(translator.starttag(node, TAGS[type(node)], ""))


def close_tag(translator: HTML5Translator, node: nodes.Element) -> None:
    """End it."""
    translator.body.append(f"</{TAGS[type(node)]}>\n")


def pass_by(_translator: nodes.NodeVisitor, _node: nodes.Element) -> None:
    """Print what is inside, where nothing can be folded."""


def add_files(app: Sphinx, _page: str, _template: str, _context: dict, doctree) -> None:
    """Load style and script of folds on the pages that hold one."""
    if doctree is not None and next(iter(doctree.findall(Fold)), None) is not None:
        app.add_css_file("folds.css")
        app.add_js_file("folds.js", defer="defer")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register both elements for all that Sphinx writes, and their files."""
    plain = dict.fromkeys(("latex", "text", "man", "texinfo"), (pass_by, pass_by))
    for node in TAGS:
        app.add_node(node, html=(open_tag, close_tag), **plain)
    app.connect("html-page-context", add_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
