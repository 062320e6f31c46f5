"""What a notebook's outputs depend on, as a hash: its code, the code it imports, its data.

A notebook is executed again when its fingerprint changes. What cannot be known exactly counts as
changed too often rather than too seldom.
"""

import ast
import hashlib
import platform
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

from files import hash_files
from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """Give the notebook's code cells."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def imported_names(code: str, package: str) -> Iterator[str]:
    """Give each dotted name that the code imports; `package` is where relative imports start."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1]
            start = ".".join([*(base if node.level else []), *([node.module] * bool(node.module))])
            yield from (f"{start}.{alias.name}" for alias in node.names)


@cache
def files_of(name: str, src: Path) -> frozenset[Path]:
    """Give the files of `src` that importing a dotted name runs or reads, however indirectly."""
    found: set[Path] = set()
    waiting = [name]
    while waiting:
        name = waiting.pop()
        for path, package in modules_on_the_way(name, src):
            if path not in found:
                found.add(path)
                found.update(data_beside(path))
                waiting.extend(imported_names(path.read_text(encoding="utf-8"), package))
    return frozenset(found)


def modules_on_the_way(name: str, src: Path) -> Iterator[tuple[Path, str]]:
    """Give a.py, a/__init__.py, a/b.py ... for a.b..., as far as they exist, with their package."""
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        folder = src.joinpath(*parts[:count])
        if (folder / "__init__.py").is_file():
            yield folder / "__init__.py", ".".join(parts[:count])
        elif folder.with_suffix(".py").is_file():
            yield folder.with_suffix(".py"), ".".join(parts[: count - 1])


def data_beside(module: Path) -> Iterator[Path]:
    """Give what is no Python in a module's folder, such as the script of a widget."""
    for path in module.parent.iterdir():
        if path.is_file() and path.suffix not in {".py", ".pyc"}:
            yield path


def data_named(code: str, data: Path) -> Iterator[Path]:
    """Give the files below `data` whose name occurs in the code, or fits a pattern that does."""
    patterns = re.findall(r"""["']([^"'\s]*\*[^"'\s]*)["']""", code)
    for path in data.rglob("*"):
        named = path.name in code or any(fnmatch(path.name, pattern) for pattern in patterns)
        if path.is_file() and named:
            yield path


def printed(cell: NotebookNode) -> list[str]:
    """Give what is committed as printed by a cell; its measured values stand on the page."""
    return [output.text for output in cell.outputs if "text" in output]


def fingerprint(notebook: NotebookNode, path: Path, root: Path) -> str:
    """Hash all that the outputs of a notebook at `path` depend on."""
    cells = code_cells(notebook)
    to_python = TransformerManager().transform_cell
    files = set(root.glob("requirements*.lock"))
    for cell in cells:
        for name in imported_names(to_python(cell.source), package=""):
            files.update(files_of(name, root / "src"))
        files.update(data_named(cell.source, path.parent / "data"))
    own = repr([(c.source, c.metadata.get("tags", []), printed(c)) for c in cells])
    versions = f"{platform.python_version()} {platform.machine()} {path.relative_to(root)}"
    return hashlib.sha256(f"{own}\n{versions}\n{hash_files(files, root)}".encode()).hexdigest()
