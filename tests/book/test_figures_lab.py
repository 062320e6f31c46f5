"""The figures in JupyterLab: Python moves them, and they move Python's traits."""

import nbformat
import pytest
import tidy
from figure_table import TABLE
from jupyter_client import BlockingKernelClient
from lab import CONNECTED, TIMEOUT, ask, lab_server, wait_for
from living import expect_said, living, press
from nbformat.v4 import new_code_cell, new_notebook

from attnlab import figures


def write_notebook(path):
    """Write a notebook with a cell for each figure, which stays as a variable of its name."""
    cells = [new_code_cell("from attnlab import figures")]
    cells += [new_code_cell(f"{e.name} = figures.{e.name}()\n{e.name}") for e in TABLE]
    nbformat.write(new_notebook(cells=cells, metadata=tidy.METADATA), path)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Start JupyterLab on the notebook; give address, token and the folder of its connections."""
    folder = tmp_path_factory.mktemp("lab")
    root = folder / "root"
    root.mkdir()
    write_notebook(root / "figures.ipynb")
    with lab_server(root, folder) as address_and_token:
        yield *address_and_token, folder / "jupyter_runtime_dir"


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


def test_what_is_typed_is_read_by_the_kernel_and_so_is_what_is_left_without_a_head(page, python):
    entry = next(entry for entry in TABLE if entry.figure is figures.HeadsOverview)
    root, figure = living(page, entry), figures.HeadsOverview()
    python(set_traits(entry, {}))
    expect_said(root, figure.describe())
    assert root.get_by_role("button", name="Load the model").count() == 0
    figure.asked = "we met at the bank"
    root.get_by_label("Your own sentence", exact=True).fill(figure.asked)
    expect_said(root, figure.describe())
    figure.view, figure.off = "heads switched off", "4-2"
    root.get_by_role("combobox", name="Show", exact=True).select_option(figure.view)
    root.get_by_role("button", name="Switch 4-2 off", exact=True).click()
    expect_said(root, figure.describe())
