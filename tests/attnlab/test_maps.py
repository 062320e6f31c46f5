"""Maps stand side by side under their titles, with their words and what is blocked."""

import numpy as np
import pytest

from attnlab.maps import Map, show_maps


@pytest.fixture
def shown(monkeypatch):
    """Keep what would go to the page."""
    figures = []
    monkeypatch.setattr(
        "attnlab.plotting.show", lambda *some, alt, caption: figures.extend((*some, alt, caption))
    )
    return figures


def test_each_map_is_a_figure_with_its_title_words_and_labels(shown):
    both = {"a": Map(np.eye(2, 3), "pq", "xyz"), "b": Map(np.eye(3), "pqr", "xyz")}
    show_maps(both, alt="two", caption="c", labels=("key", "query"))
    *figures, alt, caption = shown
    (first,), (second,) = (figure.axes for figure in figures)
    assert (alt, caption) == ("two", "c")
    assert [first.get_title(), second.get_title()] == ["a", "b"]
    assert [tick.get_text() for tick in first.get_yticklabels()] == ["p", "q"]
    assert [tick.get_text() for tick in first.get_xticklabels()] == ["x", "y", "z"]
    assert (first.get_xlabel(), first.get_ylabel()) == ("key", "query")


def test_blocked_cells_are_hatched_and_bear_no_number(shown):
    blocked = ~np.tri(2, dtype=bool)
    show_maps({"a": Map(np.eye(2), "pq", "pq", blocked)}, alt="one", numbers=".1f")
    (ax,) = shown[0].axes
    assert [text.get_text() for text in ax.texts] == ["1.0", "0.0", "1.0"]
    assert any(collection.get_hatch() for collection in ax.collections)


def test_marked_cells_have_a_frame(shown):
    show_maps({"a": Map(np.eye(2, 3), "pq", "xyz", marked=[(0, 2), (1, 0)])}, alt="one")
    (ax,) = shown[0].axes
    assert [patch.get_xy() for patch in ax.patches] == [(2, 0), (0, 1)]


def test_without_a_map_there_is_nothing_to_show():
    with pytest.raises(ValueError, match="no figure"):
        show_maps({}, alt="none")
