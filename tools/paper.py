"""The built pages as paper takes them: text without what only a screen can do.

Living figures give way to their stills. A fold cannot be opened on paper: folded code goes, a line
*Measured* stands without its cell, the answers to predictions stand at the end of the book, and any
other fold is open. `tools/pdf.py` and `tools/epub.py` make one book each of such pages.
"""

from dataclasses import dataclass
from pathlib import Path
from posixpath import dirname, normpath
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup, Tag
from sphinx_external_toc.parsing import parse_toc_yaml

GONE = (
    "script, .headerlink, .figure-mount, form, button, details.hide.above-input, .copybtn, "
    "details.claims > :not(summary), details.answer > :not(summary), .sd-summary-state-marker"
)


@dataclass
class Page:
    """A page of the book, by its name in the table of contents."""

    name: str
    article: Tag
    sheets: list[str]  # the style sheets that it asks for, from the site's root

    @property
    def key(self) -> str:
        """Give the name as an anchor."""
        return self.name.replace("/", "-")

    def headings(self, depth: int = 2) -> list[tuple[int, str, Tag]]:
        """Give level, anchor and heading of the page and its sections; the page's anchor is ''."""
        found = self.article.find_all([f"h{level}" for level in range(1, depth + 1)])
        pairs = ((int(h.name[1]), h) for h in found)
        return [(n, "" if n == 1 else h.find_parent("section")["id"], h) for n, h in pairs]


def read_page(site: Path, name: str) -> Page:
    """Read a page of the built book, and leave out what paper cannot show."""
    soup = BeautifulSoup(site.joinpath(f"{name}.html").read_text("utf-8"), "html.parser")
    sheets = [link["href"] for link in soup.select("link[rel=stylesheet]")]
    page = Page(name, soup.select_one("article"), [inside(name, href) for href in sheets])
    for tag in page.article.select(GONE):
        tag.decompose()
    for fold in page.article.select("details"):
        fold["open"] = ""
    for image in page.article.select("img[src]"):
        image["src"] = inside(name, image["src"])
    return page


def bound_pages(toc: Path) -> list[str]:
    """List what a book on paper holds: no landing page, and no docstrings."""
    return [n for n in parse_toc_yaml(toc) if n != "index" and n.partition("/")[0] != "api"]


def inside(name: str, address: str) -> str:
    """Give an address, as a page wrote it, from the site's root."""
    return normpath(f"{dirname(name)}/{urlsplit(address).path}").lstrip("/")


def place_of(name: str, address: str) -> tuple[str, str] | None:
    """Give page and anchor to which a link of a page leads; None where it leaves the site."""
    parts = urlsplit(address)
    if parts.scheme or parts.netloc or not (parts.path or parts.fragment):
        return None
    target = inside(name, parts.path) if parts.path else f"{name}.html"
    return target.removesuffix(".html"), unquote(parts.fragment)
