"""The student's side of a check that is made outside: it serves calls, and shows what was found.

Nothing here is trusted: a student's code may change all of it, and gains nothing by that.
"""

import signal
import socket
import sys
import traceback
import warnings
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from types import GeneratorType, ModuleType
from typing import Any

import numpy as np

from nbmark.served import References
from nbmark.wire import Channel, Peer

SECONDS = 3600.0  # whoever marks decides how long a cell may take

_peer: Peer | None = None


class Kernel(Peer):
    """Serves what student's code defines."""

    settings = staticmethod(nullcontext)  # under which functions are called

    def run(self, function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """Call a function, whatever the notebook has set; a generator is run to its end."""
        with self.settings(), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            value = function(*args, **kwargs)
            return list(value) if isinstance(value, GeneratorType) else value

    def described(self, error: BaseException) -> dict[str, str]:
        """Say what an error is, and the student's line that raised it."""
        lines = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.line]
        own = [
            frame for frame in lines if "ipykernel_" in frame.filename or "<cell" in frame.filename
        ]
        place = f"    line {own[-1].lineno} of your cell:  {own[-1].line}" if own else ""
        return super().described(error) | {"place": place[:200]}


def connect(number: int, told: Mapping[str, Any]) -> None:
    """Serve over an open file; put stubs in the place of checks that are made elsewhere."""
    global _peer
    _peer = _peer_of(number, str(told.get("adapters", "")))
    for name in told.get("modules", ()):
        _put_stub(name)


def _peer_of(number: int, adapters: str) -> Peer:
    references = References(adapters)
    peer = references.peer = Kernel(
        Channel(socket.socket(fileno=number)), references.codec, SECONDS
    )
    if references.adapters:
        peer.settings = references.adapters.settings
    return peer


def _put_stub(name: str) -> None:
    """Let a module of checks be one of calls to the outside."""
    package, _, own = name.rpartition(".")
    parent = sys.modules.setdefault(package, ModuleType(package))
    parent.__path__ = []
    stub = ModuleType(name)
    stub.__getattr__ = lambda check: lambda *given: serve(f"{name}:{check}", *given)
    sys.modules[name] = stub
    setattr(parent, own, stub)


def serve(check: str, *given: Any) -> None:
    """Have a check made of what is given; show what it found, or raise that."""
    from IPython.display import display

    found = _peer.ask("check", check=check, given=given)
    for bundle in found["shown"]:
        display(bundle, raw=True)
    if found["failed"]:
        kind = type(str(found["failed"]), (_Found,), {})
        raise kind(found["said"]) from None


class _Found(AssertionError):  # noqa: N818 - a finding
    """What a check found wrong."""

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()


def serve_sources(number: int, sources: Mapping[str, Any]) -> None:
    """Run cells one after the other, and serve what they define until nobody asks."""
    peer = _peer_of(number, "")
    space: dict[str, Any] = {"__name__": "__main__"}
    space["get_ipython"] = lambda: _NoShell()
    for name, statements in sources["cells"]:
        _run(name, statements, space, float(sources["seconds"]))
    while True:
        peer.ask("next", defined={name: space.get(name) for name in sources["names"]})


def _run(name: str, statements: Sequence[str], space: dict[str, Any], seconds: float) -> None:
    """Run a cell's statements until one fails; one that only imports may fail."""

    def stop(*_: object) -> None:
        raise TimeoutError("the time limit was exceeded")

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        for statement in statements:
            try:
                exec(compile(statement, f"<cell {name}>", "exec"), space)
            except ImportError:
                if not statement.startswith(("import ", "from ")):
                    raise
    except BaseException:
        return
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


class _NoShell:
    """Stands for IPython where there is none: magics do nothing."""

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **kwargs: None
