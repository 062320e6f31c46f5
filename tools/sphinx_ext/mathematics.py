"""Typesets mathematics while the book is built, with KaTeX in Node: no page carries a typesetter.

Each formula stands in the page twice, as HTML to be seen and as MathML to be read aloud, which
holds its TeX too; a copied formula is its TeX (KaTeX's own copy-tex). TeX that KaTeX does not know
is a warning.
"""

import json
import subprocess
from html import escape

from docutils import nodes
from node_program import program
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

logger = logging.getLogger(__name__)


class Typesetter:
    """A running Node that typesets; it starts with the first formula."""

    def __init__(self):
        self.process = None
        self.known: dict[str, dict] = {}

    def typeset(self, tex: str, display: bool) -> dict:
        """Give {"html": ...} or {"error": ...}."""
        line = json.dumps({"tex": tex, "display": display})
        if line not in self.known:
            self.known[line] = json.loads(self.ask(line))
        return self.known[line]

    def ask(self, line: str) -> str:
        """Send a line and read the answer."""
        if self.process is None:
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "encoding": "utf-8"}
            self.process = subprocess.Popen(program("typeset.cjs"), **pipes)
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()

    def stop(self, *_event) -> None:
        """End Node by ending its input."""
        if self.process is not None:
            self.process.communicate()
            self.process = None


typesetter = Typesetter()


def as_one(tex: str) -> str:
    """Join a block's paragraphs, and align lines that no environment aligns, as Sphinx does."""
    parts = [part for part in tex.split("\n\n") if part.strip()]
    split = [rf"\begin{{split}}{p}\end{{split}}" if r"\\" in p else p for p in parts]
    return (
        split[0]
        if len(split) == 1
        else "".join([r"\begin{aligned}", r"\\".join(split), r"\end{aligned}"])
    )


def typeset(node: nodes.Element, tex: str, display: bool) -> str:
    """Typeset a node's TeX; where that fails the TeX stays, with a warning."""
    result = typesetter.typeset(tex, display)
    if "error" in result:
        logger.warning("%s", result["error"], location=node, type="math")
        return escape(tex)
    return result["html"]


def visit_inline(translator: nodes.NodeVisitor, node: nodes.math) -> None:
    """Write a formula within a line."""
    translator.body.append(translator.starttag(node, "span", "", CLASS="math notranslate"))
    translator.body.append(f"{typeset(node, node.astext(), display=False)}</span>")
    raise nodes.SkipNode


def visit_block(translator: nodes.NodeVisitor, node: nodes.math_block) -> None:
    """Write a displayed formula, behind its number."""
    translator.body.append(translator.starttag(node, "div", CLASS="math notranslate"))
    if node["number"]:
        number = get_node_equation_number(translator, node)
        translator.body.append(f'<span class="eqno">({number})')
        translator.add_permalink_ref(node, "Link to this equation")
        translator.body.append("</span>")
    tex = node.astext() if node["nowrap"] else as_one(node.astext())
    translator.body.append(f"{typeset(node, tex, display=True)}</div>\n")
    raise nodes.SkipNode


def add_script(app: Sphinx, _page: str, _template: str, context: dict, _doctree) -> None:
    """Load KaTeX's help for copying where there is a formula."""
    if 'class="katex' in context.get("body", ""):
        app.add_js_file("../vendor/katex/contrib/copy-tex.min.js", defer="defer")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer; one Node serves one process."""
    app.add_html_math_renderer("katex", (visit_inline, None), (visit_block, None))
    app.add_css_file("../vendor/katex/katex.min.css")
    app.connect("html-page-context", add_script)
    app.connect("build-finished", typesetter.stop)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
