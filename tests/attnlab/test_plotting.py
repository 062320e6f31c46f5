"""The book's figures: what `show` puts on the page, and what the helpers draw."""

import re

import matplotlib.pyplot as plt
import numpy as np
import pytest

from attnlab import plotting

plt.switch_backend("agg")


@pytest.fixture(name="page")
def fixture_page(monkeypatch):
    """Collect what is displayed."""
    shown = []
    monkeypatch.setattr(plotting, "display", lambda data, raw: shown.append(data))
    yield shown
    plt.close("all")


def a_heatmap(**options):
    fig, ax = plotting.panel()
    plotting.heatmap(ax, [[1.0, 0.0, 0.0], [0.25, 0.75, 0.0]], **options)
    return fig, ax


def test_a_figure_is_one_image_with_the_alternative_text_as_its_label(page):
    plotting.show(a_heatmap()[0], alt='weights < 1 & "causal"', caption="A <i>caption</i>.")
    markup = page[0]["text/html"]
    assert 'role="img" aria-label="weights &lt; 1 &amp; &quot;causal&quot;"' in markup
    assert "<figcaption>A <i>caption</i>.</figcaption>" in markup
    assert page[0]["text/plain"] == '[figure: weights < 1 & "causal"]'


def test_the_ink_follows_the_page(page):
    plotting.show(a_heatmap(numbers=".2f")[0], alt="weights")
    markup = page[0]["text/html"]
    assert "currentColor" in markup
    assert plotting.INK not in markup
    assert "#000000" not in markup
    assert "#ffffff" not in markup


def test_a_figure_scales_down_on_a_phone_but_not_up_on_a_desktop(page):
    plotting.show(a_heatmap()[0], alt="weights")
    svg = re.search(r"<svg[^>]*>", page[0]["text/html"]).group()
    assert "max-width:100%" in svg
    assert "height:auto" in svg
    assert "viewBox=" in svg
    assert not re.search(r'\b(width|height)="', svg)


def test_two_figures_on_a_page_share_no_id_and_every_reference_resolves(page):
    blocked = [[False, True, True], [False, False, True]]
    plotting.show(a_heatmap(blocked=blocked)[0], a_heatmap(numbers=".1f")[0], alt="weights")
    markup = page[0]["text/html"]
    ids = re.findall(r'\bid="([^"]+)"', markup)
    references = re.findall(r'(?:url\(#|href="#)([^")]+)', markup)
    assert references
    assert set(references) <= set(ids)
    first, second = (set(re.findall(r'\bid="([^"]+)"', svg)) for svg in markup.split("</svg>")[:2])
    assert first
    assert second
    assert not first & second


def test_a_shown_figure_is_closed_so_that_jupyter_does_not_draw_it_twice(page):
    fig, _ = a_heatmap()
    plotting.show(fig, alt="weights")
    assert not plt.fignum_exists(fig.number)


@pytest.mark.parametrize(("figures", "alt"), [((), "text"), ((None,), "  ")])
def test_a_figure_without_picture_or_text_is_refused(figures, alt):
    with pytest.raises(ValueError, match=r"panel|alt is empty"):
        plotting.show(*figures, alt=alt)


def test_queries_run_downwards_and_keys_to_the_right(page):
    _, ax = a_heatmap(rows=["a", "b"], columns=["x", "y", "z"], numbers=".2f")
    cells = {text.get_text(): text.get_position() for text in ax.texts}
    assert cells["1.00"] == (0.5, 0.5)
    assert cells["0.75"] == (1.5, 1.5)
    assert ax.get_ylim() == (2, 0)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["x", "y", "z"]


def test_a_blocked_cell_is_hatched_and_carries_no_number(page):
    _, ax = a_heatmap(blocked=[[False, True, True], [False, False, True]], numbers=".2f")
    assert len(ax.texts) == 3
    assert any(collection.get_hatch() for collection in ax.collections)


def test_weight_zero_is_the_bare_page_and_larger_weights_are_more_opaque():
    alphas = plotting.WEIGHTS(np.linspace(0, 1, 5))[:, 3]
    assert alphas[0] == 0
    assert (np.diff(alphas) > 0).all()


def test_a_mask_of_ones_and_zeros_blocks_what_its_truth_values_block():
    _, ax = a_heatmap(blocked=[[0, 1, 1], [0, 0, 1]], numbers=".2f")
    assert len(ax.texts) == 3


def test_a_heatmap_wants_one_matrix():
    _, ax = plotting.panel()
    with pytest.raises(ValueError, match=r"\(2, 3, 3\)"):
        plotting.heatmap(ax, np.zeros((2, 3, 3)))


def test_the_slope_of_a_power_law_is_its_exponent():
    _, ax = plotting.panel()
    x = np.array([2.0, 8.0, 64.0])
    assert plotting.loglog(ax, x, 3 * x**1.7, "power") == pytest.approx(1.7)
    assert "slope 1.70" in ax.get_legend().get_texts()[0].get_text()


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([1.0], [1.0]),
        ([1.0, 2.0], [0.0, 1.0]),
        ([1.0, 2.0], [1.0, np.nan]),
        ([1.0, np.inf], [1.0, 2.0]),
    ],
)
def test_a_fit_needs_two_points_and_positive_numbers(x, y):
    _, ax = plotting.panel()
    with pytest.raises(ValueError, match="two or more points, all of them positive"):
        plotting.loglog(ax, x, y, "bad")


def test_every_colour_stands_out_from_a_white_and_from_a_dark_page():
    for colour in plotting.COLOURS:
        for page_colour in ("#ffffff", "#14181e"):
            assert contrast(colour, page_colour) >= 2.99, (colour, page_colour)


def contrast(first, second):
    """Give the WCAG 2 contrast ratio of two colours."""
    lighter, darker = sorted((luminance(first), luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_a_matrix_shows_sign_as_hue_and_zero_as_the_bare_page():
    fig, ax = plotting.panel()
    plotting.matrix(ax, [[-2.0, 0.0, 2.0], [1.0, 0.0, 0.0]], rows=["a", "b"])
    (mesh,) = ax.collections
    mesh.update_scalarmappable()
    low, zero, high, half, *_ = mesh.get_facecolor()
    assert zero[3] == pytest.approx(0, abs=0.01)
    assert low[0] > low[2]
    assert high[2] > high[0]
    assert half[3] == pytest.approx(high[3] / 2, abs=0.02)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]
    assert not ax.get_xticklabels()
    assert ax.get_ylim() == (2, 0)
    plt.close(fig)


def test_what_is_no_matrix_is_refused():
    fig, ax = plotting.panel()
    with pytest.raises(ValueError, match=r"values has shape \(3,\)"):
        plotting.matrix(ax, [1, 2, 3])
    plt.close(fig)
