"""Reads notebooks and nbgrader's metadata of their cells, without trust."""

import codecs
import json
import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.reader import NotJSONError


class Unreadable(ValueError):  # noqa: N818 - a finding, named as it reads
    """A file is no notebook; the message says why, in one line."""


def read(path: Path) -> NotebookNode:
    """Read a notebook of any version as one of version 4, or raise Unreadable."""
    try:
        text = _text(path.read_bytes())
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
        raise Unreadable("it is not encoded as UTF-8; save it as that, or in Jupyter") from None
    except Exception as error:  # nbformat lets through whatever its readers stumble over
        said = _why_no_json(text) if isinstance(error, NotJSONError) else ""
        said = said or f"{type(error).__name__}: {' '.join(str(error).split())[:120]}"
        raise Unreadable(f"it is no notebook: {said}") from None
    return notebook


def _text(data: bytes) -> str:
    """Decode a file, by its byte order mark if it has one."""
    is_utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return data.decode("utf-16" if is_utf16 else "utf-8-sig")


def _why_no_json(text: str) -> str:
    """Say what a file is instead of a notebook, and what to do."""
    if re.match(r"\s*<(!doctype|html|\?xml|head|body)", text, re.IGNORECASE):
        return "it is a web page; download the notebook itself"
    if marker := re.search(r"^(<{7}|={7}|>{7})( |$)", text, re.MULTILINE):
        line = text.count("\n", 0, marker.start()) + 1
        return f"line {line} is left of a merge; choose one of the two versions there"
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
            return "its end is missing; save or download it once more"
        return f"line {error.lineno} is no JSON: {error.msg}"
    return ""


def number(stem: str) -> str | None:
    """Give the number of an exercise, 1_3 of 1_3_numpy, by the name of its file."""
    found = re.match(r"\d+_\d+(?=_|$)", stem)
    return found[0] if found else None


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


def is_code(cell: Mapping[str, Any]) -> bool:
    """Tell whether the cell holds code."""
    return cell.get("cell_type") == "code"
