"""Files of others: which are hand-ins; and our own, written as a whole."""

import os
import re
import tempfile
from pathlib import Path

# What browsers and systems make of a name: x (1).ipynb, x.ipynb (1), x.ipynb.txt, X.IPYNB
HAND_IN = re.compile(r"\.ipynb(?:[ _-]*\(?\d*\)?| copy)(?:\.(?:txt|json|html?|download))?$", re.I)
NO_HAND_INS = {"__MACOSX", ".ipynb_checkpoints"}


def is_hand_in(path: Path) -> bool:
    """Tell by its name whether somebody handed this in as a notebook."""
    companion = path.name.startswith(".") or not NO_HAND_INS.isdisjoint(path.parts)
    return not companion and HAND_IN.search(path.name) is not None


def put(path: Path, text: str, encoding: str = "utf-8") -> None:
    """Put a text in the place of a file as a whole, whatever stands there, a link too.

    It is written under a name that nobody can have planted. What UTF-8 lacks, such as the name of
    a file in another encoding, is written as an escape.
    """
    number, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(number, "w", encoding=encoding, errors="backslashreplace", newline="") as file:
            file.write(text)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)  # a temporary file is its owner's alone
        os.replace(name, path)
    finally:
        Path(name).unlink(missing_ok=True)
