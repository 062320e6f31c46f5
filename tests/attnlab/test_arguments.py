"""Numbers that are none are refused by name, wherever a public function takes a plain argument."""

import math

import numpy as np
import pytest
import torch

from attnlab import cost, heads, masks, sequence_labelling, tasks
from attnlab.additive import BahdanauAttention, LuongAttention
from attnlab.arguments import check_counts, check_positive, check_probability, check_whole
from attnlab.flash import flash_attention, online_softmax_steps
from attnlab.flash_triton import flash_attention as triton_attention
from attnlab.memory_traffic import Traffic
from attnlab.minilm import MiniLM
from attnlab.multihead import MultiHeadAttention, count_parameters, head_width
from attnlab.profiling import measure
from attnlab.recurrent import Decoder, Encoder
from attnlab.seq2seq import Seq2Seq, train, translate
from attnlab.training import descend
from attnlab.transformer import EncoderLayer, TransformerEncoder, sinusoidal_positions

NO_COUNTS = [2.5, 2.0, math.nan, "2", None, True, np.True_, torch.tensor(True), torch.tensor(2.0)]
MAPS, PAIRS = torch.full((2, 3, 5, 5), 0.2), torch.tensor([[0, 1, 2]])
TENSORS = [torch.zeros(2, 3, 5) for _ in range(3)]
MODEL = Seq2Seq(7, 7, 3, 4)
BATCHES = [(torch.full((2, 3), 5), torch.full((2, 3), 5))] * 2
ENCODER, READOUT = TransformerEncoder(7, 4, 2, 1), torch.nn.Linear(4, 7)
STRINGS = {"n": 2, "length": 3, "n_symbols": 5, "seed": 0}
MODULE = {"vocab_size": 7, "d_model": 4, "n_heads": 2, "n_layers": 1}
LSTM = {"vocab_size": 7, "d_embed": 3, "d_state": 4}
LAYERS = {"batch": 2, "S_q": 3, "S_k": 5, "d_model": 7}
MAP = {"batch": 2, "n_heads": 3, "S_q": 5, "S_k": 7}
SIZES = {**MAP, "d_k": 11, "d_v": 13}

# A function, arguments that fit it, the least that counts among them may be, and their names.
COUNTED = [
    (masks.make_causal_mask, {}, 0, "seq_len"),
    (masks.make_padding_mask, {"lengths": [0]}, 0, "max_len"),
    (masks.to_mha, {"mask": masks.make_causal_mask(3)}, 1, "n_heads"),
    (head_width, {"d_model": 4, "n_heads": 2}, 1, "d_model n_heads"),
    (MultiHeadAttention, {"d_model": 4, "n_heads": 2}, 1, "d_model n_heads"),
    (count_parameters, {"d_model": 4, "n_heads": 2}, 1, "d_model n_heads"),
    (BahdanauAttention, {"d_dec": 2, "d_enc": 3, "d_attn": 5}, 1, "d_dec d_enc d_attn"),
    (LuongAttention, {"d_dec": 2, "d_enc": 3, "score": "general"}, 1, "d_dec d_enc"),
    (Encoder, LSTM, 1, "vocab_size d_embed d_state"),
    (Decoder, LSTM | {"attention": None}, 1, "vocab_size d_embed d_state"),
    (translate, {"model": MODEL, "source": BATCHES[0][0]}, 1, "max_len"),
    (sinusoidal_positions, {"d_model": 4}, 0, "max_len"),
    (sinusoidal_positions, {"max_len": 3}, 1, "d_model"),
    (EncoderLayer, {"d_model": 4, "n_heads": 2, "d_ff": 8}, 1, "d_model n_heads d_ff"),
    (TransformerEncoder, MODULE, 1, "vocab_size d_model n_heads n_layers"),
    (MiniLM, MODULE, 1, "vocab_size d_model n_heads n_layers d_hidden max_len"),
    (tasks.copy, STRINGS, 1, "n length n_symbols"),
    (tasks.reverse, STRINGS, 1, "n length n_symbols"),
    (tasks.three_copies, STRINGS, 1, "n length n_symbols"),
    (tasks.verb_final, {"seed": 0}, 1, "n"),
    (measure, {"fn": tuple}, 1, "repeats"),
    (Traffic, {}, 0, "on_chip"),
    (cost.attention_flops, SIZES, 0, "batch n_heads S_q S_k d_k d_v"),
    (cost.attention_backward_flops, SIZES, 0, "batch n_heads S_q S_k d_k d_v"),
    (cost.saved_bytes, SIZES, 0, "batch n_heads S_q S_k d_k d_v itemsize"),
    (cost.flash_saved_bytes, SIZES, 0, "batch n_heads S_q S_k d_k d_v itemsize"),
    (cost.map_bytes, MAP, 0, "batch n_heads S_q S_k itemsize"),
    (cost.peak_bytes, MAP, 0, "batch n_heads S_q S_k itemsize"),
    (cost.flash_extra_bytes, {"batch": 2, "n_heads": 3, "S_q": 5}, 0, "batch n_heads S_q"),
    (cost.projection_flops, LAYERS, 0, "batch S_q S_k d_model"),
    (cost.multihead_flops, LAYERS, 0, "batch S_q S_k d_model"),
    (cost.recurrent_layer, {"n": 3, "d": 5}, 0, "n d"),
    (cost.convolutional_layer, {"n": 3, "d": 5, "kernel": 3}, 0, "n d"),
]
# A function, arguments that fit it, those among them that may be any whole number, or more than it.
WHOLE = [
    (tasks.copy, STRINGS, "seed"),
    (tasks.reverse, STRINGS, "seed"),
    (tasks.three_copies, STRINGS, "seed"),
    (tasks.verb_final, {"n": 2}, "seed"),
    (heads.position_score, {"weights": MAPS}, "offset"),
    (heads.offset_score, {"pairs": PAIRS}, "offset"),
    (flash_attention, dict(zip("QKV", TENSORS, strict=True)), "block_q"),
    (flash_attention, dict(zip("QKV", TENSORS, strict=True)), "block_k"),
    (online_softmax_steps, dict(zip("QKV", TENSORS, strict=True)), "block_k"),
    (triton_attention, dict(zip("QKV", TENSORS, strict=True)), "block_q"),
    (cost.convolutional_layer, {"n": 3, "d": 5}, "kernel"),
]
POSITIVE = [
    (lambda **given: descend(MODEL.parameters(), BATCHES, None, **given), "rate", "clip"),
    (lambda **given: train(MODEL, BATCHES, **given), "rate", "clip"),
    (lambda **given: sequence_labelling.train(ENCODER, READOUT, BATCHES, **given), "rate", "clip"),
]
CASES = [
    pytest.param(function, given, least, name, id=f"{function.__name__}, {name}")
    for function, given, least, names in COUNTED
    for name in names.split()
]


def call(function, arguments):
    """Call a function, and a generator up to its first result."""
    result = function(**arguments)
    return next(result) if hasattr(result, "__next__") else result


@pytest.mark.parametrize(("function", "given", "least", "name"), CASES)
def test_a_size_that_counts_nothing_is_refused_by_name(function, given, least, name):
    for size in NO_COUNTS:
        with pytest.raises(TypeError, match=rf"{name} is .*, but a whole number fits: pass an int"):
            function(**given | {name: size})
    with pytest.raises(ValueError, match=rf"{name}(=| is ){least - 1}\b"):
        function(**given | {name: least - 1})


@pytest.mark.parametrize(("function", "given", "name"), WHOLE)
def test_a_number_that_is_not_whole_is_refused_by_name(function, given, name):
    for number in (2.5, math.nan, True, "2"):
        with pytest.raises(TypeError, match=f"{name} is {number!r}, but a whole number fits"):
            call(function, given | {name: number})


@pytest.mark.parametrize("number", [0.0, -1.0, math.nan, math.inf])
@pytest.mark.parametrize(("function", "first", "second"), POSITIVE)
def test_a_rate_that_trains_nothing_is_refused(function, first, second, number):
    for name in (first, second):
        with pytest.raises(ValueError, match=rf"{name} is {number}, but .* finite .* above 0"):
            function(**{"rate": 0.1, "clip": 1.0} | {name: number})


@pytest.mark.parametrize("whole", [0, 7, np.int64(7), torch.tensor(7), torch.tensor([7])])
def test_integers_of_python_numpy_and_pytorch_are_whole(whole):
    check_whole(size=whole)
    check_counts(size=whole)


def test_a_whole_number_may_be_negative_and_a_count_not():
    check_whole(offset=-3)
    with pytest.raises(ValueError, match="size is -3, but it must be at least 0"):
        check_counts(size=-3)


@pytest.mark.parametrize("number", [-0.1, 1.1, math.nan, math.inf])
def test_a_number_that_is_no_probability_is_refused(number):
    with pytest.raises(ValueError, match=f"dropout is {number}, but .* between 0 and 1"):
        check_probability(dropout=number)
    with pytest.raises(TypeError, match="dropout is True, but a probability fits"):
        check_probability(dropout=True)


def test_numbers_that_fit_are_accepted():
    check_probability(dropout=0, other=1.0)
    check_positive(rate=1e-9, clip=1)
    check_counts(least=3, size=3)
