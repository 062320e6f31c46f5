"""Measure the times that the book's curves show, and record them: ``make times``.

Executes each chapter that draws such times (`attnlab.profiling.steady`) on this machine, which
should be idle, and writes chapters/data/times.json.
"""

import os
import sys

import nbformat
from commands import ToolError
from execute import execute, notebooks

from nbmark.own_kernel import use_own_kernel

RECORD, TIMEOUT = "times.json", 600


def main() -> int:
    """Execute the chapters."""
    use_own_kernel()
    os.environ["ATTNLAB_TIMES"] = "record"
    paths = [path for path in notebooks() if RECORD in path.read_text(encoding="utf-8")]
    for path in paths:
        try:
            execute(nbformat.read(path, as_version=4), path, f"measuring {path.stem}", TIMEOUT)
        except ToolError as error:
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
