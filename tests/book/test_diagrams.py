"""Diagrams that are drawn while the book is built."""

import xml.etree.ElementTree as ET

import pytest
import vendor
from extension import extension

diagrams, svg_diagram = extension("diagrams"), extension("svg_diagram")
CHART = """
    flowchart TB
      accTitle: Two & three
      accDescr: From one to two.
      one["first<br/>(T_x, d)"] -- "Q, K" --> two["<b>"]
      one --> three
      click one "#here:~:text=a b" "In forward"
"""
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def drawn() -> ET.Element:
    """Draw the chart."""
    vendor.ensure()
    svg = svg_diagram.draw(diagrams.read(CHART), "diagram-1", diagrams.lay_out)
    return ET.fromstring(svg.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1))


def texts(tag: ET.Element, kind: str) -> list[str]:
    """Give the lines of each text of a kind."""
    found = tag.iter(f"{SVG}text")
    return ["|".join(span.text for span in text) for text in found if text.get("class") == kind]


def test_boxes_arrows_and_their_words_are_drawn(drawn):
    assert texts(drawn, "name") == ["first|(T_x, d)", "<b>", "three"]
    assert texts(drawn, "words") == ["Q, K"]
    assert len([path for path in drawn.iter(f"{SVG}path") if path.get("class") == "arrow"]) == 2


def test_no_box_lies_on_another_and_all_lie_within(drawn):
    boxes = [
        [float(r.get(n)) for n in ("x", "y", "width", "height")] for r in drawn.iter(f"{SVG}rect")
    ]
    _, _, width, height = map(float, drawn.get("viewBox").split())
    for i, (x, y, w, h) in enumerate(boxes):
        assert 0 <= x <= x + w <= width
        assert 0 <= y <= y + h <= height
        for x2, y2, w2, h2 in boxes[:i]:
            assert x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y


def test_a_screen_reader_gets_title_and_description(drawn):
    ids = {tag.get("id"): tag.text for tag in drawn}
    assert ids[drawn.get("aria-labelledby")] == "Two & three"
    assert ids[drawn.get("aria-describedby")] == "From one to two."


def test_a_box_is_a_link_whose_address_has_no_space(drawn):
    [link] = drawn.iter(f"{SVG}a")
    assert link.get("href") == "#here:~:text=a%20b"
    assert texts(link, "name") == ["first|(T_x, d)"]
    assert link.find(f"{SVG}title").text == "In forward"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("flowchart TB\na --> b", "lacks accTitle and accDescr"),
        (f"{CHART}\nsubgraph x", "not understood: subgraph x"),
        (f"{CHART}\na ==> b", "not understood: a ==> b"),
    ],
)
def test_what_cannot_be_drawn_is_named(text, message):
    with pytest.raises(ValueError, match=message):
        diagrams.read(text)
