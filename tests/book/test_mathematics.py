"""Mathematics that is typeset while the book is built."""

import pytest
import vendor
from extension import extension

mathematics = extension("mathematics")


@pytest.fixture(scope="module")
def typeset():
    """Give a typesetter's function, and end its Node afterwards."""
    vendor.ensure()
    typesetter = mathematics.Typesetter()
    yield typesetter.typeset
    typesetter.stop()


def test_a_formula_is_there_to_be_seen_to_be_heard_and_to_be_copied(typeset):
    html = typeset(r"\frac{a < b}{\sqrt{d_k}}", display=True)["html"]
    assert '<span class="katex-display">' in html
    assert '<span class="katex-html" aria-hidden="true">' in html
    assert "<mfrac>" in html
    assert (
        r'<annotation encoding="application/x-tex">\frac{a &lt; b}{\sqrt{d_k}}</annotation>' in html
    )


@pytest.mark.parametrize("tex", [r"\nosuch", r"\frac{a}", "d_k_l", "ü"])
def test_tex_that_katex_does_not_know_is_an_error(typeset, tex):
    assert "KaTeX parse error" in typeset(tex, display=False).get("error", "")


def test_an_error_stops_nothing(typeset):
    assert "error" in typeset("{", display=False)
    assert "html" in typeset("x", display=False)


@pytest.mark.parametrize(
    ("tex", "one"),
    [
        ("a\n", "a\n"),
        (r"a \\ b", r"\begin{split}a \\ b\end{split}"),
        ("a\n\nb", r"\begin{aligned}a\\b\end{aligned}"),
    ],
)
def test_lines_and_paragraphs_of_a_block_are_aligned(typeset, tex, one):
    assert mathematics.as_one(tex) == one
    assert "html" in typeset(one, display=True)
