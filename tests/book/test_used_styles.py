"""The style sheet that is cut down to what the pages use."""

import pytest
from extension import extension

used_styles = extension("used_styles")
WORDS = {"card", "open", "x"}


@pytest.mark.parametrize(
    ("css", "left"),
    [
        (".card{a:b}", ".card{a:b}"),
        ("a.gone{a:b}", ""),
        (".card .gone, .open>b{a:b}", ".open>b{a:b}"),
        ("p:not(.gone){a:b}", "p:not(.gone){a:b}"),
        (".card:is(.open, .gone) i{a:b}", ".card:is(.open, .gone) i{a:b}"),
        (".bs-tooltip-auto{a:b}", ".bs-tooltip-auto{a:b}"),
        ('a[href=".gone"]{a:b}', 'a[href=".gone"]{a:b}'),
        ("/*! (c) x */a{b:c}", "/*! (c) x */a{b:c}"),
        ("@media print{.gone{a:b}.x{c:d}}", "@media print{.x{c:d}}"),
        ("@media print{.gone{a:b}}", ""),
        ("@font-face{font-family:x}", "@font-face{font-family:x}"),
        ("@keyframes gone{0%{a:b}}", "@keyframes gone{0%{a:b}}"),
        ("/* .gone */ p{a:url(x.gone)}", "p{a:url(x.gone)}"),
    ],
)
def test_a_rule_stays_if_a_page_can_need_it(css, left):
    assert used_styles.cut(css, WORDS).replace("\n", "") == left


def test_words_come_from_pages_and_scripts(tmp_path):
    tmp_path.joinpath("a.html").write_text('<p class="one two-three">')
    tmp_path.joinpath("b.js").write_text("tag.classList.add('four')")
    tmp_path.joinpath("fontawesome.js").write_text("five")
    assert used_styles.words_of(tmp_path) >= {"one", "two-three", "four"}
    assert "five" not in used_styles.words_of(tmp_path)


def test_the_books_sheet_has_lost_most_of_the_icons_and_keeps_its_own_rules(book):
    [*sheets] = book.glob("_static/all.*.css")
    assert sheets
    for sheet in sheets:
        css = sheet.read_text(encoding="utf-8")
        assert css.count(".fa-") < 200
        for selector in (".figure-mount", ".attn-still", ".diagram", ".katex-html", ".math"):
            assert selector in css
