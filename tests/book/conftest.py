"""What the tests of the book share: its build, a server, and a browser."""

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import cache, partial
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
from filelock import FileLock

ROOT = Path(__file__).resolve().parents[2]
SUPPORT = (ROOT / "tools", ROOT / "tests" / "support", Path(__file__).parent / "support")
sys.path[:0] = map(str, SUPPORT)

from tiny import TinyBook  # noqa: E402  (found on the path that the line above extends)

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    *("--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
)
HOW_TO_GET_ONE = (
    "no Chromium found: `apt-get install chromium`, or `.venv/bin/python -m playwright install "
    "chromium`"
)


@pytest.fixture(scope="session")
def book(tmp_path_factory) -> Path:
    """Build the book and give the folder of its pages; processes of one run build it once."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # what all processes of this run share
    with FileLock(folder / "book.lock"):
        if not folder.joinpath("book").exists():
            build_book()
            folder.joinpath("book").touch()
    return ROOT / "_build" / "html"


def build_book() -> None:
    """Build the book as `make book` does."""
    command = [sys.executable, "tools/build.py"]
    env = {name: value for name, value in os.environ.items() if name != "SOLUTIONS"}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"\n{done.stdout}{done.stderr}"


@pytest.fixture(scope="session")
def tiny(tmp_path_factory) -> TinyBook:
    """Make a book of two notebooks with the real tools and configuration."""
    return TinyBook(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="session")
def serve() -> Iterator[Callable[[Path], str]]:
    """Give a function that serves a folder and says at which address."""
    from serve import Handler

    servers = []

    @cache
    def start(folder: Path) -> str:
        server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=folder))
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}/"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def find_browser(playwright) -> str | None:
    """Find a Chromium: the system's, or the one that Playwright installed."""
    own = playwright.chromium.executable_path
    found = [shutil.which(name) for name in BROWSERS] + [own if Path(own).is_file() else None]
    return next(filter(None, found), None)


@pytest.fixture(scope="session")
def browser():
    """Start a headless Chromium; without one the tests are skipped, but fail under CI."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = find_browser(playwright)
        if path is None:
            (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(HOW_TO_GET_ONE)
        root_user = hasattr(os, "geteuid") and os.geteuid() == 0
        flags = [*FLAGS, *(["--no-sandbox"] if root_user else [])]
        chromium = playwright.chromium.launch(executable_path=path, args=flags)
        yield chromium
        chromium.close()
