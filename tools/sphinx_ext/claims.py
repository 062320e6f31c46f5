"""What the book measured: a line at each cell that proves a claim, and links to it.

What a cell claims stands in its metadata (see claim_cells.py). On the page such a cell is one line,
*Measured*: the claim, its value, what that was held against. Its code and full output unfold.

{claim}`cell-id` links to a cell by the number of its section, {claim-value}`cell-id` by the value
that it measured. Where the cell makes several claims, {claim-value}`cell-id: at 40` takes the one
whose line begins with *at 40*. The page of all claims is made by claims_page.py.
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
from sphinx.util.docutils import ReferenceRole
from sphinx.util.logging import getLogger
from sphinx.util.nodes import make_refnode

logger = getLogger(__name__)

SHORT = 24  # characters of a condition that fits into the line on its page


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


def value_of(claim: Claim) -> Iterator[nodes.Node]:
    """Give a claim's value with what it is a value of."""
    yield nodes.inline("", "", *inline(claim.value), classes=["value"])
    if claim.unit:
        yield nodes.inline("", "", nodes.Text(" "), *inline(claim.unit), classes=["unit"])


def measured_line(claim: Claim) -> nodes.inline:
    """Say one claim in a line: what, how much, held against what; each test run compares it."""
    line = nodes.inline(classes=["measured"])
    line += nodes.inline("", "", *inline(claim.says), classes=["says"])
    line += [nodes.Text(" "), *value_of(claim)]
    condition = claim.condition if len(claim.condition) <= SHORT else ""
    for name, text in (("bound", claim.bound), ("condition", condition)):
        if text:
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


class ClaimValueRole(ClaimRole):
    """Shows the value of a claim, as a link to the cell that measured it."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Find the claim; a cell with none of that line, or with several, is a warning."""
        self.target, _, line = self.target.partition(": ")
        found, messages = super().run()
        if not isinstance(link := found[0], ClaimLink):
            return found, messages
        on_page = claims_by_page(self.env)[link["page"]]
        made = {claim.line.strip(): claim for claim in on_page if claim.cell == self.target}
        fitting = [claim for start, claim in made.items() if start.startswith(line.strip())]
        if len(fitting) != 1:
            found = f"{len(fitting)} claims of the cell {self.target!r}"
            message = f"{found} have a line that begins with {line!r}; it takes one of {list(made)}"
            logger.warning(message, location=self.get_location(), type="claims")
            return [nodes.literal(self.target, self.target)], messages
        link += nodes.inline("", "", *value_of(fitting[0]), classes=["claim-value"])
        return [link], messages


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the folds, the roles and the page of all claims."""
    app.setup_extension("folds")
    app.setup_extension("claims_page")
    app.add_env_collector(ClaimPlaces)
    app.add_role("claim", ClaimRole())
    app.add_role("claim-value", ClaimValueRole())
    app.connect("doctree-resolved", resolve_links)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
