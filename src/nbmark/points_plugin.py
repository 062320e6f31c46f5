"""The part of the pytest plugin that `--points` switches on: it notes what became of each cell."""

import os
import secrets
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from nbformat import NotebookNode

from nbmark.answers import SEED
from nbmark.files import NO_HAND_INS, is_hand_in, put
from nbmark.key import Key
from nbmark.limits import Clock
from nbmark.marks import SHOWN
from nbmark.nbval_cells import Cell, Notebook
from nbmark.notebook import Unreadable, grade_id
from nbmark.points import as_csv, summary_line
from nbmark.submission import (
    Original,
    Submission,
    folder_of_originals,
    read_originals,
    read_submission,
)

SIDE_BY_SIDE = {"loadfile", "loadgroup", "loadscope"}  # of pytest-xdist: a notebook stays together


class Folder(pytest.Directory):
    """A folder that is called like a notebook."""

    def collect(self) -> list[pytest.Item]:
        """Say so."""
        self.source(self.path)
        return []


class Points:
    """Collects what each graded cell of each notebook earned, and writes the table at the end.

    Under pytest-xdist every worker has one, which notes what it collected and ran; the one of the
    main process hears of both and writes the table.
    """

    def __init__(self, config: pytest.Config, target: Path, originals: list[Original]) -> None:
        self.config, self.target, self.originals = config, target, originals
        self.key = Key()
        self.submissions: dict[Path, Submission] = {}
        self.outcome = ""  # where the table is, or why not

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Leave out everything but hand-ins: a submission may hold tests of its own."""
        if collection_path.is_file() or collection_path.is_symlink():
            return None if is_hand_in(collection_path) else True
        return True if collection_path.name in NO_HAND_INS else None

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(
        self, file_path: Path, parent: pytest.Collector
    ) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
        """Collect each hand-in in the form that is run for marks, and nothing else."""
        yield
        return [Notebook.make(parent, file_path, self._rebuilt, self._clock)]

    def pytest_collect_directory(self, path: Path, parent: pytest.Collector) -> Any:
        """Note a folder that is called like a notebook."""
        if not is_hand_in(path):
            return None
        folder = Folder.from_parent(parent, path=path)
        folder.source = self._rebuilt
        return folder

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Keep a notebook's cells together where tests run side by side."""
        if getattr(self.config.option, "dist", "no") == "loadgroup":
            item.add_marker(pytest.mark.xdist_group(str(item.path)))

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note which cells are to be run, and leave out notebooks of which there are none."""
        chosen: dict[Path, set[str]] = {}
        for item in session.items:
            if isinstance(item, Cell):
                chosen.setdefault(item.path, set()).add(grade_id(item.cell) or "")
        for path, submission in list(self.submissions.items()):
            submission.ledger.selected = chosen.get(path, set())
            if path not in chosen and not submission.ledger.fault:
                del self.submissions[path]

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Judge a cell, once all other plugins have had their say."""
        report = yield
        if isinstance(item, Cell) and (report.when == "call" or report.failed):
            submission = self.submissions[item.path]
            report.nbmark = [str(item.path), *self._judge(item, report, submission)]
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what became of a cell, wherever it ran."""
        if not hasattr(report, "nbmark"):
            return
        path, name, reason, is_graded = report.nbmark
        submission = self._submission(Path(path))
        if is_graded:
            submission.ledger.outcomes.setdefault(name, reason)
        elif reason:
            submission.remarks.append(f"{name}: {reason}")

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Hear from a worker what was to be marked."""
        told = getattr(node, "workeroutput", {}).get("nbmark", {})
        self.key.unsolved.update(told.get("unsolved", ()))
        for path, selected in told.get("selected", {}).items():
            self._submission(Path(path)).ledger.selected = set(selected)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the table, unless the run was cut short."""
        if hasattr(self.config, "workeroutput"):
            selected = {
                str(p): sorted(s.ledger.selected or ()) for p, s in self.submissions.items()
            }
            told = {"selected": selected, "unsolved": sorted(self.key.unsolved)}
            self.config.workeroutput["nbmark"] = told
            return
        if session.config.option.collectonly:
            return
        if session.exitstatus in (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR):
            self.outcome = f"The run was cut short, {self.target} was not written."
            return
        submissions = [self.submissions[path] for path in sorted(self.submissions)]
        try:
            put(self.target, as_csv(submissions, self.originals), "utf-8-sig")
            self.outcome = f"All points and reasons: {self.target}"
        except OSError as error:
            self.outcome = f"{self.target} was not written: {error}"
            session.exitstatus = pytest.ExitCode.INTERNAL_ERROR

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print a line a notebook."""
        terminalreporter.section("points")
        for path in sorted(self.submissions):
            terminalreporter.line(summary_line(self.submissions[path]))
        for said in sorted(self.key.unsolved):
            terminalreporter.line(said)
        terminalreporter.line(f"The cases were drawn with {SEED}={os.environ[SEED]}.")
        terminalreporter.line(self.outcome)

    def _judge(
        self, item: Cell, report: pytest.TestReport, submission: Submission
    ) -> tuple[str, str, bool]:
        """Name a cell, say what is wrong with it, and tell whether it is graded."""
        graded = {cell.name for cell in submission.original.cells if not cell.manual}
        name = grade_id(item.cell) or item.cell.id
        if report.when != "call":
            reason = f"the kernel could not be used: {last_line(report.longreprtext)}"
            return name, reason if name in graded else "", name in graded
        if name not in graded:
            return name, item.trouble, False
        reason = item.evidence().why_not(self.key.of(submission.original, name))
        if not reason and report.failed:
            reason = last_line(report.longreprtext)
        return name, reason, True

    def _submission(self, path: Path) -> Submission:
        """Give what is known of a hand-in; read it if that is nothing."""
        if path not in self.submissions:
            self.submissions[path] = read_submission(path, self._name(path), self.originals)
        return self.submissions[path]

    def _rebuilt(self, path: Path) -> NotebookNode:
        """Give the notebook to be run for a hand-in."""
        submission = self._submission(path)
        if submission.rebuilt is None:
            raise pytest.Collector.CollectError(submission.ledger.fault)
        return submission.rebuilt.notebook

    def _clock(self) -> Clock:
        option = self.config.option
        return Clock(option.points_cell_limit, option.points_notebook_limit)

    def _name(self, path: Path) -> str:
        """Give a notebook's path from where pytest was called."""
        start = self.config.invocation_params.dir
        return (path.relative_to(start) if path.is_relative_to(start) else path).as_posix()


def last_line(text: str) -> str:
    """Give the end of a message."""
    lines = text.strip().splitlines() or ["no message"]
    return lines[-1][:SHOWN]


def make(config: pytest.Config) -> Points:
    """Prepare pytest and nbval for marking; UsageError if the options cannot be used."""
    option, target = config.option, Path(config.option.points).absolute()
    if not (getattr(option, "nbval", False) or getattr(option, "nbval_lax", False)):
        raise pytest.UsageError("--points marks notebooks that nbval runs: add --nbval-lax")
    if getattr(option, "dist", "no") not in SIDE_BY_SIDE | {"no"}:
        raise pytest.UsageError("a notebook's cells run in one process: add --dist loadfile")
    if not target.parent.is_dir() or target.is_dir():
        raise pytest.UsageError(f"--points={target} cannot be written: name a file in a folder")
    _refuse_settings_of_submissions(config)
    roots = (config.invocation_params.dir, config.rootpath)
    try:
        given = option.points_from
        originals = read_originals(Path(given) if given else folder_of_originals(roots))
    except Unreadable as error:
        raise pytest.UsageError(f"--points-from: {error}") from None
    option.continue_on_collection_errors = True  # a broken notebook ends nobody else's marking
    _set_environment(config, PYTHONSAFEPATH="1")  # a student's numpy.py is no module of NumPy
    if not os.environ.get(SEED, "0").isdecimal():
        raise pytest.UsageError(f"{SEED}={os.environ[SEED]!r} is no seed; give a whole number")
    if SEED not in os.environ:
        _set_environment(config, **{SEED: str(secrets.randbelow(2**31))})
    config.addinivalue_line("filterwarnings", "default")  # a warning is no reason to fail
    return Points(config, target, originals)


def _set_environment(config: pytest.Config, **values: str) -> None:
    """Set variables for the kernels, until pytest ends."""
    patch = pytest.MonkeyPatch()
    config.add_cleanup(patch.undo)
    for name, value in values.items():
        patch.setenv(name, value)


def _refuse_settings_of_submissions(config: pytest.Config) -> None:
    """Fail where pytest found its own settings among what is to be marked."""
    found, here = config.inipath, config.invocation_params.dir
    marked = [here / arg.partition("::")[0] for arg in config.args]
    inside = found and any(found.is_relative_to(path) for path in marked)
    if inside and found.parent != here:
        said = f"{found} would change how all submissions are marked: delete it, or add -c FILE"
        raise pytest.UsageError(said)
