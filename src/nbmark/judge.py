"""The trusted process that makes the checks of one submission.

It has what a student's process must not have: the checks, the seed of their cases, the right
values. It is told from one side, by whoever marks, which check is due; from the other side the
student's process hands over what is to be checked, and answers calls. A check that is not due is
not made, and one that was made is not made again: who knows its message knows right values.
"""

import importlib
import json
import select
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from nbmark.served import References, Stopped
from nbmark.wire import Broken, Channel, Peer

MOST_SAID = 8000  # letters of a message
UNFINISHED = "CheckFailed"
NOT_DUE = "This check is made when its own cell is run for marks."

shown: list[Mapping[str, Any]] = []  # what the running check displays


def sit(control: socket.socket, request: Mapping[str, Any]) -> None:
    """Judge one submission until whoever marks is gone."""
    _keep_what_is_displayed()
    Judge(control, request).serve()


def _keep_what_is_displayed() -> None:
    """Stand in for IPython's shell, so that what a check displays goes to the student."""
    from IPython.core.interactiveshell import InteractiveShell

    class Publisher:
        def publish(self, data: Mapping[str, Any], **options: Any) -> None:
            shown.append(data)

    nothing = SimpleNamespace(format=lambda *things, **options: ({}, {}))
    shell = SimpleNamespace(display_pub=Publisher(), display_formatter=nothing, user_ns={})
    InteractiveShell.initialized = classmethod(lambda cls: True)
    InteractiveShell.instance = classmethod(lambda cls, *args, **options: shell)


class Judge:
    """What is known of a submission."""

    def __init__(self, control: socket.socket, request: Mapping[str, Any]) -> None:
        self.control, self.packages = control, request["packages"]
        self.adapters = request["adapters"]
        self.seconds, self.handed_out = request["seconds"], request["handed_out"]
        self.kernel: Peer | None = None
        self.due: Mapping[str, Any] | None = None
        self.verdicts: dict[str, Mapping[str, Any]] = {}
        self.own: dict[str, Any] | None = None  # what the cells that are handed out define

    def _peer(self, number: int) -> Peer:
        references = References(self.adapters, self.packages)
        channel = Channel(socket.socket(fileno=number))
        references.peer = Peer(channel, references.codec, self.seconds)
        return references.peer

    def serve(self) -> None:
        """Listen to both sides."""
        while True:
            sides = [self.control, *([self.kernel.channel.connection] if self.kernel else [])]
            ready, _, _ = select.select(sides, [], [])
            if self.control in ready:
                message, files, _, _ = socket.recv_fds(self.control, 1 << 20, 1)
                if not message:
                    return
                self._told(json.loads(message), files)
            elif ready:
                try:
                    self._asked(self.kernel.receive(time.monotonic() + self.seconds))
                except (Broken, KeyError):
                    self.kernel.channel.connection.close()  # it lost its place in the messages
                    self.kernel = None

    def _told(self, message: Mapping[str, Any], files: Sequence[int]) -> None:
        """Do what whoever marks says."""
        if files:
            self.kernel = self._peer(files[0])
        elif "expect" in message:
            self.due = message["expect"]
        else:
            self.due = None
            verdict = self.verdicts.get(message["verdict"])
            self.control.send(json.dumps(verdict).encode())

    def _asked(self, message: Mapping[str, Any]) -> None:
        """Make the check that a student's process asks for, if it is due."""
        if message["what"] != "check":
            raise Broken("a message out of turn")
        due, self.due = self.due, None
        if due is None or message["check"] != due["check"] or due["cell"] in self.verdicts:
            self.due = due
            bundle = {"text/plain": NOT_DUE}
            self.kernel.reply(message, {"failed": "", "said": "", "shown": [bundle]})
            return
        shown.clear()
        verdict = self.verdicts[due["cell"]] = self._verdict(due, message["given"])
        found = {"failed": verdict.get("kind", ""), "said": verdict.get("text", "")}
        self.kernel.reply(message, found | {"shown": list(shown)})

    def _verdict(self, due: Mapping[str, Any], given: Sequence[Any]) -> dict[str, Any]:
        """Make a check of what is given, and say how it ended."""
        try:
            module, _, name = due["check"].partition(":")
            check: Callable[..., Any] = getattr(importlib.import_module(module), name)
            check(*self._arguments(due["names"], given))
        except Stopped as stopped:
            return _failure(UNFINISHED, "stopped", f"the check was not finished: {stopped}")
        except Broken as broken:
            return _failure(UNFINISHED, "unreadable", f"the answer cannot be read: {broken}")
        except Exception as error:
            cause = str(getattr(error, "cause", type(error).__name__))
            message = str(getattr(error, "message", error))
            return _failure(type(error).__name__, cause, message, str(error))
        return {"passed": True}

    def _arguments(self, names: Sequence[str], given: Sequence[Any]) -> Sequence[Any]:
        """Give what is to be checked, each from where it can be trusted most."""
        if len(given) != len(names):
            raise Broken("it does not hold what the check is made of")
        trusted = self.handed_out["names"]
        return [
            self._handed_out(name) if name in trusted else value
            for name, value in zip(names, given, strict=True)
        ]

    def _handed_out(self, name: str) -> Any:
        """Give the value that the exercise's own cells give a name."""
        if self.own is None:
            self.own = {}
            for source in self.handed_out["cells"]:
                exec(source, self.own)  # the instructor's own cells
        return self.own[name]


def _failure(kind: str, cause: str, message: str, text: str = "") -> dict[str, Any]:
    """Give a verdict on what earns nothing: what kind of error, why, in a line, in full."""
    said = {"kind": kind, "cause": cause, "message": message, "text": text or message}
    return {"passed": False} | {name: text[:MOST_SAID] for name, text in said.items()}
