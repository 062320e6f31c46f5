import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

CONFIG = Path(__file__).parents[2] / "pyproject.toml"
GPU_NOTEBOOK = Path(__file__).with_name("gpu_skip.ipynb")
SKIP = "skip_cell('no GPU here')"
SHOW_LINE = (
    "get_ipython().display_pub.publish("
    "{'text/plain': 'Skipped'}, metadata={'nbmark_skip_reason': 'a mere line'})\n"
)


def run_pytest(folder, *options):
    command = [sys.executable, "-m", "pytest", "-v", "-rs", "-p", "no:cacheprovider"]
    command += ["-p", "no:hypothesispytest", *options]
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": "", "COLUMNS": "200"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120
    ).stdout


def outcomes(text, stem):
    return re.findall(rf"\b{stem}\W+ipynb::Cell \d+ ([A-Z]+)", text)


def cell(source, printed=None):
    """Build a checked cell in the form that we commit: stored output, but no execution count."""
    outputs = [new_output("stream", text=printed)] if printed else []
    metadata = {"tags": ["nbval-check-output"]}
    return new_code_cell(source, outputs=outputs, metadata=metadata)


def write_notebook(path, *cells):
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(new_notebook(cells=list(cells), metadata=metadata), path)


EXPECTED = [
    (cell("from nbmark.skip import skip_cell"), "PASSED"),
    (cell(SKIP), "SKIPPED"),
    (cell(f"print('before')\n{SKIP}\nprint('on a GPU')", "before\non a GPU\n"), "SKIPPED"),
    (cell("print('between')", "between\n"), "PASSED"),
    (cell("print('between')", "something else\n"), "FAILED"),
    (cell(f"try:\n    {SKIP}\nexcept BaseException:\n    pass"), "PASSED"),
    (cell(f"{SHOW_LINE}1 / 0"), "FAILED"),
    (cell(f"{SHOW_LINE}print('a figure that Jupyter shows when the cell has ended')"), "SKIPPED"),
    (cell("1 / 0"), "FAILED"),
    (cell("print('last')", "last\n"), "PASSED"),
]


@pytest.mark.parametrize("mode", ["--nbval-lax", "--nbval"])
def test_skipped_passed_and_failed_cells_are_told_apart_and_in_order(mode, tmp_path):
    write_notebook(tmp_path / "cells.ipynb", *(cell for cell, _ in EXPECTED))
    text = run_pytest(tmp_path, mode)
    assert outcomes(text, "cells") == [outcome for _, outcome in EXPECTED]
    assert "SKIPPED [1] cells.ipynb::Cell 1: no GPU here\n" in text
    assert "SKIPPED [1] cells.ipynb::Cell 2: no GPU here\n" in text


def test_a_cell_that_ran_into_the_time_limit_is_not_reported_as_skipped(tmp_path):
    hang = "import time\ntry:\n    time.sleep(30)\nexcept KeyboardInterrupt:\n    pass"
    write_notebook(tmp_path / "slow.ipynb", cell(SHOW_LINE + hang, "its last line\n"))
    text = run_pytest(tmp_path, "--nbval", "--nbval-cell-timeout=1")
    assert outcomes(text, "slow") == ["FAILED"]


def test_a_cell_that_requires_cuda_skips_without_a_gpu_and_runs_with_one(tmp_path):
    cells = nbformat.read(GPU_NOTEBOOK, as_version=4).cells
    pretend = (
        "import torch\n"
        "torch.cuda.is_available = lambda: True\n"
        "torch.cuda.get_device_name = lambda: 'a pretended GPU'"
    )
    write_notebook(tmp_path / "without.ipynb", *cells)
    write_notebook(tmp_path / "with.ipynb", new_code_cell(pretend), *cells)
    text = run_pytest(tmp_path, "--nbval-lax", f"--config-file={CONFIG}", "--rootdir=.", ".")
    assert outcomes(text, "without") == ["PASSED", "SKIPPED", "PASSED"]
    assert outcomes(text, "with") == ["PASSED"] * 4
    line = "the GPU's name needs a CUDA GPU and there is none here. Recorded result: "
    assert f"SKIPPED [1] without.ipynb::Cell 1: {line}" in text


def test_where_nbval_does_not_run_the_plugin_imports_nothing(tmp_path):
    (tmp_path / "test_plain.py").write_text(
        "import sys\n\n"
        "def test_imports():\n"
        "    assert 'nbmark.plugin' in sys.modules\n"
        "    assert not {'nbval', 'IPython', 'torch', 'attnlab'} & sys.modules.keys()\n"
    )
    assert "1 passed" in run_pytest(tmp_path, "-p", "no:nbval")
