"""Execute notebooks with progress, and keep their outputs where MyST-NB looks for them."""

import sys
import time
from collections.abc import Callable
from pathlib import Path

import nbformat
import yaml
from files import BUILD, ROOT
from fingerprint import fingerprint
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_client.kernelspec import NoSuchKernel
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from report import COLOUR, ToolError
from sphinx_external_toc.parsing import parse_toc_yaml

from nbmark import running

TRACEBACK_LINES = 15
KERNEL_LOG = BUILD / "kernel.log"


class Progress:
    """One line on a terminal that counts cells; plain lines elsewhere."""

    def __init__(self, label: str, cells: int):
        self.label, self.cells, self.done = label, cells, 0
        self.cell: NotebookNode | None = None
        self.started = time.monotonic()
        self.live = sys.stdout.isatty()
        print(f"{label} ...", end="" if self.live else "\n", flush=True)

    def next_cell(self, cell: NotebookNode, cell_index: int) -> None:
        """Count a code cell that starts."""
        if cell.cell_type != "code":
            return
        self.done += 1
        self.cell = cell
        if self.live:
            print(f"\r\033[K{self.label} ... cell {self.done} of {self.cells}", end="", flush=True)

    def end(self, outcome: str) -> None:
        """Say how it ended, and after how long."""
        start = f"\r\033[K{self.label}: " if self.live else "  "
        print(f"{start}{outcome}, {time.monotonic() - self.started:.1f} s", flush=True)


def execute(notebook: NotebookNode, path: Path, label: str, timeout: int) -> NotebookNode:
    """Execute a copy of a notebook in its own folder and return it.

    Raises
    ------
    ToolError
        If a cell fails or takes longer than `timeout` seconds; the message names it.
    """
    executed = nbformat.from_dict(notebook)
    progress = Progress(label, sum(cell.cell_type == "code" for cell in notebook.cells))
    try:
        with KERNEL_LOG.open("w") as log:  # what the kernel itself says, such as on Ctrl-C
            running.execute(
                executed,
                path.parent,
                log,
                timeout=timeout,
                coalesce_streams=True,
                on_cell_start=progress.next_cell,
            )
    except (CellExecutionError, CellTimeoutError, DeadKernelError, NoSuchKernel) as error:
        progress.end("failed")
        raise ToolError(describe(error, path, progress.cell)) from None
    progress.end("done")
    return executed


def describe(error: Exception, path: Path, cell: NotebookNode | None) -> str:
    """Name the cell that failed, with the end of its traceback."""
    where = f"{path.relative_to(ROOT)}, {f'cell {cell.id}' if cell else 'before the first cell'}"
    lines = COLOUR.sub("", str(error)).strip().splitlines()
    return "\n".join([f"{where}:", *lines[-TRACEBACK_LINES:]])


class Outputs:
    """The outputs of executed notebooks, in the cache that MyST-NB reads."""

    def __init__(self, folder: Path):
        self.cache = get_cache(folder)

    def hold(self, notebook: NotebookNode) -> bool:
        """Tell whether there are outputs for this code."""
        try:
            self.cache.match_cache_notebook(notebook)
        except KeyError:
            return False
        return True

    def keep(self, notebook: NotebookNode, path: Path) -> None:
        """Put an executed notebook in the place of any other with the same code."""
        bundle = CacheBundleIn(notebook, str(path))
        self.cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)


def notebooks() -> list[Path]:
    """Give the chapters' notebooks of the table of contents; exercises show no outputs."""
    pages = [page for page in parse_toc_yaml(ROOT / "_toc.yml") if page.startswith("chapters/")]
    paths = [ROOT / f"{page}.ipynb" for page in pages]
    return [path for path in paths if path.is_file()]


def execute_all(known: dict[str, str], remember: Callable[[str, str], None]) -> list[ToolError]:
    """Execute the notebooks whose fingerprint is not the known one; go on after a failure.

    `remember` gets the name and the new fingerprint of each notebook whose outputs are kept.
    """
    timeout = yaml.safe_load((ROOT / "_config.yml").read_text())["execute"]["timeout"]
    outputs = Outputs(BUILD / ".jupyter_cache")
    stale = []
    for path in notebooks():
        name, notebook = path.relative_to(ROOT).as_posix(), nbformat.read(path, as_version=4)
        mark = fingerprint(notebook, path, ROOT)
        if known.get(name) != mark or not outputs.hold(notebook):
            stale.append((path, name, notebook, mark))
    failures = []
    for count, (path, name, notebook, mark) in enumerate(stale, start=1):
        try:
            label = f"executing {count} of {len(stale)}: {name}"
            outputs.keep(execute(notebook, path, label, timeout), path)
            remember(name, mark)
        except ToolError as error:
            failures.append(error)
    return failures
