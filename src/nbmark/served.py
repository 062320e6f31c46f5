"""References: what each side of a `nbmark.wire` connection says of things that are no plain values.

A course's own module of adapters may say more: its `describe` gives a mapping for a thing, or None,
and its `restore` makes a thing of such a mapping. A mapping's values are plain.
"""

import builtins
import importlib
import re
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

from nbmark import drawn
from nbmark.wire import Broken, Codec, Peer, Raised

NAME = re.compile(r"[^\W\d]\w{0,60}")


class Stopped(BaseException):
    """The student's process ended or was interrupted while a check waited for it.

    It is no `Exception`, so that a check does not take it for an error of the student's function.
    """


class References:
    """What one side offers to the other, and knows of what the other offers."""

    def __init__(self, adapters: str = "", packages: Sequence[str] | None = None) -> None:
        self.packages = packages  # the only ones that the other side has; None: any
        self.adapters: ModuleType | None = importlib.import_module(adapters) if adapters else None
        self.codec = Codec(self.describe, self.restore)
        self.peer: Peer | None = None
        self.figures: dict[int, Any] = {}

    def describe(self, thing: Any) -> Mapping[str, Any]:
        """Say what a thing is, so that the other side can make something of it."""
        if self.adapters and (told := self.adapters.describe(thing, self.peer.offer)):
            return {"kind": "adapted", "told": told}
        if (told := drawn.describe(thing)) is not None:
            return {"kind": "figure", "number": id(told["figure"]), "told": told["axes"]}
        kind = str(getattr(type(thing), "__name__", "object"))
        if callable(thing) and not isinstance(thing, type):
            name = str(getattr(thing, "__name__", kind))
            return {"kind": "function", "number": self.peer.offer(thing), "name": name[:60]}
        try:
            number = float(thing)
        except Exception:
            number = None
        return {"kind": "opaque", "type": kind[:60], "number": number}

    def restore(self, told: Mapping[str, Any]) -> Any:
        """Make a thing of what the other side said; Broken if that is nothing."""
        kind = told["kind"]
        if kind == "function":
            return Served(self.peer, int(told["number"]), str(told["name"]), self.packages)
        if kind == "figure":
            if told["number"] not in self.figures:
                self.figures[told["number"]] = drawn.restore(told["told"])
            return self.figures[told["number"]]
        if kind == "adapted" and self.adapters:
            return self.adapters.restore(told["told"], self._remote)
        if kind == "opaque":
            return _opaque(str(told["type"]), told["number"])
        raise Broken(f"a thing of kind {kind!r}")

    def _remote(self, number: int) -> "Served":
        return Served(self.peer, number, "remote")


class Served:
    """A function of the other side; what it raises has the other's type, by name."""

    def __init__(
        self, peer: Peer, number: int, name: str, packages: Sequence[str] | None = None
    ) -> None:
        self.peer, self.number, self.packages = peer, number, packages
        self.__name__ = name if NAME.fullmatch(name) else "your_function"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it."""
        try:
            return self.peer.call(self.number, args, kwargs)
        except Raised as raised:
            if raised.kind == "KeyboardInterrupt":
                raise Stopped("it was interrupted") from None
            raise _like(raised) from None
        except Broken as broken:
            raise Stopped(str(broken)) from None


def _like(raised: Raised) -> Exception:
    """Make an error of the type that was raised, or of one that is called so."""
    base = getattr(builtins, raised.kind, Exception)
    fits = isinstance(base, type) and issubclass(base, Exception)
    name = raised.kind if NAME.fullmatch(raised.kind) else "Exception"
    said = {"__str__": lambda self: str(raised), "place": raised.place}
    kind = type(name, (base if fits else Exception,), said)
    return kind.__new__(kind)


def _opaque(name: str, number: float | None) -> Any:
    """Stand for a thing of which no more is known than its type, and its number if it is one."""
    inner: dict[str, Callable] = {} if number is None else {"__float__": lambda self: float(number)}
    return type(name if NAME.fullmatch(name) else "object", (), inner)()
