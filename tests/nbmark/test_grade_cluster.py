"""A batch on a Dask cluster gives what it gives here, also when a worker is killed."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time

import pytest
from course import make_course, submitted
from grading import HERE, run

pytest.importorskip("distributed")
from nbmark.grade.cluster import Cluster

CLASS = {f"s{i:02}/9_1_x.ipynb": submitted(one=f"a = {i % 2}\n# {i}") for i in range(16)}


@contextlib.contextmanager
def dask(*arguments, log, **environment):
    """Run one of Dask's processes."""
    path = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")]))
    with open(log, "w") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli." + arguments[0], *arguments[1:]],
            env={**os.environ, "PYTHONPATH": path, **environment},
            stdout=file,
            stderr=file,
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def said(log, pattern, seconds=120):
    """Wait until a process said something."""
    end = time.monotonic() + seconds
    while not (found := re.search(pattern, log.read_text() if log.exists() else "")):
        assert time.monotonic() < end, log.read_text()
        time.sleep(0.05)
    return found[1]


def test_the_gradebook_is_the_same_with_a_worker_killed(tmp_path):
    root = make_course(tmp_path, CLASS)
    run(root, out="here")
    marked = tmp_path / "marked"
    settings = {"MARKED_LOG": str(marked), "MARK_SECONDS": "0.3"}
    options = ("--no-nanny", "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1")
    with contextlib.ExitStack() as stack:
        log = tmp_path / "scheduler"
        serve = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        stack.enter_context(dask("dask_scheduler", *serve, log=log))
        address = said(log, r"Scheduler at:\s+(tcp://\S+)")
        worker = ("dask_worker", address, *options)
        logs = [tmp_path / "one", tmp_path / "two"]
        one, _ = [stack.enter_context(dask(*worker, log=log, **settings)) for log in logs]
        for log in logs:
            said(log, r"(Registered) to")

        def kill():
            while not (marked.exists() and len(marked.read_text().splitlines()) > 4):
                time.sleep(0.02)
            os.kill(one.pid, signal.SIGKILL)

        threading.Thread(target=kill, daemon=True).start()
        run(root, out="there", executor=Cluster(address, "grading:mark"))
        assert one.poll() is not None, "the worker was killed in the midst of it"
    for name in ("gradebook.csv", "canvas.csv", "moodle.csv", "feedback/s03.html"):
        assert (root / "there" / name).read_bytes() == (root / "here" / name).read_bytes()
    assert b"not mark" not in (root / "there" / "gradebook.csv").read_bytes()
