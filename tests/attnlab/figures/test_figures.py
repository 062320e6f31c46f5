"""What holds for every figure on the side of Python."""

import gzip
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from figure_table import FOLDER, TABLE
from matplotlib import pyplot as plt
from traitlets import TraitError

from attnlab import figures
from attnlab.figures._base import Array, Figure, script, style

BUDGET = 12 * 1024  # bytes of one figure's JavaScript and CSS, compressed as servers send them
EVERY = pytest.mark.parametrize("entry", TABLE, ids=lambda entry: entry.name)


class Holder(Figure):
    """Has a trait of the kind under test."""

    matrix = Array(2, digits=3).tag(sync=True)


@pytest.fixture
def shown(monkeypatch):
    """Collect what figures put on the page."""
    bundles = []
    monkeypatch.setattr(
        "attnlab.figures._base.display", lambda data, **options: bundles.append(data)
    )
    return bundles


def test_the_table_holds_every_figure():
    assert sorted(entry.name for entry in TABLE) == sorted(figures.__all__)


def test_each_figure_stays_within_its_budget_and_carries_no_comments():
    assert len(list(FOLDER.glob("*.js"))) == len(TABLE) + 3  # shared, reading, heads_math
    assert not any(
        re.search(r"(^|;) *//", script(path.stem), flags=re.M) for path in FOLDER.glob("*.js")
    )
    assert "/*" not in style()
    for entry in TABLE:
        carried = f"{entry.figure._esm}{entry.figure._css}".encode()
        assert len(gzip.compress(carried)) <= BUDGET, entry.name


@EVERY
def test_a_figure_stands_beside_a_picture_with_the_sentence_that_it_shows(entry, shown):
    figure = entry.figure()
    figure._ipython_display_()
    picture, live = shown
    html = picture["text/html"]
    assert html.startswith('<div class="attn-still">')
    assert "<svg" in html
    label = re.search(r'role="img" aria-label="([^"]+)"', html)[1]
    assert figure.title in label
    assert f"<figcaption>{figure.describe()}</figcaption>" in html
    assert picture["text/plain"] == f"[figure: {figure.describe()}]"
    assert live["application/vnd.jupyter.widget-view+json"]["model_id"] == figure.model_id
    assert plt.get_fignums() == []


@EVERY
def test_the_module_in_the_page_imports_nothing(entry):
    module = entry.figure()._esm
    assert not re.search(r"^import\b|\bimport\(", module, re.M)
    assert "https:" not in module


@EVERY
def test_every_trait_of_the_figure_is_known_to_its_script(entry):
    script = Path(FOLDER, f"{entry.figure.__module__.rpartition('.')[2]}.js").read_text("utf-8")
    named = re.search(r"traits: \[(.*?)\]", script, re.S)[1]
    assert sorted(re.findall(r'"(\w+)"', named)) == entry.figure.own_traits()


@EVERY
def test_each_state_and_each_move_changes_what_the_figure_says(entry):
    said = {entry.figure(**state).describe() for state in entry.states}
    assert len(said) == len(entry.states)
    assert entry.moves
    figure = entry.figure()
    for move in entry.moves:
        before = figure.describe()
        for name, value in move.changes.items():
            setattr(figure, name, value)
        assert figure.describe() != before, move


@EVERY
def test_a_wrong_value_of_a_control_is_refused_by_name(entry):
    for name in {name for move in entry.moves for name in move.changes}:
        with pytest.raises(TraitError, match=name):
            entry.figure(**{name: object()})


def test_a_width_that_is_no_power_of_two_is_refused_with_those_that_are():
    with pytest.raises(TraitError, match=r"'d_k'.*\[1, 2, 4.*not the int 3"):
        figures.ScaleAndSoftmax(d_k=3)


@pytest.mark.parametrize("value", [torch.ones(2, 3) / 3, np.ones((2, 3)) / 3])
def test_an_array_becomes_lists_of_rounded_numbers(value):
    assert Holder(matrix=value).matrix == [[0.333] * 3] * 2


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([1.0, 2.0], r"matrix has shape \(2,\); pass 2 axes"),
        ([[1.0, float("nan")]], "matrix holds a value that is not finite"),
        ([["a"]], r"matrix is \[\['a'\]\]; pass an array of numbers"),
    ],
)
def test_an_array_that_does_not_fit_is_refused_with_the_remedy(value, words):
    with pytest.raises(TraitError, match=words):
        Holder(matrix=value)
