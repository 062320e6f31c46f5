import subprocess
import sys

import nbformat
import pytest
from jupyter_client.manager import start_new_kernel
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook, output_from_msg
from nbval.plugin import coalesce_streams

from nbmark.skip import REASON, CellSkipped, skip_cell, skip_reason

LINE = {
    "text/plain": "Skipped: no <GPU> here",
    "text/html": "<p><strong>Skipped:</strong> no &lt;GPU&gt; here</p>",
}
SKIP = "skip_cell('no <GPU> here')"
CELLS = {
    "at its start": f"{SKIP}\nprint('after')",
    "in a function": f"def measure():\n    {SKIP}\n\nmeasure()\nprint('after')",
    "in a with block": f"with warnings.catch_warnings():\n    {SKIP}\nprint('after')",
    "under except Exception": f"try:\n    {SKIP}\nexcept Exception:\n    print('swallowed')",
    "after await": f"await asyncio.sleep(0)\n{SKIP}\nprint('after')",
    "in an awaited task": f"async def f():\n    {SKIP}\n\nawait asyncio.create_task(f())",
    "under a cell magic": f"%%time\n{SKIP}\nprint('after')",
    "under %%capture": f"%%capture\n{SKIP}\nprint('after')",
    "after another skip was caught": f"try:\n    {SKIP}\nexcept BaseException:\n    pass\n{SKIP}",
}


@pytest.fixture(scope="module")
def run_cell():
    manager, client = start_new_kernel(kernel_name="python3")

    def run(source):
        messages = []
        reply = client.execute_interactive(
            source, output_hook=messages.append, stop_on_error=False, timeout=120
        )
        kinds = {"stream", "display_data", "execute_result", "error"}
        outputs = [output_from_msg(message) for message in messages if message["msg_type"] in kinds]
        return reply["content"]["status"], coalesce_streams(outputs)

    run("import asyncio, warnings\nfrom nbmark.skip import skip_cell")
    yield run
    client.stop_channels()
    manager.shutdown_kernel(now=True)
    manager.cleanup_resources()


@pytest.mark.parametrize("source", CELLS.values(), ids=CELLS.keys())
def test_a_cell_that_skips_ends_there_with_status_ok_and_one_line(run_cell, source):
    status, outputs = run_cell(source)
    assert status == "ok"
    assert [output.output_type for output in outputs] == ["display_data"]
    assert outputs[0].data == LINE
    assert skip_reason(outputs[0]) == "no <GPU> here"


def test_the_line_stands_after_everything_else_the_cell_shows(run_cell):
    source = f"try:\n    print('before')\n    {SKIP}\nfinally:\n    display('last')"
    status, outputs = run_cell(source)
    assert status == "ok"
    assert outputs[0].text == "before\n"
    assert [output.data for output in outputs[1:]] == [{"text/plain": "'last'"}, LINE]


def test_a_cell_that_catches_the_skip_shows_no_line_and_goes_on(run_cell):
    status, outputs = run_cell(f"try:\n    {SKIP}\nexcept BaseException:\n    print('went on')")
    assert status == "ok"
    assert [output.text for output in outputs] == ["went on\n"]


def test_an_error_on_the_way_out_of_a_skipped_cell_is_an_error(run_cell):
    status, outputs = run_cell(f"try:\n    {SKIP}\nfinally:\n    1 / 0")
    assert status == "error"
    assert [output.get("ename") for output in outputs] == ["ZeroDivisionError"]


def test_after_two_skips_in_a_row_an_error_shows_its_traceback_as_before(run_cell):
    for _ in range(2):
        run_cell(SKIP)
    status, outputs = run_cell("1 / 0")
    assert status == "error"
    assert outputs[0].ename == "ZeroDivisionError"
    assert "division by zero" in outputs[0].traceback[-1]
    assert len(outputs[0].traceback) > 1


def test_a_skip_leaves_no_trace_in_ipython(run_cell):
    state = (
        "print(get_ipython().custom_exceptions, get_ipython().CustomTB.__func__,"
        " get_ipython().events.callbacks['post_run_cell'], get_ipython().last_execution_succeeded)"
    )
    run_cell("'a cell that succeeds'")
    before = run_cell(state)
    run_cell(CELLS["after another skip was caught"])
    assert run_cell(state) == before


def test_a_handler_of_the_users_own_works_again_after_a_skip(run_cell):
    run_cell(
        "def shout(shell, kind, error, tb, tb_offset=None):\n    print('shout', error)\n\n"
        "get_ipython().set_custom_exc((LookupError,), shout)"
    )
    run_cell(SKIP)
    _, outputs = run_cell("raise LookupError('lost')")
    run_cell("get_ipython().set_custom_exc((), None)")
    assert [output.text for output in outputs] == ["shout lost\n"]


def test_nbclient_executes_every_cell_around_a_skip():
    cells = ["from nbmark.skip import skip_cell", SKIP, "'reached'"]
    notebook = new_notebook(cells=[new_code_cell(source) for source in cells])
    NotebookClient(notebook, kernel_name="python3", timeout=120).execute()
    nbformat.validate(notebook)
    outputs = [cell.outputs for cell in notebook.cells]
    assert outputs[0] == []
    assert [output.data for output in outputs[1]] == [LINE]
    assert [output.data for output in outputs[2]] == [{"text/plain": "'reached'"}]


def test_the_ipython_terminal_shows_the_line_and_goes_on():
    source = f"from nbmark.skip import skip_cell\n{SKIP}\n'reac' + 'hed'\n"
    shell = [sys.executable, "-m", "IPython", "--simple-prompt", "--no-banner", "--quick"]
    run = subprocess.run(shell, input=source, capture_output=True, text=True, timeout=120)
    assert "Skipped: no <GPU> here" in run.stdout
    assert "'reached'" in run.stdout
    assert "Traceback" not in run.stdout + run.stderr


def test_outside_ipython_the_exception_carries_the_reason_in_one_line():
    with pytest.raises(CellSkipped, match=r"\Ano compiler here\Z"):
        skip_cell(
            """no compiler
            here"""
        )


@pytest.mark.parametrize("metadata", [None, [REASON], {}, {REASON: 7}, {REASON: ["no GPU"]}])
def test_malformed_metadata_is_no_skip(metadata):
    assert skip_reason({"output_type": "display_data", "metadata": metadata}) is None
