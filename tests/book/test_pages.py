"""The rendered pages, read as files: hosts, texts for images, numbers, links."""

import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup
from extension import extension
from files import ROOT
from sphinx_external_toc.parsing import parse_toc_yaml

from attnlab import figures

DOCS = list(parse_toc_yaml(ROOT / "_toc.yml"))
SUMMARY = "chapters/1_12_summary"
# All pages of the chapter but its landing page and the summary, which has no number.
SECTIONS = [d for d in DOCS if re.match(r"chapters/\d+_(?!00)\d+_", d) and d != SUMMARY]
PAGES = [*(f"{doc}.html" for doc in DOCS), "genindex.html", "search.html"]

# What a browser loads by itself; a link that a reader may follow is none of it.
LOADED = {
    "src": ["script", "img", "iframe", "source", "video", "audio", "embed", "track"],
    "href": ["link"],
    "data": ["object"],
}


@cache
def read(path: Path) -> BeautifulSoup:
    """Parse a page."""
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def loaded_from_elsewhere(page: BeautifulSoup) -> list[str]:
    """List the addresses of other hosts that a page loads from."""
    found = [tag.get(name, "") for name, tags in LOADED.items() for tag in page.find_all(tags)]
    return [address for address in found if urlsplit(address).netloc]


def says_nothing(alt: str) -> bool:
    """Tell whether an alternative text is empty or only the name of a file."""
    return not alt.strip() or bool(re.search(r"\.(svg|png|jpe?g|gif)$", alt.strip()))


def nameless(page: BeautifulSoup) -> list[str]:
    """List the images that say nothing to a reader who cannot see them."""
    images = [tag for tag in page.select("article img") if says_nothing(tag.get("alt", ""))]
    drawings = [tag for tag in page.select("article [role=img]") if not tag.get("aria-label")]
    bare = [
        svg
        for svg in page.select("article svg")
        if "sd-octicon" not in svg.get("class", ())  # the arrow of something that unfolds
        and svg.find_parent(attrs={"role": "img"}) is None
        and svg.get("role") != "img"
        and not (svg.find("title") and svg.get("aria-labelledby"))
        and svg.find_parent(class_="katex-html") is None  # the root's sign, for instance
    ]
    return [str(tag)[:80] for tag in [*images, *drawings, *bare]]


def numbers_by_hand(page: BeautifulSoup) -> list[str]:
    """List headings that hold a section number which the build did not put there.

    The number of an exercise is part of its name.
    """
    found = []
    for heading in page.select("article :is(h1, h2, h3, h4, h5, h6)"):
        number = heading.select_one(".section-number")
        text = heading.get_text().removeprefix(number.get_text() if number else "")
        if re.search(r"^\s*\d|(?<!Exercise )\b\d+\.\d", text):
            found.append(text)
    return found


def number_of(doc: str) -> str:
    """Give the section number that the file's name promises."""
    chapter, section = re.match(r"chapters/(\d+)_(\d+)_", doc).groups()
    return f"{int(chapter)}.{int(section)}"


def numbers(tags) -> list[str]:
    """Give what stands before the first space of each text."""
    return [tag.get_text().split()[0] for tag in tags]


@pytest.mark.parametrize("name", PAGES)
def test_page_loads_nothing_from_another_host(book, name):
    assert loaded_from_elsewhere(read(book / name)) == []


def test_a_script_of_another_host_is_found():
    page = BeautifulSoup('<script src="https://cdn.example/x.js"></script>', "html.parser")
    assert loaded_from_elsewhere(page) == ["https://cdn.example/x.js"]


def test_no_stylesheet_loads_from_another_host(book):
    sheets = [path for path in book.rglob("*.css") if "vendor" not in path.parts]
    outside = re.compile(r"(url\(|@import)\s*['\"]?(https?:)?//")
    assert sheets
    assert [s.name for s in sheets if outside.search(s.read_text(encoding="utf-8"))] == []


def holds_up(page: BeautifulSoup) -> list[str]:
    """List what the browser must have before it may go on with a page, but one style sheet."""
    sheet = page.select_one("link[rel=stylesheet]")
    found = page.select("link[rel=stylesheet]")[1:]
    found += [s for s in page.select("script[src]") if not {"defer", "async"} & s.attrs.keys()]
    found += [s for s in sheet.find_all_next("script", src=False) if not s.get("type")]
    return list(map(str, found))


@pytest.mark.parametrize("name", [page for page in PAGES if page != "search.html"])
def test_nothing_but_one_style_sheet_holds_up_a_page(book, name):
    assert holds_up(read(book / name)) == []


def test_what_holds_up_a_page_is_found():
    sheets = "<link rel=stylesheet><link rel=stylesheet>"
    scripts = "<script src=a.js></script><script>1</script><script defer src=b.js></script>"
    assert len(holds_up(BeautifulSoup(sheets + scripts, "html.parser"))) == 3


def without_description(page: BeautifulSoup) -> list[str]:
    """List what is wrong with what a page says of itself in its head."""
    said = {tag.get("name") or tag.get("property"): tag.get("content") for tag in page("meta")}
    names = ("description", "og:title", "og:description")
    faults = [name for name in names if not (said.get(name) or "").strip()]
    long = len(said.get("description") or "") > 202  # with the dots
    faults += ["no name"] * ("not set" in str(said))
    return faults + ["long"] * long + ["TeX"] * ("\\" in str(said.get("description")))


@pytest.mark.parametrize("doc", DOCS)
def test_every_page_says_what_it_is_about(book, doc):
    assert without_description(read(book / f"{doc}.html")) == []


def test_a_page_that_says_nothing_of_itself_is_found():
    page = BeautifulSoup(r'<meta name="description" content="A \sqrt">', "html.parser")
    assert without_description(page) == ["og:title", "og:description", "TeX"]


def test_a_description_ends_with_a_sentence_or_a_word():
    shorten = extension("descriptions").shorten
    assert shorten("One. Two.") == "One. Two."
    assert shorten("One. " + "word " * 60) == "One."
    assert shorten("One. In one") == "One."
    assert shorten("One. So say Two et al. " + "word " * 60) == "One."
    assert shorten("word " * 60).endswith("word …")


def test_the_first_page_promises_what_is_there(book):
    promised = read(book / "index.html").select_one("p.promise").get_text()
    counts = {what: int(n.replace(",", "")) for n, what in re.findall(r"([\d,]+) (\w+)", promised)}
    claims = read(book / "measured.html").select("table.claims.all tbody tr")
    exercises = [doc for doc in DOCS if doc.startswith("exercises/")]
    assert counts.pop("tests") > 500
    assert counts == {
        "sections": len(SECTIONS),
        "measured": len(claims),
        "living": len(figures.__all__),
        "exercises": len(exercises),
    }


@pytest.mark.parametrize("name", PAGES)
def test_every_icon_is_in_the_small_font(book, name):
    classes = {c for tag in read(book / name).select("[class*='fa-']") for c in tag["class"]}
    names = {c.removeprefix("fa-") for c in classes if c.startswith("fa-")}
    assert names - {"solid", "regular", "brands", "lg"} <= extension("icons").shown()


@pytest.mark.parametrize("name", PAGES)
def test_every_image_has_a_text(book, name):
    assert nameless(read(book / name)) == []


def test_an_image_without_a_text_is_found():
    bad = "<img src='a.png'><img src='a.png' alt='../a.png'><div role='img'></div><svg></svg>"
    assert len(nameless(BeautifulSoup(f"<article>{bad}</article>", "html.parser"))) == 4


@pytest.mark.parametrize("doc", SECTIONS)
def test_headings_carry_the_number_of_the_file_name(book, doc):
    page, number = read(book / f"{doc}.html"), number_of(doc)
    below = page.select("article h2 .section-number")
    headings, links = page.select("article h2"), page.select("#pst-page-toc-nav a")
    assert numbers(page.select("article h1 .section-number")) == [number]
    assert numbers(below) == [f"{number}.{k}" for k in range(1, len(below) + 1)]
    assert len(below) in (0, len(headings))
    assert len(links) == len(headings)
    assert not below or numbers(links) == numbers(below)


@pytest.mark.parametrize("name", PAGES)
def test_no_heading_holds_a_number_typed_by_hand(book, name):
    assert numbers_by_hand(read(book / name)) == []


def test_a_number_typed_by_hand_is_found_wherever_it_stands():
    typed = ["<h1>1. Attention</h1>", "<h3>Section 1.3.9: again</h3>", "<h2>1.3.4 Extra</h2>"]
    good = '<h2><span class="section-number">1.3.2. </span>Scores</h2><h1>Exercise 1.1: Scores</h1>'
    for heading in typed:
        page = BeautifulSoup(f"<article>{good}{heading}</article>", "html.parser")
        assert len(numbers_by_hand(page)) == 1


def test_the_references_show_no_raw_tex(book):
    entries = [p.get_text() for p in read(book / "references.html").select("article .citation p")]
    assert len(entries) > 20
    assert [entry for entry in entries if re.search(r"[$\\{}]", entry)] == []


def test_the_summary_has_no_number(book):
    page = read(book / f"{SUMMARY}.html")
    assert page.select("article h1")
    assert page.select("article .section-number") == []


def test_the_sidebar_shows_the_same_numbers_on_every_page(book):
    expected = ["1", *(number_of(doc) for doc in SECTIONS)]
    for doc in DOCS:
        links = read(book / f"{doc}.html").select(".bd-links li[class*=toctree] > a")
        assert [n for n in numbers(links) if n[0].isdigit()] == expected


@pytest.mark.parametrize("doc", SECTIONS)
def test_previous_and_next_show_the_number(book, doc):
    order = DOCS.index(doc)
    around = [d for d in (DOCS[order - 1], DOCS[order + 1]) if d in SECTIONS]
    shown = numbers(read(book / f"{doc}.html").select(".prev-next-title"))
    assert [n for n in shown if n.startswith("1.")] == [number_of(d) for d in around]


@pytest.mark.parametrize("doc", SECTIONS)
def test_a_section_links_its_terms_to_the_glossary(book, doc):
    page = read(book / f"{doc}.html")
    assert page.select("article a[href*='glossary.html#term-']")


@pytest.mark.parametrize("doc", SECTIONS)
def test_equations_are_numbered_within_their_section(book, doc):
    page = read(book / f"{doc}.html")
    shown = [tag.get_text().rstrip("#\n ¶") for tag in page.select("article .eqno")]
    assert shown == [f"({number_of(doc)}.{k})" for k in range(1, len(shown) + 1)]


def test_the_number_of_an_equation_is_there_at_all(book):
    page = read(book / "chapters" / "1_03_scaled_dot_product.html")
    assert page.select_one("article .eqno").get_text().startswith("(1.3.1)")


@pytest.mark.parametrize("doc", DOCS)
def test_a_reference_to_an_equation_shows_its_number(book, doc):
    path = book / f"{doc}.html"
    for link in read(path).select("article a[href*='#equation-']"):
        if link.find_parent(class_="eqno"):
            continue
        file, _, anchor = link["href"].partition("#")
        target = read((path.parent / file).resolve() if file else path)
        number = target.find(id=anchor).select_one(".eqno").get_text().rstrip("#\n ¶")
        assert link.get_text() == number


@pytest.mark.parametrize("name", PAGES)
def test_every_internal_link_leads_somewhere(book, name):
    path = book / name
    links = [tag["href"] for tag in read(path).find_all("a", href=True)]
    assert [link for link in links if is_broken(path, link)] == []


def is_broken(path: Path, link: str) -> bool:
    """Tell whether a link within the site has no target."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return False
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.is_file():
        return True
    anchor = unquote(parts.fragment).partition(":~:")[0]  # what follows is a text to show
    return bool(anchor) and read(target).find(id=anchor) is None


def test_a_broken_link_is_found(book):
    index = book / "index.html"
    assert is_broken(index, "nowhere.html")
    assert is_broken(index, "#no-such-place")
    assert not is_broken(index, "chapters/1_00_attention.html")
