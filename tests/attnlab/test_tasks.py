"""The synthetic tasks: the right answers are right, and a seed fixes them."""

import re

import pytest
import torch

from attnlab import language, tasks
from attnlab.tasks import ENGLISH, EOS, GERMAN, PAD, SPECIALS

B, length, n_symbols = 11, 7, 13
EVERY_TASK = pytest.mark.parametrize(
    "make",
    [
        lambda seed: tasks.copy(B, length, n_symbols, seed),
        lambda seed: tasks.reverse(B, length, n_symbols, seed),
        lambda seed: tasks.three_copies(B, length, n_symbols, seed),
        lambda seed: tasks.verb_final(B, seed),
    ],
    ids=["copy", "reverse", "three_copies", "verb_final"],
)


@EVERY_TASK
def test_seed_decides_everything_and_the_global_seed_nothing(make):
    torch.manual_seed(1)
    first = make(3)
    torch.manual_seed(2)
    second, other = make(3), make(4)
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))
    assert not torch.equal(first[0], other[0])


@EVERY_TASK
def test_making_data_leaves_the_global_random_state_alone(make):
    before = torch.get_rng_state()
    make(0)
    assert torch.equal(before, torch.get_rng_state())


def test_copy_repeats_and_reverse_turns_round():
    source, target = tasks.copy(B, length, n_symbols, seed=0)
    assert source.shape == (B, length)
    assert torch.equal(source, target)
    source, target = tasks.reverse(B, length, n_symbols, seed=0)
    for i in range(length):
        assert torch.equal(target[:, i], source[:, length - 1 - i])


@pytest.mark.parametrize("task", [tasks.copy, tasks.reverse])
def test_every_symbol_occurs_and_no_reserved_id(task):
    source, _ = task(500, length, n_symbols, seed=0)
    assert set(source.unique().tolist()) == set(range(SPECIALS, SPECIALS + n_symbols))


def test_each_target_word_translates_the_source_word_it_is_aligned_with():
    meaning = german_to_english()
    for source, target, alignment in zip(*tasks.verb_final(200, seed=0), strict=True):
        german = tasks.spell(source, GERMAN)
        english = tasks.spell(target, ENGLISH)
        positions = alignment[alignment >= 0].tolist()
        assert sorted(positions) == list(range(len(german)))
        assert [meaning[german[j]] for j in positions] == english
        assert target[len(english)] == EOS
        assert (alignment[len(english) :] == -1).all()
        assert (target[len(english) + 1 :] == PAD).all()


def german_to_english():
    """Look every German form up, adjectives by their stem."""
    tables = (
        language.SUBJECTS,
        language.VERBS,
        language.ADVERBS,
        language.PLACES,
        language.CONJUNCTIONS,
    )
    meaning = {"hatte": "had", "in": "in", "dem": "the"}
    for table in (*tables, *language.NOUNS.values()):
        meaning |= table
    for english, forms in language.ARTICLES.items():
        for article, ending in forms.values():
            meaning[article] = english
            meaning |= {stem + ending: other for stem, other in language.ADJECTIVES.items()}
    return meaning


def test_participle_closes_the_clause_in_german_and_follows_had_in_english():
    verb, verbs = "|".join(language.VERBS), "|".join(language.VERBS.values())
    subordinate = "|".join(language.CONJUNCTIONS)
    main, closed = rf"\w+ hatte .*?({verb})", rf"(?:{subordinate}) \w+ .*?({verb}) hatte"
    translation = tasks.verb_final(200, seed=1)
    for source, target in zip(translation.source, translation.target, strict=True):
        german, english = tasks.spell(source, GERMAN), tasks.spell(target, ENGLISH)
        found = re.fullmatch(rf"{main}(?: {closed})?", " ".join(german))
        assert found, german
        spoken = re.findall(rf"had ({verbs})\b", " ".join(english))
        assert spoken == [language.VERBS[word] for word in found.groups() if word]


@pytest.mark.parametrize(
    ("article", "adjective", "nouns"),
    [
        ("den", "rot" + "en", "m"),
        ("einen", "rot" + "en", "m"),
        ("die", "rot" + "e", "f"),
        ("eine", "rot" + "e", "f"),
        ("das", "rot" + "e", "n"),
        ("ein", "rot" + "es", "n"),
    ],
)
def test_article_adjective_and_noun_agree(article, adjective, nouns):
    translation = tasks.verb_final(3000, seed=2)
    sentences = [" ".join(tasks.spell(source, GERMAN)) for source in translation.source]
    pattern = rf"\b{article} (rot\w+) (\w+)"
    seen = {found for text in sentences for found in re.findall(pattern, text)}
    seen = {(form, noun) for form, noun in seen if noun[0].isupper()}
    assert seen == {(adjective, noun) for noun in language.NOUNS[nouns]}


def test_english_needs_no_an():
    words = [
        *language.ADJECTIVES.values(),
        *(w for nouns in language.NOUNS.values() for w in nouns.values()),
    ]
    assert not [word for word in words if word[0] in "aeiou"]


def test_spelling_skips_padding_and_the_end_mark():
    assert tasks.spell(torch.tensor([5, 6, EOS, PAD]), ENGLISH) == [ENGLISH[5], ENGLISH[6]]


def test_three_copies_are_left_neighbour_twin_and_most_frequent_symbol():
    source, target = tasks.three_copies(B, length, 3, seed=0)
    assert source.shape == (B, 2 * length)
    assert target.shape == (B, 2 * length, 3)
    for string, answers in zip(source.tolist(), target.tolist(), strict=True):
        most = max(sorted(set(string)), key=string.count)
        for i, (left, twin, frequent) in enumerate(answers):
            assert left == (string[i - 1] if i else PAD)
            assert twin == string[i + length if i < length else i - length]
            assert frequent == most
