"""What is read from a figure, however it was drawn."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from attnlab.checks._figures import (
    curves,
    has_axis_labels,
    heat_maps,
    read_figures,
)
from nbmark.graded import CheckFailed, NotAttempted

MAP = np.arange(9.0).reshape(3, 3)


def shown(figures, S=3):
    return [values.tolist() for _, values in heat_maps(figures, S)]


def test_figures_are_found_in_what_a_student_keeps_of_them():
    fig, axes = plt.subplots(1, 2)
    other, _ = plt.subplots()
    image = axes[0].imshow(MAP)
    for kept in (fig, axes, (fig, axes), axes[1], image, [axes, fig]):
        assert read_figures(kept) == [fig]
    assert read_figures([fig, other]) == [fig, other]
    for kept in ("fig", plt, [], 3, [None], axes[1].bar([1], [2])):
        with pytest.raises(CheckFailed, match="matplotlib Figure") as caught:
            read_figures(kept)
        assert caught.value.cause == "no_figure"
    with pytest.raises(NotAttempted, match="`fig`"):
        read_figures(None)


@pytest.mark.parametrize(
    "draw",
    [
        lambda ax: ax.imshow(MAP),
        lambda ax: ax.matshow(MAP),
        lambda ax: ax.pcolormesh(MAP),
        lambda ax: ax.pcolor(MAP),
        lambda ax: ax.imshow(np.ma.masked_equal(MAP, 0)),
        lambda ax: ax.imshow(np.where(MAP == 0, np.nan, MAP)),
        lambda ax: ax.scatter(*np.mgrid[:3, :3].reshape(2, 9), c=MAP.ravel()),
    ],
)
def test_a_heat_map_is_read_however_it_is_drawn(draw):
    fig, ax = plt.subplots()
    draw(ax)
    assert shown([fig]) == [MAP.tolist()]
    assert shown([fig], 4) == []


def test_a_picture_of_several_maps_is_cut_into_them_and_colours_are_no_map():
    fig, ax = plt.subplots()
    ax.imshow(np.block([[MAP, MAP + 9], [MAP + 18, MAP + 27]]))
    assert shown([fig]) == [(MAP + shift).tolist() for shift in (0, 9, 18, 27)]
    fig, ax = plt.subplots()
    ax.imshow(np.zeros((3, 3, 3)))
    ax.imshow(np.zeros((3, 4)))
    assert shown([fig]) == []


def test_curves_are_the_points_of_lines_and_scatters():
    fig, ax = plt.subplots()
    ax.loglog([1, 2], [3, 4])
    ax.scatter([1, 2], np.ma.masked_equal([5, 6], 6))
    (_, line), (_, points) = curves([fig])
    assert line.tolist() == [[1, 3], [2, 4]]
    np.testing.assert_array_equal(points[:, 1], [5, np.nan])


def test_both_axes_have_names_on_a_panel_or_for_the_whole_figure():
    fig, axes = plt.subplots(1, 2)
    assert not has_axis_labels([fig])
    axes[0].set_xlabel("key")
    axes[1].set_ylabel(" ")
    assert not has_axis_labels([fig])
    fig.supylabel("query")
    assert has_axis_labels([fig])
