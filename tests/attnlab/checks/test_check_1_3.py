"""What is checked of exercise 1.3 alone; see `test_checks` for its right and wrong answers."""

import numpy as np
import pytest
import torch
from exercise_1_3.right import broadcasting
from exercise_1_3.wrong import WRONG as BY_CHECK
from torch.nn import functional as F

from attnlab.checks import check_1_3
from attnlab.checks.check_1_3.numpy_only import require_numpy_only
from nbmark.graded import CheckFailed

CHECKS = [getattr(check_1_3, name) for name in check_1_3.exercise.points]
WRONG = {label: answer for answers in BY_CHECK.values() for label, answer in answers.items()}


def test_rows_that_sum_to_less_than_1_are_not_called_a_finite_mask():
    function, *_ = WRONG["sum too large"]
    with pytest.raises(CheckFailed, match="by nothing more") as caught:
        check_1_3.masks(function)
    assert caught.value.cause == "row_sums"


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_borrowed_and_constant_answers_earn_no_point_anywhere(check):
    for name, (function, cause, _) in WRONG.items():
        if cause in ("not_numpy", "hard_coded"):
            with pytest.raises(CheckFailed) as caught:
                check(function)
            assert caught.value.cause == cause, name


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
