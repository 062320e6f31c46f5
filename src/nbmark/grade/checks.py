"""What a mark depends on beside the submission: the original, and the code of its checks."""

import ast
import hashlib
import importlib.util
import site
import sysconfig
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import nbmark
from nbmark.submission import Original

OWN = Path(__file__).parent


def digest_of_original(original: Original) -> str:
    """Give the digest of an original's file."""
    path = original.folder / f"{original.stem}.ipynb"
    return hashlib.sha256(path.read_bytes()).hexdigest()


def digest_of_checks(original: Original) -> str:
    """Give the digest of the code that judges: this package, and the course's own that it imports.

    Packages that were installed from elsewhere are not read: their versions are pinned.
    """
    folders = {Path(nbmark.__file__).parent}
    for name in sorted(_imported(original)):
        folders |= _own_package(name)
    digest = hashlib.sha256()
    for folder in sorted(folders):
        digest.update(_digest(folder))
    return digest.hexdigest()


def _imported(original: Original) -> set[str]:
    """Name the packages that the notebook imports."""
    found: set[str] = set()
    for cell in original.notebook.cells:
        if cell.cell_type == "code":
            found |= set(_imports(cell.source))
    return found


def _imports(source: str) -> Iterator[str]:
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except SyntaxError:
        return
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


@cache
def _own_package(name: str) -> frozenset[Path]:
    """Give the folder of a package, unless it was installed from elsewhere."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return frozenset()
    foreign = [*site.getsitepackages(), *map(sysconfig.get_path, ("stdlib", "platstdlib"))]
    folders = spec.submodule_search_locations if spec else None
    own = [Path(f) for f in folders or () if not any(Path(f).is_relative_to(x) for x in foreign)]
    return frozenset(own)


@cache
def _digest(folder: Path) -> bytes:
    """Give the digest of a package's modules."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        if path.is_relative_to(OWN):  # what lists and reports marks does not change them
            continue
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.digest()
