"""Counts, while building, what the book's first page promises.

    ```{promise}
    ```

says how many sections, claims, living figures, exercises and tests there are.
"""

import re
from pathlib import Path

from claims import claims_by_page
from docutils import nodes
from section_numbers import number_in_name
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx_external_toc.api import SiteMap

TEST = re.compile(r"^ *(?:async )?def test_", re.MULTILINE)


def count_sections(pages: SiteMap) -> int:
    """Count what stands below the chapters in the table of contents; the summary stands beside."""
    chapters = [page for page in pages if len(number_in_name(page) or ()) == 1]
    return sum(len(pages[chapter].child_files()) for chapter in chapters)


def count_tests(files: list[Path]) -> int:
    """Count the functions that test; many of them run for several cases."""
    return sum(len(TEST.findall(file.read_text(encoding="utf-8"))) for file in files)


class PromiseDirective(SphinxDirective):
    """A line of counts, each with what it counts."""

    def run(self) -> list[nodes.Node]:
        """Count; a change in any notebook or test counts anew."""
        from attnlab import figures

        claims = claims_by_page(self.env)
        tests = sorted(Path(self.env.srcdir, "tests").rglob("test_*.py"))
        read = [self.env.doc2path(page) for page in claims]
        for path in [*read, *tests, figures.__file__]:
            self.env.note_dependency(str(path))
        pages = self.env.app.config.external_site_map
        counts = {
            "sections": count_sections(pages),
            "measured claims": sum(map(len, claims.values())),
            "living figures": len(figures.__all__),
            "exercises": sum(page.startswith("exercises/") for page in pages),
            "tests": count_tests(tests),
        }
        return [nodes.paragraph("", "", *self.said(counts), classes=["promise"])]

    def said(self, counts: dict[str, int]) -> list[nodes.Node]:
        """Write each count in bold, with a dot between two."""
        parts = []
        for what, count in counts.items():
            parts += [nodes.Text(" · ")] if parts else []
            parts += [nodes.strong("", f"{count:,}"), nodes.Text(f" {what}")]
        return parts


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("promise", PromiseDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
