"""Takes a page's section number from its file name, so that 1_05_... is 1.5 whatever stands before.

Sphinx counts the pages of the table of contents. So it would number the exercises, which have their
numbers in their titles, as 1.11.1 and on, and a section left out would change all behind it.

The source that this book accompanies numbers sections of some pages; the headings of the others,
which `unnumbered_headings` in _config.yml names, are the book's own and carry no number.
"""

import re
from collections.abc import Iterator
from posixpath import basename

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.environment.collectors.toctree import TocTreeCollector

Number = tuple[int, ...]
DEPTH = 3


def number_in_name(docname: str) -> Number | None:
    """Read the number: (1, 5) for chapters/1_05_causal_mask, (1,) for 1_00_..., else None.

    An exercise has its number in its title, so its page gets none: ().
    """
    if re.match(r"(exercises|solutions)/", docname):
        return ()
    match = re.match(r"(\d+)_(\d+)_", basename(docname))
    if match is None:
        return None
    chapter, section = int(match[1]), int(match[2])
    return (chapter, section) if section else (chapter,)


def number_headings(toc: nodes.Node, parent: Number) -> Iterator[tuple[nodes.reference, Number]]:
    """Pair each heading below `toc`, a page's own table of contents, with its number."""
    headings = [item for item in toc.children if isinstance(item, nodes.list_item)]
    for count, item in enumerate(headings, start=1):
        number = (*parent, count)
        yield next(item.findall(nodes.reference)), number
        for below in item.children:
            if isinstance(below, nodes.bullet_list):
                yield from number_headings(below, number)


def number_page(env: BuildEnvironment, docname: str, number: Number) -> None:
    """Set the number of a page and its headings everywhere that Sphinx looks for it."""
    bare = docname in env.config.unnumbered_headings
    title = next(env.tocs[docname].findall(nodes.list_item))
    pairs = [(next(title.findall(nodes.reference)), number)]
    for below in title.children:
        if isinstance(below, nodes.bullet_list):
            pairs.extend(number_headings(below, number))
    numbers = env.toc_secnumbers[docname] = {}
    for reference, own in pairs:
        deep = len(own) > (len(number) if bare else DEPTH)
        shown = () if deep or not number else own
        numbers[reference["anchorname"]] = shown
        reference["secnumber"] = list(shown) or None
    env.titles[docname]["secnumber"] = list(number)


def renumber(_app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Set all numbers by page name, then anew those of figures and equations, which carry them."""
    for docname in list(env.toc_secnumbers):
        number = number_in_name(docname)
        if number is not None:
            number_page(env, docname, number)
    return TocTreeCollector().assign_figure_numbers(env)


def setup(app: Sphinx) -> dict[str, bool]:
    """Run after Sphinx's own numbering, which has the default priority of 500."""
    app.add_config_value("unnumbered_headings", [], "env")
    app.connect("env-get-updated", renumber, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
