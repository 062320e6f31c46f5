"""Pairs of solution cells that are suspiciously alike: something to look at, never a mark.

What is compared is code without its layout, comments and names: a copy whose variables are renamed
is still a copy. The stub does not count, nor does what a good part of the class wrote: where there
is one natural answer, many find it.
"""

import io
import keyword
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from nbmark.grade.plan import Task
from nbmark.release import stub_of
from nbmark.submission import Original

LENGTH = 6  # tokens of a shingle
LEAST = 20  # shingles of an answer that can be compared
ALIKE = 0.8  # of the shingles of two answers that both have
COMMON, COMMON_SHARE = 4, 0.25  # a shingle that more have says nothing: at least, and of the class
MOST_PAIRS = 100
LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER}


@dataclass(frozen=True)
class Pair:
    """Two answers that are alike."""

    cell: str
    students: tuple[str, str]
    share: float  # of their shingles, from 0 to 1


def pairs(tasks: Sequence[Task], originals: Iterable[Original]) -> list[Pair]:
    """Find the pairs of a class, the most alike first."""
    stubs = {original.stem: _stubs(original) for original in originals}
    answers: dict[str, list[tuple[str, frozenset[int]]]] = defaultdict(list)
    for task in tasks:
        for cell, source in task.answers:
            own = shingles(source) - stubs[task.exercise].get(cell, frozenset())
            answers[cell].append((task.owner.name, own))
    found = [pair for cell, given in answers.items() for pair in _of_cell(cell, given)]
    found.sort(key=lambda pair: (-pair.share, pair.cell, pair.students))
    return found[:MOST_PAIRS]


def shingles(source: str) -> frozenset[int]:
    """Give the runs of tokens of a cell; of one that is no Python, as far as it can be read."""
    tokens = tuple(_tokens(source))
    return frozenset(hash(tokens[i : i + LENGTH]) for i in range(len(tokens) - LENGTH + 1))


def _tokens(source: str) -> Iterator[str]:
    """Give tokens without names: each is known by the order in which names first occur nearby."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.NAME and not keyword.iskeyword(token.string):
                yield "name"
            elif token.type == tokenize.STRING:
                yield "text"
            elif token.type in (tokenize.INDENT, tokenize.DEDENT, tokenize.NEWLINE):
                yield tokenize.tok_name[token.type]
            elif token.type not in LAYOUT:
                yield token.string
    except (tokenize.TokenError, SyntaxError):
        return


def _stubs(original: Original) -> dict[str, frozenset[int]]:
    """Give the shingles of what was handed out, by cell."""
    cells = [cell for cell in original.notebook.cells if cell.cell_type == "code"]
    named = ((cell.metadata.get("nbgrader", {}).get("grade_id"), cell) for cell in cells)
    return {name: shingles(stub_of(cell).source) for name, cell in named if name}


def _of_cell(cell: str, given: Sequence[tuple[str, frozenset[int]]]) -> Iterator[Pair]:
    """Find the pairs of one cell, by way of the shingles that few have."""
    count = Counter(shingle for _, own in given for shingle in own)
    most = max(COMMON, COMMON_SHARE * len(given))
    rare = [(name, {s for s in own if count[s] <= most}) for name, own in given]
    having = defaultdict(list)
    for index, (_, own) in enumerate(rare):
        for shingle in own:
            having[shingle].append(index)
    shared = Counter(pair for who in having.values() for pair in combinations(who, 2))
    for (one, other), common in shared.items():
        if common < LEAST:
            continue
        share = common / (len(rare[one][1]) + len(rare[other][1]) - common)
        if share >= ALIKE and rare[one][0] != rare[other][0]:
            names = sorted((rare[one][0], rare[other][0]))
            yield Pair(cell, (names[0], names[1]), round(share, 2))
