"""What the book measured: a line at each cell that proves a claim, links to it, and a table.

What a cell claims stands in its metadata (see claim_cells.py). On the page such a cell is one line,
*Measured*: the claim, its value, what that was held against. Its code and full output unfold.

    ```{claims}
    ```

is the table of all claims, and {claim}`cell-id` links to a cell by the number of its section.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from claim_cells import Claim, Measured, read_file
from docutils import nodes
from folds import Fold, FoldLine
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.environment.collectors import EnvironmentCollector
from sphinx.util.docutils import ReferenceRole, SphinxDirective
from sphinx.util.logging import getLogger
from sphinx.util.nodes import make_refnode

logger = getLogger(__name__)

HEADINGS = {"Claim": 38, "Section": 8, "Measured": 24, "Held against": 18, "Source": 12}


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


def inline(text: str) -> Iterator[nodes.Node]:
    """Read the little that a claim is written in: mathematics, emphasis, code."""
    kinds = (nodes.math, nodes.emphasis, nodes.literal)
    for piece in re.split(r"(\$[^$]+\$|\*[^*]+\*|`[^`]+`)", text):
        if piece[:1] in {"$", "*", "`"} and len(piece) > 2:
            yield kinds["$*`".index(piece[0])](piece[1:-1], piece[1:-1])
        elif piece:
            yield nodes.Text(piece)


def measured_line(claim: Claim) -> nodes.inline:
    """Say one claim in a line: what, how much, held against what; each test run compares it."""
    line = nodes.inline(classes=["measured"])
    line += nodes.inline("", "", *inline(claim.says), classes=["says"])
    for name, text in (("value", claim.value), ("bound", claim.bound)):
        if text and text != "True":
            line += [nodes.Text(" "), nodes.inline("", "", *inline(text), classes=[name])]
    line += [nodes.Text(" "), nodes.inline("", "✓", classes=["held"])]
    return line


def fold_away(cell: nodes.container, claims: list[Claim]) -> None:
    """Put a line for each claim in the place of the cell that proves them, and the cell behind."""
    fold = Fold(ids=[anchor(claims[0].cell)], classes=["claims"])
    line = FoldLine()
    line += [nodes.inline("", "Measured", classes=["label"]), *map(measured_line, claims)]
    cell.replace_self(fold)
    fold += [line, cell]


class ClaimPlaces(EnvironmentCollector):
    """Folds the cells with claims, and keeps for each page in which section a cell stands."""

    def clear_doc(self, _app: Sphinx, env: BuildEnvironment, docname: str) -> None:
        """Forget a page."""
        places(env).pop(docname, None)

    def merge_other(self, _app: Sphinx, env: BuildEnvironment, docnames: set, other) -> None:
        """Take over what another process has read."""
        places(env).update({d: p for d, p in places(other).items() if d in docnames})

    def process_doc(self, app: Sphinx, doctree: nodes.document) -> None:
        """Fold what proves a claim on one page, and warn of the claims that do not hold."""
        page = app.env.docname
        measured = measured_on(page, app.env)
        if measured is None:
            return
        for problem in measured.problems:
            logger.warning(problem, location=page, type="claims")
        for node in list(doctree.findall(nodes.container)):
            cell = measured.cells[node["cell_index"]] if "cell_index" in node else None
            if claims := [claim for claim in measured.claims if claim.cell == cell]:
                places(app.env).setdefault(page, {})[cell] = section_anchor(node)
                fold_away(node, claims)


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
    """A link to the cell ``cell`` of ``page``, of the text that it holds.

    Without one it shows a section's number, which is known once all pages are numbered.
    """


def resolve_links(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Turn each link into a reference, and put the number of the cell's section on it."""
    for node in list(doctree.findall(ClaimLink)):
        page, cell = node["page"], node["cell"]
        numbers = app.env.toc_secnumbers.get(page, {})
        number = numbers.get(places(app.env)[page][cell]) or numbers.get("")
        place = ".".join(map(str, number)) if number else app.env.titles[page].astext()
        words = nodes.inline("", "", *node.children) if len(node) else nodes.Text(place)
        link = make_refnode(app.builder, docname, page, anchor(cell), words, f"Measured in {place}")
        node.replace_self(link)


class ClaimRole(ReferenceRole):
    """Links to the cell that measured a claim, from words before its id or from its section."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Find the cell's page; an id that does not lead to exactly one cell is a warning."""
        by_page = claims_by_page(self.env)
        pages = [p for p, claims in by_page.items() if self.target in {c.cell for c in claims}]
        if len(pages) != 1:
            where = f"in {' and '.join(pages)}" if pages else "nowhere"
            message = (
                f"the cell {self.target!r} makes a claim {where}; name one that does on one page"
            )
            logger.warning(message, location=self.get_location(), type="claims")
            return [nodes.literal(self.target, self.target)], []
        self.env.note_dependency(str(self.env.doc2path(pages[0])))
        words = inline(self.title) if self.has_explicit_title else ()
        return [ClaimLink("", *words, page=pages[0], cell=self.target)], []


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
    """Register the folds, the role, the directive and its style."""
    app.setup_extension("folds")
    app.add_env_collector(ClaimPlaces)
    app.add_role("claim", ClaimRole())
    app.add_directive("claims", ClaimsDirective)
    app.connect("doctree-resolved", resolve_links)
    app.connect("html-page-context", add_style)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
