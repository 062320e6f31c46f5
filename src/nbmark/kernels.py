"""Kernels that are forked from a warm process, for whoever runs notebooks with jupyter_client.

A kernelspec's name chooses them: `WARM` for notebooks of one's own, `ISOLATED` for those of others,
as in ``pytest --nbval-lax --nbval-kernel-name nbmark-isolated``. Where this system cannot fork they
are plain kernels.
"""

import asyncio
import contextlib
import os
import shutil
import signal
import socket
import time
import weakref
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import Empty
from typing import Any

import zmq
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.provisioning import LocalProvisioner
from traitlets import Bool

from nbmark.sandbox import NOBODY, SOCKETS, View
from nbmark.warm import ALL
from nbmark.warmth import Child, Warm, can_fork, environment_behind_walls, folder_for_sockets

WARM, ISOLATED = "nbmark-warm", "nbmark-isolated"
KILL_SECONDS = 5.0
SEND_MILLISECONDS, LARGEST_MESSAGE = 5000, 64 << 20


@dataclass(frozen=True)
class Setting:
    """What the kernels of one notebook get besides what all get."""

    view: View = field(default_factory=View)
    channel: Callable[[], socket.socket] | None = None  # makes what a kernel serves calls over
    served: dict[str, Any] = field(default_factory=dict)  # what it is told of the checks
    environment: dict[str, str] = field(default_factory=dict)  # of kernels behind walls
    modules: tuple[str, ...] = ALL  # what the process has imported from which they are forked
    log: list[Child] = field(default_factory=list)  # the kernels that were started


_setting: ContextVar[Setting | None] = ContextVar("nbmark_kernel_setting", default=None)


@contextlib.contextmanager
def kernels_with(setting: Setting) -> Iterator[None]:
    """Let the kernels that are started in here have a setting."""
    token = _setting.set(setting)
    try:
        yield
    finally:
        _setting.reset(token)


class WarmProvisioner(LocalProvisioner):
    """Forks a kernel where LocalProvisioner starts a program."""

    isolated = Bool(False, config=True)
    child: Child | None = None
    sockets: Path | None = None

    @property
    def has_process(self) -> bool:
        """Tell whether there is a kernel."""
        return self.child is not None or super().has_process

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        """Have the kernel talk over sockets of a folder: a network of its own has no way out."""
        manager = self.parent
        if can_fork() and self.sockets is None:
            self.sockets = folder_for_sockets()
            self.sockets.joinpath("s").mkdir()
            weakref.finalize(self, shutil.rmtree, self.sockets, ignore_errors=True)
            manager.transport, manager.cache_ports = "ipc", False
            manager.connection_file = str(self.sockets / "connection.json")
            manager.ip = str(self.sockets / "s" / "k")
            manager.transport_encryption = "disabled"
            kwargs["transport_encryption"] = "disabled"
            self._make_clients_steady()
        return await super().pre_launch(**kwargs)

    def _make_clients_steady(self) -> None:
        """Let no kernel keep waiting who talks to it, whatever it does to its sockets."""
        _set_limits(self.parent.context)
        factory = self.parent.client_factory
        bases = (_Waiting, factory) if issubclass(factory, BlockingKernelClient) else (factory,)
        known = {"provisioner": weakref.proxy(self)}
        self.parent.client_factory = type("Client", (_Steady, *bases), known)

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        """Fork a kernel, or start one where that cannot be done."""
        if self.sockets is None:
            return await super().launch_kernel(cmd, **kwargs)
        setting = _setting.get() or Setting()
        request = {
            "what": "kernel",
            "connection_file": self.parent.connection_file,
            "arguments": cmd[cmd.index("-f") + 2 :],
            "folder": str(kwargs.get("cwd") or os.getcwd()),
            "environment": dict(kwargs.get("env") or os.environ) | {"JPY_PARENT_PID": "1"},
            "served": setting.served,
        }
        streams = (kwargs.get("stdout"), 1), (kwargs.get("stderr"), 2)
        files: list[int | None] = [None, *(_number(*each) for each in streams)]
        if self.isolated:
            request |= self._walls(setting.view)
            request["environment"] |= setting.environment
            files = [None] * 3
        with contextlib.ExitStack() as opened:
            if setting.channel is not None:
                files.append(opened.enter_context(setting.channel()).fileno())
            self.child = Warm.of(setting.modules).fork(request, files)
        self.pid = self.child.pid
        setting.log.append(self.child)
        return self.connection_info

    def _walls(self, view: View) -> dict[str, Any]:
        """Give what a kernel behind walls needs: a view, a home, a place for its root."""
        place, scratch = self.sockets / "s", self.sockets / "root"
        scratch.mkdir(exist_ok=True)
        if os.getuid() == 0:
            os.chown(place, NOBODY, NOBODY)
            self.sockets.chmod(0o711)
        information = self.parent.get_connection_info()
        plain = {k: v.decode() if isinstance(v, bytes) else v for k, v in information.items()}
        return {
            "walls": replace(view, sockets=str(place)).as_dict(),
            "scratch": str(scratch),
            "connection": plain | {"ip": f"{SOCKETS}/k"},
            "environment": environment_behind_walls(),
        }

    async def poll(self) -> int | None:
        """Give the exit status, None while the kernel lives."""
        return await super().poll() if self.child is None else self.child.code()

    async def wait(self) -> int | None:
        """Wait for the kernel's end."""
        if self.child is None:
            return await super().wait()
        while self.child.code() is None:
            await asyncio.sleep(0.005)
        code = self.child.code()
        self.child.close()
        self.child = None
        return code

    async def send_signal(self, signum: int) -> None:
        """Send the kernel a signal."""
        if self.child is None:
            await super().send_signal(signum)
        else:
            self.child.signal(signum)

    async def kill(self, restart: bool = False) -> None:
        """End the kernel now."""
        if self.child is None:
            await super().kill(restart)
        else:
            self.child.signal(signal.SIGKILL)
            self.child.code(KILL_SECONDS)

    async def terminate(self, restart: bool = False) -> None:
        """Ask the kernel to end."""
        await self.send_signal(signal.SIGTERM)

    async def cleanup(self, restart: bool = False) -> None:
        """Leave nothing behind."""
        if self.child is not None:
            self.child.close()
            self.child = None
        await super().cleanup(restart)
        if self.sockets is not None and not restart:
            shutil.rmtree(self.sockets, ignore_errors=True)


def _set_limits(context: zmq.Context) -> None:
    """Let sockets give up to send what nobody takes, and take nothing that is too large."""
    context.setsockopt(zmq.SNDTIMEO, SEND_MILLISECONDS)
    context.setsockopt(zmq.MAXMSGSIZE, LARGEST_MESSAGE)
    context.setsockopt(zmq.LINGER, 0)


class _Steady:
    """A client without heartbeat: its thread waits for ever at a socket that a kernel spoiled."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        _set_limits(self.context)

    def start_channels(self, *args: Any, hb: bool = False, **options: Any) -> None:
        """Connect."""
        super().start_channels(*args, hb=hb, **options)


class _Waiting:
    """A client that tells when its kernel died, instead of waiting for what does not come."""

    provisioner: WarmProvisioner

    def wait_for_ready(self, timeout: float | None = None) -> None:
        """Wait until the kernel answers; it has bound its sockets before anybody connects."""
        asked = self.kernel_info()
        while self.get_shell_msg(timeout=timeout)["parent_header"].get("msg_id") != asked:
            pass

    def get_shell_msg(self, *args: Any, timeout: float | None = None, **kwargs: Any) -> Any:
        """Give the next reply; queue.Empty if there is none in time, RuntimeError for ever."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            left = 1.0 if end is None else min(1.0, max(0.0, end - time.monotonic()))
            try:
                return super().get_shell_msg(*args, timeout=left, **kwargs)
            except Empty:
                child = self.provisioner.child
                if child is None or child.code() is not None:
                    raise RuntimeError("Kernel died") from None
                if end is not None and time.monotonic() >= end:
                    raise


def _number(stream: Any, inherited: int) -> int | None:
    """Give the open file of a stream as Popen takes it; None for nothing."""
    if stream is None:
        return inherited
    number = stream if isinstance(stream, int) else stream.fileno()
    return number if number >= 0 else None
