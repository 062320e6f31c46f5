"""Where a batch is marked: in processes of this machine, or on a cluster (`cluster`)."""

import contextlib
import os
import queue
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TypeVar

from nbmark.mark_one import Job, Result

MARKER = "nbmark.mark_one:mark"
GRACE = 120  # seconds beside those of a job's notebook: a start, the solution, what is cleaned up
TRIES = 2  # of a job whose process ends
T = TypeVar("T")


class Worker:
    """A process that marks one job after the other; a new one takes the place of one that ends."""

    def __init__(self, marker: str = MARKER) -> None:
        self.marker = marker
        self.process: subprocess.Popen[bytes] | None = None
        self.is_over = False  # nobody waits for results any more
        self._rest = b""

    def mark(self, job: Job) -> Result:
        """Mark a job, whatever becomes of the process."""
        end = time.monotonic() + 2 * job.notebook_seconds + GRACE
        for _ in range(TRIES):
            try:
                return Result.from_json(self._ask(job, end))
            except TimeoutError:
                self.close()
                return Result(fault="marking it took too long and was ended")
            except (EOFError, OSError, ValueError, KeyError, TypeError):
                self.close()
            if self.is_over:
                break
        return Result(fault=f"the process that marked it ended, {TRIES} times")

    def stop(self) -> None:
        """Kill the process, and all that it started in its own group."""
        process = self.process
        if process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)

    def close(self) -> None:
        """End the process and forget it."""
        self.stop()
        process, self.process, self._rest = self.process, None, b""
        if process is None:
            return
        process.wait()
        process.stdin.close()
        process.stdout.close()

    def _ask(self, job: Job, end: float) -> bytes:
        """Send a job and wait for the line that answers it."""
        if self.process is None or self.process.poll() is not None:
            self.close()
            self.process = self._start()
        self.process.stdin.write(job.to_json().encode() + b"\n")
        with selectors.DefaultSelector() as ready:
            ready.register(self.process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._rest:
                if not ready.select(max(0.0, end - time.monotonic())):
                    raise TimeoutError
                block = os.read(self.process.stdout.fileno(), 1 << 16)
                if not block:
                    raise EOFError
                self._rest += block
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _start(self) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "nbmark.grade.worker", self.marker],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,
        )


class LocalPool:
    """As many processes as there are cores."""

    def __init__(self, size: int, marker: str = MARKER) -> None:
        self.workers = [Worker(marker) for _ in range(size)]

    def __call__(self, jobs: Iterable[tuple[T, Job]]) -> Iterator[tuple[T, Result]]:
        """Mark all jobs, and give each result as soon as it is there."""
        free: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        for worker in self.workers:
            free.put(worker)

        def mark(job: Job) -> Result:
            worker = free.get()
            try:
                return worker.mark(job)
            finally:
                free.put(worker)

        threads = ThreadPoolExecutor(len(self.workers))
        try:
            pending: dict[Future[Result], T] = {}
            for ticket, job in jobs:
                pending[threads.submit(mark, job)] = ticket
                if len(pending) >= 2 * len(self.workers):
                    yield from _done(pending)
            while pending:
                yield from _done(pending)
        finally:
            for worker in self.workers:
                worker.is_over = True
                worker.stop()
            threads.shutdown(cancel_futures=True)
            for worker in self.workers:
                worker.close()


def _done(pending: "dict[Future[Result], T]") -> Iterator[tuple[T, Result]]:
    """Wait for the next results."""
    for future in wait(pending, return_when=FIRST_COMPLETED).done:
        yield pending.pop(future), future.result()
