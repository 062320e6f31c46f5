"""Colours queries, keys, values and outputs in code and its comments, as formulas and figures do.

The names that count are those of the book: Q, W_q, S_q, query; K, W_k, S_k, key; V, W_v, d_v,
value; O, W_o, output. What follows a full stop is somebody's method. The colours stand in
_static/tokens.css.
"""

import re
from collections.abc import Iterator

from ipython_pygments_lexers import IPython3Lexer
from pygments.lexers import PythonLexer
from pygments.token import Comment, Name, _TokenType
from sphinx.application import Sphinx

MEANINGS = {
    "Query": r"Q|[qQ]_\w+|W_[qQ]|S_q|quer(?:y|ies)",
    "Key": r"K|[kK]_\w+|W_[kK]|S_k|d_k|keys?",
    "Value": r"V|[vV]_\w+|W_[vV]|d_v|values?",
    "Output": r"O|W_[oO]|outputs?",
}
WORD = re.compile("|".join(rf"(?P<{name}>\b(?:{words})\b)" for name, words in MEANINGS.items()))
Token = tuple[int, _TokenType, str]


def with_meaning(tokens: Iterator[Token]) -> Iterator[Token]:
    """Give names and the words of comments that mean something a type of their own."""
    before = ""
    for start, kind, text in tokens:
        if kind is Name and before != "." and (found := WORD.fullmatch(text)):
            yield start, getattr(kind, found.lastgroup), text
        elif kind in Comment:
            yield from split(start, kind, text)
        else:
            yield start, kind, text
        before = text


def split(start: int, kind: _TokenType, text: str) -> Iterator[Token]:
    """Cut a comment at its words with a meaning."""
    done = 0
    for found in WORD.finditer(text):
        if found.start() > done:
            yield start + done, kind, text[done : found.start()]
        yield start + found.start(), getattr(kind, found.lastgroup), found[0]
        done = found.end()
    if done < len(text):
        yield start + done, kind, text[done:]


class Meaningful:
    """Reads code as the class beside it does, with meanings."""

    def get_tokens_unprocessed(self, text: str, *stack: tuple) -> Iterator[Token]:
        """Give the tokens."""
        return with_meaning(super().get_tokens_unprocessed(text, *stack))


class MeaningfulPython(Meaningful, PythonLexer):
    """For listings."""


class MeaningfulIPython(Meaningful, IPython3Lexer):
    """For cells."""


def setup(app: Sphinx) -> dict[str, bool]:
    """Take the place of Pygments' own."""
    app.add_lexer("python", MeaningfulPython)
    app.add_lexer("ipython3", MeaningfulIPython)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
