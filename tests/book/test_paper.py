"""The book on paper and in an e-reader, from three of its pages."""

import re
import shutil
import subprocess
from pathlib import Path
from zipfile import ZipFile

import epub
import pdf
import pytest
from bs4 import BeautifulSoup
from paper import place_of

NAMES = ["chapters/1_00_attention", "chapters/1_05_causal_mask", "glossary"]
ABOUT = {"title": "A & B", "author": "somebody"}
CHECKER = [Path("/usr/bin/epubcheck"), Path("/usr/share/java/epubcheck.jar")]


@pytest.fixture(scope="module")
def printed(browser, book, tmp_path_factory):
    path = tmp_path_factory.mktemp("paper") / "book.pdf"
    return pdf.print_book(browser, book, NAMES, path, **ABOUT)


@pytest.fixture(scope="module")
def bound(book, tmp_path_factory):
    path = tmp_path_factory.mktemp("paper") / "book.epub"
    epub.bind(book, NAMES, path, **ABOUT)
    return path


def text_of(page):
    return " ".join(page.extract_text().split())


def test_contents_name_the_page_on_which_a_section_begins(printed):
    contents, places = text_of(printed.pages[1]), pdf.pages_of_places(printed)
    listed = {"1.5 Causal": "chapters-1_05_causal_mask", "Symbols and Glossary": "glossary"}
    for title, place in listed.items():
        assert re.search(rf"{title}.*?{places[place]}\b", contents)
        assert title in text_of(printed.pages[places[place] - 1])


def test_every_link_of_the_pdf_leads_to_a_place_in_it_or_to_the_web(printed):
    places = printed.named_destinations
    links = [a.get_object() for page in printed.pages for a in page.get("/Annots") or ()]
    inner = [link["/Dest"] for link in links if "/Dest" in link]
    assert len(inner) > 30
    assert set(inner) <= set(places)
    outer = [link["/A"]["/URI"] for link in links if "/A" in link]
    assert [address for address in outer if not address.startswith("http")] == []


def test_paper_shows_stills_measured_lines_and_no_answers_or_tex(printed):
    text = " ".join(text_of(page) for page in printed.pages)
    assert "MEASURED" in text.upper()
    assert "✗" not in text
    assert not re.search(r"\\(frac|sqrt|text|mathrm)", text)
    assert printed.outline


def test_no_page_but_the_cover_the_contents_and_the_last_is_nearly_empty(printed):
    thin = [n for n, page in enumerate(printed.pages) if len(text_of(page)) < 300]
    assert set(thin) <= {0, 1, 2, len(printed.pages) - 1}


def test_the_epub_holds_pages_with_mathml_and_links_within_it(bound):
    with ZipFile(bound) as book:
        assert book.namelist()[0] == "mimetype"
        files = {n: book.read(n).decode() for n in book.namelist() if n.endswith("html")}
    pages = {name.rpartition("/")[2]: BeautifulSoup(t, "html.parser") for name, t in files.items()}
    assert pages["chapters-1_05_causal_mask.xhtml"].find("math")
    for name, page in pages.items():
        for link in page.select("a[href]"):
            place = place_of(name.removesuffix(".xhtml"), link["href"])
            if place is None:
                continue
            target = pages[place[0] if place[0].endswith("html") else name]
            assert not place[1] or target.find(id=place[1]), link


def test_the_same_pages_make_the_same_epub(bound, book, tmp_path):
    epub.bind(book, NAMES, tmp_path / "again.epub", **ABOUT)
    assert tmp_path.joinpath("again.epub").read_bytes() == bound.read_bytes()


def test_epubcheck_finds_nothing(bound):
    jar = next((path for path in CHECKER if path.is_file()), None)
    if jar is None or shutil.which("java") is None:
        pytest.skip("no epubcheck found: `apt-get install epubcheck`")
    done = subprocess.run(["java", "-jar", jar, bound], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_cheat_sheet_takes_two_pages(browser, book, tmp_path):
    sheet = pdf.print_page(browser, book, pdf.CHEAT_SHEET, tmp_path / "sheet.pdf")
    assert len(sheet.pages) == 2
