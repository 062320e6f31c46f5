"""The part of the pytest plugin that `--points` switches on: it notes what became of each cell."""

import functools
import os
import time
from collections.abc import Generator
from pathlib import Path
from queue import Empty
from typing import Any

import pytest

from nbmark.notebook import Unreadable, grade_id
from nbmark.points import (
    Original,
    Submission,
    as_csv,
    read_originals,
    read_submission,
    summary_line,
    write,
)

CELL_TIMEOUT, NBVALS_TIMEOUT = 300.0, 2000.0  # seconds; nbval's is that of a hanging submission
SHOWN = 200  # letters of an error


class KernelDied(RuntimeError):  # noqa: N818 - a finding, named as it reads
    """The process that ran the student's code ended."""


class Points:
    """Collects what each graded cell of each notebook earned, and writes the table at the end."""

    def __init__(self, config: pytest.Config, target: Path, originals: list[Original]) -> None:
        self.config, self.target, self.originals = config, target, originals
        self.submissions: dict[Path, Submission] = {}
        self.outcome = ""  # where the table is, or why not

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Leave out everything but notebooks: a submission may hold tests of its own."""
        is_other = collection_path.is_file() and collection_path.suffix != ".ipynb"
        return True if is_other else None

    def pytest_collect_file(self, file_path: Path) -> None:
        """Note each notebook, whether it can be read or not."""
        if file_path.suffix == ".ipynb":
            name = self._name(file_path)
            self.submissions[file_path] = read_submission(file_path, name, self.originals)

    def pytest_collect_directory(self, path: Path) -> None:
        """Note a folder that is called like a notebook."""
        if path.suffix == ".ipynb":
            fault = "the notebook cannot be read: it is a folder"
            self.submissions[path] = Submission(self._name(path), None, fault=fault)

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Note a notebook that nbval cannot read although we can."""
        report = yield
        submission = self.submissions.get(getattr(collector, "path", None))
        if report.failed and submission and not submission.fault:
            said = _last_line(str(report.longrepr))
            submission.fault = f"the notebook cannot be read: {said}"
        return report

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Run a graded cell, and let its errors count, whatever tags the student gave it."""
        if self._submission_with(item):
            item.options.update(skip=False, check=False, check_exception=False)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, None, None]:
        """See that a dead kernel is noticed, and what the kernel replies."""
        if kernel := getattr(item.parent, "kernel", None):
            kernel.await_reply = functools.partial(await_reply, kernel)
            kernel.reply = None
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Note what became of a graded cell, once all other plugins have had their say."""
        report = yield
        submission = self._submission_with(item)
        if submission and (report.when == "call" or not report.passed):
            submission.outcomes[grade_id(item.cell)] = why_not(item, report)
        return report

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the table, unless the run was cut short."""
        if session.config.option.collectonly:
            return
        if session.exitstatus in (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR):
            self.outcome = f"The run was cut short, {self.target} was not written."
            return
        submissions = [self.submissions[path] for path in sorted(self.submissions)]
        try:
            write(self.target, as_csv(submissions, self.originals))
            self.outcome = f"All points and reasons: {self.target}"
        except OSError as error:
            self.outcome = f"{self.target} was not written: {error}"
            session.exitstatus = pytest.ExitCode.INTERNAL_ERROR

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print a line a notebook."""
        terminalreporter.section("points")
        for path in sorted(self.submissions):
            terminalreporter.line(summary_line(self.submissions[path]))
        terminalreporter.line(self.outcome)

    def _name(self, path: Path) -> str:
        """Give a notebook's path from where pytest was called."""
        start = self.config.invocation_params.dir
        return (path.relative_to(start) if path.is_relative_to(start) else path).as_posix()

    def _submission_with(self, item: pytest.Item) -> Submission | None:
        """Give the submission if the item is one of its graded cells."""
        submission = self.submissions.get(item.path)
        if submission is None or submission.original is None or not hasattr(item, "cell"):
            return None
        graded = {cell.name for cell in submission.original.cells if not cell.manual}
        return submission if grade_id(item.cell) in graded else None


def make(config: pytest.Config) -> Points:
    """Prepare pytest and nbval for marking.

    Raises
    ------
    pytest.UsageError
        If the options do not go together, or what they name cannot be used.
    """
    option, target = config.option, Path(config.option.points).absolute()
    if not (getattr(option, "nbval", False) or getattr(option, "nbval_lax", False)):
        raise pytest.UsageError("--points marks notebooks that nbval runs: add --nbval-lax")
    if getattr(option, "numprocesses", None) or getattr(option, "dist", "no") != "no":
        raise pytest.UsageError("--points adds up in one process: leave out -n and --dist")
    if not target.parent.is_dir() or target.is_dir():
        raise pytest.UsageError(f"--points={target} cannot be written: name a file in a folder")
    _refuse_settings_of_submissions(config)
    try:
        originals = read_originals(_folder_of_originals(config))
    except Unreadable as error:
        raise pytest.UsageError(f"--points-from: {error}") from None
    option.continue_on_collection_errors = True  # a broken notebook ends nobody else's marking
    if option.nbval_cell_timeout == NBVALS_TIMEOUT:
        option.nbval_cell_timeout = CELL_TIMEOUT
    if not option.nbval_kernel_name:
        option.nbval_current_env = True  # the name in a submission is that of a student's kernel
    os.environ["PYTHONSAFEPATH"] = "1"  # a student's numpy.py beside the notebooks is no module
    config.addinivalue_line("filterwarnings", "default")  # a warning is no reason to fail
    return Points(config, target, originals)


def _refuse_settings_of_submissions(config: pytest.Config) -> None:
    """Fail where pytest found its own settings among what is to be marked."""
    found, here = config.inipath, config.invocation_params.dir
    marked = [here / arg.partition("::")[0] for arg in config.args]
    inside = found and any(found.is_relative_to(path) for path in marked)
    if inside and found.parent != here:
        said = f"{found} would change how all submissions are marked: delete it, or add -c FILE"
        raise pytest.UsageError(said)


def _folder_of_originals(config: pytest.Config) -> Path:
    """Find the originals: where the option says, else solutions/, else exercises/."""
    if given := config.option.points_from:
        return Path(given)
    roots = (config.invocation_params.dir, config.rootpath)
    folders = [root / name for name in ("solutions", "exercises") for root in roots]
    found = next((folder for folder in folders if folder.is_dir()), None)
    if found is None:
        raise Unreadable(f"there is neither solutions/ nor exercises/ in {roots[0]}; name a folder")
    return found


def why_not(item: pytest.Item, report: pytest.TestReport) -> str:
    """Say why a cell earned nothing; nothing if it earned its points."""
    errors = [o for o in item.test_outputs or [] if o.output_type == "error"]
    reply = getattr(getattr(item.parent, "kernel", None), "reply", None)
    if item.parent.timed_out:
        return "the time limit was exceeded, here or in a cell before it"
    if report.when != "call":
        return f"the kernel could not be used: {_last_line(report.longreprtext)}"
    if errors:
        said = str(errors[0].get("evalue") or errors[0].get("ename"))
        return said.partition("\n\n")[0][:SHOWN]
    if hasattr(report, "wasxfail") or report.skipped:
        return "it was skipped"
    if report.failed:
        return _last_line(report.longreprtext)
    return "" if reply == "ok" else "it ended with an error that it does not show"


def _last_line(text: str) -> str:
    """Give the end of a message."""
    lines = text.strip().splitlines() or ["no message"]
    return lines[-1].removeprefix("pytest plugin exception: ")[:SHOWN]


def await_reply(kernel: Any, msg_id: str, timeout: float) -> None:
    """Wait for the reply to a cell as nbval does, but notice a dead kernel and keep the status.

    Raises
    ------
    KernelDied
        If the kernel's process has ended.
    queue.Empty
        If there is no reply within `timeout` seconds.
    """
    end = time.monotonic() + timeout
    while True:
        try:
            message = kernel.get_message("shell", timeout=min(1.0, timeout))
        except Empty:
            if not kernel.is_alive():
                raise KernelDied("the kernel died") from None
            if time.monotonic() >= end:
                raise
            continue
        if message["parent_header"].get("msg_id") == msg_id:
            kernel.reply = message["content"]["status"]
            return
