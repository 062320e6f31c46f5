"""The chart of section 1.7: its boxes lead to lines that exist, and show the shapes measured."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

from attnlab.flow import SHAPES

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "chapters" / "1_07_computation_flow.ipynb"
spec = importlib.util.spec_from_file_location(
    "source_code", ROOT / "tools" / "sphinx_ext" / "source_code.py"
)
source_code = importlib.util.module_from_spec(spec)
spec.loader.exec_module(source_code)

CELLS = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
PAGE = "\n".join("".join(cell["source"]) for cell in CELLS)
CHART = re.search(r"```\{mermaid\}\n(.*?)```", PAGE, re.DOTALL)[1]
BOXES = dict(re.findall(r'(\w+)\["(.+?)"\]', CHART))
CLICKS = re.findall(r'^ *click (\w+) "#([\w-]+):~:text=(.+?)"', CHART, re.MULTILINE)
SHOWN = dict(re.findall(r"\(([\w-]+)\)=\n```\{source\} (\S+)\n", PAGE))


def test_every_box_is_a_link():
    assert len(BOXES) > 10
    assert sorted(box for box, _, _ in CLICKS) == sorted(BOXES)
    assert CHART.count("click ") == len(CLICKS), "a click that is not understood here"


@pytest.mark.parametrize(("box", "anchor", "text"), CLICKS)
def test_link_of_a_box_leads_to_a_line_of_the_code_shown_there(box, anchor, text):
    _, code = source_code.code_without_docstring(SHOWN[anchor])
    assert text in code
    assert not re.search("[,&%]|^-|-$", text), "a text fragment needs these characters escaped"


@pytest.mark.parametrize(("box", "anchor", "text"), CLICKS)
def test_text_of_a_link_stands_nowhere_else_above_its_code(box, anchor, text):
    above = PAGE[: PAGE.index(f"({anchor})=")].replace(CHART, "")
    names = re.findall(r"```\{source\} (\S+)\n", above)
    shown_above = [source_code.code_without_docstring(name)[1] for name in names]
    assert not any(text in code for code in [above, *shown_above])


def test_shapes_on_the_chart_are_those_the_traced_run_is_compared_with():
    assert sorted(BOXES) == sorted(SHAPES)
    for box, label in BOXES.items():
        assert label.rpartition("<br/>")[2] == f"({SHAPES[box]})"
