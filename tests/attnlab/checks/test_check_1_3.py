"""Any right answer passes each check of exercise 1.3, and each wrong one is told its cause."""

import numpy as np
import pytest
import torch
from right_1_3 import RIGHT, broadcasting
from torch.nn import functional as F
from wrong_1_3 import WRONG

from attnlab.checks import check_1_3
from attnlab.checks._numpy_only import require_numpy_only
from nbmark.answers import MIME, SEED, decode
from nbmark.graded import CheckFailed, NotAttempted

CHECKS = [getattr(check_1_3, name) for name in check_1_3.exercise.points]
SEEDS = ["0", "1", "2", "12345"]


def stub(Q, K, V, mask=None):
    raise NotImplementedError


def name_of(function):
    return getattr(function, "__name__", type(function).__name__)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("function", RIGHT, ids=name_of)
def test_a_right_answer_passes_every_check_in_silence(function, seed, monkeypatch, shown, capfd):
    monkeypatch.setenv(SEED, seed)
    for check in CHECKS:
        check(function)
    assert "12 of 12 points so far" in shown[-1]["text/plain"]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_answer_is_told_its_cause(name, seed, monkeypatch, shown):
    function, first, cause, words = WRONG[name]
    monkeypatch.setenv(SEED, seed)
    for check in CHECKS:
        if check.__name__ == first:
            with pytest.raises(CheckFailed) as caught:
                check(function)
            said = " ".join(str(caught.value).split())
            assert (caught.value.cause, words in said) == (cause, True), said
            return
        check(function)  # what comes before is right and earns its points


def test_rows_that_sum_to_less_than_1_are_not_called_a_finite_mask():
    function, *_ = WRONG["sum too large"]
    with pytest.raises(CheckFailed, match="by nothing more") as caught:
        check_1_3.masks(function)
    assert caught.value.cause == "row_sums"


@pytest.mark.parametrize("check", CHECKS, ids=name_of)
def test_a_stub_is_not_attempted(check):
    with pytest.raises(NotAttempted, match="`stub` still raises NotImplementedError"):
        check(stub)


@pytest.mark.parametrize("check", CHECKS, ids=name_of)
def test_borrowed_and_constant_answers_earn_no_point_anywhere(check):
    for name, (function, _, cause, _) in WRONG.items():
        if cause in ("not_numpy", "hard_coded"):
            with pytest.raises(CheckFailed) as caught:
                check(function)
            assert caught.value.cause == cause, name


@pytest.mark.parametrize("check", CHECKS, ids=name_of)
def test_right_answers_record_the_same_and_other_seeds_record_something_else(
    check, monkeypatch, shown
):
    def recorded(function, seed):
        monkeypatch.setenv(SEED, seed)
        check(function)
        return {name: decode(value) for name, value in shown[-1][MIME].items()}

    key = recorded(broadcasting, "7")
    for function in RIGHT:
        given = recorded(function, "7")
        assert given.keys() == key.keys()
        for name, value in key.items():
            np.testing.assert_allclose(given[name], value, atol=1e-5)
    if name_of(check) in ("matches_reference", "masks", "stays_stable"):
        other = recorded(broadcasting, "8")
        assert any(not np.allclose(value, other[name]) for name, value in key.items())


def test_a_right_answer_agrees_with_pytorch_on_batches_and_masks_too():
    rng = np.random.default_rng(0)
    Q, K, V = (rng.standard_normal((2, 3, *shape)) for shape in ((5, 4), (7, 4), (7, 6)))
    mask = rng.random((2, 1, 5, 7)) < 0.6
    mask[0, 0, 2] = False
    output, _ = broadcasting(Q, K, V, mask)
    expected = F.scaled_dot_product_attention(*map(torch.from_numpy, (Q, K, V, mask)))
    np.testing.assert_allclose(output, expected.numpy(), atol=1e-12)


def test_a_call_is_told_with_its_sizes_where_the_function_raises():
    with pytest.raises(CheckFailed, match="raised ValueError with S_q=5, S_k=7, d_k=4, d_v=6"):
        CHECKS[0](WRONG["K not transposed"][0])


def test_a_failure_shows_the_first_query_that_is_wrong():
    with pytest.raises(CheckFailed) as caught:
        check_1_3.masks(WRONG["-1e9"][0])
    assert "one query that may read nothing" in caught.value.example
    assert "mask        [False False False False False False False]" in caught.value.example
    assert "expected    [0. 0. 0. 0. 0. 0. 0.]" in caught.value.example


def test_numpy_and_python_are_all_that_a_function_may_use_and_global_names_alone_do_no_harm():
    space = {"torch": torch, "F": F}
    exec("import numpy as np\ndef f(x):\n    'Like torch.'\n    return np.exp(x.F)", space)
    require_numpy_only(space["f"])
    exec("def g(x):\n    return [F.relu(y) for y in x]\ndef f(x):\n    return g(x)", space)
    with pytest.raises(CheckFailed, match="uses torch"):
        require_numpy_only(space["f"])
