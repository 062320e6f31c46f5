"""The ``mermaid`` directive: a diagram as text, drawn as SVG while the book is built.

It knows the part of Mermaid's flowcharts that this book uses: boxes, arrows with and without words,
and boxes that are links. Mermaid's own statements ``accTitle: ...`` and ``accDescr: ...`` say what
the diagram shows; both are required. What it does not know is a warning.
"""

import json
import re
import subprocess
from dataclasses import dataclass, field

from docutils import nodes
from node_program import program
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from svg_diagram import draw

NAME = r"(\w+)"
BOX = rf'{NAME}(?:\["([^"]*)"\])?'
ARROW = r'\s*--(?:\s*"([^"]*)"\s*--)?>\s*'
STATEMENTS = {
    "start": r"flowchart (?:TB|TD)",
    "title": r"accTitle:\s*(.+)",
    "description": r"accDescr:\s*(.+)",
    "box": BOX,
    "arrow": rf"{BOX}{ARROW}{BOX}",
    "click": rf'click {NAME} (?:href )?"([^"]+)"(?: "([^"]*)")?',
}


@dataclass
class Chart:
    """What a diagram's text says."""

    title: str = ""
    description: str = ""
    boxes: dict[str, list[str]] = field(default_factory=dict)  # lines of text by name
    arrows: list[tuple[str, str, str]] = field(default_factory=list)  # from, to, words
    links: dict[str, tuple[str, str]] = field(default_factory=dict)  # address and tooltip by name

    def add_box(self, name: str, text: str | None) -> str:
        """Take a box's text, its name until there is one."""
        if text is not None or name not in self.boxes:
            self.boxes[name] = (text or name).split("<br/>")
        return name

    def add(self, kind: str, parts: tuple[str | None, ...]) -> None:
        """Take one statement."""
        if kind == "title":
            self.title = parts[0]
        elif kind == "description":
            self.description = parts[0]
        elif kind == "box":
            self.add_box(*parts)
        elif kind == "arrow":
            start, end = self.add_box(*parts[:2]), self.add_box(*parts[3:])
            self.arrows.append((start, end, parts[2] or ""))
        elif kind == "click":
            self.links[parts[0]] = (parts[1], parts[2] or "")


def read(text: str) -> Chart:
    """Read a diagram.

    Raises
    ------
    ValueError
        If there is a statement that is not understood, or one that lacks.
    """
    chart, unknown = Chart(), []
    for line in filter(None, map(str.strip, text.splitlines())):
        found = [(k, m) for k, rule in STATEMENTS.items() if (m := re.fullmatch(rule, line))]
        if found:
            chart.add(found[0][0], found[0][1].groups())
        else:
            unknown.append(line)
    said = {"accTitle": chart.title, "accDescr": chart.description}
    if missing := [name for name, words in said.items() if not words]:
        raise ValueError(f"the diagram lacks {' and '.join(missing)}: say what it shows")
    if unknown:
        raise ValueError(f"the diagram holds a line that is not understood: {unknown[0]}")
    return chart


def lay_out(boxes: dict, arrows: list[dict]) -> dict:
    """Let dagre find a place for everything."""
    question = json.dumps({"nodes": boxes, "edges": arrows})
    pipes = {"input": question, "capture_output": True, "encoding": "utf-8"}
    done = subprocess.run(program("layout.cjs"), check=True, **pipes)
    return json.loads(done.stdout)


class Diagram(nodes.General, nodes.Element):
    """A diagram: its SVG, and its description for where none can be shown."""


class MermaidDirective(SphinxDirective):
    """Put a diagram on the page."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Draw; a diagram that says nothing to a screen reader is a warning."""
        try:
            chart = read("\n".join(self.content))
        except ValueError as error:
            return [self.state.document.reporter.warning(str(error), line=self.lineno)]
        name = f"diagram-{self.env.new_serialno('diagram') + 1}"
        return [Diagram(svg=draw(chart, name, lay_out), description=chart.description)]


def visit_html(translator: nodes.NodeVisitor, node: Diagram) -> None:
    """Write the drawing."""
    translator.body.append(f'<div class="diagram">{node["svg"]}</div>\n')
    raise nodes.SkipNode


def visit_other(translator: nodes.NodeVisitor, node: Diagram) -> None:
    """Write the description alone."""
    translator.visit_Text(nodes.Text(node["description"]))
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register directive and node; the style is on every page."""
    other = (visit_other, None)
    app.add_node(Diagram, html=(visit_html, None), latex=other, text=other)
    app.add_directive("mermaid", MermaidDirective)
    app.add_css_file("diagrams.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
