"""The picture that stands beside a failed check of masks."""

import numpy as np
import pytest
from exercise_1_3.right import broadcasting

from attnlab.checks import check_1_3
from nbmark.graded import CheckFailed


@pytest.fixture
def shown(monkeypatch):
    """Collect the markup of pictures."""
    pictures = []
    monkeypatch.setattr(
        "attnlab.plotting.display", lambda data, **options: pictures.append(data["text/html"])
    )
    return pictures


def unmasked(Q, K, V, mask=None):
    scores = Q @ K.T / np.sqrt(Q.shape[-1])
    parts = np.exp(scores - scores.max(-1, keepdims=True))
    weights = parts / parts.sum(-1, keepdims=True)
    return weights @ V, weights


def blank_where_empty(Q, K, V, mask=None):
    _, weights = unmasked(Q, K, V)
    if mask is not None:
        weights = weights * mask
        with np.errstate(invalid="ignore"):
            weights = weights / weights.sum(-1, keepdims=True)
    return weights @ V, weights


def test_weights_where_the_mask_blocks_are_drawn_beside_it_and_summed(shown):
    with pytest.raises(CheckFailed):
        check_1_3.masks(unmasked)
    (picture,) = shown
    assert picture.count("<svg") == 2
    case = "Your weights hold "
    assert float(picture.split(f"<figcaption>{case}")[1].split(" ")[0]) > 0


def test_weights_that_are_no_numbers_are_left_blank(shown):
    with pytest.raises(CheckFailed, match="NaN"):
        check_1_3.masks(blank_where_empty)
    assert "Your weights hold 0.000 in all" in shown[0]


def test_a_right_answer_needs_no_picture(shown):
    check_1_3.masks(broadcasting)
    assert shown == []
