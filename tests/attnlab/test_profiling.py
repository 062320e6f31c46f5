import pytest
import torch

from attnlab.profiling import require_cuda
from nbmark.skip import CellSkipped


def test_with_a_gpu_require_cuda_lets_the_cell_go_on(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert require_cuda() is None


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({}, "this cell needs a CUDA GPU and there is none here."),
        (
            {"what": "the sweep to n = 4096", "recorded": "sweep.csv"},
            "the sweep to n = 4096 needs a CUDA GPU and there is none here. "
            "Recorded result: sweep.csv.",
        ),
    ],
)
def test_without_a_gpu_it_says_what_was_skipped_and_where_the_result_stands(
    monkeypatch, arguments, line
):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(CellSkipped) as skipped:
        require_cuda(**arguments)
    assert str(skipped.value) == line
