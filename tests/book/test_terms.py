r"""No page uses a term before the book has said what it means.

The first time that a term of `TERMS` stands in the text, in reading order, it is a link to the
glossary (``{term}``), or in italics, where the text defines it, or it stands in a primer. Headings,
code, formulas and addresses are no text. A symbol's first paragraph says that it is a width.
"""

import json
import re
from collections.abc import Iterator

import pytest
import yaml
from files import ROOT

LAST = "1_10"  # the last page that the tests read

TERMS = {
    name: re.compile(rf"\b(?:{pattern})\b", re.I)
    for name, pattern in {
        "additive attention": "additive attention",
        "alignment": "alignments?|aligned",
        "autoregressive": "autoregressive",
        "batch": "batch(?:es)?",
        "BLEU": "BLEU",
        "causal mask": "causal mask",
        "context vector": "context vectors?",
        "coreference": "coreference",
        "cross-attention": "cross-attention",
        "cross-entropy": "cross-entropy",
        "decoder": "decoders?|encoder-decoders?",
        "distillation": "distil(?:led|lation)",
        "embedding": "embeddings?|embedded",
        "encoder": "encoders?|encoder-decoders?",
        "entropy": "(?<!cross-)entropy",
        "feed-forward": "feed-forward",
        "Flash Attention": "flash ?attention",
        "FLOP": "FLOPs?",
        "fused": "fused",
        "fourth moment": "fourth moments?",
        "HBM": "HBM",
        "head": "heads?(?! noun| words)",
        "key": "(?<!arrow )keys?",
        "Kronecker delta": "kronecker",
        "layer": "layers?",
        "logit": "logits?",
        "LSTM": "LSTMs?",
        "mask": "masks?|masked",
        "multi-head attention": "multi-head",
        "mutual information": "mutual information",
        "nat": "nats?",
        "normalisation": "normali[sz](?:ation|e|ed|es)",
        "one-hot": "one-hot",
        "online softmax": "online softmax",
        "output projection": "output projection",
        "padding": "padding|padded",
        "permutation equivariance": "permutation[- ]equivarian(?:t|ce)|equivarian(?:t|ce)",
        "projection": "projections?|projected",
        "query": "query|queries",
        "rank": "ranks?",
        "recurrent": "recurrent",
        "residual": "residuals?",
        "saturation": "saturat(?:ed|ion)",
        "scaled dot-product attention": "scaled dot-product attention",
        "score": "scores?",
        "SDPA": "SDPA",
        "self-attention": "self-attention",
        "softmax": "softmax",
        "SRAM": "SRAM",
        "sublayer": "sublayers?",
        "teacher forcing": "teacher forcing",
        "tiling": "tiling",
        "token": "tokens?",
        "trace": "trace",
        "value": "values?",
        "word piece": "word[- ]pieces?",
    }.items()
}
SYMBOLS = {"d_k": r"d_k\b", "d_v": r"d_v\b", "d_model": r"d_\\text\{model\}|d_\{\\text\{model\}\}"}

NO_TEXT = re.compile(
    r"^```.*?^```"  # code and diagrams
    r"|^(?:#|\(\S+\)=|:(?:right|class):)[^\n]*"  # headings, targets, options
    r"|`[^`]*`|\$\$.*?\$\$ *(?:\([\w-]+\))?|\$[^$]*\$"  # code and what roles hold, formulas
    r"|\]\([^)]*\)|\{[\w:]+\}",  # addresses, names of roles and directives
    re.M | re.S,
)
TERM_LINK = re.compile(r"\{term\}`([^`<]*)(?:<[^`]*)?`")
PRIMER = re.compile(r"^:::\{dropdown\} Primer:.*?^:::$", re.M | re.S)
ITALICS = re.compile(r"(?<![*\w])\*(?=[^*\s])[^*]{1,40}\*(?![*\w])")  # no whole sentences


def pages() -> dict[str, str]:
    """Give the text of the pages up to `LAST`, in reading order."""
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    [chapter] = contents["parts"][0]["chapters"]
    found = {}
    for name in (chapter["file"], *(section["file"] for section in chapter["sections"])):
        path = next(ROOT.glob(f"{name}.*"))
        text = path.read_text("utf-8")
        if path.suffix == ".ipynb":
            cells = json.loads(text)["cells"]
            text = "\n\n".join(
                "".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"
            )
        found[path.stem] = text
        if path.stem.startswith(LAST):
            break
    return found


def blank(match: re.Match) -> str:
    """Put as many spaces in its place, so that all else stays where it was."""
    return re.sub(r"[^\n]", " ", match[0])


def shown(match: re.Match) -> str:
    """Leave of a link to the glossary what is to be read, in its place."""
    before, after = match.start(1) - match.start(), match.end() - match.end(1)
    return " " * before + match[1] + " " * after


def unexplained(texts: dict[str, str]) -> Iterator[str]:
    """Name each term that is used before it is explained, its page and what stands around it."""
    missing = dict(TERMS)
    for page, text in texts.items():
        prose = NO_TEXT.sub(blank, TERM_LINK.sub(shown, text))
        explained = [match.span(1) for match in TERM_LINK.finditer(text)]
        explained += [match.span() for match in PRIMER.finditer(text)]
        explained += [match.span() for match in ITALICS.finditer(prose)]
        for name, pattern in list(missing.items()):
            first = pattern.search(prose)
            if first is None:
                continue
            del missing[name]
            if not any(start <= first.start() < end for start, end in explained):
                around = " ".join(text[max(0, first.start() - 60) : first.end() + 40].split())
                yield f"{page}: {name}: {around}"


def undefined(texts: dict[str, str]) -> Iterator[str]:
    """Name each symbol whose first paragraph, list or table does not say that it is a width."""
    for name, pattern in SYMBOLS.items():
        for page, text in texts.items():
            paragraphs = re.split(r"\n\s*\n", text)
            first = next((part for part in paragraphs if re.search(pattern, part)), None)
            if first is not None:
                if not re.search(r"\bwid(?:th|e)", first):
                    yield f"{page}: {name}: {first[:80]}"
                break


def test_a_term_is_explained_at_or_before_its_first_use():
    assert list(unexplained(pages())) == []


def test_a_symbol_is_explained_where_it_is_first_used():
    assert list(undefined(pages())) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A softmax does it.", True),
        ("A {term}`softmax` does it, and a softmax is smooth.", False),
        ("The {term}`softmaxes <softmax>` are here.", False),
        ("A *softmax* turns scores into shares.", False),
        ("**A softmax does it.**", True),
        ("The code `softmax(x)`, $\\operatorname{softmax}(x)$ and [here](softmax.md).", False),
        ("```{source} attnlab.softmax\n```\n\nNothing else.", False),
        (":::{dropdown} Primer: a softmax\nThe softmax is this.\n:::\n\nA softmax.", False),
        (":::{dropdown} The code\nThe softmax is this.\n:::", True),
        ("A softmax does it. It is called {term}`softmax`.", True),
    ],
)
def test_a_use_before_the_explanation_is_found(text, found):
    known = [line for line in unexplained({"a": text}) if ": softmax:" in line]
    assert bool(known) == found


def test_reading_order_counts_and_not_the_page():
    assert list(unexplained({"a": "A {term}`logit` is it.", "b": "Logits again."})) == []
    assert len(list(unexplained({"a": "Logits first.", "b": "A {term}`logit` is it."}))) == 1


def test_a_symbol_without_its_meaning_is_found():
    assert list(undefined({"a": "Divide by $\\sqrt{d_k}$."}))
    assert not list(undefined({"a": "Its width is $d_k$.\n\nDivide by $\\sqrt{d_k}$."}))
    assert list(undefined({"a": "Some $4 d_\\text{model}^2$ weights.\n\nThe width is there."}))


def test_every_page_is_read_up_to_the_last():
    names = list(pages())
    assert names[0].startswith("1_00")
    assert names[-1].startswith(LAST)
    assert names == sorted(names)
