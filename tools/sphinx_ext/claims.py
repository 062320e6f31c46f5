"""What the book measured: an anchor at each cell that proves a claim, links to it, and a table.

A cell tagged nbval-check-output may say in its metadata what its stored output proves:

    "claim": [{"says": "The weights of a row sum to 1.", "line": "rows sum to 1",
               "bound": "to 1e-6", "source": "vaswani2017attention"}]

`line` is the beginning of the line of output that proves it; `bound`, what the value was held
against, and `source`, a key of references.bib, may be left out. Mathematics is welcome.

    ```{claims}
    ```

is the table of all claims, and {claim}`cell-id` links to a cell by the number of its section.
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.environment.collectors import EnvironmentCollector
from sphinx.util.docutils import SphinxDirective, SphinxRole
from sphinx.util.logging import getLogger
from sphinx.util.nodes import make_refnode

logger = getLogger(__name__)

CHECKED = "nbval-check-output"
KEYS = {"says", "line", "bound", "source"}
HEADINGS = {"Claim": 38, "Section": 8, "Measured": 24, "Held against": 18, "Source": 12}


class Claim(NamedTuple):
    """One claim, with the value that its cell measured."""

    cell: str
    says: str
    value: str
    bound: str
    source: str | None


class Measured(NamedTuple):
    """What a notebook says: the ids of its cells, its claims, and messages on those that fail."""

    cells: list[str]
    claims: list[Claim]
    problems: list[str]


def output_lines(cell: dict) -> list[str]:
    """Give the lines of text that a code cell has stored as its output."""
    texts = [out.get("text", out.get("data", {}).get("text/plain", "")) for out in cell["outputs"]]
    return "".join("".join(text) + "\n" for text in texts).splitlines()


def value_in(line: str) -> str:
    """Give what stands after a line's last colon outside brackets, or else the whole line."""
    head = re.split(r"[\[({]", line, maxsplit=1)[0]
    start = head.rindex(": ") + 2 if ": " in head else 0
    return " ".join(line[start:].split())


def claims_of_cell(cell: dict) -> Iterator[Claim | str]:
    """Give each claim of a cell; in the place of one that does not hold, what is wrong with it."""
    entries = cell["metadata"].get("claim", [])
    if entries and CHECKED not in cell["metadata"].get("tags", []):
        yield f"it makes a claim without the tag {CHECKED}"
        return
    for entry in entries:
        if not {"says", "line"} <= set(entry) <= KEYS:
            yield f"a claim holds says, line and perhaps bound and source, not {sorted(entry)}"
            continue
        lines = [line for line in output_lines(cell) if line.startswith(entry["line"])]
        if len(lines) != 1:
            yield f"{len(lines)} lines of its output begin with {entry['line']!r}; it takes one"
            continue
        bound, source = entry.get("bound") or "", entry.get("source")
        yield Claim(cell["id"], entry["says"], value_in(lines[0]), bound, source)


def read_notebook(notebook: dict) -> Measured:
    """Sort the claims of a notebook, in their order, from those that do not hold."""
    measured = Measured([cell["id"] for cell in notebook["cells"]], [], [])
    for cell in notebook["cells"]:
        for found in claims_of_cell(cell):
            if isinstance(found, Claim):
                measured.claims.append(found)
            else:
                measured.problems.append(f"cell {cell['id']}: {found}")
    return measured


@cache
def read_file(path: Path, _modified: int) -> Measured:
    """Read a notebook once for each state of the file."""
    return read_notebook(json.loads(path.read_text(encoding="utf-8")))


def measured_on(page: str, env: BuildEnvironment) -> Measured | None:
    """Give what a page measured, or None if it is no notebook."""
    path = Path(env.doc2path(page))
    return read_file(path, path.stat().st_mtime_ns) if path.suffix == ".ipynb" else None


def claims_by_page(env: BuildEnvironment) -> dict[str, list[Claim]]:
    """Give the claims of every notebook in the table of contents, in its order."""
    pages = {page: measured_on(page, env) for page in env.app.config.external_site_map}
    return {page: measured.claims for page, measured in pages.items() if measured is not None}


def anchor(cell: str) -> str:
    """Give the anchor of a cell on its page."""
    return f"claim-{cell}"


class ClaimPlaces(EnvironmentCollector):
    """Sets the anchors, and keeps for each page in which section a cell stands."""

    def clear_doc(self, _app: Sphinx, env: BuildEnvironment, docname: str) -> None:
        """Forget a page."""
        places(env).pop(docname, None)

    def merge_other(self, _app: Sphinx, env: BuildEnvironment, docnames: set, other) -> None:
        """Take over what another process has read."""
        places(env).update({d: p for d, p in places(other).items() if d in docnames})

    def process_doc(self, app: Sphinx, doctree: nodes.document) -> None:
        """Set the anchors of one page, and warn of the claims that do not hold."""
        page = app.env.docname
        measured = measured_on(page, app.env)
        if measured is None:
            return
        for problem in measured.problems:
            logger.warning(problem, location=page, type="claims")
        proving = {claim.cell for claim in measured.claims}
        for node in doctree.findall(nodes.container):
            cell = measured.cells[node["cell_index"]] if "cell_index" in node else None
            if cell in proving:
                node["ids"].append(anchor(cell))
                places(app.env).setdefault(page, {})[cell] = section_anchor(node)


def places(env: BuildEnvironment) -> dict[str, dict[str, str]]:
    """Give, for each page and cell with a claim, the anchor of its section."""
    if not hasattr(env, "claim_places"):
        env.claim_places = {}
    return env.claim_places


def section_anchor(node: nodes.Element) -> str:
    """Name the section around a node as Sphinx's numbering does: '' for the page itself."""
    while not isinstance(node, nodes.section):
        node = node.parent
    return "" if isinstance(node.parent, nodes.document) else f"#{node['ids'][0]}"


class ClaimLink(nodes.Inline, nodes.Element):
    """A link to the cell ``cell`` of ``page``; its text is known once all pages are numbered."""


def resolve_links(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Turn each link into a reference that shows the number of the cell's section."""
    for node in list(doctree.findall(ClaimLink)):
        page, cell = node["page"], node["cell"]
        numbers = app.env.toc_secnumbers.get(page, {})
        number = numbers.get(places(app.env)[page][cell]) or numbers.get("")
        text = ".".join(map(str, number)) if number else app.env.titles[page].astext()
        target = make_refnode(app.builder, docname, page, anchor(cell), nodes.Text(text))
        node.replace_self(target)


class ClaimRole(SphinxRole):
    """Links to the cell that measured a claim."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Find the cell's page; an id that does not lead to exactly one cell is a warning."""
        by_page = claims_by_page(self.env)
        pages = [p for p, claims in by_page.items() if self.text in {c.cell for c in claims}]
        if len(pages) != 1:
            where = f"in {' and '.join(pages)}" if pages else "nowhere"
            message = (
                f"the cell {self.text!r} makes a claim {where}; name one that does on one page"
            )
            logger.warning(message, location=self.get_location(), type="claims")
            return [nodes.literal(self.text, self.text)], []
        self.env.note_dependency(str(self.env.doc2path(pages[0])))
        return [ClaimLink(page=pages[0], cell=self.text)], []


class ClaimsDirective(SphinxDirective):
    """The table of everything that the book measured."""

    def run(self) -> list[nodes.Node]:
        """Make a row for each claim; a change in any notebook makes the table anew."""
        rows = []
        for page, claims in claims_by_page(self.env).items():
            self.env.note_dependency(str(self.env.doc2path(page)))
            rows += [self.row(page, claim) for claim in claims]
        group = nodes.tgroup(cols=len(HEADINGS))
        group += [nodes.colspec(colwidth=width) for width in HEADINGS.values()]
        group += nodes.thead("", row_of([[nodes.Text(heading)] for heading in HEADINGS]))
        group += nodes.tbody("", *rows)
        return [nodes.table("", group, classes=["claims"])]

    def row(self, page: str, claim: Claim) -> nodes.row:
        """Make the row of one claim."""
        return row_of(
            [
                self.parse_inline(claim.says)[0],
                [ClaimLink(page=page, cell=claim.cell)],
                [nodes.literal(claim.value, claim.value)],
                self.parse_inline(claim.bound)[0],
                self.parse_inline(f"{{cite:p}}`{claim.source}`")[0] if claim.source else [],
            ]
        )


def row_of(cells: list[list[nodes.Node]]) -> nodes.row:
    """Make a row of a table; a cell without content stays empty, and a style can leave it out."""
    row = nodes.row()
    for cell in cells:
        row += nodes.entry("", *([nodes.paragraph("", "", *cell)] if cell else []))
    return row


def add_style(app: Sphinx, _page: str, _template: str, _context: dict, doctree) -> None:
    """Load the table's style on the page that shows it."""
    tables = doctree.findall(nodes.table) if doctree is not None else []
    if any("claims" in table["classes"] for table in tables):
        app.add_css_file("claims.css")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the anchors, the role, the directive and its style."""
    app.add_env_collector(ClaimPlaces)
    app.add_role("claim", ClaimRole())
    app.add_directive("claims", ClaimsDirective)
    app.connect("doctree-resolved", resolve_links)
    app.connect("html-page-context", add_style)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
