"""A JupyterLab server for tests: on a free port, with nobody's settings but its own."""

import json
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

TIMEOUT = 180  # seconds; only what hangs takes so long
SERVER = (
    *("-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", "--ServerApp.port_retries=0"),
    *("--LabApp.expose_app_in_browser=True", "--LabApp.news_url=None"),
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
)

# The notebook is open, with a line to its kernel.
CONNECTED = """() => {
  const kernel = window.jupyterapp?.shell.currentWidget?.context?.sessionContext?.session?.kernel;
  return kernel?.connectionStatus === "connected" && kernel.status === "idle";
}"""


def environment(folder: Path) -> dict[str, str]:
    """Keep the server's files, and a user's settings, out of each other's way."""
    settings = folder / "settings" / "@jupyterlab" / "notebook-extension"
    settings.mkdir(parents=True)
    # Otherwise a cell that is scrolled out of sight is taken off the page.
    settings.joinpath("tracker.jupyterlab-settings").write_text('{"windowingMode": "none"}')
    names = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    own = {name: str(folder / name.lower()) for name in names}
    own |= {"JUPYTERLAB_SETTINGS_DIR": str(folder / "settings")}
    own |= {"JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces")}
    return os.environ | own | {"JUPYTER_PREFER_ENV_PATH": "1"}


def ask(address: str, token: str, body: Any = None) -> Any:
    """Read JSON from the server, or send it some and read the answer."""
    headers = {"Authorization": f"token {token}", "Content-Type": "application/json"}
    data = json.dumps(body).encode() if body else None
    request = urllib.request.Request(address, data, headers)
    with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
        return json.load(answer)


def wait_for(found: Callable[[], Any], what: str) -> Any:
    """Wait until the function gives something."""
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        try:
            if result := found():
                return result
        except OSError:
            pass
        time.sleep(0.2)
    pytest.fail(f"{what} did not come within {TIMEOUT} s")


@contextmanager
def lab_server(root: Path, folder: Path) -> Iterator[tuple[str, str]]:
    """Serve the notebooks below `root`; give address and token. `folder` takes what it writes."""
    token = secrets.token_hex(16)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = [
        f"--port={port}",
        f"--ServerApp.root_dir={root}",
        f"--IdentityProvider.token={token}",
    ]
    root_user = hasattr(os, "geteuid") and os.geteuid() == 0
    options += ["--allow-root"] if root_user else []
    command = [sys.executable, *SERVER, *options]
    with folder.joinpath("log").open("w") as log:
        process = subprocess.Popen(command, env=environment(folder), stdout=log, stderr=log)
        address = f"http://127.0.0.1:{port}"
        try:
            wait_for(lambda: ask(f"{address}/api/status", token), "JupyterLab")
            yield address, token
        finally:
            process.terminate()
            process.wait(TIMEOUT)
