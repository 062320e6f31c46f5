"""Says below the title of a section how long it takes to read and which sections it builds on.

The map of the chapter's first page is the one home of what builds on what: an arrow of its diagram
leads from what a section needs to the section, and a ``click`` names the section's page.
"""

import math
import re
from collections.abc import Iterator
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

FOLDER = "chapters/"
MAP = FOLDER + "1_00_attention"
BOX = re.compile(r'(\w+)\["(.+?)"\]')
ARROW = re.compile(r'^\s*(\w+)(?:\[".+?"\])?\s*-->\s*(\w+)', re.MULTILINE)
CLICK = re.compile(r'^\s*click (\w+) href "(\w+)\.html"', re.MULTILINE)

WORDS_A_MINUTE = 200
SECONDS = {"line": 3, "equation": 10}  # what a line of code and a displayed equation take
UNREAD = {"cell_output", "tag_hide-input", "tag_hide-cell", "tag_remove-input", "tag_remove-cell"}


def read_map(text: str) -> dict[str, list[tuple[str, str]]]:
    """Read of each page in the map which it builds on: their names and their titles there."""
    titles, pages = dict(BOX.findall(text)), dict(CLICK.findall(text))
    needs = {FOLDER + page: [] for page in pages.values()}
    for before, after in ARROW.findall(text):
        needs[FOLDER + pages[after]].append((FOLDER + pages[before], titles[before]))
    return needs


def read_through(node: nodes.Node) -> Iterator[float]:
    """Give the seconds that each word, line of code and equation takes; outputs take none."""
    if isinstance(node, nodes.Text):
        yield len(node.split()) * 60 / WORDS_A_MINUTE
    elif isinstance(node, nodes.literal_block):
        yield SECONDS["line"] * sum(bool(line.strip()) for line in node.astext().splitlines())
    elif isinstance(node, nodes.math_block):
        yield SECONDS["equation"]
    elif isinstance(node, nodes.math):
        yield 60 / WORDS_A_MINUTE
    elif isinstance(node, nodes.Element) and not UNREAD & set(node.get("classes", ())):
        for child in node.children:
            yield from read_through(child)


def link(env: BuildEnvironment, page: str, title: str) -> nodes.Node:
    """Link a page by its title in the map; a page that is left out is only named."""
    if page not in env.found_docs:
        return nodes.Text(title)
    target = {"refdomain": "std", "reftype": "doc", "reftarget": f"/{page}", "refwarn": True}
    return addnodes.pending_xref(
        "", nodes.inline("", title), refdoc=env.docname, refexplicit=True, **target
    )


def add_head(app: Sphinx, doctree: nodes.document) -> None:
    """Put the line below the title of a page that the map shows."""
    env = app.env
    source = Path(env.srcdir, f"{MAP}.md")
    if not env.docname.startswith(FOLDER) or not source.is_file():
        return
    env.note_dependency(str(source))
    needs = read_map(source.read_text(encoding="utf-8")).get(env.docname)
    title = next(doctree.findall(nodes.title), None)
    if needs is None or title is None:
        return
    minutes = math.ceil(sum(read_through(doctree)) / 60)
    line = nodes.paragraph("", f"About {minutes} minutes to read")
    for count, (page, name) in enumerate(needs):
        line += [nodes.Text(" and " if count else ". Builds on "), link(env, page, name)]
    line += nodes.Text(".")
    box = nodes.container("", line, classes=["page-head"])  # so it is not the first of the text
    title.parent.insert(title.parent.index(title) + 1, box)


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the line as a page is read."""
    app.connect("doctree-read", add_head)
    app.add_css_file("page_heads.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
