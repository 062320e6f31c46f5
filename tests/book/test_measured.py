"""The page of all claims: each row is complete, a filter can be sent, and a link opens its fold."""

from functools import cache
from pathlib import Path

import pytest
from bs4 import BeautifulSoup


@cache
def read(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


@cache
def folds(path: Path) -> set[str]:
    return {fold.get("id") for fold in read(path).select("details.claims")}


@pytest.fixture(scope="module")
def rows(book):
    found = read(book / "measured.html").select("table.claims tbody tr")
    assert len(found) > 100
    return found


def words(row, selector):
    return " ".join(tag.get_text(" ", strip=True) for tag in row.select(selector))


def test_no_cell_reads_true(rows):
    cells = [cell for row in rows for cell in [*row.select("td"), *row.select(".value")]]
    assert [c.get_text() for c in cells if c.get_text(strip=True) in {"True", "False"}] == []


def test_no_value_is_a_row_of_numbers_that_do_not_say_what_they_are(rows):
    def is_bare(row):
        value = row.select_one(".value").get_text().replace(",", "").split()
        return len(value) > 1 and not words(row, ".unit") and all(map(is_number, value))

    def is_number(word):
        return word.strip("[]{}").replace(".", "").replace("e-", "").isdigit()

    assert [row.get_text(" ", strip=True) for row in rows if is_bare(row)] == []


@pytest.mark.parametrize("part", [".value", ".condition", ".kind"])
def test_each_row_says(rows, part):
    assert [row.get_text(" ", strip=True) for row in rows if not words(row, part)] == []


def test_each_row_and_each_value_in_the_text_leads_to_a_fold_on_a_page(book, rows):
    page = read(book / "measured.html")
    links = [row.select_one("td:last-child a") for row in rows]
    links += [value.find_parent("a") for value in page.select(".claim-value")]
    for link in links:
        target, _, place = link["href"].partition("#")
        assert place in folds(book / target), link


def test_about_a_dozen_claims_are_the_main_ones(book):
    assert 8 <= len(read(book / "measured.html").select("table.claims.main tbody tr")) <= 20


@pytest.fixture
def opened(book, browser, serve):
    contexts = []

    def visit(address, **options):
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.goto(serve(book) + address)
        return page

    yield visit
    for context in contexts:
        context.close()


SEEN = "table.claims.all tbody tr:visible"


def test_a_filter_stands_in_the_address_and_comes_back_from_there(opened):
    page = opened("measured.html")
    every = page.locator(SEEN).count()
    page.get_by_label("Words").press_sequentially("gradient")
    page.get_by_label("Kind").select_option("exact")
    found = page.locator(SEEN)
    assert 0 < found.count() < every
    assert page.locator("form.claims-filter output").inner_text() == (
        f"{found.count()} of {every} claims"
    )
    shown, address = found.all_inner_texts(), page.url
    assert address.endswith("measured.html?q=gradient&kind=exact#every-claim")
    assert opened(address.rpartition("/")[2]).locator(SEEN).all_inner_texts() == shown
    page.get_by_role("button", name="Show all").press("Enter")
    page.wait_for_url("**/measured.html#every-claim")
    assert page.locator(SEEN).count() == every


def test_without_scripts_all_claims_are_there_and_no_filter(opened):
    page = opened("measured.html?q=gradient", java_script_enabled=False)
    assert page.locator(SEEN).count() > 100
    assert not page.locator("form.claims-filter").is_visible()


def test_a_link_to_a_claim_unfolds_it(opened):
    page = opened("measured.html")
    link = page.locator("table.claims.main td:last-child a").first
    fold = link.get_attribute("href").partition("#")[2]
    link.click()
    page.locator(f"details#{fold}[open] .cell").wait_for()
