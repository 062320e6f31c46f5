"""What is checked of exercise 1.4 alone; see `test_checks` for its right and wrong answers."""

import numpy as np
import pytest
import torch
from answers import arguments
from exercise_1_4.right import (
    NAMES,
    RIGHT,
    TRAINED,
    S,
    Trained,
    looking_at,
    maps,
    model,
    readout,
    sequences,
)
from exercise_1_4.wrong import WRONG

from attnlab.checks import check_1_4
from attnlab.checks.check_1_4 import cases
from attnlab.checks.check_1_4.roles import role_scores
from nbmark.graded import CheckFailed

SHOWN = {
    "returns_all_maps": "maps of every layer, sequence and head",
    "shows_twenty_maps": "all 20 maps",
    "scores_relations": "mean weight at an offset",
    "scores_neighbours": "larger side",
    "scores_uniformity": "1 for uniform rows",
    "names_heads": "All 8 names follow",
}


@pytest.mark.parametrize("check", SHOWN)
def test_a_check_of_two_points_says_what_it_showed(check, shown):
    getattr(check_1_4, check)(*arguments(next(iter(RIGHT[check].values()))))
    said = " ".join(shown[-1]["text/plain"].split())
    assert SHOWN[check] in said
    assert check_1_4.exercise.points[check] == 2


def test_scores_behind_the_names_are_those_of_the_maps_made_for_them():
    found = role_scores(TRAINED)
    assert found["adjacent"][0, 0] == pytest.approx(0.8 + 0.2 / S)
    assert found["relation"][0, 2] == pytest.approx(0.7 + 0.3 / S)
    assert found["uniform"][0, 1] == pytest.approx(1)
    too_far = role_scores(looking_at(-15, 0.9)[None, None, None])  # only 5 queries have a key there
    assert too_far["relation"].max() < 0.1


def test_the_scores_are_those_of_the_example_in_the_text():
    example = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.6, 0.0, 0.4]])[None, None, None]
    for offset, right in ((1, 0.2), (-1, 0.05), (-2, 0.6)):
        assert cases.Case("relation", example, offset).right == pytest.approx(right)
    assert cases.Case("adjacency", example).right == pytest.approx(0.2)
    assert cases.entropies(example)[0, 0, 0, 2] == pytest.approx(0.613, abs=5e-4)


def test_running_the_layers_again_gives_the_maps_unless_a_step_is_left_out():
    np.testing.assert_allclose(cases.recompute(model(), sequences()), maps(), atol=1e-6)


def test_a_failure_shows_a_small_map_beside_both_scores():
    wrong, *_ = WRONG["scores_relations"]["offset sign"]
    with pytest.raises(CheckFailed) as caught:
        check_1_4.scores_relations(wrong)
    assert "map, offset +1  [[" in caught.value.example
    assert "yours" in caught.value.example
    assert "expected" in caught.value.example


def test_a_wrong_value_is_told_with_the_head_that_is_furthest_off():
    def one_head_off(m, offset):
        score = cases.relation(np.asarray(m), offset)
        return score + (np.eye(*score.shape)[::-1] / 50 + 0.01) * (score.size > 2)

    with pytest.raises(CheckFailed, match=r"offset \+3 your score of head \(2, 0\) is") as caught:
        check_1_4.scores_relations(one_head_off)
    assert caught.value.cause == "wrong_value"


def test_a_model_on_another_device_gets_its_strings_there(monkeypatch):
    asked = []

    def accuracy(model, readout, source, target):
        asked.append((source.device.type, target.device.type))
        raise CheckFailed("seen", "")

    monkeypatch.setattr(check_1_4.sequence_labelling, "accuracy", accuracy)
    elsewhere = Trained()
    elsewhere.embedding = torch.nn.Embedding(12, 1, device="meta")
    with pytest.raises(CheckFailed):
        check_1_4.names_heads(NAMES["as scored"], elsewhere, readout)
    assert asked == [("meta", "meta")]
