"""Where things are, and hashes of files."""

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "_build"
DOCTREES = BUILD / ".doctrees"  # what Sphinx read of each page


def files_below(*names: str) -> Iterator[Path]:
    """Give the project's files with these names, and those below folders with these names."""
    for name in names:
        top = ROOT / name
        for path in [top] if top.is_file() else top.rglob("*"):
            parts = path.relative_to(ROOT).parts
            if path.is_file() and not any(p.startswith((".", "__pycache__")) for p in parts):
                yield path


def hash_files(files: Iterable[Path], root: Path = ROOT) -> str:
    """Hash names and contents."""
    total = hashlib.sha256()
    for path in sorted(files):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        total.update(f"{path.relative_to(root)} {content}\n".encode())
    return total.hexdigest()


@contextmanager
def one_at_a_time(name: str, waiting: str = "") -> Iterator[None]:
    """Let one process at a time into the block; print `waiting` before any wait for another."""
    from filelock import FileLock, Timeout  # not for the system's Python, which makes .venv

    BUILD.mkdir(exist_ok=True)
    lock = FileLock(BUILD / f"{name}.lock")
    try:
        lock.acquire(blocking=False)
    except Timeout:
        if waiting:
            print(waiting, flush=True)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()
