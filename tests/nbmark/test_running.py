"""Running a student's notebook with nbclient: no cell stops the others."""

import json
import subprocess
import sys

from course import changed
from nbformat import writes
from nbformat.v4 import new_code_cell

PROGRAM = """
import json, sys
from pathlib import Path
import nbformat
from nbmark.limits import Clock
from nbmark.running import run_all

found = []
notebook = nbformat.reads(sys.stdin.read(), as_version=4)
run_all(notebook, Path.cwd(), lambda c, e: found.append([c.source, e.why_not()]), Clock(6, 600))
print(json.dumps(found))
"""
LOOP = "while True:\n    try:\n        time.sleep(1)\n    except BaseException:\n        pass"
CELLS = {
    "c = 1\nexit()": "",
    "while True:\n    pass": "the time limit was exceeded",
    f"import time\n{LOOP}": "the time limit was exceeded",
    "import os\nos._exit(1)": "the kernel died",
    "1 / 0": "division by zero",
    "assert a + c == 2": "",
}


def test_every_cell_gets_its_outcome_once_whatever_became_of_the_others(tmp_path):
    own = [new_code_cell(source) for source in CELLS]
    notebook = changed(lambda cells: cells.__setitem__(slice(2, 2), own))
    notebook.cells = notebook.cells[: 2 + len(own)]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=writes(notebook),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.stderr == ""
    first = [["a = 1", ""], [notebook.cells[1].source, ""]]
    found = json.loads(done.stdout)
    assert [reason for _, reason in found] == ["", "", *CELLS.values()]
    assert [source for source, _ in found[:2]] == [source for source, _ in first]
