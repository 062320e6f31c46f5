"""A process that marks: a Job comes in as a line, its Result goes out as one.

It ends when nobody listens any more, also in the midst of a job.
"""

import importlib
import os
import queue
import sys
import threading
from collections.abc import Callable
from typing import BinaryIO

from nbmark.mark_one import Job, Result
from nbmark.own_kernel import use_own_kernel


def main(marker: str) -> None:
    """Mark what comes in with the function that is named as ``module:function``."""
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # what else is printed must not be taken for a result
    module, _, name = marker.partition(":")
    mark: Callable[[Job], Result] = getattr(importlib.import_module(module), name)
    jobs: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, jobs), daemon=True).start()
    use_own_kernel()
    while True:
        result = mark(Job.from_json(jobs.get()))
        answers.write(result.to_json().encode() + b"\n")


def _listen(lines: BinaryIO, jobs: "queue.Queue[bytes]") -> None:
    """Hand on what comes in, and end with it."""
    for line in lines:
        jobs.put(line)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
