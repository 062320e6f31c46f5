"""Keeps for the book what nbval's run of a chapter put out, so that no chapter is executed twice.

nbval reads the kernel's messages one by one. A client of nbclient, which is what the build itself
executes with, turns the same messages into outputs and the state of widgets. Only a chapter whose
cells all ran and passed is kept, and only if the book has no fresh outputs of it yet.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from execute import STEADY, Outputs, notebooks
from files import ROOT
from fingerprint import code_cells, fingerprint
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionComplete
from nbval.kernel import RunningKernel
from nbval.plugin import IPyNbCell, IPyNbFile, coalesce_streams

from nbmark.running import SETTINGS


class Recorder:
    """A chapter that nbval runs, and what its cells have put out so far."""

    def __init__(self, path: Path, kernel: RunningKernel):
        self.path = path
        self.notebook = nbformat.read(path, as_version=4)
        self.mark = fingerprint(self.notebook, path, ROOT)
        self.client = NotebookClient(self.notebook, **SETTINGS)
        self.cells = code_cells(self.notebook)
        self.missing = set(range(len(self.cells)))
        self.running, self.message = 0, ""
        told = kernel.kc.kernel_info(reply=True, timeout=60)["content"]
        self.notebook.metadata["language_info"] = told["language_info"]
        kernel.execute_cell_input = self.starting(kernel.execute_cell_input)
        kernel.get_message = self.reading(kernel.get_message)

    def starting(self, execute: Callable[..., str]) -> Callable[..., str]:
        """Note under which number the kernel will answer a cell."""

        def start(*arguments: Any, **options: Any) -> str:
            self.message = execute(*arguments, **options)
            return self.message

        return start

    def reading(self, read: Callable[..., dict]) -> Callable[..., dict]:
        """Note what the kernel says of the cell that runs."""

        def listen(stream: str, timeout: float | None = None) -> dict:
            said = read(stream, timeout=timeout)
            if stream == "iopub" and said["parent_header"].get("msg_id") == self.message:
                self.note(said)
            return said

        return listen

    def note(self, said: dict) -> None:
        """Add a message to the outputs of the cell that runs."""
        cell = self.cells[self.running]
        try:
            self.client.process_message(said, cell, self.notebook.cells.index(cell))
        except CellExecutionComplete:
            cell.outputs = coalesce_streams(cell.outputs)

    def start(self, number: int) -> None:
        """Begin with a cell."""
        self.running = number
        self.cells[number].outputs = []
        self.client.clear_before_next_output = False

    def passed(self, number: int) -> None:
        """Note that a cell ran and passed; after the last one, keep the outputs."""
        self.missing.discard(number)
        if not self.missing:
            self.client.set_widgets_metadata()
            outputs = Outputs()
            if not outputs.are_fresh(self.notebook, self.path, self.mark):
                outputs.keep(self.notebook, self.path, self.mark)


class Chapters:
    """The plugin: one recorder for each chapter."""

    def __init__(self):
        os.environ.update(STEADY)
        self.paths = set(notebooks())
        self.recorders: dict[IPyNbFile, Recorder] = {}

    def is_cell(self, item: pytest.Item) -> bool:
        """Tell whether a test is a cell of a chapter."""
        return isinstance(item, IPyNbCell) and item.path in self.paths

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> None:
        """Listen to the kernel, which the test's setup has started."""
        if not self.is_cell(item):
            return
        if item.parent not in self.recorders:
            self.recorders[item.parent] = Recorder(item.path, item.parent.kernel)
        self.recorders[item.parent].start(item.cell_num)

    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        """Note the verdict; a cell that skipped itself ran too."""
        if call.when == "call" and call.excinfo is None and self.is_cell(item):
            self.recorders[item.parent].passed(item.cell_num)
