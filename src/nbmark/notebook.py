"""Reads notebooks, and what nbgrader's metadata say of their cells, without trust.

A submission may hold anything.
"""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode


class Unreadable(ValueError):  # noqa: N818 - a finding, named as it reads
    """A file is no notebook; the message says why, in one line."""


def read(path: Path) -> NotebookNode:
    """Read a notebook of any version as one of version 4.

    Raises
    ------
    Unreadable
        If the file cannot be read, or holds something else.
    """
    try:
        text = path.read_text(encoding="utf-8")
        if not text.strip():
            raise Unreadable("it is empty")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            notebook = nbformat.reads(text, as_version=4)
        if not isinstance(notebook.get("cells"), list):
            raise Unreadable("it has no list of cells")
        if not all(isinstance(cell.get("source"), str) for cell in notebook.cells):
            raise Unreadable("one of its cells has no text")
    except Unreadable:
        raise
    except UnicodeDecodeError:
        raise Unreadable("it is not encoded as UTF-8") from None
    except Exception as error:  # nbformat lets through whatever its readers stumble over
        said = " ".join(str(error).split())[:120]
        raise Unreadable(f"it is no notebook: {type(error).__name__}: {said}") from None
    return notebook


def settings(cell: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give nbgrader's metadata of a cell; empty where there are none, or no mapping."""
    metadata = cell.get("metadata")
    found = metadata.get("nbgrader") if isinstance(metadata, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def grade_id(cell: Mapping[str, Any]) -> str | None:
    """Give the name of a cell."""
    name = settings(cell).get("grade_id")
    return name if isinstance(name, str) else None


def is_solution(cell: Mapping[str, Any]) -> bool:
    """Tell whether students write in the cell."""
    return settings(cell).get("solution") is True


def is_graded(cell: Mapping[str, Any]) -> bool:
    """Tell whether the cell carries points."""
    return settings(cell).get("grade") is True


def is_manual(cell: Mapping[str, Any]) -> bool:
    """Tell whether a person gives the cell's points."""
    return is_graded(cell) and is_solution(cell)
