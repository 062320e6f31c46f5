"""What nbgrader's metadata say of a cell, read without trust: a submission may hold anything."""

from collections.abc import Mapping
from typing import Any


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
