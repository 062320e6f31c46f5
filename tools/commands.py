"""Run a noisy command with its output in a log, and say in one line why it failed."""

import re
import shutil
import subprocess
import sys
from errno import EACCES, EDQUOT, ENOSPC, EPERM, EROFS
from pathlib import Path
from typing import TextIO

from files import ROOT

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
NO_NETWORK = re.compile(
    r"NewConnectionError|ConnectTimeout|Connection refused|Network is unreachable|No route to host"
    r"|name resolution|Name or service not known|Failed to establish a new connection|ProxyError"
    r"|Read timed out|ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ENETUNREACH"
)
DISK_IS_FULL = "The disk is full: free some gigabytes here and in the folder for temporary files."
NOT_YOURS = (
    "{} cannot be written to: copy the book's folder to a place that is yours, and run make there."
)
REMEDIES = (
    (re.compile(r"No space left on device|ENOSPC|Disk quota exceeded"), DISK_IS_FULL),
    (
        re.compile(r"DO NOT MATCH THE HASHES"),
        "A package is not the one that the lock names: look at `pip config list` for an index or a "
        "folder of other builds, and go without it.",
    ),
    (
        re.compile(r"ensurepip is not available|No module named '?(ensurepip|venv)\b"),
        "This Python cannot make virtual environments: `apt-get install python3-venv` adds that on "
        "Debian and Ubuntu.",
    ),
    (
        NO_NETWORK,
        "No network, or the package index does not answer: check the connection.",
    ),
    (
        re.compile(r"No matching distribution found for torch\b"),
        "PyTorch has no build for this system and Python; README.md says which ones have one.",
    ),
    (re.compile(r"Permission denied|Read-only file system"), NOT_YOURS.format(ROOT)),
)


class ToolError(Exception):
    """A command failed; the message says why, what to do, and where its whole output stands."""


def explain(output: str) -> str:
    """Say in one line why a command with this output failed, and what to do.

    Only the end counts: an early hiccup of the network may have healed.
    """
    lines = [line.strip() for line in output.splitlines() if line.strip()][-40:]
    for pattern, remedy in REMEDIES:
        if pattern.search("\n".join(lines)):
            return remedy
    errors = [line for line in lines if re.match(r"(npm )?error\b", line, re.I)]
    return (errors or lines or ["It failed without a word."])[-1]


def explain_refusal(error: OSError) -> str:
    """Say in one line what the system refused, and what to do."""
    if error.errno in (EACCES, EPERM, EROFS):
        return NOT_YOURS.format(error.filename or ROOT)
    return DISK_IS_FULL if error.errno in (ENOSPC, EDQUOT) else str(error)


def show_progress(line: str) -> None:
    """Overwrite the terminal's last line; a file or a pipe gets nothing."""
    if sys.stdout.isatty():
        width = shutil.get_terminal_size().columns - 3
        sys.stdout.write(f"\r\033[K{'  ' + line.strip()[:width] if line.strip() else ''}")
        sys.stdout.flush()


def run_logged(command: list[str], log: Path) -> None:
    """Run a command in the project's folder, with its output in `log`.

    Raises
    ------
    ToolError
        If it cannot start or ends with an error.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w+", encoding="utf-8") as file:
        code = _stream(command, file)
        if code:
            file.seek(0)
            raise ToolError(f"{explain(file.read())} The whole output: {log.relative_to(ROOT)}")


def _stream(command: list[str], file: TextIO) -> int:
    """Copy the command's output to the file line by line, the latest line to the terminal."""
    with subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    ) as process:
        try:
            for line in process.stdout:
                file.write(line)
                show_progress(line)
        except BaseException:
            process.terminate()
            raise
        finally:
            show_progress("")
    return process.returncode
