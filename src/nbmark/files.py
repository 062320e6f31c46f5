"""Our own files, written as a whole: a reader, or an interruption, meets the old one or the new."""

import os
from pathlib import Path


def put(path: Path, text: str, encoding: str = "utf-8") -> None:
    """Put a text in the place of a file as a whole."""
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text(text, encoding, errors="backslashreplace", newline="")
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
