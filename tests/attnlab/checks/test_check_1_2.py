"""Any right answer passes each check of exercise 1.2, and each wrong one is told its cause."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
import right_1_2
import torch
import wrong_1_2
from right_1_2 import figure_of_images, head_by_index

from attnlab.checks import check_1_2
from attnlab.checks._leaks_1_2 import LENGTH
from attnlab.checks._modules_1_2 import (
    Rigged,
    draw_module,
    draw_tokens,
    own_token,
    tokens_so_far,
    tokens_to_come,
)
from attnlab.masks import make_causal_mask
from attnlab.multihead import MultiHeadAttention
from nbmark.answers import MIME, SEED, decode
from nbmark.graded import CheckFailed, NotAttempted

SEEDS = ["0", "1", "2", "12345"]
KINDS = {
    "HEADS": check_1_2.takes_the_weights_of_one_head,
    "FUTURES": check_1_2.finds_weight_on_the_future,
    "LEAKS": check_1_2.leak_is_measured,
}
RIGHT = [(kind, function) for kind in KINDS for function in getattr(right_1_2, kind)]
WRONG = [(kind, name) for kind in KINDS for name in getattr(wrong_1_2, kind)]


@pytest.fixture(autouse=True)
def _closed_figures():
    with mpl.rc_context({"backend": "agg"}):
        yield
        plt.close("all")


@pytest.fixture(scope="module")
def maps():
    """Give a module, a sequence, and the weights of head 0 with and without the causal mask."""
    torch.manual_seed(0)
    mha, x = MultiHeadAttention(64, 4), torch.randn(1, 12, 64)
    causal = head_by_index(mha, x, make_causal_mask(12))
    return mha, x, causal.numpy(), head_by_index(mha, x, None).numpy()


def failure(check, *args):
    with pytest.raises(CheckFailed) as caught:
        check(*args)
    return caught.value.cause, " ".join(str(caught.value).split())


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("kind", "function"), RIGHT, ids=lambda value: getattr(value, "__name__", value)
)
def test_a_right_function_passes_in_silence(kind, function, seed, monkeypatch, shown, capfd):
    monkeypatch.setenv(SEED, seed)
    KINDS[kind](function)
    assert len(shown) == 1
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("kind", "name"), WRONG)
def test_a_wrong_function_is_told_its_cause(kind, name, seed, monkeypatch):
    monkeypatch.setenv(SEED, seed)
    function, cause, words = getattr(wrong_1_2, kind)[name]
    found, said = failure(KINDS[kind], function)
    assert (found, words in said) == (cause, True), said


@pytest.mark.parametrize("draw", right_1_2.FIGURES)
def test_a_right_figure_passes_however_it_is_drawn(draw, maps, shown, capfd):
    _, _, causal, full = maps
    check_1_2.figure_shows_maps_and_difference(draw(causal, full), causal, full)
    assert len(shown) == 1
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", wrong_1_2.FIGURES)
def test_a_wrong_figure_is_told_its_cause(name, maps):
    _, _, causal, full = maps
    draw, cause, words = wrong_1_2.FIGURES[name]
    check = check_1_2.figure_shows_maps_and_difference
    found, said = failure(check, draw(causal, full), causal, full)
    assert (found, words in said) == (cause, True), said


def test_a_figure_of_the_same_map_twice_shows_no_difference(maps):
    _, _, causal, _ = maps
    figure = figure_of_images(causal, causal)
    check = check_1_2.figure_shows_maps_and_difference
    assert failure(check, figure, causal, causal)[0] == "same_maps"


@pytest.mark.parametrize("form", [np.array, torch.tensor, np.ndarray.tolist, np.float64])
def test_right_maps_pass_in_any_form(form, maps, shown):
    mha, x, causal, full = maps
    check_1_2.mask_hides_the_future(form(causal), form(full), mha, x)
    recorded = shown[0][MIME]
    np.testing.assert_allclose(decode(recorded["w_causal"]), causal, atol=1e-6)
    np.testing.assert_allclose(decode(recorded["w_full"]), full, atol=1e-6)


def test_wrong_maps_are_told_their_cause(maps):
    mha, x, causal, full = maps
    late = full * np.tri(12)
    cases = {
        "swapped": (full, causal, "belongs to the run without a mask"),
        "mask_ignored": (full, full, "Hand the mask on"),
        "own_mask": (causal, causal, "even where it is None"),
        "mask_after_softmax": (late, full, "rows no longer sum to 1"),
        "wrong_head": (head_by_index(mha, x, make_causal_mask(12), 2), full, "another head"),
        "mask_inverted": (head_by_index(mha, x, ~make_causal_mask(12)), full, "invert"),
        "wrong_shape": (causal[None], full, "(1, 12, 12)"),
        "value": (head_by_index(mha, x, torch.ones(12, 12).tril(1).bool()), full, "head 0"),
        "transposed": (causal, full.T, "a row for each query"),
    }
    for cause, (w_causal, w_full, words) in cases.items():
        found, said = failure(check_1_2.mask_hides_the_future, w_causal, w_full, mha, x)
        assert (found, words in said) == (cause, True), said


def test_what_was_handed_out_is_not_attempted(maps):
    mha, x, causal, full = maps

    def stub(*args):
        raise NotImplementedError

    for check in KINDS.values():
        with pytest.raises(NotAttempted, match="`stub` still raises"):
            check(stub)
    with pytest.raises(NotAttempted, match="`w_full` is still None"):
        check_1_2.mask_hides_the_future(causal, None, mha, x)
    with pytest.raises(NotAttempted, match="`fig` is still None"):
        check_1_2.figure_shows_maps_and_difference(None, causal, full)


def test_the_points_are_ten():
    assert sum(check_1_2.exercise.points.values()) == 10


def test_right_functions_record_the_same(monkeypatch, shown):
    monkeypatch.setenv(SEED, "7")
    for kind, check in KINDS.items():
        recorded = []
        for function in getattr(right_1_2, kind):
            check(function)
            recorded.append({name: decode(v) for name, v in shown[-1][MIME].items()})
        for one in recorded:
            assert one.keys() == recorded[0].keys()
            for name, value in one.items():
                np.testing.assert_allclose(value, recorded[0][name], atol=1e-5)


def test_rigged_modules_pose_as_causal_and_do_what_their_rule_says():
    rng = np.random.default_rng(0)
    x, causal = draw_tokens(rng, LENGTH), make_causal_mask(LENGTH)
    for rule, pattern in (
        (own_token, np.eye(LENGTH)),
        (tokens_so_far, np.tri(LENGTH)),
        (tokens_to_come, 1 - np.tri(LENGTH)),
    ):
        rigged = Rigged(rule)
        output, weights = rigged(x, x, x, causal)
        assert weights.triu(1).max() == 0
        expected = np.einsum("it,btd->bid", pattern, x.numpy())
        np.testing.assert_allclose(output.numpy(), expected, atol=1e-5)


def test_a_drawn_module_leaves_the_global_generator_alone():
    torch.manual_seed(5)
    expected = torch.randn(3)
    torch.manual_seed(5)
    draw_module(np.random.default_rng(0))
    assert torch.equal(torch.randn(3), expected)
