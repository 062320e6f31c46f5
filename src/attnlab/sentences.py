"""Short English sentences with their grammar written by hand, to hold attention heads against.

Every relation is a pair ``i>j`` of word positions, counted from 0, full stop included:

- object: from a direct object (its head noun) to its verb
- subject: from a subject (its head noun) to its verb; of "was tired" to the "was"
- determiner: from a, the, this, every, many or which to its noun
- pronoun: from he, she or they to the noun it stands for, in the same sentence

Heads are chosen on `PRACTICE` and judged on `HELD_OUT`, which stand in sentences_practice.txt and
sentences_held_out.txt beside this file. Sentences with pronouns come in pairs in
which gender or number decides, so that a rule like "the first noun" is right in half of them.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch

HERE = Path(__file__).parent


class Sentence(NamedTuple):
    """Words, and for each relation the pairs (i, j) of word positions that stand in it."""

    words: list[str]
    relations: dict[str, list[tuple[int, int]]]


def read(text: str) -> list[Sentence]:
    r"""Read sentences and their relations.

    The text has two lines for each: ``"birds build nests .\n  object 2>1  subject 0>1"``. A pair
    that points outside of its sentence, or a last one without relations, raises ValueError.
    """
    lines, sentences = text.strip().splitlines(), []
    for words_line, relations_line in zip(lines[::2], lines[1::2], strict=True):
        words, relations, found = words_line.split(), {}, []
        for field in relations_line.split():
            if ">" not in field:
                found = relations.setdefault(field, [])
                continue
            i, j = map(int, field.split(">"))
            if not 0 <= min(i, j) <= max(i, j) < len(words):
                raise ValueError(f"{field} points outside of the {len(words)} words: {words_line}")
            found.append((i, j))
        sentences.append(Sentence(words, relations))
    return sentences


def pairs(sentences: Sequence[Sentence], relation: str, reverse: bool = False) -> torch.Tensor:
    """Collect all pairs of a relation such as ``"object"``, from the object to its verb.

    The result, an int Tensor of shape (N, 3), holds the number of the sentence, the word from and
    the word to. With `reverse` a pair goes the other way, from the verb to its object. A relation
    that no sentence has raises ValueError.
    """
    found = [
        (number, j, i) if reverse else (number, i, j)
        for number, sentence in enumerate(sentences)
        for i, j in sentence.relations.get(relation, [])
    ]
    if not found:
        raise ValueError(f"no sentence has the relation {relation!r}")
    return torch.tensor(found)


PRACTICE = read(HERE.joinpath("sentences_practice.txt").read_text("utf-8"))
HELD_OUT = read(HERE.joinpath("sentences_held_out.txt").read_text("utf-8"))
