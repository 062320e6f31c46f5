"""The student's side of a check that is made outside: it serves calls, and shows what was found.

Nothing here is trusted: a student's code may change all of it, and gains nothing by that.
"""

import importlib
import socket
import sys
import traceback
import warnings
from collections.abc import Mapping
from contextlib import nullcontext
from importlib.machinery import ModuleSpec
from types import GeneratorType, ModuleType
from typing import Any

import numpy as np

from nbmark.served import References
from nbmark.wire import Channel, Peer

ALONE = "NumPy and Python alone"
IMPORTING = ("importlib._bootstrap", "importlib._bootstrap_external")
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
        own = [frame for frame in lines if "ipykernel_" in frame.filename]
        place = f"    line {own[-1].lineno} of your cell:  {own[-1].line}" if own else ""
        return super().described(error) | {"place": place[:200]}


def connect(number: int, told: Mapping[str, Any]) -> None:
    """Serve over an open file; put stubs in the place of checks that are made elsewhere."""
    global _peer
    _peer = _peer_of(number, str(told.get("adapters", "")))
    for name in told.get("modules", ()):
        _put_stub(name)
    if told.get("alone"):
        sys.meta_path.append(_Finder())


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
    parent = _package(package)
    stub = ModuleType(name)
    stub.__getattr__ = lambda check: lambda *given: serve(f"{name}:{check}", *given)
    sys.modules[name] = stub
    setattr(parent, own, stub)


def _package(name: str) -> ModuleType:
    """Give a package, an empty one where there is none of that name."""
    above, _, own = name.rpartition(".")
    outer = _package(above) if above else None
    try:
        return importlib.import_module(name)
    except ImportError:
        made = sys.modules[name] = ModuleType(name)
        made.__path__ = []
        if outer is not None:
            setattr(outer, own, made)
        return made


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


class Missing(ModuleType):
    """Stands for a package that a student imports and that is not there: all use of it fails."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{self.__name__} is not here: this exercise is run with {ALONE}")


class _Finder:
    """Finds for the student's own import statements what nobody else finds."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Give a module that stands for a missing one."""
        parent = sys.modules.get(name.rpartition(".")[0])
        if isinstance(parent, Missing) or (path is None and _is_asked_by_a_cell()):
            return ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Make it."""
        return Missing(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Leave it empty."""


def _is_asked_by_a_cell() -> bool:
    """Tell whether the import under way stands in a notebook's cell."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") in (__name__, *IMPORTING):
        frame = frame.f_back
    return frame is not None and frame.f_globals.get("__name__") == "__main__"
