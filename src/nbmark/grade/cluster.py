"""Marks on a Dask cluster that is there already, such as one of dask-jobqueue or Kubernetes.

The workers need this project's environment, and no folder in common: a task carries submission and
original. A worker keeps a process for each of its threads, which marks one submission after the
other; tasks of a worker that dies are given to another by Dask.
"""

import dataclasses
import os
import queue
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from distributed import Client, as_completed

from nbmark.grade.executors import MARKER, Worker
from nbmark.mark_one import Job, Result

WAIT = "30s"  # for the scheduler to answer
AT_ONCE = 4  # submissions under way for each thread of the cluster
T = TypeVar("T")

_free: "queue.SimpleQueue[Worker]" = queue.SimpleQueue()  # of this process, if it is a worker's


class Cluster:
    """The cluster of a scheduler."""

    def __init__(self, address: str, marker: str = MARKER) -> None:
        self.address, self.marker = address, marker

    def __call__(self, jobs: Iterable[tuple[T, Job]]) -> Iterator[tuple[T, Result]]:
        """Mark all jobs, and give each result as soon as it is there."""
        left = iter(jobs)
        try:
            client = Client(self.address, timeout=WAIT, set_as_default=False)
        except OSError:
            raise ConnectionError(f"no Dask scheduler answers at {self.address}") from None
        with client:
            tickets = {}

            def send() -> list:
                sent = []
                for ticket, job in left:
                    future = client.submit(_mark, *_packed(job), self.marker, pure=False)
                    tickets[future.key] = ticket
                    sent.append(future)
                    if len(tickets) >= AT_ONCE * max(1, sum(client.nthreads().values())):
                        break
                return sent

            done = as_completed(send(), loop=client.loop, raise_errors=False)
            for future in done:
                yield tickets.pop(future.key), _result(future)
                for other in send():
                    done.add(other)


def _result(future) -> Result:
    """Give the result of a task, or say why there is none."""
    if future.status == "finished":
        return Result.from_json(future.result())
    return Result(fault=f"the cluster could not mark it: {type(future.exception()).__name__}")


def _packed(job: Job) -> tuple[str, bytes, bytes]:
    """Give a job with what its files hold."""
    return job.to_json(), Path(job.submission).read_bytes(), Path(job.original).read_bytes()


def _mark(job: str, submission: bytes, original: bytes, marker: str) -> str:
    """Mark a job, on a worker of the cluster."""
    read = Job.from_json(job)
    try:
        worker = _free.get_nowait()
    except queue.Empty:
        worker = Worker(marker)
    try:
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / Path(read.submission).name
            copy.write_bytes(submission)
            there = _kept(Path(read.original).name, original)
            moved = dataclasses.replace(read, submission=str(copy), original=str(there))
            return worker.mark(moved).to_json()
    finally:
        _free.put(worker)


def _kept(name: str, original: bytes) -> Path:
    """Keep an original in a place that stays, so that its answers are found out once."""
    global _folder
    if _folder is None:
        _folder = tempfile.TemporaryDirectory(prefix="nbmark-originals-")
    path = Path(_folder.name) / f"{hash(original):x}" / name
    path.parent.mkdir(exist_ok=True)
    if not path.exists():
        part = path.with_name(f".{name}.{os.urandom(4).hex()}")
        part.write_bytes(original)
        os.replace(part, path)
    return path


_folder: tempfile.TemporaryDirectory | None = None
