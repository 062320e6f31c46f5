"""The page of all that the book measured: what made it, the main claims, and all of them.

    ```{claims-made}
    ```

says once on which machine, with which versions and from which source the page was built.

    ```{claims}
    :main:
    ```

is a table of the claims that are marked as main; without the option it is one table for each page
of the book, each below a heading, and a form that filters them. The form needs claims.js; without
scripts it is not seen, and all claims are. What it shows stands in the page's address.
"""

import platform
import subprocess
from collections.abc import Iterator
from importlib import metadata
from posixpath import basename

from claim_cells import KINDS, STANDINGS, Claim
from claims import ClaimLink, claims_by_page, inline, measured_on, value_of
from docutils import nodes
from docutils.parsers.rst import directives
from machine import cpu_model
from section_numbers import number_in_name
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

COLUMNS = ("Claim", "Measured", "Holds for", "Where")
MEASURED = ("chapters", "src", "requirements.lock")  # what the values depend on
TO_PAPER = {"agrees": "agrees with", "qualifies": "qualifies", "contradicts": "contradicts"}
OPTION = '<option value="{0}">{0}</option>'
FORM = f"""
<form class="claims-filter" role="search" aria-label="Filter the claims">
<label>Words <input type="search" name="q" autocomplete="off"></label>
<label>Kind <select name="kind"><option value="">any</option>{"".join(map(OPTION.format, KINDS))}
</select></label>
<label>Paper <select name="paper"><option value="">any</option>
{"".join(map(OPTION.format, STANDINGS))}</select></label>
<button type="reset">Show all</button>
<output aria-live="polite"></output>
</form>
"""


class ClaimsDirective(SphinxDirective):
    """The tables of what the book measured."""

    option_spec = {"main": directives.flag}  # noqa: RUF012 - docutils asks for it

    def run(self) -> list[nodes.Node]:
        """Make a row for each claim; a change in any notebook makes the page anew."""
        by_page = claims_by_page(self.env)
        for page in by_page:
            self.env.note_dependency(str(self.env.doc2path(page)))
        if "main" in self.options:
            pairs = [(page, claim) for page, claims in by_page.items() for claim in claims]
            return [self.table([pair for pair in pairs if pair[1].main], "main")]
        sections = [self.section(page, claims) for page, claims in by_page.items() if claims]
        return [nodes.raw("", FORM, format="html"), *sections]

    def section(self, page: str, claims: list[Claim]) -> nodes.section:
        """Put the claims of one page below its number and title."""
        number = ".".join(map(str, number_in_name(page) or ()))
        title = nodes.title("", "", nodes.Text(measured_on(page, self.env).title or page))
        if number:
            title.insert(0, nodes.inline("", f"{number} ", classes=["section-number"]))
        table = self.table([(page, claim) for claim in claims], "all")
        name = f"claims-of-{nodes.make_id(basename(page))}"
        return nodes.section("", title, table, ids=[name], names=[name])

    def table(self, pairs: list[tuple[str, Claim]], kind: str) -> nodes.table:
        """Make a table of claims and the pages that they stand on."""
        group = nodes.tgroup(cols=len(COLUMNS))
        group += [nodes.colspec(colwidth=1) for _ in COLUMNS]
        group += nodes.thead("", row_of([[nodes.Text(heading)] for heading in COLUMNS]))
        group += nodes.tbody("", *(self.row(*pair) for pair in pairs))
        return nodes.table("", group, classes=["claims", kind])

    def row(self, page: str, claim: Claim) -> nodes.row:
        """Make the row of one claim."""
        value = [*value_of(claim)]
        if claim.bound:
            value += [
                nodes.Text(" "),
                nodes.inline("", "", *inline(claim.bound), classes=["bound"]),
            ]
        standing = nodes.inline("", "", *self.standing(claim), classes=["standing"])
        row = row_of(
            [
                [*inline(claim.says), nodes.Text(" "), standing],
                value,
                [nodes.inline("", "", *inline(claim.condition), classes=["condition"])],
                [ClaimLink(page=page, cell=claim.cell)],
            ]
        )
        row["classes"] += [f"{name}-{word}" for name, word in marks(claim)]
        return row

    def standing(self, claim: Claim) -> Iterator[nodes.Node]:
        """Say of which kind a claim is, and how it stands to the paper."""
        yield nodes.inline("", claim.kind, classes=["kind"])
        if claim.source:
            cited = self.parse_inline(f"{{cite:p}}`{claim.source}`")[0]
            said = TO_PAPER.get(claim.paper, "see")
            yield nodes.inline("", f" {said} ", *cited, classes=["paper"])


def marks(claim: Claim) -> list[tuple[str, str]]:
    """Give what a filter can ask for."""
    return [(name, word) for name in ("kind", "paper") if (word := getattr(claim, name))]


def row_of(cells: list[list[nodes.Node]]) -> nodes.row:
    """Make a row of a table."""
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", *cell)) for cell in cells))


class MadeDirective(SphinxDirective):
    """What built the page: the machine, the versions, and the source with its day."""

    def run(self) -> list[nodes.Node]:
        """Say it in a line; a page that is not built anew could not know."""
        self.env.note_reread()
        versions = f"Python {platform.python_version()}, PyTorch {metadata.version('torch')}"
        said = f"Built on {cpu_model()} with {versions}{self.source()}."
        return [nodes.paragraph("", said, classes=["claims-made"])]

    def source(self) -> str:
        """Name the last change of what was measured, not the time of the build."""
        git = ["git", "-C", str(self.env.srcdir), "log", "-1", "--format=%cs (%h)", "--"]
        done = subprocess.run([*git, *MEASURED], capture_output=True, text=True, check=False)
        return f", from the source of {said}" if (said := done.stdout.strip()) else ""


def add_files(app: Sphinx, _page: str, _template: str, _context: dict, doctree) -> None:
    """Load style and filter on the page that shows the tables."""
    tables = doctree.findall(nodes.table) if doctree is not None else []
    if any("claims" in table["classes"] for table in tables):
        app.add_css_file("claims.css")
        app.add_js_file("claims.js", defer="defer")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives and the files of their page."""
    app.add_directive("claims", ClaimsDirective)
    app.add_directive("claims-made", MadeDirective)
    app.connect("html-page-context", add_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
