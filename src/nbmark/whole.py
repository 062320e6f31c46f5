"""Files replaced as a whole: a reader, or an interruption, meets the old one or the new."""

import os
from pathlib import Path


def write_whole(path: Path, text: str, **how: str) -> None:
    """Put a text in the place of a file, or leave what is there; `how` goes to Path.write_text."""
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text(text, **{"encoding": "utf-8", **how})
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
