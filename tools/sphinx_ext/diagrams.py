"""The ``mermaid`` directive: a diagram as text, which a script of the page's own turns into SVG.

Mermaid's own statements ``accTitle: ...`` and ``accDescr: ...`` say what the diagram shows; both
are required. The text stays readable where the script cannot run.
"""

import re
from html import escape

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class Diagram(nodes.General, nodes.Element):
    """A Mermaid diagram; its text stands in the attribute ``text``."""


class MermaidDirective(SphinxDirective):
    """Put a diagram on the page."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Keep the text as it is; a diagram that says nothing to a screen reader is a warning."""
        text = "\n".join(self.content)
        missing = [s for s in ("accTitle", "accDescr") if not re.search(rf"^\s*{s}\b", text, re.M)]
        if missing:
            message = f"the diagram lacks {' and '.join(missing)}: say what it shows"
            return [self.state.document.reporter.warning(message, line=self.lineno)]
        return [Diagram(text=text)]


def visit_html(translator: nodes.NodeVisitor, node: Diagram) -> None:
    """Write the text as a preformatted block, which the script looks for."""
    translator.body.append(f'<pre class="mermaid">{escape(node["text"])}</pre>\n')
    raise nodes.SkipNode


def visit_other(translator: nodes.NodeVisitor, node: Diagram) -> None:
    """Write the description alone, where no script runs."""
    description = re.search(r"^\s*accDescr:\s*(.+)$", node["text"], re.M)
    translator.visit_Text(nodes.Text(description[1] if description else ""))
    raise nodes.SkipNode


def add_script(app: Sphinx, _page: str, _template: str, _context: dict, doctree) -> None:
    """Load the script on the pages that need it."""
    if doctree is not None and next(doctree.findall(Diagram), None) is not None:
        app.add_js_file("diagrams.js", defer="defer")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register directive, node and script."""
    other = (visit_other, None)
    app.add_node(Diagram, html=(visit_html, None), latex=other, text=other)
    app.add_directive("mermaid", MermaidDirective)
    app.connect("html-page-context", add_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
