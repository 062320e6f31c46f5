import io
import math
import sys
import textwrap

import pytest
import torch
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from attnlab.profiling import Measurement, fit_exponent, measure, progress, require_cuda
from nbmark.skip import CellSkipped


def test_with_a_gpu_require_cuda_lets_the_cell_go_on(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (8, 0))
    assert require_cuda() is None
    assert require_cuda(capability=(8, 0)) is None


def test_gpu_that_is_too_old_is_none(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (7, 5))
    with pytest.raises(CellSkipped, match=r"needs a CUDA GPU of compute capability 8\.0 and there"):
        require_cuda(capability=(8, 0))


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


def test_cpu_memory_is_exact_and_cpu_time_positive():
    measured = measure(torch.exp, torch.zeros(16, 16))
    assert measured.peak_bytes == 1024
    assert measured.seconds > 0
    assert not measured.out_of_memory


@pytest.mark.parametrize("device", [None, "cpu", "cpu:0", torch.device("cpu")])
def test_device_may_be_named_in_each_of_pytorchs_ways(device):
    assert measure(lambda: torch.zeros(16, 16), device=device).peak_bytes == 1024


def test_device_that_pytorch_does_not_know_is_refused():
    with pytest.raises(RuntimeError, match="gpu"):
        measure(lambda: torch.zeros(16, 16), device="gpu")


def test_meta_device_measures_memory_that_no_machine_has():
    n = 2**20
    Q, K = torch.empty(2, n, 8, device="meta")
    assert measure(lambda Q, K: (Q @ K.T).exp_(), Q, K) == Measurement(None, 4 * n**2)


def test_time_is_the_median_of_the_repeats_on_one_thread(monkeypatch):
    clock = iter([0, 5, 10, 11, 20, 22, 30, 33, 40, 49])
    monkeypatch.setattr("time.process_time", lambda: next(clock))
    threads = torch.get_num_threads()
    seen = []
    assert measure(lambda: seen.append(torch.get_num_threads())).seconds == 3
    assert seen[1:] == [1] * 5
    assert torch.get_num_threads() == threads


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 8.00 GiB"),
        torch.AcceleratorError("CUDA error: out of memory\nCUDA kernel errors might be", 2),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
        RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"),
    ],
)
def test_out_of_memory_is_a_result(error):
    def fail():
        raise error

    assert measure(fail) == Measurement(None, None, out_of_memory=True)


def test_real_allocation_that_fails_is_a_result():
    assert measure(lambda: torch.empty(2**60, dtype=torch.int8)).out_of_memory


def test_other_errors_come_through():
    with pytest.raises(RuntimeError, match="mat1 and mat2"):
        measure(torch.mm, torch.zeros(2, 3), torch.zeros(2, 3))


class FakeCuda:
    """A GPU on which 100 bytes are in use; a call takes 30 more for a while, and 2 ms.

    The first call also takes 7 bytes that stay, as a library's workspace does.
    """

    def __init__(self, monkeypatch, works=True):
        self.log, self.works, self.peak, self.used = [], works, 10**9, 100
        names = "synchronize empty_cache memory_allocated max_memory_allocated"
        for name in (*names.split(), "reset_peak_memory_stats", "Event"):
            monkeypatch.setattr(torch.cuda, name, getattr(self, name))

    def synchronize(self):
        self.log.append("synchronize")

    def empty_cache(self):
        self.log.append("empty_cache")

    def memory_allocated(self):
        return self.used

    def max_memory_allocated(self):
        return self.peak

    def reset_peak_memory_stats(self):
        self.peak = self.used

    def call(self):
        self.log.append("call")
        if not self.works:
            raise torch.OutOfMemoryError("CUDA out of memory")
        self.used = 107
        self.peak = max(self.peak, self.used + 30)

    def Event(self, enable_timing):  # noqa: N802
        fake = self

        class Event:
            def record(self):
                fake.log.append("event")

            def elapsed_time(self, end):
                assert fake.log[-1] == "synchronize"
                return 2.0

        return Event()


def test_cuda_memory_starts_from_a_reset_peak_and_leaves_out_what_stays_in_use(monkeypatch):
    fake = FakeCuda(monkeypatch)
    assert measure(fake.call, repeats=2, device="cuda") == Measurement(0.002, 30)
    once = ["event", "call", "event", "synchronize"]
    assert fake.log == ["call", "synchronize", "call", "synchronize", *once, *once]


def test_cuda_gets_its_memory_back_after_running_out_of_it(monkeypatch):
    fake = FakeCuda(monkeypatch, works=False)
    assert measure(fake.call, device="cuda") == Measurement(None, None, out_of_memory=True)
    assert fake.log == ["call", "empty_cache"]


def test_exact_power_law_has_its_exponent_and_no_error():
    n = [512, 1024, 2048, 4096]
    law = fit_exponent(n, [3e-7 * x**2 for x in n])
    assert law.exponent == pytest.approx(2, abs=1e-12)
    assert law.stderr == pytest.approx(0, abs=1e-12)
    assert float(law) == law.exponent
    assert str(law) == "2.00 ± 0.00"


def test_standard_error_is_that_of_the_least_squares_slope():
    n = [math.e**x for x in (1, 2, 3, 4)]
    y = [math.e**y for y in (0, 1, 0, 1)]
    # slope (sum of dx dy) / (sum of dx^2) = 1 / 5, residuals -.2 .6 -.6 .2, sqrt(.8 / 2 / 5)
    assert fit_exponent(n, y, n_min=1) == pytest.approx((0.2, 0.08**0.5))


def test_only_large_n_are_fitted_and_out_of_memory_is_left_out():
    n = [64, 512, 1024, 2048, 4096, 8192]
    y = [10**9, 10**8, 1024**1.5, 2048**1.5, 4096**1.5, None]
    assert fit_exponent(n, y).exponent == pytest.approx(1.5)
    assert fit_exponent(n, y, n_min=512).exponent < 1


@pytest.mark.parametrize(
    "y", [[1, 2, None], [1, 0, 2], [None, None, None], [1, math.nan, 2], [1, math.inf, 2]]
)
def test_too_few_points_or_none_positive_are_named(y):
    with pytest.raises(ValueError, match="needs three positive points"):
        fit_exponent([1024, 2048, 4096], y)


def test_progress_gives_every_item_and_stays_silent_in_a_file(capsys):
    assert list(progress(iter("abc"), "sweep")) == ["a", "b", "c"]
    assert capsys.readouterr().out == ""


def test_progress_overwrites_its_line_on_a_terminal(monkeypatch):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stdout", terminal)
    list(progress("abcd", "sweep"))
    lines = terminal.getvalue().split("\r\033[K")
    assert lines[3] == "sweep [##########          ] 2 of 4, 0 s"
    assert lines[-1] == ""


def test_progress_leaves_nothing_below_a_notebook_cell():
    source = """
    from attnlab.profiling import progress
    for _ in progress("ab", "sweep"):
        pass
    print("the result")
    """
    notebook = new_notebook(cells=[new_code_cell(textwrap.dedent(source))])
    NotebookClient(notebook, kernel_name="python3", timeout=120).execute()
    assert [output.get("text") for output in notebook.cells[0].outputs] == ["the result\n"]
