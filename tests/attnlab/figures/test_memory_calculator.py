"""What the calculator of memory must agree with."""

import pytest
import torch
from traitlets import TraitError

from attnlab import profiling
from attnlab.attention import scaled_dot_product_attention
from attnlab.figures import MemoryCalculator


@pytest.mark.parametrize("training", [False, True])
def test_naive_attention_takes_what_is_measured_and_hardly_more_is_counted(training):
    Q, K, V = (torch.randn(2, 4, 509, 32, requires_grad=training) for _ in range(3))

    def run():
        output, _ = scaled_dot_product_attention(Q, K, V)
        return torch.autograd.grad(output.sum(), (Q, K, V)) if training else output

    taken = profiling.measure(run).peak_bytes + 3 * Q.nbytes
    sizes = {"batch": 2, "heads": 4, "d_k": 32, "dtype": "float32"}
    figure = MemoryCalculator(**sizes, training=training)
    assert taken <= figure.naive(509) <= 1.05 * taken


@pytest.mark.parametrize("training", [False, True])
def test_the_longest_sequence_fits_and_the_next_does_not(training):
    figure = MemoryCalculator(training=training)
    for (_, gib, able), both in zip(figure.gpus, figure.compute()["longest"], strict=True):
        for need, n in zip((figure.naive, figure.flash), both, strict=True):
            if need == figure.naive or able:
                assert need(n) <= gib * 2**30 < need(n + 1)
            else:
                assert n == 0


def test_flash_runs_in_half_precision_and_not_on_a_t4():
    assert MemoryCalculator().runs() == [False, True, True, True, True, True]
    assert not any(MemoryCalculator(dtype="float32").runs())


def test_twice_the_memory_buys_naive_attention_the_root_of_two_and_flash_two():
    small, large = MemoryCalculator().compute()["longest"][2:4]
    assert large[0] / small[0] == pytest.approx(2**0.5, rel=0.01)
    assert large[1] / small[1] == pytest.approx(2, rel=0.01)


def test_a_gpu_of_less_than_no_memory_is_refused():
    with pytest.raises(TraitError, match="gpus"):
        MemoryCalculator(gpus=[("broken", -1.0, True)])
