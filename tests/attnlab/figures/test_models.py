"""The figures over trained models show what the models computed."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F
from traitlets import TraitError

from attnlab import heads, live, minilm
from attnlab.figures import AlignmentExplorer, Bottleneck, HeadsOverview, LiveSentence
from attnlab.figures._reading import read_maps, words_of
from attnlab.figures.alignment_explorer import ask
from attnlab.figures.heads_overview import SCORES
from attnlab.figures.live_sentence import HEADS
from attnlab.seq2seq import Seq2Seq
from attnlab.tasks import ENGLISH, GERMAN, verb_final

PAIRS = [
    ("Anna hatte einen Brief verloren", "Anna had lost a letter"),
    ("er hatte den Hund in dem Wald gesehen", "he had seen the dog in the forest"),
]


def translator(attention="bahdanau"):
    """Make an untrained model with uneven weights."""
    torch.manual_seed(11)
    model = Seq2Seq(len(GERMAN), len(ENGLISH), d_embed=7, d_state=22, attention=attention)
    if attention == "bahdanau":
        torch.nn.init.normal_(model.decoder.attention.v_a.weight, std=3)
    return model


def test_the_softmax_of_the_scores_is_the_weights_of_the_model():
    model = translator()
    source, target, _ = verb_final(1, seed=13)
    with torch.no_grad():
        _, weights = model(source, target)
        scores, states = ask(model, source[0], target[0])
        torch.testing.assert_close(states, model.encode(source)[0].states[0])
    torch.testing.assert_close(scores.softmax(-1), weights[0], rtol=0, atol=1e-6)
    assert not torch.allclose(weights[0, 0], weights[0, 1], rtol=0, atol=1e-4)


@pytest.mark.parametrize("sentence", [0, 1])
def test_a_sentence_shows_its_own_weights_whatever_stands_beside_it(sentence):
    model = translator()
    figure = AlignmentExplorer.of(model, PAIRS)
    figure.sentence, figure.word = sentence, 99
    alone = AlignmentExplorer.of(model, [PAIRS[sentence]])
    alone.word = 99
    assert figure.compute() == alone.compute()
    assert figure.compute()["source"] == PAIRS[sentence][0].split()
    assert len(figure.compute()["weights"]) == len(PAIRS[sentence][1].split())


def test_a_model_without_the_scores_is_refused():
    with pytest.raises(ValueError, match='no attention="bahdanau"'):
        AlignmentExplorer.of(translator("luong"), PAIRS)


def test_an_unknown_word_is_refused():
    with pytest.raises(ValueError, match="'Peter' is not known; choose among"):
        AlignmentExplorer.of(translator(), [("Peter hatte", "Anna had")])


def test_arrays_too_small_for_the_sentences_are_refused():
    with pytest.raises(TraitError, match=r"states has shape \(2, 3, 1\).*need \(2, 6\)"):
        AlignmentExplorer(states=np.zeros((2, 3, 1)))


def test_measurements_of_another_shape_are_refused():
    with pytest.raises(TraitError, match=r"bits has shape \(4, 7\); pass \(4, 10\)"):
        Bottleneck(bits=np.ones((4, 7)))


def model_on(text):
    """Let MiniLM read a text: its pieces, vectors (L + 1, S, d_model), and weights (L, H, S, S)."""
    tokens = minilm.tokenize_text(text, live.MOST)
    with torch.no_grad():
        hidden, weights = minilm.load_model()(tokens.ids)
    return tokens.pieces[0], hidden[:, 0], weights[:, 0]


def expect_map(figure, text, layer, head):
    """Compare what a figure shows with the model's own reading, to a thousandth."""
    pieces, _, weights = model_on(text)
    found = figure.compute()
    assert found["pieces"] == pieces
    shown = torch.tensor(found["map"], dtype=torch.float32)
    torch.testing.assert_close(shown, weights[layer - 1, head - 1], rtol=0, atol=6e-4)


def test_the_heads_are_those_of_the_model_to_a_thousandth():
    sentences = [["birds", "build", "nests", "."], ["we", "rarely", "drink", "warm", "coffee", "."]]
    figure = HeadsOverview(**read_maps(sentences), sentence=0, layer=3, head=7)
    expect_map(figure, "birds build nests .", 3, 7)
    for place, head in enumerate(HEADS):
        figure = LiveSentence(sentence=place % 2, head=head)
        layer, number = map(int, head.split("-"))
        expect_map(figure, words_of(figure.sentences[place % 2]), layer, number)


@pytest.mark.parametrize(
    ("kind", "traits", "layer", "head"),
    [(HeadsOverview, {"layer": 2, "head": 5}, 2, 5), (LiveSentence, {"head": "2-9"}, 2, 9)],
)
def test_a_sentence_that_the_kernel_is_asked_for_is_read_and_shown(kind, traits, layer, head):
    figure = kind(**traits)
    figure.asked = "Unbelievable, said Zoë: 64 pieces?"
    expect_map(figure, figure.asked, layer, head)
    found = figure.compute()
    figure.asked = " "
    assert figure.compute() == found
    figure.asked = "word " * 90
    assert len(figure.compute()["pieces"]) == live.MOST
    assert figure.own["left"] == 28


def test_cosines_of_words_are_those_of_the_models_vectors_within_a_sentence_and_across():
    figure = HeadsOverview(view="word vectors", sentence=5, token=5, after=3)
    river, money = (model_on(words_of(figure.sentences[i]))[1][3] for i in (5, 6))
    for asked in ("", words_of(figure.sentences[5])):  # from the list, then as one's own
        figure.asked = asked
        found = figure.compute()
        wanted = F.cosine_similarity(river[:, None], river[None], dim=-1)
        torch.testing.assert_close(torch.tensor(found["grid"]).float(), wanted, rtol=0, atol=6e-3)
        across = F.cosine_similarity(river[5], money, dim=-1)[7].item()  # bank with bank
        label = "bank (7)"
        assert found["values"][found["labels"].index(label)] == pytest.approx(across, abs=6e-3)


def test_what_is_left_without_heads_is_what_the_section_measures():
    figure = HeadsOverview(sentence=3, view="heads switched off", off="1-3 4-2")
    text = words_of(figure.sentences[3])
    _, whole, before = model_on(text)
    pruned = minilm.load_model()
    for layer, head in ((0, 2), (3, 1)):
        pruned.layers[layer].attend.W_o.weight.data[:, 32 * head : 32 * (head + 1)] = 0
    with torch.no_grad():
        hidden, weights = pruned(minilm.tokenize_text(text).ids)
    found = figure.compute()
    cosine = F.cosine_similarity(whole[-1].sum(0), hidden[-1, 0].sum(0), dim=0)
    assert found["cosine"] == pytest.approx(cosine.item(), abs=1e-5)
    words = F.cosine_similarity(whole[-1], hidden[-1, 0])
    assert found["values"] == pytest.approx(words.tolist(), abs=1e-5)
    assert found["cosine"] < 0.9999
    moved = (before - weights[:, 0]).abs().sum(-1).mean(-1) / 2  # rows sum to 1: half of it went
    assert found["moved"][1] == pytest.approx(moved.max().item(), abs=2e-3)
    figure.off = ""
    assert figure.compute()["cosine"] == 1


def test_the_head_most_like_another_has_the_most_weight_on_the_same_keys():
    figure = HeadsOverview(view="heads like it", layer=1, head=3)
    _, _, weights = model_on(words_of(figure.sentences[0]))
    common = torch.minimum(weights[0, 2], weights.flatten(0, 1)).sum(-1).mean(-1)  # (72,)
    best, second = common.topk(2).indices.tolist()
    assert best == 2  # itself
    found = figure.compute()
    assert found["labels"][0] == f"{second // 12 + 1}-{second % 12 + 1}"
    assert found["values"][0] == pytest.approx(common[second].item(), abs=2e-3)


def test_the_scores_are_those_of_the_section():
    figure = HeadsOverview()
    tokens = minilm.tokenize([figure.sentences[0].split()[1:-1]])
    with torch.no_grad():
        _, weights = minilm.load_model()(tokens.ids)
    exact = {
        "[CLS]": heads.delimiter_score(weights, tokens.ids == minilm.CLS),
        "[SEP]": heads.delimiter_score(weights, tokens.ids == minilm.SEP),
        "previous token": heads.previous_token_score(weights),
        "next token": heads.next_token_score(weights),
        "itself": heads.position_score(weights, 0),
        "uniformity": heads.uniformity(weights),
    }
    assert exact.keys() == SCORES.keys()
    for name, wanted in exact.items():
        figure.score = name
        shown = torch.tensor(figure.compute()["scores"], dtype=torch.float32)
        torch.testing.assert_close(shown, wanted, rtol=0, atol=3e-3)


def test_the_pages_carry_few_digits():
    assert all(type(x) is int for x in HeadsOverview().maps[0][0][0][0])
