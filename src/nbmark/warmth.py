"""The marking process's side of warm processes: starts them and asks for forks."""

import atexit
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from nbmark.sandbox import HOME
from nbmark.warm import ALL

LONGEST_MESSAGE = 1 << 16
START_SECONDS = 120.0  # the longest that a warm process may take for its imports; a kernel to start
KEPT = ("LANG", "LC_ALL", "LC_CTYPE", "TZ", "LD_LIBRARY_PATH")
SETTINGS = {
    **{f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")},
    "MPLBACKEND": "Agg",
    "PYTHONSAFEPATH": "1",
    "JPY_PARENT_PID": "1",  # ipykernel looks for its parent, which another namespace hides
}


class NoFork(RuntimeError):  # noqa: N818 - a finding, named as it reads
    """A child could not be forked or set up; the message says why."""


def can_fork() -> bool:
    """Tell whether this system forks processes safely and tells when they end."""
    return sys.platform == "linux" and hasattr(os, "pidfd_open")


def environment_behind_walls() -> dict[str, str]:
    """Give the environment of strangers: no seed, no key, no user's settings and folders."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ} | SETTINGS
    places = {"HOME": HOME, "TMPDIR": "/tmp", "MPLCONFIGDIR": f"{HOME}/.matplotlib"}
    return kept | places | {"PATH": f"{sys.prefix}/bin:/usr/local/bin:/usr/bin:/bin"}


class Warm:
    """A process that has imported some modules and forks children from itself."""

    _of_this_process: ClassVar[dict[tuple[int, tuple[str, ...]], "Warm"]] = {}

    @classmethod
    def of(cls, modules: Sequence[str] = ALL) -> "Warm":
        """Give this process's own with these modules, started the first time."""
        key = (os.getpid(), tuple(modules))
        if key not in cls._of_this_process or not cls._of_this_process[key].lives():
            cls._of_this_process[key] = cls(modules)
        return cls._of_this_process[key]

    def __init__(self, modules: Sequence[str]) -> None:
        self.owner = os.getpid()
        self.control, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-P", "-m", "nbmark.warm", str(other.fileno()), *modules]
        with tempfile.TemporaryFile() as log:
            self.process = subprocess.Popen(
                command,
                env=environment_behind_walls() | {"HOME": tempfile.gettempdir()},
                pass_fds=[other.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
            other.close()
            self.control.settimeout(START_SECONDS)
            if not self.control.recv(16):
                self.control.close()
                self.process.wait()
                log.seek(0)
                raise NoFork(f"no warm process: {log.read().decode(errors='replace')[-500:]}")
        atexit.register(self.end)

    def lives(self) -> bool:
        """Tell whether it can be asked."""
        return self.process.poll() is None

    def end(self) -> None:
        """End it, and with it what it forked."""
        if os.getpid() != self.owner:
            return
        self.control.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def fork(self, request: dict[str, Any], files: Sequence[int] = ()) -> "Child":
        """Fork a child that does what is asked; NoFork if it cannot."""
        connection, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        nothing = os.open(os.devnull, os.O_RDWR)
        try:
            standard = [
                nothing if number is None else number for number in (*files, *[None] * 3)[:3]
            ]
            given = [other.fileno(), *standard, *files[3:]]
            socket.send_fds(self.control, [json.dumps(request).encode()], given)
        except OSError as error:
            raise NoFork(f"the warm process does not answer: {error}") from None
        finally:
            other.close()
            os.close(nothing)
        return Child(connection)


class Child:
    """A fork, as its connection shows it."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.ended: dict[str, Any] | None = None
        connection.settimeout(START_SECONDS)
        first = self._receive()
        connection.settimeout(None)
        if "up" not in first:
            connection.close()
            raise NoFork(str(first.get("failed") or first))
        self.pid, self.told = first["up"], first

    def code(self, seconds: float = 0) -> int | None:
        """Give its exit status once it has ended; wait so long for that."""
        if self.ended is None:
            self.connection.settimeout(max(seconds, 0.0001))
            with contextlib.suppress(TimeoutError):
                self.ended = self._receive()
            self.connection.settimeout(None)
        return None if self.ended is None else self.ended.get("ended", -9)

    def signal(self, number: int) -> None:
        """Send it a signal."""
        with contextlib.suppress(OSError):
            self.connection.send(str(int(number)).encode())

    def close(self) -> None:
        """End it, if it has not ended."""
        self.connection.close()

    def _receive(self) -> dict[str, Any]:
        try:
            message = self.connection.recv(LONGEST_MESSAGE)
        except ConnectionError:
            message = b""
        return json.loads(message) if message else {"ended": -9}


def folder_for_sockets() -> Path:
    """Make a folder of a short name: a socket's path has at most 107 letters."""
    base = next(path for path in ("/tmp", tempfile.gettempdir()) if os.access(path, os.W_OK))
    return Path(tempfile.mkdtemp(prefix="nbm", dir=base))
