"""What a page weighs: everything that a browser asks for before the reader does anything."""

import gzip
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from urllib.parse import unquote, urlsplit

from playwright.sync_api import Page
from serve import Handler
from sphinx_external_toc.parsing import parse_toc_yaml

KILO = 1000
TEXT, FIGURES = 250 * KILO, 350 * KILO
EXCEPTIONS = {"chapters/1_06_multi_head.html": 450 * KILO}  # twelve heads of a real model
PACKED = {".html", ".css", ".js", ".svg", ".json"}  # what a server sends gzipped
# Resolves when all places of figures are filled and nothing is asked for any more.
QUIET = """async () => {
  const pause = (time) => new Promise((go) => setTimeout(go, time));
  const asked = () => performance.getEntriesByType("resource").length;
  const empty = () => document.querySelector(".figure-mount:not(:has(.attn-live))");
  for (let before = -1; before !== asked() || empty(); ) {
    before = asked();
    await document.fonts.ready;
    await pause(300);
  }
}"""


@dataclass(frozen=True)
class Weight:
    """The bytes of a page by file, and whether figures live on it."""

    files: dict[str, int]
    figures: bool

    @property
    def total(self) -> int:
        """Give all bytes."""
        return sum(self.files.values())


def pages(root: Path) -> list[str]:
    """List the pages of the table of contents, and the search."""
    return [*(f"{doc}.html" for doc in parse_toc_yaml(root / "_toc.yml")), "search.html"]


def limit(page: str, weight: Weight) -> int:
    """Give the most that a page may weigh."""
    return EXCEPTIONS.get(page, FIGURES if weight.figures else TEXT)


@cache
def packed(path: Path) -> bytes:
    """Give a file as it goes over the line."""
    data = path.read_bytes()
    return gzip.compress(data, 9, mtime=0) if path.suffix in PACKED else data


def weigh(browser, folder: Path, home: str, page: str) -> Weight:
    """Open a page, and weigh each file that it asks for until it is quiet."""
    context = browser.new_context(viewport={"width": 390, "height": 844})
    opened, asked = context.new_page(), set()
    opened.on("request", lambda request: asked.add(request.url))
    opened.goto(home + page, wait_until="load")
    found = weight_of(opened, folder, home, asked)
    context.close()
    return found


def weight_of(opened: Page, folder: Path, home: str, asked: set[str]) -> Weight:
    """Weigh what an open page asks for until it is quiet; who opened it notes the addresses."""
    opened.evaluate(QUIET)
    figures = opened.locator(".figure-mount").count() > 0
    names = {unquote(urlsplit(url).path).lstrip("/") for url in asked if url.startswith(home)}
    return Weight({name: len(packed(folder / name)) for name in sorted(names)}, figures)


class GzipHandler(Handler):
    """Serve files as a web server does, text gzipped and one connection for several."""

    protocol_version = "HTTP/1.1"

    def send_head(self) -> BytesIO | None:
        """Send what stands before a file's content, and give the content."""
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            self.send_error(404)
            return None
        body = packed(path)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        if path.suffix in PACKED:
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        return BytesIO(body)
