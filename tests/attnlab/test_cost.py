"""The formulas against what PyTorch counts, keeps and holds."""

import functools

import pytest
import torch
from torch import nn
from torch.multiprocessing.reductions import StorageWeakRef
from torch.nn import functional
from torch.utils import flop_counter

from attnlab import cost
from attnlab.attention import scaled_dot_product_attention
from attnlab.flash import flash_attention
from attnlab.multihead import MultiHeadAttention, count_parameters
from attnlab.profiling import measure

SIZES = pytest.mark.parametrize(
    ("B", "H", "S_q", "S_k", "d_k", "d_v"),
    [(2, 3, 5, 7, 11, 13), (1, 1, 17, 17, 3, 3), (5, 2, 3, 19, 7, 2), (1, 7, 23, 2, 5, 11)],
)


def inputs(B, H, S_q, S_k, d_k, d_v, **options):
    shapes = (B, H, S_q, d_k), (B, H, S_k, d_k), (B, H, S_k, d_v)
    return [torch.zeros(shape, requires_grad=True, **options) for shape in shapes]


def counted_flops(call):
    with flop_counter.FlopCounterMode(display=False) as counter:
        call()
    return counter.get_total_flops()


def bytes_kept_for_backward(call):
    saved = []

    def pack(tensor):
        storage = tensor.untyped_storage()
        saved.append((StorageWeakRef(storage), storage.nbytes()))
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        result = call()  # held while those are counted that it holds
    kept = {reference.cdata: size for reference, size in saved if not reference.expired()}
    del result
    return sum(kept.values())


@SIZES
def test_attention_forward_is_counted_exactly(B, H, S_q, S_k, d_k, d_v):
    Q, K, V = inputs(B, H, S_q, S_k, d_k, d_v)
    counted = counted_flops(lambda: scaled_dot_product_attention(Q, K, V))
    assert counted == cost.attention_flops(B, H, S_q, S_k, d_k, d_v)


@SIZES
def test_attention_backward_is_counted_exactly(B, H, S_q, S_k, d_k, d_v):
    Q, K, V = inputs(B, H, S_q, S_k, d_k, d_v)
    output, _ = scaled_dot_product_attention(Q, K, V)
    counted = counted_flops(output.sum().backward)
    assert counted == cost.attention_backward_flops(B, H, S_q, S_k, d_k, d_v)


@SIZES
def test_flash_has_the_same_forward_and_one_more_product_backward(B, H, S_q, S_k, d_k, d_v):
    sizes = B, H, S_q, S_k, d_k, d_v
    shapes = [tensor.shape for tensor in inputs(*sizes)]
    assert flop_counter.sdpa_flop_count(*shapes) == cost.attention_flops(*sizes)
    grad_out_shape = (B, H, S_q, d_v)
    counted = flop_counter.sdpa_backward_flop_count(grad_out_shape, *shapes)
    assert counted == cost.attention_backward_flops(*sizes, recompute=True)


@pytest.mark.parametrize(
    ("B", "S_q", "S_k", "H", "d_k"), [(2, 5, 7, 3, 11), (1, 13, 13, 1, 17), (3, 19, 2, 5, 7)]
)
@pytest.mark.parametrize("bias", [False, True])
def test_multi_head_attention_is_counted_exactly(B, S_q, S_k, H, d_k, bias):
    d_model = H * d_k
    mha = MultiHeadAttention(d_model, H, bias=bias)
    query = torch.zeros(B, S_q, d_model, requires_grad=True)
    memory = torch.zeros(B, S_k, d_model, requires_grad=True)
    forward = cost.multihead_flops(B, S_q, S_k, d_model)
    assert counted_flops(lambda: mha(query, memory, memory)) == forward
    assert counted_flops(lambda: mha(query, memory, memory)[0].sum().backward()) == 3 * forward
    projections = [lambda: mha.W_o(mha.W_q(query)), lambda: mha.W_v(mha.W_k(memory))]
    counted = sum(counted_flops(call) for call in projections)
    assert counted == cost.projection_flops(B, S_q, S_k, d_model)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@SIZES
def test_a_map_has_the_bytes_of_the_weights(B, H, S_q, S_k, d_k, d_v, dtype):
    Q, K, V = inputs(B, H, S_q, S_k, d_k, d_v, dtype=dtype)
    _, weights = scaled_dot_product_attention(Q, K, V)
    assert weights.nbytes == cost.map_bytes(B, H, S_q, S_k, dtype.itemsize)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@SIZES
def test_what_attention_keeps_for_its_backward_is_exact(B, H, S_q, S_k, d_k, d_v, dtype):
    sizes = B, H, S_q, S_k, d_k, d_v
    Q, K, V = inputs(*sizes, dtype=dtype)
    kept = bytes_kept_for_backward(lambda: scaled_dot_product_attention(Q, K, V))
    assert kept == cost.saved_bytes(*sizes, dtype.itemsize)


def test_what_attention_keeps_is_exact_where_nobody_could_allocate_it():
    sizes = 1, 1, 32768, 32768, 64, 64
    Q, K, V = inputs(*sizes, device="meta")
    kept = bytes_kept_for_backward(lambda: scaled_dot_product_attention(Q, K, V))
    assert kept == cost.saved_bytes(*sizes)
    assert cost.map_bytes(1, 1, 32768, 32768) == 4 * 2**30


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_what_the_fused_kernel_keeps_for_its_backward_is_exact_with_a_mask_and_without(
    dtype, causal
):
    sizes = B, H, S_q, *_ = 2, 3, 5, 7, 11, 11
    Q, K, V = inputs(*sizes, dtype=dtype)
    fused = functional.scaled_dot_product_attention
    kept = bytes_kept_for_backward(lambda: fused(Q, K, V, is_causal=causal))
    assert kept == cost.flash_saved_bytes(*sizes, dtype.itemsize)
    kernel = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    _, statistics = kernel(Q, K, V, is_causal=causal)
    assert statistics.nbytes == cost.flash_extra_bytes(B, H, S_q)


@pytest.mark.parametrize("causal", [False, True])
def test_our_flash_attention_keeps_two_numbers_a_query_as_algorithm_1_of_2022_does(causal):
    sizes = B, H, S_q, *_ = 2, 3, 5, 7, 11, 13
    Q, K, V = inputs(*sizes)
    kept = bytes_kept_for_backward(lambda: flash_attention(Q, K, V, is_causal=causal))
    assert kept == cost.flash_saved_bytes(*sizes) + cost.flash_extra_bytes(B, H, S_q)


def some_mask(S_q, S_k):
    """Let each query see the keys up to its own place, and the second one none."""
    mask = torch.ones(S_q, S_k, dtype=torch.bool).tril(S_k - S_q)
    mask[1] = False
    return mask


@SIZES
def test_a_mask_saves_no_operation(B, H, S_q, S_k, d_k, d_v):
    Q, K, V = inputs(B, H, S_q, S_k, d_k, d_v)
    forward = cost.attention_flops(B, H, S_q, S_k, d_k, d_v)
    backward = cost.attention_backward_flops(B, H, S_q, S_k, d_k, d_v)
    outputs = []
    mask = some_mask(S_q, S_k)[None, None]
    counted = counted_flops(
        lambda: outputs.append(scaled_dot_product_attention(Q, K, V, mask)[0].sum())
    )
    assert counted == forward
    assert counted_flops(outputs[0].backward) == backward


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@SIZES
def test_with_a_mask_attention_keeps_the_weights_twice_and_the_mask(
    B, H, S_q, S_k, d_k, d_v, dtype
):
    sizes = B, H, S_q, S_k, d_k, d_v
    Q, K, V = inputs(*sizes, dtype=dtype)
    mask = some_mask(S_q, S_k)[None, None]
    kept = bytes_kept_for_backward(lambda: scaled_dot_product_attention(Q, K, V, mask))
    assert kept == cost.saved_bytes(*sizes, dtype.itemsize, masked=True) + mask.nbytes + S_q


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("training", [False, True])
def test_dropout_adds_one_table_to_the_peak_of_the_module(masked, training):
    B, H, n, d_model = 2, 3, 101, 33
    mask = some_mask(n, n)[None, None] if masked else None
    x = torch.zeros(B, n, d_model)
    peaks = []
    for dropout in (0.0, 0.5):
        mha = MultiHeadAttention(d_model, H, dropout=dropout)

        def run(x, mha=mha):
            with torch.set_grad_enabled(training):
                output = mha(x, x, x, mask)[0]
            return output.sum().backward() if training else output

        peaks.append(measure(run, x, repeats=1).peak_bytes)
        tables = cost.peak_bytes(B, H, n, n, training=training, dropout=dropout > 0)
        negation = n * n if masked else 0
        # Q, K, V, output of the heads and of W_o, their gradients, and those of the parameters
        assert tables <= peaks[-1] <= tables + 12 * x.nbytes + negation + 32 * d_model**2
    assert peaks[1] - peaks[0] == pytest.approx(cost.map_bytes(B, H, n, n), rel=0.5)


@pytest.mark.parametrize(("S_q", "S_k"), [(101, 101), (211, 97), (97, 211)])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("training", [False, True])
def test_the_peak_is_the_maps_and_at_most_the_vectors_and_their_gradients_more(
    S_q, S_k, training, masked
):
    B, H, d_k, d_v = 2, 3, 11, 13
    Q, K, V = inputs(B, H, S_q, S_k, d_k, d_v)
    mask = some_mask(S_q, S_k)[None, None] if masked else None

    def run(Q, K, V):
        with torch.set_grad_enabled(training):
            output = scaled_dot_product_attention(Q, K, V, mask)[0]
        return output.sum().backward() if training else output

    maps = cost.peak_bytes(B, H, S_q, S_k, training=training)
    vectors = Q.nbytes + K.nbytes + V.nbytes + 4 * B * H * S_q * d_v
    bound = maps + (2 if training else 1) * vectors
    if masked:
        bound += mask.nbytes + S_q  # the negation, and which queries see nothing
    assert maps <= measure(run, Q, K, V, repeats=1).peak_bytes <= bound


@pytest.mark.parametrize(("n", "d"), [(17, 5), (3, 23)])
def test_layer_types_are_counted_exactly(n, d):
    x = torch.zeros(1, n, d).double()  # a fused LSTM for float32 would hide its products
    attention = MultiHeadAttention(d, 1, bias=False).double()
    layers = [(cost.self_attention_layer(n, d), attention, lambda: attention(x, x, x))]
    for kind, gates in ((nn.RNN, 1), (nn.GRU, 3), (nn.LSTM, 4)):
        recurrent = kind(d, d, bias=False, batch_first=True).double()
        call = functools.partial(recurrent, x)
        layers.append((cost.recurrent_layer(n, d, gates), recurrent, call))
    for kernel in (3, 5):
        convolution = nn.Conv1d(d, d, kernel, padding=kernel // 2, bias=False).double()
        call = functools.partial(convolution, x.mT)
        layers.append((cost.convolutional_layer(n, d, kernel), convolution, call))
    for costs, layer, call in layers:
        assert counted_flops(call) == costs["flops"]
        assert sum(p.numel() for p in layer.parameters()) == costs["parameters"]
    assert cost.self_attention_layer(n, d)["parameters"] == count_parameters(d, 1, bias=False)


def test_self_attention_costs_less_than_an_lstm_below_2d_and_than_a_gru_below_d():
    d = 17
    for n in range(1, 60):
        flops = cost.self_attention_layer(n, d)["flops"]
        assert (flops < cost.recurrent_layer(n, d, gates=4)["flops"]) == (n < 2 * d)
        assert (flops < cost.recurrent_layer(n, d, gates=3)["flops"]) == (n < d)
        assert flops > cost.recurrent_layer(n, d)["flops"]


def causal_stack(x, kernel, layers):
    """Sum over the kernel's positions, in each layer `kernel` times as far apart: (1, 1, n)."""
    for layer in range(layers):
        dilation = kernel**layer
        x = functional.pad(x, ((kernel - 1) * dilation, 0))
        x = functional.conv1d(x, torch.ones(1, 1, kernel), dilation=dilation)
    return x


@pytest.mark.parametrize("kernel", [2, 3, 5])
@pytest.mark.parametrize("n", [2, 3, 4, 5, 8, 9, 10, 25, 26, 27, 28, 32, 33])
def test_so_many_dilated_layers_connect_the_first_position_to_the_last_and_one_less_does_not(
    n, kernel
):
    layers = cost.convolutional_layer(n, 7, kernel)["path_length"]
    for count in (layers - 1, layers):
        x = torch.zeros(1, 1, n, requires_grad=True)
        causal_stack(x, kernel, count)[0, 0, -1].backward()
        assert (x.grad[0, 0, 0] != 0) == (count == layers)


def chain(node, name):
    """Give the longest chain of operations called `name` in the graph behind `node`."""
    behind = max((chain(parent, name) for parent, _ in node.next_functions if parent), default=0)
    return behind + (name in type(node).__name__)


def test_a_recurrent_layer_has_as_many_steps_that_wait_for_each_other_as_positions():
    for n in (2, 5, 11):
        states, _ = nn.RNN(3, 3, batch_first=True)(torch.zeros(1, n, 3))
        steps = chain(states.grad_fn, "Tanh")
        costs = cost.recurrent_layer(n, 3)
        assert steps == costs["sequential_steps"] == costs["path_length"]


@pytest.mark.parametrize("kernel", [1, 0, -3])
def test_a_convolution_that_connects_nothing_is_refused(kernel):
    with pytest.raises(ValueError, match=rf"kernel={kernel} connects no two positions"):
        cost.convolutional_layer(11, 7, kernel)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_a_cache_has_the_bytes_of_the_keys_and_values_that_it_keeps(dtype):
    layers = [torch.zeros(2, 3, 7, 11, 5, dtype=dtype) for _ in range(13)]  # K and V: B, H, n, d_k
    kept = cost.kv_cache_bytes(3, 13, 7, 11, 5, dtype.itemsize)
    assert sum(layer.nbytes for layer in layers) == kept
    assert cost.kv_cache_bytes(3, 13, 14, 11, 5, dtype.itemsize) == 2 * kept
    with pytest.raises(ValueError, match="n is -1"):
        cost.kv_cache_bytes(1, 1, 1, -1, 1)
