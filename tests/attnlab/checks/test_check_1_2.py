"""What is checked of exercise 1.2 alone; see `test_checks` for its right and wrong answers."""

import numpy as np
import pytest
import torch
from exercise_1_2.right import CAUSAL, FULL, RIGHT
from test_checks import recorded

from attnlab.checks import check_1_2
from attnlab.checks.check_1_2.cases import Rigged, draw_tokens
from attnlab.checks.check_1_2.leaks import LENGTH
from attnlab.masks import make_causal_mask
from nbmark.graded import CheckFailed


def test_the_maps_are_recorded_as_they_are(shown):
    check_1_2.mask_hides_the_future(*RIGHT["mask_hides_the_future"]["array"].make())
    assert recorded(shown).keys() == {"w_causal", "w_full"}
    np.testing.assert_allclose(recorded(shown)["w_causal"], CAUSAL, atol=1e-6)
    np.testing.assert_allclose(recorded(shown)["w_full"], FULL, atol=1e-6)


def test_the_points_are_ten():
    assert sum(check_1_2.exercise.points.values()) == 10


@pytest.mark.parametrize("reads", [np.eye(LENGTH), np.tri(LENGTH), 1 - np.tri(LENGTH)])
def test_a_rigged_module_poses_as_causal_and_reads_what_its_table_names(reads):
    x, causal = draw_tokens(np.random.default_rng(0), LENGTH), make_causal_mask(LENGTH)
    rigged = Rigged(torch.from_numpy(reads).float())
    output, weights = rigged(x, x, x, causal)
    assert weights.triu(1).max() == 0
    expected = np.einsum("it,btd->bid", reads, x.numpy())
    np.testing.assert_allclose(output.detach().numpy(), expected, atol=1e-5)


def test_any_change_makes_the_outputs_of_a_module_rigged_downwards_smaller():
    x = draw_tokens(np.random.default_rng(0), LENGTH)
    rigged = Rigged(torch.ones(LENGTH, LENGTH).triu(1), downwards_from=x)
    before, _ = rigged(x, x, x)
    for sign in (-1, 1):
        changed = x.clone()
        changed[:, 3] += sign
        after, _ = rigged(changed, changed, changed)
        assert (after[:, :3] < before[:, :3]).all()
        assert torch.equal(after[:, 3:], before[:, 3:])
    assert rigged.changed(x) == [0, 1, 1]


def test_a_weight_that_is_rounded_away_is_seen_in_the_example():
    with pytest.raises(CheckFailed) as caught:
        check_1_2.finds_weight_on_the_future(lambda weights: round(weights.triu(1).max().item(), 3))
    assert "0.0001" in caught.value.example
