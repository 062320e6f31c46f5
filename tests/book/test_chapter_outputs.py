"""What nbval's run of a chapter leaves for the book is what the build's own execution gives it."""

import re
import shutil
import subprocess
import sys

import nbformat
import pytest
from files import ROOT
from nbformat.v4 import new_code_cell, new_markdown_cell
from tiny import NUMBERS, TinyBook

NAME = "chapters/1_02_numbers.ipynb"
# Everything that a cell can put out: text in pieces, a line that counts, both streams, a display
# that changes, a value, a picture, a widget with its state.
CELLS = [
    new_markdown_cell("# Numbers", id="title"),
    new_code_cell("import sys\nimport anywidget\nfrom IPython.display import display"),
    new_code_cell('print("one", flush=True)\nprint("1 of 2", end="\\r", flush=True)\nprint("two")'),
    new_code_cell('shown = display({"text/plain": "old"}, raw=True, display_id=True)'),
    new_code_cell('shown.update({"text/plain": "new"}, raw=True)'),
    new_code_cell(
        "class Box(anywidget.AnyWidget):\n"
        '    _esm = "export default { render({ el }) { el.textContent = 1; } };"\n\n'
        "Box()"
    ),
    new_code_cell("6 * 7"),
]
CHECKED = {"tags": ["nbval-check-output"]}
STATE = "application/vnd.jupyter.widget-state+json"


@pytest.fixture
def tiny(tmp_path):
    """Make a tiny book that nbval can run as it runs the real one."""
    tiny = TinyBook(tmp_path)
    shutil.copy(ROOT / "conftest.py", tmp_path)
    shutil.copytree(ROOT / "tests" / "support", tmp_path / "tests" / "support")
    return tiny


def run_nbval(tiny, *options):
    """Run what the options name; give what pytest says."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir=."]
    command += ["-p", "no:hypothesispytest"]
    done = subprocess.run(
        [*command, "--nbval-lax", *options],
        cwd=tiny.root,
        env=tiny.environment(),
        capture_output=True,
        text=True,
    )
    return done.stdout + done.stderr


def without_names(thing):
    """Write a thing down without the names of models and addresses of objects."""
    return re.sub("[0-9a-f]{32}|0x[0-9a-f]+", "NAME", repr(thing))


def outputs(tiny):
    """Give outputs, widgets and language of each executed notebook that the book has."""
    found = []
    for path in tiny.root.joinpath("_build", ".jupyter_cache", "executed").glob("*/base.ipynb"):
        notebook = nbformat.read(path, as_version=4)
        for output in (output for cell in notebook.cells for output in cell.outputs):
            output.pop("execution_count", None)
        models = notebook.metadata.pop("widgets", {STATE: {"state": {}}})[STATE]["state"]
        parts = [cell.outputs for cell in notebook.cells], notebook.metadata
        found.append((without_names(parts), sorted(map(without_names, models.values()))))
    return sorted(found)


def executed(output):
    """Give the names of the notebooks that a build executed."""
    return re.findall(r"^executing \d of \d: chapters/(\w+)\.ipynb", output, re.M)


def test_outputs_of_nbvals_run_are_those_of_a_build_which_finds_them(tiny):
    tiny.write_notebook(NAME, CELLS)
    said = run_nbval(tiny, "chapters", "-n2", "--dist=loadgroup")
    assert "9 passed" in said, said
    recorded = outputs(tiny)
    assert [bool(models) for _, models in recorded] == [True, True]
    status, output = tiny.build()
    assert status == 0, output
    assert executed(output) == []

    shutil.rmtree(tiny.root / "_build" / "executed")
    tiny.root.joinpath("_build", "book.json").unlink()
    status, output = tiny.build()
    assert executed(output) == ["1_02_numbers", "1_04_widgets"]
    assert outputs(tiny) == recorded


def test_a_chapter_that_fails_or_runs_in_part_leaves_nothing(tiny):
    wrong = new_code_cell("print(1)", metadata=CHECKED)
    wrong.outputs = [nbformat.v4.new_output("stream", text="2\n")]
    tiny.write_notebook(NAME, [*NUMBERS, wrong])
    assert "1 failed, 2 passed" in run_nbval(tiny, NAME)
    assert "2 passed, 1 deselected" in run_nbval(tiny, NAME, f"--deselect={NAME}::Cell 2")
    assert outputs(tiny) == []


def test_a_chapter_with_fresh_outputs_keeps_them(tiny):
    tiny.write_notebook(NAME, [NUMBERS[0], new_code_cell("import time\nprint(time.time())")])
    run_nbval(tiny, NAME)
    first = outputs(tiny)
    assert "1 passed" in run_nbval(tiny, NAME)
    assert outputs(tiny) == first
