"""The claims of a notebook: what each proving cell says, and the value that it measured.

A cell tagged nbval-check-output may say in its metadata what its stored output proves:

    "claim": [{"says": "The weights of a row sum to 1.", "line": "rows sum to 1",
               "unit": "apart", "bound": "to 1e-6", "kind": "exact", "condition": "no mask",
               "source": "vaswani2017attention", "paper": "agrees", "main": true}]

`line` is the beginning of the line of output that proves it. `unit` says what the value is where
the value itself does not, `bound` what it was held against, `condition` where the claim holds.
`kind` is exact (an identity, held to rounding), statistical (seeds, data, training) or timing.
`source` is a key of references.bib, and `paper` how the claim stands to it. `main` marks the dozen
that a reader must know. Mathematics is welcome.

The value is what the line says behind its last colon. A value that differs from machine to machine
stands behind ≈ and ends at a semicolon, and what is true on every machine follows:

    rows sum to 1: ≈ 1.0000002; to 1e-6: True

Tests compare the output without such values (nbmark/sanitize.cfg).
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

CHECKED = "nbval-check-output"
NEEDED = {"says", "line", "kind", "condition"}
KEYS = NEEDED | {"unit", "bound", "source", "paper", "main"}
KINDS = ("exact", "statistical", "timing")
STANDINGS = ("agrees", "qualifies", "contradicts")


class Claim(NamedTuple):
    """One claim, with the value that its cell measured."""

    cell: str
    says: str
    value: str
    bound: str
    source: str | None
    kind: str
    condition: str
    unit: str = ""
    paper: str = ""
    main: bool = False
    line: str = ""


class Measured(NamedTuple):
    """What a notebook says: its title, the ids of its cells, its claims, and what is wrong."""

    title: str
    cells: list[str]
    claims: list[Claim]
    problems: list[str]


def output_lines(cell: dict) -> list[str]:
    """Give the lines of text that a code cell has stored as its output."""
    texts = [out.get("text", out.get("data", {}).get("text/plain", "")) for out in cell["outputs"]]
    return "".join("".join(text) + "\n" for text in texts).splitlines()


def value_in(line: str) -> str:
    """Give what stands behind ≈, or else behind the last colon outside brackets, or all of it."""
    if "≈ " in line:
        return line.partition("≈ ")[2].partition(";")[0].strip()
    head = re.split(r"[\[({]", line, maxsplit=1)[0]
    start = head.rindex(": ") + 2 if ": " in head else 0
    return " ".join(line[start:].split())


def fault_of(entry: dict) -> str | None:
    """Say what is wrong with what an entry holds, whatever the cell printed."""
    if not NEEDED <= set(entry) <= KEYS:
        rest = sorted(KEYS - NEEDED)
        return f"a claim holds {sorted(NEEDED)}, and of the rest {rest}; not {sorted(entry)}"
    for key, words in (("kind", KINDS), ("paper", STANDINGS)):
        if key in entry and entry[key] not in words:
            return f"{key} is one of {', '.join(words)}; not {entry[key]!r}"
    if "paper" in entry and not entry.get("source"):
        return f"paper: {entry['paper']!r} needs the source that it speaks of"
    if "condition" in entry and not str(entry["condition"]).strip():
        return "its condition says nothing"
    if not isinstance(entry.get("main", False), bool):
        return f"main is true or false; not {entry['main']!r}"
    return None


def claims_of_cell(cell: dict) -> Iterator[Claim | str]:
    """Give each claim of a cell; in the place of one that does not hold, what is wrong with it."""
    entries = cell["metadata"].get("claim", [])
    if entries and CHECKED not in cell["metadata"].get("tags", []):
        yield f"it makes a claim without the tag {CHECKED}"
        return
    for entry in entries:
        if wrong := fault_of(entry):
            yield wrong
            continue
        lines = [line for line in output_lines(cell) if line.startswith(entry["line"])]
        if len(lines) != 1:
            yield f"{len(lines)} lines of its output begin with {entry['line']!r}; it takes one"
            continue
        if (value := value_in(lines[0])) in {"True", "False"}:
            yield f"the line {lines[0]!r} has no value, only {value}; print what was measured"
            continue
        rest = {"bound": "", "source": None} | entry
        yield Claim(cell=cell["id"], value=value, **rest)


def title_of(notebook: dict) -> str:
    """Give the heading that a notebook begins with, or nothing."""
    first = "".join(notebook["cells"][0]["source"]).partition("\n")[0]
    return first.removeprefix("# ") if first.startswith("# ") else ""


def read_notebook(notebook: dict) -> Measured:
    """Sort the claims of a notebook, in their order, from those that do not hold."""
    measured = Measured(title_of(notebook), [cell["id"] for cell in notebook["cells"]], [], [])
    for cell in notebook["cells"]:
        for found in claims_of_cell(cell):
            if isinstance(found, Claim):
                measured.claims.append(found)
            else:
                measured.problems.append(f"cell {cell['id']}: {found}")
    return measured


@cache
def read_file(path: Path, _modified: int) -> Measured:
    """Read a notebook once for each state of the file."""
    return read_notebook(json.loads(path.read_text(encoding="utf-8")))
