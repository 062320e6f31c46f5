"""Values between a trusted process and a student's: JSON and the bytes of arrays, nothing else.

Neither side ever runs what the other sent. What is no plain value stays where it is, and the other
side gets a reference to it: the `Codec` of each side says what becomes of these.
"""

import json
import socket
import struct
import sys
import time
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import numpy as np

MOST_TEXT, MOST_BYTES, DEEPEST = 4 << 20, 256 << 20, 30
HEAD = struct.Struct(">II")  # length of the JSON, number of bytes behind it
NUMBERS = "biufc"  # kinds of arrays that travel

Plain = Any  # what JSON can hold


class Broken(ConnectionError):  # noqa: N818 - a finding, named as it reads
    """The other side is gone, took too long, or sent what is no message."""


class Channel:
    """Messages over a connected stream socket, of limited size and within limited time."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection

    def send(self, text: Plain, buffers: list[bytes], end: float) -> None:
        """Send a message, by a time of `time.monotonic`."""
        encoded = json.dumps(text).encode()
        size = sum(map(len, buffers))
        if len(encoded) > MOST_TEXT or size > MOST_BYTES:
            raise ValueError("this is too large to be sent")
        try:
            for part in (HEAD.pack(len(encoded), size) + encoded, *buffers):
                self._wait_until(end)
                self.connection.sendall(part)
        except TimeoutError:
            raise Broken("it took too long") from None
        except OSError as error:
            raise Broken(str(error)) from None

    def receive(self, end: float) -> tuple[Plain, memoryview]:
        """Receive a message, by a time of `time.monotonic`."""
        length, size = HEAD.unpack(self._read(HEAD.size, end))
        if length > MOST_TEXT or size > MOST_BYTES:
            raise Broken("a message is too large")
        text, data = self._read(length, end), self._read(size, end)
        try:
            return json.loads(text), memoryview(data)
        except (ValueError, RecursionError) as error:
            raise Broken(f"a message is no JSON: {error}") from None

    def _read(self, size: int, end: float) -> bytes:
        parts = bytearray()
        try:
            while len(parts) < size:
                self._wait_until(end)
                part = self.connection.recv(min(size - len(parts), 1 << 20))
                if not part:
                    raise Broken("the other side is gone")
                parts += part
        except TimeoutError:
            raise Broken("it took too long") from None
        except OSError as error:
            raise Broken(str(error)) from None
        return bytes(parts)

    def _wait_until(self, end: float) -> None:
        left = end - time.monotonic()
        if left <= 0:
            raise Broken("it took too long")
        self.connection.settimeout(left)


class Codec:
    """Turns values into JSON and buffers and back.

    `refer` gives a mapping for what is no plain value, and `resolve` takes one that the other side
    gave; the values in both are plain.
    """

    def __init__(
        self,
        refer: Callable[[Any], Mapping[str, Any]],
        resolve: Callable[[Mapping[str, Any]], Any],
    ) -> None:
        self.refer, self.resolve = refer, resolve

    def pack(self, value: Any) -> tuple[Plain, list[bytes]]:
        """Turn a value into JSON and buffers."""
        buffers: list[bytes] = []
        return self._encode(value, buffers, 0), buffers

    def unpack(self, text: Plain, data: memoryview) -> Any:
        """Turn them back; Broken where they are not what `pack` gives."""
        try:
            return self._decode(text, data, 0)
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise Broken(f"a message holds no value: {error}") from None
        except RuntimeError as error:  # numbers that are none of a model
            raise Broken(f"a message holds no value: {error}") from None

    def _encode(self, value: Any, buffers: list[bytes], depth: int) -> Plain:
        if depth > DEEPEST:
            raise ValueError("this is nested too deeply to be sent")
        if value is None or type(value) in (bool, str, float):
            return value
        if type(value) is int and abs(value) < 1 << 63:
            return value
        if value is ...:
            return {"is": "..."}
        if (array := _as_array(value)) is not None:
            return {"is": "array", **_numbers(array, buffers), **_kind_of(value)}
        if isinstance(value, np.ma.MaskedArray) and value.dtype.kind in NUMBERS:
            parts = [value.data, np.ma.getmaskarray(value)]
            return {"is": "masked", "of": self._encode(parts, buffers, depth + 1)}
        if isinstance(value, np.ndarray) and value.dtype == object:
            return {"is": "objects", "of": self._encode(value.tolist(), buffers, depth + 1)}
        if isinstance(value, list | tuple | set | frozenset) and not hasattr(value, "__float__"):
            kind = "tuple" if isinstance(value, tuple) else "list"
            return {"is": kind, "of": [self._encode(v, buffers, depth + 1) for v in value]}
        if isinstance(value, Mapping):
            pairs = [[key, item] for key, item in value.items()]
            return {"is": "dict", "of": [self._encode(p, buffers, depth + 1) for p in pairs]}
        found = {k: self._encode(v, buffers, depth + 1) for k, v in self.refer(value).items()}
        return {"is": "other", "of": found}

    def _decode(self, text: Plain, data: memoryview, depth: int) -> Any:
        if depth > DEEPEST:
            raise ValueError("it is nested too deeply")
        if text is None or isinstance(text, bool | int | float | str):
            return text
        kind, inner = text["is"], text.get("of")
        if kind == "...":
            return ...
        if kind == "array":
            return _from_numbers(text, data)
        if kind == "other":
            return self.resolve({k: self._decode(v, data, depth + 1) for k, v in inner.items()})
        if kind in ("list", "tuple", "dict"):
            items = [self._decode(item, data, depth + 1) for item in inner]
            return {"list": list, "tuple": tuple, "dict": _dictionary}[kind](items)
        value = self._decode(inner, data, depth + 1)
        if kind == "masked":
            return np.ma.MaskedArray(value[0], value[1])
        if kind == "objects":
            made = np.empty(len(value), dtype=object) if isinstance(value, list) else None
            return np.array(value, dtype=object) if made is None else _filled(made, value)
        raise ValueError(f"a value of kind {kind!r}")


def _dictionary(pairs: list[Any]) -> dict[Any, Any]:
    return dict(pairs)


def _filled(made: np.ndarray, values: list[Any]) -> np.ndarray:
    made[:] = values
    return made


def _torch() -> ModuleType | None:
    """Give PyTorch where it is imported; what only stands for it has no tensors."""
    torch = sys.modules.get("torch")
    return torch if hasattr(torch, "Tensor") else None


def _as_array(value: Any) -> np.ndarray | None:
    """Give the numbers of an array, a NumPy number or a tensor; None for anything else."""
    torch = _torch()
    if torch is not None and isinstance(value, torch.Tensor):
        value = value.detach().cpu().resolve_conj().resolve_neg()
        value = value.float() if value.dtype == torch.bfloat16 else value
        value = value.numpy()
    plain = isinstance(value, np.ndarray | np.generic) and not isinstance(value, np.ma.MaskedArray)
    return np.asarray(value) if plain and np.asarray(value).dtype.kind in NUMBERS else None


def _kind_of(value: Any) -> dict[str, str]:
    """Tell a tensor and a NumPy number from an array."""
    if isinstance(value, np.ndarray):
        return {"as": "array"}
    if isinstance(value, np.generic):
        return {"as": "number"}
    return {"as": "tensor", "dtype": str(value.dtype).removeprefix("torch.")}


def _numbers(array: np.ndarray, buffers: list[bytes]) -> dict[str, Plain]:
    data = np.ascontiguousarray(array).tobytes()
    at = sum(map(len, buffers))
    buffers.append(data)
    return {"numpy": array.dtype.str, "shape": list(array.shape), "at": at, "bytes": len(data)}


def _from_numbers(text: Mapping[str, Any], data: memoryview) -> Any:
    dtype, at = np.dtype(text["numpy"]), text["at"]
    if dtype.kind not in NUMBERS or at < 0:
        raise ValueError(f"an array of {dtype}")
    array = np.frombuffer(data[at : at + text["bytes"]], dtype).reshape(text["shape"]).copy()
    if text["as"] == "number":
        return array[()]
    torch = _torch()
    if text["as"] == "tensor" and torch is not None:
        dtype = getattr(torch, text["dtype"])
        return torch.from_numpy(array).to(dtype if isinstance(dtype, torch.dtype) else None)
    return array


class Raised(Exception):  # noqa: N818 - a finding, named as it reads
    """The other side's code raised an error; it is here by name and message."""

    def __init__(self, kind: str, message: str, place: str = "") -> None:
        self.kind, self.place = kind, place
        super().__init__(message)


class Peer:
    """One of two sides that call each other's functions; while one works the other waits.

    What a call changes in its arguments, arrays and lists, is changed on the caller's side too.
    """

    def __init__(self, channel: Channel, codec: Codec, seconds: float = 300.0) -> None:
        self.channel, self.codec, self.seconds = channel, codec, seconds
        self.mine: list[Any] = []  # what the other side may call, by number
        self.depth = self.turn = 0

    def offer(self, thing: Any) -> int:
        """Let the other side call this, by the number that it gets."""
        self.mine.append(thing)
        return len(self.mine) - 1

    def ask(self, what: str, **fields: Any) -> Any:
        """Ask the other side for something, and serve its calls until it answers."""
        end = time.monotonic() + self.seconds
        self.turn += 1
        turn = self.turn
        self._send({"what": what, "turn": turn, **fields}, end)
        while True:
            message = self.receive(end)
            if message["what"] not in ("result", "raised"):
                self.answer(message, end)
            elif message["turn"] == turn:  # another is that of a call that was interrupted
                if message["what"] == "result":
                    return message["value"]
                raise Raised(*(str(message[key]) for key in ("kind", "message", "place")))

    def call(self, number: int, args: tuple, kwargs: dict[str, Any]) -> Any:
        """Call the other side's function."""
        value, after = self.ask("call", number=number, args=args, kwargs=kwargs)
        for mine, theirs in zip((*args, *kwargs.values()), after, strict=True):
            _change(mine, theirs)
        return value

    def answer(self, message: Mapping[str, Any], end: float) -> None:
        """Answer a call of the other side."""
        if message["what"] != "call" or self.depth > 8:
            raise Broken(f"a message out of turn: {message['what']}")
        self.depth += 1
        try:
            function, args, kwargs = (message[k] for k in ("number", "args", "kwargs"))
            value = self.run(self.mine[function], args, kwargs)
            after = _changed((*args, *kwargs.values()))
            self._send({"what": "result", "turn": message["turn"], "value": (value, after)}, end)
        except Broken:
            raise
        except BaseException as error:
            told = self.described(error)
            self._send({"what": "raised", "turn": message["turn"], **told}, end)
            if isinstance(error, KeyboardInterrupt):
                raise
        finally:
            self.depth -= 1

    def reply(self, message: Mapping[str, Any], value: Any) -> None:
        """Answer a question that was no call."""
        end = time.monotonic() + self.seconds
        self._send({"what": "result", "turn": message["turn"], "value": value}, end)

    def run(self, function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """Run a function for the other side."""
        return function(*args, **kwargs)

    def described(self, error: BaseException) -> dict[str, str]:
        """Say what an error is."""
        return {"kind": type(error).__name__, "message": str(error)[:2000], "place": ""}

    def _send(self, message: dict[str, Any], end: float) -> None:
        self.channel.send(*self.codec.pack(message), end)

    def receive(self, end: float) -> dict[str, Any]:
        """Receive the next message."""
        message = self.codec.unpack(*self.channel.receive(end))
        if not isinstance(message, dict) or not {"what", "turn"} <= message.keys():
            raise Broken("a message says nothing")
        return message


def _changed(values: tuple) -> list[Any]:
    """Give what arguments have become, as far as a call can have changed them."""
    return [value if _can_change(value) else None for value in values]


def _can_change(value: Any) -> bool:
    return isinstance(value, list) or (_as_array(value) is not None and hasattr(value, "shape"))


def _change(mine: Any, theirs: Any) -> None:
    """Make an argument what the call has made of it."""
    if isinstance(mine, list) and isinstance(theirs, list):
        mine[:] = theirs
    elif _can_change(mine) and not isinstance(mine, np.generic):
        same = type(mine) is type(theirs) and mine.shape == theirs.shape
        if same and mine.dtype == theirs.dtype:
            (mine.detach() if hasattr(mine, "detach") else mine)[...] = theirs
