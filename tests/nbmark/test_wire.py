"""Values between processes: what arrives, what does not, and what a call changes."""

import json
import socket
import struct
import threading
import time

import numpy as np
import pytest
import torch

from nbmark.served import References, Served, Stopped
from nbmark.serving import Kernel
from nbmark.wire import DEEPEST, Broken, Channel, Peer

SOON = 20.0


@pytest.fixture
def sides():
    """Give a trusted peer and that of a student, which serves until the first is closed."""
    mine, theirs = socket.socketpair()
    trusted, student = References(), References()
    trusted.peer = Peer(Channel(mine), trusted.codec, SOON)
    student.peer = Kernel(Channel(theirs), student.codec, SOON)
    thread = threading.Thread(target=serve, args=[student.peer])
    thread.start()
    yield trusted, student
    mine.close()
    thread.join()
    theirs.close()


def serve(peer):
    try:
        while True:
            peer.answer(peer.receive(time.monotonic() + SOON), time.monotonic() + SOON)
    except Broken:
        pass


def offered(sides, function):
    """Give the trusted side's view of a student's function."""
    trusted, student = sides
    return Served(trusted.peer, student.peer.offer(function), "function")


VALUES = [
    None,
    True,
    3,
    -2.5,
    float("nan"),
    "text",
    ...,
    [1, [2.0, None]],
    (1, "two"),
    {"a": 1, (0, 1): "name"},
    np.float64(0.1),
    np.arange(6.0).reshape(2, 3).T,
    np.zeros((0, 5), np.float32),
    np.array([True, False]),
    np.array([1, None, [2]], dtype=object),
    np.ma.masked_invalid([1.0, np.nan]),
    torch.arange(3),
    torch.ones(2, 3, dtype=torch.bfloat16),
    torch.tensor(0.5, requires_grad=True),
]


@pytest.mark.parametrize(
    "value", VALUES, ids=[f"{i}-{type(v).__name__}" for i, v in enumerate(VALUES)]
)
def test_a_value_arrives_as_it_was(sides, value):
    back = offered(sides, lambda given: given)(value)
    assert type(back) is type(value)
    np.testing.assert_equal(repr(back), repr(value.detach() if torch.is_tensor(value) else value))


def test_what_is_no_plain_value_arrives_by_its_name_alone(sides):
    class Secret:
        def __float__(self):
            return 2.5

        def __reduce__(self):
            raise AssertionError("nothing is pickled")

    back = offered(sides, lambda: Secret())()
    assert (type(back).__name__, float(back)) == ("Secret", 2.5)


def test_what_a_call_changes_is_changed_here_too(sides):
    def spoil(array, tensor, items):
        array[0] = tensor[0] = 9
        items.append(4)

    array, tensor, items = np.zeros(2), torch.zeros(2), [3]
    offered(sides, spoil)(array, tensor, items)
    assert (array.tolist(), tensor.tolist(), items) == ([9, 0], [9, 0], [3, 4])


def test_errors_have_their_own_type_and_message(sides):
    def fails(kind):
        raise {"own": type("MyError", (Exception,), {}), "key": KeyError, "exit": SystemExit}[kind](
            "no"
        )

    for kind, name, base in ("own", "MyError", Exception), ("key", "KeyError", KeyError):
        with pytest.raises(base, match="no") as caught:
            offered(sides, fails)(kind)
        assert type(caught.value).__name__ == name
    with pytest.raises(Exception, match="no") as caught:
        offered(sides, fails)("exit")
    assert type(caught.value).__name__ == "SystemExit"


def test_functions_call_each_other(sides):
    def twice(f):
        return f(1) + f(2)

    assert offered(sides, twice)(lambda x: 10 * x) == 30


def test_a_generator_is_run_to_its_end(sides):
    assert offered(sides, lambda n: (k for k in range(n)))(3) == [0, 1, 2]


def test_what_cannot_be_sent_is_an_error_of_the_function(sides):
    def nested():
        deep = []
        for _ in range(2 * DEEPEST):
            deep = [deep]
        return deep

    with pytest.raises(ValueError, match="nested too deeply"):
        offered(sides, nested)()


def framed(text, data=b""):
    return struct.pack(">II", len(text), len(data)) + text + data


ARRAY = {"is": "array", "as": "array", "numpy": "<f8", "shape": [1], "at": 0, "bytes": 8}
BROKEN = {
    "no JSON": framed(b"{"),
    "too long": struct.pack(">II", 1 << 31, 0),
    "cut short": framed(b'{"what": "result"}')[:-3],
    "nested": framed(b"[" * 50_000),
    "no mapping": framed(b"[]"),
    "objects": framed(json.dumps(ARRAY | {"numpy": "|O8"}).encode(), b"x" * 8),
    "no numbers": framed(json.dumps(ARRAY | {"shape": [1 << 60]}).encode(), b"x" * 8),
    "unknown kind": framed(b'{"is": "pickle", "of": "gASVAAAA"}'),
    "keys": framed(b'{"is": "dict", "of": [{"is": "list", "of": [{"is": "list", "of": []}, 1]}]}'),
    "dtype": framed(json.dumps(ARRAY | {"as": "tensor", "dtype": "load"}).encode(), b"x" * 8),
    "thing": framed(b'{"is": "other", "of": {"kind": "adapted"}}'),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_message_ends_the_conversation(name):
    mine, theirs = socket.socketpair()
    trusted = References()
    trusted.peer = Peer(Channel(mine), trusted.codec, SOON)
    with mine, theirs:
        theirs.sendall(BROKEN[name])
        theirs.shutdown(socket.SHUT_WR)
        with pytest.raises(Stopped):
            Served(trusted.peer, 0, "f")(1)


def test_whoever_does_not_answer_in_time_is_not_waited_for():
    mine, theirs = socket.socketpair()
    trusted = References()
    trusted.peer = Peer(Channel(mine), trusted.codec, 0.1)
    with mine, theirs, pytest.raises(Stopped, match="too long"):
        Served(trusted.peer, 0, "f")(1)
