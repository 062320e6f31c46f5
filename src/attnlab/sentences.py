"""Short English sentences with their grammar written by hand, to hold attention heads against.

Every relation is a pair ``i>j`` of word positions, counted from 0, full stop included:

- object: from a direct object (its head noun) to its verb
- subject: from a subject (its head noun) to its verb; of "was tired" to the "was"
- determiner: from a, the, this, every, many or which to its noun
- pronoun: from he, she or they to the noun it stands for, in the same sentence

Heads are chosen on `PRACTICE` and judged on `HELD_OUT`. Sentences with pronouns come in pairs in
which gender or number decides, so that a rule like "the first noun" is right in half of them.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch


class Sentence(NamedTuple):
    """Words, and for each relation the pairs (i, j) of word positions that stand in it."""

    words: list[str]
    relations: dict[str, list[tuple[int, int]]]


def read(text: str) -> list[Sentence]:
    r"""Read sentences and their relations.

    Parameters
    ----------
    text : str
        Two lines for each sentence, such as ``"birds build nests .\n  object 2>1  subject 0>1"``.

    Returns
    -------
    sentences : list of Sentence

    Raises
    ------
    ValueError
        If a pair points outside of its sentence, or the last sentence has no line of relations.
    """
    lines, sentences = text.strip().splitlines(), []
    for words_line, relations_line in zip(lines[::2], lines[1::2], strict=True):
        words, relations, found = words_line.split(), {}, []
        for field in relations_line.split():
            if ">" not in field:
                found = relations.setdefault(field, [])
                continue
            i, j = map(int, field.split(">"))
            if max(i, j) >= len(words):
                raise ValueError(f"{field} points outside of the {len(words)} words: {words_line}")
            found.append((i, j))
        sentences.append(Sentence(words, relations))
    return sentences


def pairs(sentences: Sequence[Sentence], relation: str, reverse: bool = False) -> torch.Tensor:
    """Collect all pairs of a relation.

    Parameters
    ----------
    sentences : sequence of Sentence
    relation : str
        Such as ``"object"``: from the object to its verb.
    reverse : bool, optional
        Whether to go the other way, from the verb to its object.

    Returns
    -------
    pairs : int Tensor, shape (N, 3)
        Number of the sentence, word from, word to.

    Raises
    ------
    ValueError
        If no sentence has the relation.
    """
    found = [
        (number, j, i) if reverse else (number, i, j)
        for number, sentence in enumerate(sentences)
        for i, j in sentence.relations.get(relation, [])
    ]
    if not found:
        raise ValueError(f"no sentence has the relation {relation!r}")
    return torch.tensor(found)


PRACTICE = read("""
the chef prepared a delicious soup .
    object 5>2  subject 1>2  determiner 0>1 3>5
the old farmer sold his tired horse .
    object 6>3  subject 2>3  determiner 0>2
children love stories .
    object 2>1  subject 0>1
the nurse opened the heavy wooden door .
    object 6>2  subject 1>2  determiner 0>1 3>6
a small dog chased the cat into the garden .
    object 5>3  subject 2>3  determiner 0>2 4>5 7>8
the book that the boy read was very long .
    object 1>5  subject 1>6 4>5  determiner 0>1 3>4
which car did she buy last week ?
    object 1>4  subject 3>4  determiner 0>1
the teacher gave the pupils a difficult test .
    object 7>2  subject 1>2  determiner 0>1 3>4 5>7
the painter carefully cleaned every brush .
    object 5>3  subject 1>3  determiner 0>1 4>5
they never eat meat .
    object 3>2  subject 0>2
the letter which the lawyer wrote convinced the judge .
    object 1>5 8>6  subject 1>6 4>5  determiner 0>1 3>4 7>8
after the storm the sailors repaired the broken mast .
    object 8>5  subject 4>5  determiner 1>2 3>4 6>8
the young pianist played a slow and quiet piece .
    object 8>3  subject 2>3  determiner 0>2 4>8
the company that built this bridge lost money .
    object 5>3 7>6  subject 1>6 2>3  determiner 0>1 4>5
we visited the museum and bought a cheap poster .
    object 3>1 8>5  subject 0>1 0>5  determiner 2>3 6>8
the police arrested the man who stole the paintings .
    object 4>2 8>6  subject 1>2 5>6  determiner 0>1 3>4 7>8
the baker sells fresh bread on sundays .
    object 4>2  subject 1>2  determiner 0>1
what did the students learn ?
    object 0>4  subject 3>4  determiner 2>3
the tall woman in the red coat carried a basket .
    object 9>7  subject 2>7  determiner 0>2 4>6 8>9
the wind suddenly closed the window .
    object 5>3  subject 1>3  determiner 0>1 4>5
the children found an old map under the stairs .
    object 5>2  subject 1>2  determiner 0>1 3>5 7>8
the songs that she sings make people happy .
    object 1>4 6>5  subject 1>5 3>4  determiner 0>1
the king sent his brother a golden ring .
    object 7>2  subject 1>2  determiner 0>1 5>7
the hunter heard a strange noise behind the trees .
    object 5>2  subject 1>2  determiner 0>1 3>5 7>8
researchers have discovered a new planet .
    object 5>2  subject 0>2  determiner 3>5
the waiter will bring the bill soon .
    object 5>3  subject 1>3  determiner 0>1 4>5
the problem that the engineers solved surprised nobody .
    object 1>5 7>6  subject 1>6 4>5  determiner 0>1 3>4
the goat ate the flowers and broke the fence .
    object 4>2 8>6  subject 1>2 1>6  determiner 0>1 3>4 7>8
whose advice did the minister follow ?
    object 1>5  subject 4>5  determiner 3>4
the father praised the girl because she was brave .
    object 4>2  subject 1>2 6>7  determiner 0>1 3>4  pronoun 6>4
the father praised the girl because he was proud .
    object 4>2  subject 1>2 6>7  determiner 0>1 3>4  pronoun 6>1
the boys greeted the teacher before she left .
    object 4>2  subject 1>2 6>7  determiner 0>1 3>4  pronoun 6>4
the boys greeted the teacher before they left .
    object 4>2  subject 1>2 6>7  determiner 0>1 3>4  pronoun 6>1
anna called her brother because he was ill .
    object 3>1  subject 0>1 5>6  pronoun 5>3
anna called her brother because she was lonely .
    object 3>1  subject 0>1 5>6  pronoun 5>0
the king met the nurses when they arrived .
    object 4>2  subject 1>2 6>7  determiner 0>1 3>4  pronoun 6>4
the king met the nurses when he arrived .
    object 4>2  subject 1>2 6>7  determiner 0>1 3>4  pronoun 6>1
the widow paid the plumber after he fixed the pipe .
    object 4>2 9>7  subject 1>2 6>7  determiner 0>1 3>4 8>9  pronoun 6>4
the widow paid the plumber after she sold the house .
    object 4>2 9>7  subject 1>2 6>7  determiner 0>1 3>4 8>9  pronoun 6>1
""")

HELD_OUT = read("""
the gardener watered the dry roses .
    object 5>2  subject 1>2  determiner 0>1 3>5
the captain ignored the urgent warning .
    object 5>2  subject 1>2  determiner 0>1 3>5
birds build nests .
    object 2>1  subject 0>1
the clerk signed the long official document .
    object 6>2  subject 1>2  determiner 0>1 3>6
a young fox followed the hunters across the field .
    object 5>3  subject 2>3  determiner 0>2 4>5 7>8
the film that the critics praised won an award .
    object 1>5 8>6  subject 1>6 4>5  determiner 0>1 3>4 7>8
which road did the driver take ?
    object 1>5  subject 4>5  determiner 0>1 3>4
the bank offered the couple a large loan .
    object 7>2  subject 1>2  determiner 0>1 3>4 5>7
the mechanic quickly replaced the engine .
    object 5>3  subject 1>3  determiner 0>1 4>5
we rarely drink coffee .
    object 3>2  subject 0>2
the picture which the tourist took shows a castle .
    object 1>5 8>6  subject 1>6 4>5  determiner 0>1 3>4 7>8
before the exam the student borrowed a thick dictionary .
    object 8>5  subject 4>5  determiner 1>2 3>4 6>8
the proud mayor opened a new and modern library .
    object 8>3  subject 2>3  determiner 0>2 4>8
the woman who founded the school wrote novels .
    object 5>3 7>6  subject 1>6 2>3  determiner 0>1 4>5
he washed the plates and dried the big glasses .
    object 3>1 8>5  subject 0>1 0>5  determiner 2>3 6>8
the editor rejected the article that criticised the president .
    object 4>2 8>6  subject 1>2 5>6  determiner 0>1 3>4 7>8
the shop repairs old watches .
    object 4>2  subject 1>2  determiner 0>1
what did the neighbours hear ?
    object 0>4  subject 3>4  determiner 2>3
the boy with the blue hat dropped his ice cream .
    object 9>6  subject 1>6  determiner 0>1 3>5
our aunt knitted a warm scarf last winter .
    object 5>2  subject 1>2  determiner 3>5
the fishermen caught a huge shark near the island .
    object 5>2  subject 1>2  determiner 0>1 3>5 7>8
the cake that the guests ate contained nuts .
    object 1>5 7>6  subject 1>6 4>5  determiner 0>1 3>4
the director showed the visitors the secret archive .
    object 7>2  subject 1>2  determiner 0>1 3>4 5>7
the patient needed a second operation after the accident .
    object 5>2  subject 1>2  determiner 0>1 3>5 7>8
scientists have measured the exact distance .
    object 5>2  subject 0>2  determiner 3>5
the question that the lawyer asked confused the witness .
    object 1>5 8>6  subject 1>6 4>5  determiner 0>1 3>4 7>8
the factory produces many very cheap toys .
    object 6>2  subject 1>2  determiner 0>1 3>6
the monkey opened the cage and stole the bananas .
    object 4>2 8>6  subject 1>2 1>6  determiner 0>1 3>4 7>8
whose car did the tourists rent ?
    object 1>5  subject 4>5  determiner 3>4
the prince kissed the princess because she smiled .
    object 4>2  subject 1>2 6>7  determiner 0>1 3>4  pronoun 6>4
the prince kissed the princess because he smiled .
    object 4>2  subject 1>2 6>7  determiner 0>1 3>4  pronoun 6>1
the dogs followed the hunter until he stopped .
    object 4>2  subject 1>2 6>7  determiner 0>1 3>4  pronoun 6>4
the dogs followed the hunter until they stopped .
    object 4>2  subject 1>2 6>7  determiner 0>1 3>4  pronoun 6>1
maria blamed her uncle because he broke the vase .
    object 3>1 8>6  subject 0>1 5>6  determiner 7>8  pronoun 5>3
maria blamed her uncle because she missed the train .
    object 3>1 8>6  subject 0>1 5>6  determiner 7>8  pronoun 5>0
the actress hired the guards after they promised silence .
    object 4>2 8>7  subject 1>2 6>7  determiner 0>1 3>4  pronoun 6>4
the actress hired the guards after she lost the keys .
    object 4>2 9>7  subject 1>2 6>7  determiner 0>1 3>4 8>9  pronoun 6>1
the grandfather visited the women when they were ill .
    object 4>2  subject 1>2 6>7  determiner 0>1 3>4  pronoun 6>4
the grandfather visited the women when he was lonely .
    object 4>2  subject 1>2 6>7  determiner 0>1 3>4  pronoun 6>1
""")
