"""The claims of a notebook: what each proving cell says, and the value that it measured.

A cell tagged nbval-check-output may say in its metadata what its stored output proves:

    "claim": [{"says": "The weights of a row sum to 1.", "line": "rows sum to 1",
               "bound": "to 1e-6", "source": "vaswani2017attention"}]

`line` is the beginning of the line of output that proves it; `bound`, what the value was held
against, and `source`, a key of references.bib, may be left out. Mathematics is welcome.

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
KEYS = {"says", "line", "bound", "source", "kind", "condition", "paper", "main"}


class Claim(NamedTuple):
    """One claim, with the value that its cell measured."""

    cell: str
    says: str
    value: str
    bound: str
    source: str | None


class Measured(NamedTuple):
    """What a notebook says: the ids of its cells, its claims, and messages on those that fail."""

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


def claims_of_cell(cell: dict) -> Iterator[Claim | str]:
    """Give each claim of a cell; in the place of one that does not hold, what is wrong with it."""
    entries = cell["metadata"].get("claim", [])
    if entries and CHECKED not in cell["metadata"].get("tags", []):
        yield f"it makes a claim without the tag {CHECKED}"
        return
    for entry in entries:
        if not {"says", "line"} <= set(entry) <= KEYS:
            wrong = sorted(entry)
            yield f"a claim holds says and line, and of the rest {sorted(KEYS)}; not {wrong}"
            continue
        lines = [line for line in output_lines(cell) if line.startswith(entry["line"])]
        if len(lines) != 1:
            yield f"{len(lines)} lines of its output begin with {entry['line']!r}; it takes one"
            continue
        bound, source = entry.get("bound") or "", entry.get("source")
        yield Claim(cell["id"], entry["says"], value_in(lines[0]), bound, source)


def read_notebook(notebook: dict) -> Measured:
    """Sort the claims of a notebook, in their order, from those that do not hold."""
    measured = Measured([cell["id"] for cell in notebook["cells"]], [], [])
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
