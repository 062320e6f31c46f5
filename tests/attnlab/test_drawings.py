"""What the drawings of networks show."""

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
