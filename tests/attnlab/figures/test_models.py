"""The figures over trained models show what the models computed."""

import numpy as np
import pytest
import torch
from traitlets import TraitError

from attnlab import heads, live, minilm
from attnlab.figures import AlignmentExplorer, Bottleneck, HeadsOverview
from attnlab.figures.alignment_explorer import ask
from attnlab.figures.heads_overview import SCORES, read_maps
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


def assert_shows(figure, tokens, layer, head):
    """Raise unless the figure's map is the model's, to a thousandth."""
    with torch.no_grad():
        _, weights = minilm.load_model()(tokens.ids)  # (L, 1, H, S, S)
    found = figure.compute()
    assert found["pieces"] == tokens.pieces[0]
    shown = torch.tensor(found["map"], dtype=torch.float32)
    torch.testing.assert_close(shown, weights[layer - 1, 0, head - 1], rtol=0, atol=6e-4)


def test_the_heads_are_those_of_the_model_to_a_thousandth():
    sentences = [["birds", "build", "nests", "."], ["we", "rarely", "drink", "warm", "coffee", "."]]
    figure = HeadsOverview(**read_maps(sentences), sentence=0, layer=3, head=7)
    assert_shows(figure, minilm.tokenize(sentences[:1]), 3, 7)


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


def test_a_sentence_that_the_kernel_is_asked_for_is_read_and_shown():
    figure = HeadsOverview(layer=2, head=5)
    figure.asked = "Unbelievable, said Zoë: 64 pieces?"
    assert_shows(figure, minilm.tokenize_text(figure.asked), 2, 5)
    found = figure.compute()
    figure.asked = " "
    assert figure.compute() == found
    figure.asked = "word " * 90
    assert len(figure.compute()["pieces"]) == live.MOST


def test_the_pages_carry_few_digits():
    assert all(type(x) is int for x in HeadsOverview().maps[0][0][0][0])
