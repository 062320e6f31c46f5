"""Execute notebooks with progress, and keep their outputs where MyST-NB looks for them."""

import os
import re
import sys
import time
from pathlib import Path

import nbformat
import yaml
from commands import COLOUR, ToolError
from files import BUILD, DOCTREES, ROOT, one_at_a_time
from fingerprint import fingerprint
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_client.kernelspec import NoSuchKernel
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from sphinx_external_toc.parsing import parse_toc_yaml

from nbmark import running

TRACEBACK_LINES = 15
# Curves of time are drawn from the recorded times (attnlab.profiling.steady).
STEADY = {"ATTNLAB_TIMES": "recorded"}
MEASURED = re.compile(r"≈ [^;\n]*")  # a value that is another one in each run
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


def take_committed_values(executed: NotebookNode, committed: NotebookNode) -> None:
    """Put committed values in the place of measured ones, where all else that was printed is equal.

    So a page shows in a cell's output the value that its line *Measured* shows, and one source
    gives one book. Tests compare each run with what is committed.
    """
    for cell, stored in zip(executed.cells, committed.cells, strict=True):
        for output, before in zip(cell.get("outputs", ()), stored.get("outputs", ()), strict=False):
            texts = output.get("text", ""), before.get("text", "")
            if all(texts) and len({MEASURED.sub("≈", text) for text in texts}) == 1:
                output.text = before.text


class Outputs:
    """The outputs of executed notebooks, in the cache that MyST-NB reads.

    Beside it stands a mark for each notebook: the fingerprint that its outputs belong to.
    """

    def __init__(self):
        with one_at_a_time("outputs"):
            self.cache = get_cache(BUILD / ".jupyter_cache")
            _ = self.cache.db  # two processes may not make it at once

    def are_fresh(self, notebook: NotebookNode, path: Path, mark: str) -> bool:
        """Tell whether there are outputs for this notebook, and all that it depends on."""
        try:
            self.cache.match_cache_notebook(notebook)
            return mark_of(path).read_text(encoding="utf-8") == mark
        except (KeyError, OSError):
            return False

    def keep(self, notebook: NotebookNode, path: Path, mark: str) -> None:
        """Put an executed notebook in the place of any other with the same code.

        An interruption at any moment leaves it stale.
        """
        take_committed_values(notebook, nbformat.read(path, as_version=4))
        bundle = CacheBundleIn(notebook, str(path))
        with one_at_a_time("outputs"):
            self.cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
        # Sphinx cannot see that outputs changed. Without its doctree it reads the page again.
        name = path.relative_to(ROOT).with_suffix(".doctree")
        DOCTREES.joinpath(name).unlink(missing_ok=True)
        mark_of(path).parent.mkdir(exist_ok=True)
        mark_of(path).write_text(mark, encoding="utf-8")


def mark_of(path: Path) -> Path:
    """Give the file of a notebook's mark."""
    return BUILD / "executed" / f"{path.stem}.mark"


def notebooks() -> list[Path]:
    """Give the chapters' notebooks of the table of contents; exercises show no outputs."""
    pages = [page for page in parse_toc_yaml(ROOT / "_toc.yml") if page.startswith("chapters/")]
    paths = [ROOT / f"{page}.ipynb" for page in pages]
    return [path for path in paths if path.is_file()]


def execute_all() -> list[ToolError]:
    """Execute the notebooks whose outputs are not fresh; go on after a failure."""
    os.environ.update(STEADY)
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    timeout = config["execute"]["timeout"]
    outputs = Outputs()
    stale = []
    for path in notebooks():
        notebook = nbformat.read(path, as_version=4)
        mark = fingerprint(notebook, path, ROOT)
        if not outputs.are_fresh(notebook, path, mark):
            stale.append((path, notebook, mark))
    failures = []
    for count, (path, notebook, mark) in enumerate(stale, start=1):
        label = f"executing {count} of {len(stale)}: {path.relative_to(ROOT).as_posix()}"
        try:
            outputs.keep(execute(notebook, path, label, timeout), path, mark)
        except ToolError as error:
            failures.append(error)
    return failures
