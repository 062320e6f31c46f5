"""Bring notebooks into the form that is committed, or check that they are in it (`--check`).

No trace of one run or one machine stays: no execution counts, no widget state, and outputs only in
cells tagged `nbval-check-output`, where they are what the tests compare with.
"""

import json
import sys
from pathlib import Path

import nbformat
from files import ROOT
from nbformat import NotebookNode

from nbmark.files import put

FOLDERS = ("chapters", "exercises", "solutions")
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
# What tools leave in a cell's metadata goes; what people write there stays.
CELL_METADATA = ("tags", "claim", "mystnb", "nbgrader", "nbmark", "editable", "deletable")
CHECKED = "nbval-check-output"


def is_checked(cell: NotebookNode) -> bool:
    """Tell whether the tests compare the cell's outputs."""
    return CHECKED in cell.metadata.get("tags", [])


def tidy_output(output: NotebookNode) -> NotebookNode:
    """Drop the parts of an output that no test compares: count, metadata, images, widgets."""
    output = nbformat.from_dict(output)
    if "execution_count" in output:
        output.execution_count = None
    if "data" in output:
        output.metadata = {}
        for kind in list(output.data):
            if kind.startswith("image/") or "widget" in kind:
                del output.data[kind]
    return output


def merge_streams(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Join what a cell printed in several messages; how many they are differs from run to run."""
    merged: list[NotebookNode] = []
    for output in outputs:
        last = merged[-1] if merged else {}
        if output.output_type == "stream" and last.get("name") == output.name:
            last.text += output.text
        else:
            merged.append(output)
    return merged


def tidy_cell(cell: NotebookNode) -> None:
    """Bring a cell into committed form, in place."""
    cell.metadata = {key: cell.metadata[key] for key in CELL_METADATA if key in cell.metadata}
    if cell.cell_type == "code":
        cell.execution_count = None
        kept = [tidy_output(output) for output in cell.outputs] if is_checked(cell) else []
        cell.outputs = merge_streams([output for output in kept if output.get("data", True)])


def committed_form(text: str) -> str:
    """Give the committed form of a notebook's text.

    Raises
    ------
    ValueError
        If the text is no notebook.
    """
    raw = json.loads(text)
    raw["nbformat_minor"] = 5
    for index, cell in enumerate(raw["cells"]):
        cell.setdefault("id", f"cell-{index}")  # nbformat's own would differ with each run
    notebook = nbformat.reads(json.dumps(raw), as_version=4)
    nbformat.validate(notebook)
    notebook.metadata = nbformat.from_dict(METADATA)
    for cell in notebook.cells:
        tidy_cell(cell)
    return nbformat.writes(notebook) + "\n"


def notebooks() -> list[Path]:
    """Give the project's notebooks."""
    return sorted(path for folder in FOLDERS for path in (ROOT / folder).glob("*.ipynb"))


def main(check: bool) -> int:
    """Tidy the notebooks, or name those that are not tidy."""
    untidy = 0
    for path in notebooks():
        text = path.read_text(encoding="utf-8")
        form = committed_form(text)
        if text == form:
            continue
        untidy += 1
        if check:
            print(f"{path.relative_to(ROOT)} is not in committed form: run `make tidy`")
        else:
            put(path, form)
            print(f"tidied {path.relative_to(ROOT)}")
    return 1 if check and untidy else 0


if __name__ == "__main__":
    sys.exit(main(check=sys.argv[1:] == ["--check"]))
