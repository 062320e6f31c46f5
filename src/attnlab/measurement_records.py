"""Recorded measurements: JSON files that say on which device, when and with what they were made."""

import json
from pathlib import Path

from nbmark.files import put


def write_record(path: Path, record: dict) -> None:
    """Write a record whole or not at all, in the place of an older one; make the folder if need be.

    It holds numbers, strings, None, lists and dicts.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    put(path, json.dumps(record, indent=1, allow_nan=False) + "\n")


def read_records(folder: str | Path, pattern: str = "*.json") -> list[dict]:
    """Read the records of a folder, in the order of their names; none where there is no folder."""
    return [json.loads(path.read_text("utf-8")) for path in sorted(Path(folder).glob(pattern))]
