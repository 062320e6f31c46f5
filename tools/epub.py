"""Bind the built book as EPUB: ``make epub``.

Each page becomes a chapter of XHTML with MathML and stills. Reading systems bring their own type;
one small style sheet stays. The identifier and the date follow from the content and from git, so
one commit gives one file.
"""

import hashlib
import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import yaml
from bs4 import Tag
from files import BUILD, ROOT
from paper import Page, bound_pages, place_of, read_page

HTML, PAPER = BUILD / "html", BUILD / "paper"
STYLE = Path(__file__).parent / "paper_styles" / "epub.css"
CONTAINER = """<?xml version="1.0" encoding="utf-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="book/package.opf" media-type="application/oebps-package+xml"/>
</rootfiles></container>
"""
KINDS = {".png": "image/png", ".svg": "image/svg+xml", ".jpg": "image/jpeg"}
# Names of SVG that HTML writes in small letters, and XML does not.
CAPITALS = {
    name.lower(): name
    for name in re.findall(
        r"\w+",
        "viewBox preserveAspectRatio clipPath clipPathUnits linearGradient radialGradient "
        "gradientUnits gradientTransform patternUnits patternTransform patternContentUnits "
        "markerWidth markerHeight markerUnits refX refY textLength lengthAdjust startOffset "
        "textPath foreignObject",
    )
}
KEPT = ("id", "class", "href", "src", "alt", "title", "colspan", "rowspan", "lang", "open", "style")
SPOKEN = ("role", "aria-label", "aria-labelledby", "aria-describedby", "aria-hidden")


def simplify(page: Page, names: set[str]) -> None:
    """Leave on a page only what XHTML of an EPUB allows, and let links lead to its chapters."""
    for formula in page.article.select(".katex"):
        formula.replace_with(formula.find("math"))
    for graphic in page.article.select("svg"):
        graphic["xmlns"] = "http://www.w3.org/2000/svg"
        if graphic.get("role"):
            graphic["role"] = "img"
        for nothing in graphic.select("path:not([d])"):
            nothing["d"] = "M0 0"
        for link in graphic.select("a:not(:has(> title))"):
            name = Tag(name="title")
            name.string = link.get_text()
            link.append(name)
        if graphic.find(attrs={"xlink:href": True}):
            graphic["xmlns:xlink"] = "http://www.w3.org/1999/xlink"
        for tag in [graphic, *graphic.find_all(True)]:
            tag.name = CAPITALS.get(tag.name, tag.name)
            tag.attrs = {CAPITALS.get(name, name): value for name, value in tag.attrs.items()}
    for note in page.article.select("math annotation"):
        note.decompose()
    for math in page.article.select("math"):
        math["xmlns"] = "http://www.w3.org/1998/Math/MathML"
    for tag in page.article.find_all(True):
        if tag.find_parent(["svg", "math"]) is None and tag.name not in {"svg", "math"}:
            tag.attrs = {n: v for n, v in tag.attrs.items() if n in (*KEPT, *SPOKEN)}
        if tag.name == "a":
            lead(tag, page, names)


def lead(tag: Tag, page: Page, names: set[str]) -> None:
    """Turn a link; one to what is not in the book goes."""
    place = place_of(page.name, tag.get("href", ""))
    if place and place[0] in names:
        tag["href"] = f"{file_of(place[0])}#{place[1]}" if place[1] else file_of(place[0])
    elif place or tag.get("href") in {"#", ""}:
        del tag["href"]


def file_of(name: str) -> str:
    """Name the file of a page's chapter."""
    return f"{name.replace('/', '-')}.xhtml"


def chapter(title: str, body: str) -> str:
    """Write a file of XHTML."""
    sheet = '<link rel="stylesheet" type="text/css" href="book.css"/>'
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE html>\n'
        '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" '
        f'lang="en" xml:lang="en"><head><title>{escape(title)}</title>{sheet}</head>'
        f"<body>{body}</body></html>\n"
    )


def contents(pages: list[Page]) -> str:
    """List the pages and their sections as links."""
    items = []
    for page in pages:
        (_, _, title), *sections = page.headings()
        below = "".join(
            f'<li><a href="{file_of(page.name)}#{place}">{words(heading)}</a></li>'
            for _, place, heading in sections
        )
        nested = f"<ol>{below}</ol>" if below else ""
        items.append(f'<li><a href="{file_of(page.name)}">{words(title)}</a>{nested}</li>')
    return f'<nav epub:type="toc"><h1>Contents</h1><ol>{"".join(items)}</ol></nav>'


def words(heading: Tag) -> str:
    """Give a heading as plain text."""
    return escape(" ".join(heading.get_text().split()))


def package(title: str, author: str, pages: list[Page], images: list[str], mark: str) -> str:
    """Write what the book is made of, and in which order."""
    made = [f'<item id="{p.key}" href="{file_of(p.name)}" {properties(p)}/>' for p in pages]
    made += [
        f'<item id="image{n}" href="{name}" media-type="{KINDS[Path(name).suffix]}"/>'
        for n, name in enumerate(images)
    ]
    spine = "".join(f'<itemref idref="{page.key}"/>' for page in pages)
    return f"""<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="id">urn:sha256:{mark}</dc:identifier><dc:title>{escape(title)}</dc:title>
<dc:language>en</dc:language><dc:creator>{escape(author)}</dc:creator>
<meta property="dcterms:modified">{last_change()}</meta></metadata>
<manifest><item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="css" href="book.css" media-type="text/css"/>{"".join(made)}</manifest>
<spine><itemref idref="nav"/>{spine}</spine></package>
"""


def properties(page: Page) -> str:
    """Say what a chapter holds beside text."""
    held = [kind for tag, kind in (("math", "mathml"), ("svg", "svg")) if page.article.find(tag)]
    said = f' properties="{" ".join(held)}"' if held else ""
    return f'media-type="application/xhtml+xml"{said}'


def last_change() -> str:
    """Give the time of the last commit, or what SOURCE_DATE_EPOCH says."""
    git = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    done = subprocess.run(git, capture_output=True, text=True, check=False)
    seconds = os.environ.get("SOURCE_DATE_EPOCH") or done.stdout.strip() or "0"
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def bind(site: Path, names: list[str], path: Path, title: str, author: str) -> None:
    """Write the book of these pages of a built site."""
    pages = [read_page(site, name) for name in names]
    images = sorted({i["src"] for page in pages for i in page.article.select("img[src]")})
    for page in pages:
        simplify(page, set(names))
    files = {
        "book.css": STYLE.read_text("utf-8"),
        "nav.xhtml": chapter("Contents", contents(pages)),
    }
    for page in pages:
        heading = page.headings(1)[0][2].get_text()
        body = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", "", page.article.decode_contents())
        files[file_of(page.name)] = chapter(heading, f"<article>{body}</article>")
    mark = hashlib.sha256("".join(files.values()).encode()).hexdigest()
    files["package.opf"] = package(title, author, pages, images, mark)
    with ZipFile(path, "w") as book:
        put(book, "mimetype", b"application/epub+zip", ZIP_STORED)
        put(book, "META-INF/container.xml", CONTAINER.encode())
        for name, text in files.items():
            put(book, f"book/{name}", text.encode())
        for name in images:
            put(book, f"book/{name}", site.joinpath(name).read_bytes())


def put(book: ZipFile, name: str, data: bytes, method: int = ZIP_DEFLATED) -> None:
    """Put a file into the archive, with no time of its own."""
    entry = ZipInfo(name)
    entry.compress_type = method
    book.writestr(entry, data)


def main() -> int:
    """Bind the book."""
    PAPER.mkdir(exist_ok=True)
    config = yaml.safe_load(ROOT.joinpath("_config.yml").read_text(encoding="utf-8"))
    names = bound_pages(ROOT / "_toc.yml")
    path = PAPER / "attention.epub"
    bind(HTML, names, path, config["title"], config["author"])
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
