"""Bytes held by tensors, each case small enough to be counted by hand."""

from functools import partial

import numpy as np
import pytest
import torch

from attnlab.attention import scaled_dot_product_attention
from attnlab.flash import flash_attention
from attnlab.peak_memory import PeakMemory

KIB = 1024
DEVICES = pytest.mark.parametrize("device", ["cpu", "meta"])


def peak(fn, *args):
    with PeakMemory() as memory:
        fn(*args)
    return memory.peak


def matrix(device="cpu", requires_grad=False):
    return torch.zeros(16, 16, device=device, requires_grad=requires_grad)  # 1 KiB


def naive(Q, K, V):
    return scaled_dot_product_attention(Q, K, V)[0]


def gradients(fn):
    return lambda *inputs: torch.autograd.grad(fn(*inputs).sum(), inputs)


@DEVICES
def test_one_result_counts_its_bytes_and_inputs_count_nothing(device):
    assert peak(torch.add, matrix(device), matrix(device)) == KIB
    assert peak(lambda: matrix(device)) == KIB


@DEVICES
def test_peak_is_what_is_held_at_once_not_what_was_ever_made(device):
    x = matrix(device)
    assert peak(lambda: [x + 1 for _ in range(7)]) == 7 * KIB
    assert peak(lambda: [(x + 1).shape for _ in range(7)]) == KIB
    assert peak(lambda: x + 1 + 1 + 1 + 1) == 2 * KIB  # the last operand and the result


def test_views_and_changes_in_place_hold_nothing_more():
    x = matrix()
    assert peak(lambda: (x.T, x[3:], x.view(-1), x.add_(1))) == 0
    assert peak(lambda: torch.add(x, 1, out=x)) == 0
    assert peak(lambda: (x + 1).T.add_(1).expand(7, 16, 16)) == KIB


@DEVICES
@pytest.mark.parametrize(
    "make",
    [
        lambda device: torch.add(matrix(device), 1, out=torch.empty(0, device=device)),
        lambda device: torch.empty(0, device=device).resize_(16, 16),
        lambda device: torch.empty(8, 8, device=device).resize_(16, 16),
    ],
)
def test_a_tensor_that_grows_counts_what_it_has_grown_to(make, device):
    inputs = KIB if "add" in make.__code__.co_names else 0
    assert peak(make, device) == KIB + inputs


def test_a_tensor_from_before_counts_only_its_growth_until_it_is_freed():
    x = matrix()
    with PeakMemory() as memory:
        x.resize_(32, 16)
        del x
        y = matrix()
    assert memory.peak == KIB
    assert y.shape == (16, 16)


@pytest.mark.parametrize("make", [torch.tensor, torch.as_tensor, torch.Tensor])
def test_a_tensor_made_of_numbers_counts(make):
    numbers = [1.0] * 256
    assert peak(make, numbers) == KIB
    assert peak(torch.ones(3).new_tensor, numbers) == KIB


def test_memory_borrowed_from_numpy_counts_nothing_and_its_copy_does():
    array = np.zeros(256, np.float32)
    assert peak(torch.from_numpy, array) == peak(torch.as_tensor, array) == 0
    assert peak(torch.tensor, array) == peak(lambda: torch.from_numpy(array).clone()) == KIB


@pytest.mark.filterwarnings("ignore:Sparse")
@pytest.mark.parametrize(
    ("convert", "indices"),
    [
        (lambda x: x.to_sparse(), 2 * 16),
        (lambda x: x.to_sparse_csr(), 17 + 16),
        (lambda x: x.to_sparse_csc(), 17 + 16),
        (lambda x: x.to_sparse_bsr(1), 17 + 16),
        (lambda x: x.to_sparse_bsc(1), 17 + 16),
    ],
)
def test_a_sparse_tensor_counts_its_values_and_its_indices(convert, indices):
    x = torch.eye(16)
    assert peak(lambda: [convert(x).shape for _ in range(3)]) >= 16 * 4 + indices * 8
    with PeakMemory() as memory:
        kept = [convert(x)]
    assert peak(kept[0].to_dense) == KIB
    assert memory.peak >= memory._bytes >= 16 * 4 + indices * 8
    kept.clear()
    assert memory._bytes == 0


def test_view_keeps_all_of_its_memory_alive():
    x = matrix()
    assert peak(lambda: ((x + 1)[:1], x + 1)) == 2 * KIB


@DEVICES
def test_what_autograd_keeps_for_the_backward_pass_counts(device):
    x = matrix(device, requires_grad=True)
    assert peak(lambda: x.exp().exp().exp()) == 3 * KIB  # each exp saves its result
    # On the way back: all three, the gradient of the result, and those of the next two operands.
    assert peak(lambda: torch.autograd.grad(x.exp().exp().exp(), x, matrix(device))) == 6 * KIB


def test_memory_that_outlives_the_watch_disturbs_no_later_one():
    with PeakMemory() as memory:
        kept = matrix() + 1
    with PeakMemory() as later:
        kept = kept + matrix()
    assert memory.peak == later.peak == 2 * KIB


@DEVICES
def test_naive_attention_holds_scores_and_weights_and_flash_one_tile_a_head(device):
    n, d, H = 256, 8, 2
    Q, K, V = (torch.zeros(1, H, n, d, device=device) for _ in range(3))
    scores, rows = 4 * H * n * n, 4 * H * n
    assert peak(scaled_dot_product_attention, Q, K, V) == 2 * scores
    block_q, block_k = 32, 64
    tile = 4 * H * block_q * block_k
    held = rows * (d + 2) + tile  # O, m and l of all queries, one tile
    flash = peak(lambda: flash_attention(Q, K, V, False, block_q, block_k))
    assert held < flash < held + 4 * H * block_q * (3 * d + 8)


@DEVICES
def test_flash_memory_is_linear_and_naive_memory_quadratic_with_the_backward_pass(device):
    flash = partial(flash_attention, block_q=64, block_k=64)
    peaks = []
    for n in (256, 512):
        inputs = [torch.zeros(2, n, 8, device=device, requires_grad=True) for _ in range(3)]
        peaks += [peak(gradients(fn), *inputs) for fn in (flash, naive)]
    assert peaks[2] <= 2 * peaks[0]
    assert 3.9 * peaks[1] < peaks[3] <= 4 * peaks[1]
