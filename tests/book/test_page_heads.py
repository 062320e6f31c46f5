"""A section says how long it takes to read and which sections it builds on, as the map has it."""

import re

import pytest
from docutils import nodes
from extension import extension
from files import ROOT

page_heads = extension("page_heads")
MAP = (ROOT / "chapters" / "1_00_attention.md").read_text(encoding="utf-8")
NEEDS = page_heads.read_map(MAP)


def seconds(*parts):
    return sum(page_heads.read_through(nodes.section("", *parts)))


def test_map_shows_every_section_and_only_those_before_it_are_needed():
    sections = sorted(ROOT.glob("chapters/1_[01][0-9]_*.ipynb"))
    assert sorted(NEEDS) == [f"chapters/{path.stem}" for path in sections]
    for page, needed in NEEDS.items():
        assert all(before < page for before, _ in needed)


def test_every_arrow_of_the_map_is_a_need():
    flash = [title for _, title in NEEDS["chapters/1_10_flash_attention"]]
    assert flash == ["1.9 Time and memory", "1.6 Multi-head attention"]
    assert NEEDS["chapters/1_01_motivation"] == []
    assert sum(map(len, NEEDS.values())) == MAP.count("-->")


def test_title_in_the_map_has_the_number_of_its_page():
    for page, title in (need for needed in NEEDS.values() for need in needed):
        chapter, section = map(int, re.match(r"chapters/(\d+)_(\d+)_", page).groups())
        assert title.startswith(f"{chapter}.{section} ")


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (nodes.paragraph("", "word " * 200), 60),
        (nodes.literal_block("", "a = 1\n\nb = 2\n"), 6),
        (nodes.math_block("", "a b c d"), 10),
        (nodes.container("", nodes.paragraph("", "printed"), classes=["cell_output"]), 0),
        (nodes.container("", nodes.literal_block("", "x"), classes=["tag_hide-input"]), 0),
    ],
)
def test_time_is_that_of_words_code_and_equations_in_sight(part, expected):
    assert seconds(part) == pytest.approx(expected)
