"""Says in each page's head what it is about, for search engines and for cards where it is shared.

The description is the start of the page's first paragraph without mathematics, which would be raw
TeX there. The template layout.html writes it out.
"""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

LONGEST = 200  # characters; what shows descriptions cuts them soon after
LABEL = re.compile(r" \[[\w+]+\d\d\]")  # of a source, as [VSP+17]


def description_of(doctree: nodes.document) -> str:
    """Give the whole sentences of the first plain paragraph that fit; or ''."""
    for paragraph in doctree.findall(nodes.paragraph):
        mathematics = any(paragraph.findall(lambda n: isinstance(n, nodes.math | nodes.math_block)))
        if isinstance(paragraph.parent, nodes.section) and not mathematics:
            text = " ".join(paragraph.astext().split())
            return shorten(LABEL.sub("", text))
    return ""


def shorten(text: str) -> str:
    """Keep the whole sentences that fit; where not even one does, cut at a word."""
    part = text[:LONGEST]
    if sentences := re.match(r".*(?<!et al)[.?!](?=\s|$)", part):
        return sentences[0]
    return part if part == text else part.rpartition(" ")[0].rstrip(",;:") + " …"


def describe(
    _app: Sphinx, _page: str, _template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Hand the description to the template; pages without a source have none."""
    if doctree:
        name = f"{context['title']}: {context['docstitle']}"  # of a page that holds no sentence
        context["description"] = description_of(doctree) or name


def setup(app: Sphinx) -> dict[str, bool]:
    """Run for every page that is written."""
    app.connect("html-page-context", describe)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
