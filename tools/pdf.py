"""Print the built book as PDF: ``make pdf``.

Chromium prints one document of all pages in their order: a cover, contents with page numbers,
the pages with stills in the place of figures. It prints twice, since only the first print tells on
which page each section begins. All links within the book lead within the file.
"""

import re
import sys
from collections.abc import Iterable
from copy import copy
from html import escape
from io import BytesIO
from pathlib import Path

import yaml
from bench_pages import start_browser
from bs4 import Tag
from files import BUILD, ROOT
from paper import Page, bound_pages, place_of, read_page
from playwright.sync_api import Browser, sync_playwright
from pypdf import PdfReader

HTML, PAPER = BUILD / "html", BUILD / "paper"
STYLE = Path(__file__).parent / "paper_styles" / "pdf.css"
CHEAT_SHEET = "cheat_sheet"
MARGIN = {"top": "18mm", "bottom": "20mm", "left": "20mm", "right": "20mm"}
FOOTER = (
    '<div style="width:100%;font:8px sans-serif;color:#5a6372;text-align:center">'
    '<span class="pageNumber"></span></div>'
)
# What names an element by its id; within a style or an address of SVG that stands in url(#...).
NAMING = ("id", "for", "headers", "aria-labelledby", "aria-describedby")
LOCAL = re.compile(r"url\(#([^)]+)\)")


def anchor(name: str, fragment: str = "") -> str:
    """Name a place of a page in the one document."""
    return f"{name.replace('/', '-')}--{fragment}" if fragment else name.replace("/", "-")


def make_one_of_many(page: Page, site: Path, names: set[str]) -> None:
    """Make all names on a page its own, and let links to pages of the document stay within it."""
    for image in page.article.select("img[src]"):
        image["src"] = f"{site.as_uri()}/{image['src']}"
    for tag in page.article.find_all(True):
        for attribute in NAMING:
            if value := tag.get(attribute):
                parts = value if isinstance(value, list) else value.split()
                tag[attribute] = " ".join(anchor(page.name, part) for part in parts)
        for attribute in ("href", "xlink:href"):
            if tag.get(attribute):
                lead(tag, attribute, page, names)
        for attribute, value in tag.attrs.items():
            if isinstance(value, str) and "url(#" in value:
                tag[attribute] = LOCAL.sub(rf"url(#{page.key}--\1)", value)


def lead(tag: Tag, attribute: str, page: Page, names: set[str]) -> None:
    """Turn a link; one to what is not in the document is none on paper."""
    place = place_of(page.name, tag[attribute])
    if place and place[0] in names:
        tag[attribute] = f"#{anchor(*place)}"
    elif place or tag[attribute] == "#":
        del tag[attribute]


def contents(pages: Iterable[Page], numbers: dict[str, int]) -> str:
    """List the sections, each with the page on which it begins, as far as that is known."""
    lines = []
    for page in pages:
        for level, place, heading in page.headings():
            name = place or page.key
            words = copy(heading).decode_contents()
            lines.append(
                f'<li class="level-{level}"><a href="#{name}">{words}</a><span class="dots"></span>'
                f'<span class="number">{numbers.get(name, "")}</span></li>'
            )
    return f'<nav class="paper-contents"><h1>Contents</h1><ul>{"".join(lines)}</ul></nav>'


def document(site: Path, pages: list[Page], front: str) -> str:
    """Write the document: the pages' style sheets, the front, the pages."""
    sheets = dict.fromkeys(sheet for page in pages for sheet in page.sheets)
    links = "".join(f'<link rel="stylesheet" href="{site.as_uri()}/{s}">' for s in sheets)
    bodies = "".join(
        f'<div class="page" id="{p.key}">{p.article.decode_contents()}</div>' for p in pages
    )
    return (
        f'<!DOCTYPE html><html lang="en" data-theme="light"><head><meta charset="utf-8">'
        f"{links}<style>{STYLE.read_text('utf-8')}</style>"
        f'</head><body><article class="bd-article">{front}{bodies}</article></body></html>'
    )


def print_document(browser: Browser, text: str, path: Path, footer: bool) -> PdfReader:
    """Print a document that lies in a file beside the result, so that it may read the book."""
    source = path.with_suffix(".html")
    source.write_text(text, encoding="utf-8")
    page = browser.new_page()
    page.goto(source.as_uri(), wait_until="load")
    page.evaluate("document.fonts.ready")
    data = page.pdf(
        path=path,
        margin=MARGIN,
        prefer_css_page_size=True,
        print_background=True,
        tagged=True,
        outline=True,
        display_header_footer=footer,
        header_template="<span></span>",
        footer_template=FOOTER,
    )
    page.close()
    return PdfReader(BytesIO(data))


def pages_of_places(pdf: PdfReader) -> dict[str, int]:
    """Give the page, from 1, on which each place lies that a link leads to."""
    found = pdf.named_destinations.items()
    return {name.lstrip("/"): pdf.get_destination_page_number(place) + 1 for name, place in found}


def print_book(
    browser: Browser, site: Path, names: list[str], path: Path, title: str, author: str
) -> PdfReader:
    """Print pages of a built book with cover and contents; give the PDF."""
    pages = [read_page(site, name) for name in names]
    for page in pages:
        make_one_of_many(page, site, set(names))
    cover = f'<div class="cover"><h1>{escape(title)}</h1><p>{escape(author)}</p></div>'
    numbers: dict[str, int] = {}
    for _ in range(2):
        text = document(site, pages, cover + contents(pages, numbers))
        pdf = print_document(browser, text, path, footer=True)
        numbers = pages_of_places(pdf)
    return pdf


def print_page(browser: Browser, site: Path, name: str, path: Path) -> PdfReader:
    """Print one page alone, without cover and contents."""
    page = read_page(site, name)
    make_one_of_many(page, site, {name})
    return print_document(browser, document(site, [page], ""), path, footer=False)


def main() -> int:
    """Print the book, and its cheat sheet alone."""
    PAPER.mkdir(exist_ok=True)
    config = yaml.safe_load(ROOT.joinpath("_config.yml").read_text(encoding="utf-8"))
    names = bound_pages(ROOT / "_toc.yml")
    with sync_playwright() as playwright:
        browser = start_browser(playwright)
        book, sheet = PAPER / "attention.pdf", PAPER / "cheat-sheet.pdf"
        pdf = print_book(browser, HTML, names, book, config["title"], config["author"])
        print(f"{book.relative_to(ROOT)}: {len(pdf.pages)} pages")
        if CHEAT_SHEET in names:
            pdf = print_page(browser, HTML, CHEAT_SHEET, sheet)
            print(f"{sheet.relative_to(ROOT)}: {len(pdf.pages)} pages")
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
