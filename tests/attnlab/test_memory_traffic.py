"""Bytes between the chip and slow memory, each case small enough to be counted by hand."""

import pytest
import torch

from attnlab.attention import scaled_dot_product_attention
from attnlab.flash import flash_attention
from attnlab.memory_traffic import Traffic, flash_traffic, naive_traffic

LARGE, SMALL = (16, 16), (4, 4)  # 1024 bytes cross, 64 stay


def traffic(fn, *args, on_chip=256):
    with torch.no_grad(), Traffic(on_chip) as counted:
        fn(*args)
    return counted.read, counted.written


def test_operands_are_read_and_results_written():
    x, y = torch.zeros(2, *LARGE)
    x, y = x.clone(), y.clone()
    assert traffic(lambda: x + y) == (2048, 1024)
    assert traffic(lambda: x.add_(y)) == (2048, 1024)
    assert traffic(lambda: torch.add(x, y, out=x)) == (2048, 1024)
    assert traffic(lambda: x.sum()) == (1024, 0)


def test_what_fits_stays_on_the_chip():
    x = torch.zeros(SMALL)
    assert traffic(lambda: (x + 1) * x) == (0, 0)


def test_slice_of_large_memory_moves_its_own_elements():
    x = torch.zeros(LARGE)
    assert traffic(lambda: x[:3] + 1) == (3 * 64, 0)


def test_views_and_empty_memory_move_nothing_and_filling_only_writes():
    x, y = torch.zeros(LARGE), torch.ones(LARGE)
    assert traffic(lambda: (x.T, x[1:], x.view(-1), torch.empty_like(x), x.new_empty(64))) == (0, 0)
    assert traffic(lambda: x.zero_()) == (0, 1024)
    assert traffic(lambda: torch.zeros_like(x)) == (0, 1024)
    assert traffic(lambda: x.copy_(y)) == (1024, 1024)


@pytest.mark.parametrize("n", [128, 256])
def test_traffic_of_both_algorithms_follows_the_formulas(n):
    d, block = 16, 8
    Q, K, V = (torch.zeros(1, n, d) for _ in range(3))
    read, written = traffic(scaled_dot_product_attention, Q, K, V)
    assert read / 4 == 2 * n**2 + 4 * n * d  # scores and weights; Q, scaled Q, K and V
    assert written / 4 == 2 * n**2 + 2 * n * d  # scores and weights; scaled Q and O
    assert (read + written) / 4 == naive_traffic(n, d)
    blocks = {"block_q": block, "block_k": block}
    read, written = traffic(lambda: flash_attention(Q, K, V, **blocks), on_chip=512)
    assert read / 4 == n * d + n // block * 2 * n * d  # Q once, K and V for each block of queries
    assert written / 4 == n * d + 2 * n  # O, m and l
    assert (read + written) / 4 == flash_traffic(n, d, block)


def test_a_shorter_last_block_fetches_all_keys_and_values_too():
    assert flash_traffic(24, 4, 16) == flash_traffic(24, 4, 12)
    Q, K, V = (torch.zeros(1, 24, 32) for _ in range(3))
    read, written = traffic(lambda: flash_attention(Q, K, V, False, 16, 4), on_chip=2500)
    assert (read + written) / 4 + 2 * 24 == flash_traffic(24, 32, 16)  # m and l stay on this chip


def test_formulas_refuse_sizes_that_are_none():
    with pytest.raises(ValueError, match="block_q is 0"):
        flash_traffic(8, 4, 0)
    with pytest.raises(TypeError, match=r"n is 8\.0"):
        naive_traffic(8.0, 4)
