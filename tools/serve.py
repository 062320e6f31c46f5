"""Serve _build/html on 127.0.0.1."""

import sys
from errno import EACCES, EADDRINUSE
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from files import BUILD

REASONS = {EADDRINUSE: "is in use", EACCES: "is not yours to use"}


class Handler(SimpleHTTPRequestHandler):
    """Serve files that browsers ask for again each time, in silence."""

    def end_headers(self) -> None:
        """Forbid browsers to show a page from before the last build."""
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, *_args: object) -> None:
        """Say nothing."""


def open_server(folder: Path, port: str) -> ThreadingHTTPServer:
    """Listen on a port of this machine only.

    Raises
    ------
    SystemExit
        If the port cannot be had, with a line that names the remedy.
    """
    try:
        return ThreadingHTTPServer(("127.0.0.1", int(port)), partial(Handler, directory=folder))
    except (ValueError, OverflowError):
        sys.exit(f"PORT={port} is no port: choose a number from 1024 to 65535.")
    except OSError as error:
        reason = REASONS.get(error.errno, f"cannot be had ({error.strerror})")
        sys.exit(f"Port {port} {reason}. Choose another one: make serve PORT={int(port) + 1}")


def main(port: str = "8000") -> None:
    """Serve until Ctrl-C."""
    server = open_server(BUILD / "html", port)
    print(f"The book is at http://127.0.0.1:{server.server_port}/  (Ctrl-C ends)", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print()


if __name__ == "__main__":
    main(*sys.argv[1:])
