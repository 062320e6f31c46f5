"""The annotated sentences: read right, and true to what their docstring says."""

import pytest

from attnlab.sentences import HELD_OUT, PRACTICE, pairs, read

ALL = PRACTICE + HELD_OUT
DETERMINERS = {"a", "an", "the", "this", "every", "many", "which"}
PRONOUNS = {"he", "she", "they"}


def words_of(relation):
    return [
        (sentence.words[i], sentence.words[j])
        for sentence in ALL
        for i, j in sentence.relations.get(relation, [])
    ]


def test_reading_gives_words_and_pairs():
    (cat, dogs) = read(
        "the cat saw birds .\n    object 3>2  determiner 0>1\ndogs bark .\n  subject 0>1"
    )
    assert cat.words == ["the", "cat", "saw", "birds", "."]
    assert cat.relations == {"object": [(3, 2)], "determiner": [(0, 1)]}
    assert dogs.relations == {"subject": [(0, 1)]}


@pytest.mark.parametrize("pair", ["0>3", "3>0", "-1>0", "0>-1"])
def test_a_pair_outside_of_its_sentence_is_refused(pair):
    with pytest.raises(ValueError, match=rf"{pair} points outside of the 3 words"):
        read(f"dogs bark .\n    subject {pair}")


def test_pairs_number_the_sentences_and_can_be_reversed():
    sentences = read("dogs bark .\n subject 0>1\nthe cat saw a dog .\n object 4>2  determiner 3>4")
    assert pairs(sentences, "object").tolist() == [[1, 4, 2]]
    assert pairs(sentences, "object", reverse=True).tolist() == [[1, 2, 4]]


def test_an_unknown_relation_is_refused():
    with pytest.raises(ValueError, match="'adjective'"):
        pairs(PRACTICE, "adjective")


def test_determiner_pairs_start_at_determiners_and_pronoun_pairs_at_pronouns():
    assert {i for i, _ in words_of("determiner")} == DETERMINERS
    assert {i for i, _ in words_of("pronoun")} == PRONOUNS
    assert not {j for _, j in words_of("pronoun")} & PRONOUNS


def test_every_article_of_every_sentence_has_its_noun():
    for sentence in ALL:
        articles = [i for i, word in enumerate(sentence.words) if word in ("a", "an", "the")]
        annotated = [i for i, _ in sentence.relations.get("determiner", [])]
        assert set(articles) <= set(annotated), sentence.words


def test_objects_and_subjects_of_a_verb_differ_and_no_verb_has_two():
    for sentence in ALL:
        objects, subjects = (sentence.relations.get(name, []) for name in ("object", "subject"))
        assert not set(objects) & set(subjects), sentence.words
        for found in (objects, subjects):
            verbs = [verb for _, verb in found]
            assert len(verbs) == len(set(verbs)), sentence.words
        assert {verb for _, verb in objects} <= {verb for _, verb in subjects}, sentence.words


def test_pronouns_come_in_pairs_of_sentences_and_the_first_noun_is_right_in_half():
    for sentences in (PRACTICE, HELD_OUT):
        with_pronoun = [s for s in sentences if "pronoun" in s.relations]
        for one, other in zip(with_pronoun[::2], with_pronoun[1::2], strict=True):
            first_verb = one.relations["subject"][0][1]
            assert one.words[: first_verb + 1] == other.words[: first_verb + 1]
            (_, antecedent), (_, first) = one.relations["pronoun"][0], other.relations["pronoun"][0]
            assert antecedent > first == other.relations["subject"][0][0]


def test_no_verb_with_its_object_is_in_both_sets():
    seen = [
        {(s.words[j], s.words[i]) for s in sentences for i, j in s.relations.get("object", [])}
        for sentences in (PRACTICE, HELD_OUT)
    ]
    assert not seen[0] & seen[1]
