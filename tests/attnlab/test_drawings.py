"""What the drawings of networks and of tiles show."""

import matplotlib.pyplot as plt
import pytest

from attnlab import drawings, plotting

plt.switch_backend("agg")


def drawn(repeated):
    fig, ax = plotting.panel()
    drawings.encoder_decoder(ax, repeated=repeated)
    fig.canvas.draw()
    plt.close(fig)
    return ax


def arrows(ax):
    """Give tail and tip of each arrow."""
    return [(text.xyann, text.xy) for text in ax.texts if getattr(text, "arrow_patch", None)]


@pytest.mark.parametrize("repeated", [False, True])
def test_every_word_and_every_state_is_named(repeated):
    names = {text.get_text() for text in drawn(repeated).texts} - {""}
    assert {"$x_1$", "$h_1$", "$h_T$", "$c$", "$s_1$", "$s_2$", "$y_1$", "$y_2$"} < names


def test_a_repeated_vector_reaches_the_steps_behind_the_first_and_a_single_one_does_not():
    extra = set(arrows(drawn(True))) - set(arrows(drawn(False)))
    assert {tip[0] for _, tip in extra} == {6, 8}
    assert set(arrows(drawn(False))) < set(arrows(drawn(True)))


def test_no_encoder_state_but_the_last_leads_on_to_the_vector():
    assert [tail for tail, tip in arrows(drawn(True)) if tip == (4, 0)] == [(3, 0)]


def tiles_drawn(here):
    """Give the drawing's axes, and the fill and edge of each square by its row and column."""
    fig, ax = plotting.panel()
    drawings.tiles(ax, here=here)
    fig.canvas.draw()
    plt.close(fig)
    looks = {(square.get_y(), square.get_x()): square for square in ax.patches}
    return ax, {place: (s.get_facecolor()[3], s.get_linewidth()) for place, s in looks.items()}


@pytest.mark.parametrize("here", [(0, 0), (1, 2), (3, 1)])
def test_one_tile_is_dark_those_before_it_are_pale_and_those_after_it_empty(here):
    _, looks = tiles_drawn(here)
    for place in ((q, k) for q in range(4) for k in range(4)):
        assert looks[place][0] == (1 if place == here else 0.2 if place < here else 0)


def test_the_blocks_that_meet_in_the_dark_tile_are_marked():
    _, looks = tiles_drawn((1, 2))
    assert {place for place, (_, width) in looks.items() if width > 1} == {(1, -1.2), (-1.2, 2)}


def test_the_inner_loop_runs_over_the_keys_the_outer_one_down_and_a_row_keeps_its_three():
    ax, _ = tiles_drawn((1, 2))
    inner, outer, kept = arrows(ax)
    assert inner[0][1] == inner[1][1]
    assert inner[0][0] < inner[1][0]
    assert outer[0][0] == outer[1][0]
    assert outer[0][1] < outer[1][1]
    assert ax.yaxis_inverted()  # down is to larger rows
    assert kept[0][1] == kept[1][1] == 1.5
    names = {text.get_text() for text in ax.texts}
    assert {"$Q_2$", "$K_3, V_3$", "inner loop", "outer loop"} < names
