"""Serving the book: to this machine only, never from a browser's memory, with clear refusals."""

import socket
import urllib.request

import pytest
from serve import open_server


def test_a_port_in_use_gets_one_line_with_the_remedy(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(SystemExit) as refusal:
            open_server(tmp_path, str(port))
    remedy = f"Choose another one: make serve PORT={port + 1}"
    assert str(refusal.value) == f"Port {port} is in use. {remedy}"


@pytest.mark.parametrize("port", ["eighty", "99999", ""])
def test_a_port_that_is_none_is_refused(tmp_path, port):
    with pytest.raises(SystemExit, match=f"PORT={port} is no port"):
        open_server(tmp_path, port)


def test_only_this_machine_is_served(tmp_path):
    with open_server(tmp_path, "0") as server:
        assert server.server_address[0] == "127.0.0.1"


def test_browsers_ask_again_after_a_build(tmp_path, serve):
    tmp_path.joinpath("index.html").write_text("first")
    with urllib.request.urlopen(serve(tmp_path)) as answer:
        assert answer.headers["Cache-Control"] == "no-cache"
        assert answer.read() == b"first"
