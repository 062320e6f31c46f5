"""The figures in JupyterLab: Python moves them, and they move Python's traits."""

import json
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import nbformat
import pytest
import tidy
from figure_table import TABLE
from jupyter_client import BlockingKernelClient
from living import expect_said, living, press
from nbformat.v4 import new_code_cell, new_notebook

TIMEOUT = 120  # seconds
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


def write_notebook(path):
    """Write a notebook with a cell for each figure, which stays as a variable of its name."""
    cells = [new_code_cell("from attnlab import figures")]
    cells += [new_code_cell(f"{e.name} = figures.{e.name}()\n{e.name}") for e in TABLE]
    nbformat.write(new_notebook(cells=cells, metadata=tidy.METADATA), path)


def environment(folder):
    """Keep the server's files, and a user's settings, out of each other's way."""
    settings = folder / "settings" / "@jupyterlab" / "notebook-extension"
    settings.mkdir(parents=True)
    # Otherwise a figure that is scrolled out of sight is taken off the page.
    settings.joinpath("tracker.jupyterlab-settings").write_text('{"windowingMode": "none"}')
    names = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    own = {name: str(folder / name.lower()) for name in names}
    own |= {"JUPYTERLAB_SETTINGS_DIR": str(folder / "settings")}
    own |= {"JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces")}
    return os.environ | own | {"JUPYTER_PREFER_ENV_PATH": "1"}


def ask(address, token, body=None):
    """Read JSON from the server, or send it some and read the answer."""
    headers = {"Authorization": f"token {token}", "Content-Type": "application/json"}
    data = json.dumps(body).encode() if body else None
    request = urllib.request.Request(address, data, headers)
    with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
        return json.load(answer)


def wait_for(found, what):
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


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Start JupyterLab on the notebook; give address, token and the folder of its connections."""
    folder = tmp_path_factory.mktemp("lab")
    root, token = folder / "root", secrets.token_hex(16)
    root.mkdir()
    write_notebook(root / "figures.ipynb")
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
    env = environment(folder)
    with folder.joinpath("log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, *SERVER, *options], env=env, stdout=log, stderr=log
        )
        address = f"http://127.0.0.1:{port}"
        try:
            wait_for(lambda: ask(f"{address}/api/status", token), "JupyterLab")
            yield address, token, Path(env["JUPYTER_RUNTIME_DIR"])
        finally:
            process.terminate()
            process.wait(TIMEOUT)


@pytest.fixture(scope="module")
def kernel(server):
    """Start the notebook's kernel before JupyterLab does, and talk to it."""
    address, token, folder = server
    session = {"path": "figures.ipynb", "name": "", "type": "notebook"}
    session |= {"kernel": {"name": "python3"}}
    name = ask(f"{address}/api/sessions", token, session)["kernel"]["id"]
    client = BlockingKernelClient(connection_file=str(folder / f"kernel-{name}.json"))
    client.load_connection_file()
    client.start_channels()
    client.wait_for_ready(timeout=TIMEOUT)
    yield client
    client.stop_channels()


@pytest.fixture(scope="module")
def page(browser, server, kernel):
    """Open the notebook in the browser and run all its cells."""
    address, token, _ = server
    opened = browser.new_context().new_page()
    opened.goto(f"{address}/lab/tree/figures.ipynb?token={token}")
    opened.wait_for_function(CONNECTED, timeout=TIMEOUT * 1000)
    # Without waiting for its end, since nothing could interrupt that.
    opened.evaluate("void window.jupyterapp.commands.execute('notebook:run-all-cells')")
    yield opened
    opened.context.close()


@pytest.fixture(scope="module")
def python(kernel):
    """Give a function that runs code in the notebook's kernel and evaluates an expression."""

    def run(code, value="None"):
        expressions = {"value": value}
        reply = kernel.execute(
            code, user_expressions=expressions, reply=True, timeout=TIMEOUT, store_history=False
        )["content"]
        assert reply["status"] == "ok", reply
        return eval(reply["user_expressions"]["value"]["data"]["text/plain"])

    return run


def set_traits(entry, traits):
    """Write code that brings a figure into a state; what is not named gets its first value."""
    return (
        f"for name, value in figures.{entry.name}(**{traits!r}).state().items():\n"
        f"    setattr({entry.name}, name, value)"
    )


@pytest.mark.parametrize("entry", TABLE, ids=lambda entry: entry.name)
def test_python_moves_the_figure_and_the_figure_moves_python(page, python, entry):
    root = living(page, entry)
    assert not page.locator(".attn-still", has_text=entry.figure().describe()).is_visible()
    for state in (*entry.states, {}):
        python(set_traits(entry, state))
        expect_said(root, entry.figure(**state).describe())
    traits = {}
    for move in entry.moves:
        press(root, move)
        traits |= move.changes
        expect_said(root, entry.figure(**traits).describe())
        for name, value in move.changes.items():
            same = f"{entry.name}.{name} == {value!r}"
            wait_for(lambda same=same: python("", same), same)
