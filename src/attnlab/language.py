"""A verb-final language for the translation task: a miniature German, word by word.

Its participle stands at the end of the clause, in a subordinate clause together with its
auxiliary: *weil er gestern den Hund gesehen hatte* is *because he had seen the dog yesterday*.
Each word has exactly one partner, so that the alignment is known.
"""

import random

# A miniature German, word by word beside its English. Articles and adjectives agree in gender.
SUBJECTS = {"er": "he", "sie": "she", "es": "it", "Anna": "Anna", "Paul": "Paul", "man": "one"}
NOUNS = {
    "m": {"Hund": "dog", "Ball": "ball", "Brief": "letter", "Baum": "tree"},
    "f": {"Katze": "cat", "Blume": "flower", "Zeitung": "newspaper", "Lampe": "lamp"},
    "n": {"Buch": "book", "Haus": "house", "Kind": "child", "Auto": "car"},
}
ADJECTIVES = {"rot": "red", "groß": "big", "klein": "small", "neu": "new", "bunt": "colourful"}
VERBS = {
    "gesehen": "seen",
    "gekauft": "bought",
    "gefunden": "found",
    "verloren": "lost",
    "gemalt": "painted",
    "vergessen": "forgotten",
    "geholt": "fetched",
    "gesucht": "sought",
}
ADVERBS = {"gestern": "yesterday", "oft": "often", "schnell": "quickly", "leise": "quietly"}
PLACES = {"Garten": "garden", "Park": "park", "Wald": "forest", "Hof": "yard"}
CONJUNCTIONS = {"weil": "because", "obwohl": "although"}
# English article -> gender -> German article and the ending of the adjectives behind it.
ARTICLES = {
    "the": {"m": ("den", "en"), "f": ("die", "e"), "n": ("das", "e")},
    "a": {"m": ("einen", "en"), "f": ("eine", "e"), "n": ("ein", "es")},
}

ALL_NOUNS = {german: english for nouns in NOUNS.values() for german, english in nouns.items()}
_ENDINGS = [ending for forms in ARTICLES.values() for _, ending in forms.values()]
_SHARED = SUBJECTS | VERBS | ADVERBS | PLACES | CONJUNCTIONS | ALL_NOUNS
GERMAN_WORDS = sorted(
    {*_SHARED, "hatte", "in", "dem"}
    | {article for forms in ARTICLES.values() for article, _ in forms.values()}
    | {adjective + ending for adjective in ADJECTIVES for ending in _ENDINGS}
)
ENGLISH_WORDS = sorted({*_SHARED.values(), *ADJECTIVES.values(), *ARTICLES, "had", "in"})

Pairs = list[tuple[str, str]]  # a German word and its English one, in German order


def _object(rng: random.Random) -> Pairs:
    """Choose an article, up to two adjectives and a noun."""
    gender, english = rng.choice("mfn"), rng.choice(list(ARTICLES))
    article, ending = ARTICLES[english][gender]
    adjectives = rng.sample(list(ADJECTIVES.items()), rng.choice((0, 0, 1, 2)))
    noun = rng.choice(list(NOUNS[gender].items()))
    return [(article, english), *((word + ending, other) for word, other in adjectives), noun]


def _clause(rng: random.Random, subordinate: bool) -> tuple[Pairs, list[int]]:
    """Build a clause: its words in German order, and their positions in English order."""
    parts = {
        "subject": [rng.choice(list(SUBJECTS.items()))],
        "had": [("hatte", "had")],
        "adverb": rng.sample(list(ADVERBS.items()), rng.choice((0, 1))),
        "object": _object(rng),
        "place": [("in", "in"), ("dem", "the"), rng.choice(list(PLACES.items()))],
        "verb": [rng.choice(list(VERBS.items()))],
    }
    if rng.random() < 0.5:
        parts["place"] = []
    order = ["subject", "had", "adverb", "object", "place", "verb"]
    if subordinate:  # here the auxiliary, too, goes to the end
        order.append(order.pop(1))
    pairs: Pairs = []
    positions = {}
    for name in order:
        positions[name] = range(len(pairs), len(pairs) + len(parts[name]))
        pairs += parts[name]
    english = ["subject", "had", "verb", "object", "place", "adverb"]
    return pairs, [j for name in english for j in positions[name]]


def sentence(rng: random.Random) -> tuple[Pairs, list[int]]:
    """Build a main clause and, every other time, a subordinate one behind it.

    The pairs are in German order; the alignment has their positions in English order.
    """
    pairs, alignment = _clause(rng, subordinate=False)
    if rng.random() < 0.5:
        more, positions = _clause(rng, subordinate=True)
        pairs = [*pairs, rng.choice(list(CONJUNCTIONS.items()))]
        alignment = [*alignment, len(pairs) - 1, *(len(pairs) + j for j in positions)]
        pairs += more
    return pairs, alignment
