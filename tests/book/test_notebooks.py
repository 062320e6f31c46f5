"""The chapter's notebooks keep the house style, and each rule can be broken."""

import copy
import json

import nbformat
import pytest
import style
import tidy
from files import ROOT
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

CHAPTERS = sorted((ROOT / "chapters").glob("*.ipynb"))

# Title and numbered headings of each section, as the chapter's outline has them; the headings of a
# section that has but its title there are the book's own.
OUTLINE = {
    "1_01_motivation": [
        "Motivation: The Fixed-Size Bottleneck",
        "Seq2Seq Recap",
        "The Alignment Problem",
    ],
    "1_02_additive_attention": ["Bahdanau Additive Attention"],
    "1_03_scaled_dot_product": [
        "Scaled Dot-Product Attention",
        "Queries, Keys, and Values",
        "Computing Attention Scores",
        r"Why Divide by $\sqrt{d_k}$?",
        "Full Formula",
    ],
    "1_04_self_and_cross": ["Self-Attention vs. Cross-Attention"],
    "1_05_causal_mask": ["Causal (Masked) Attention"],
    "1_06_multi_head": [
        "Multi-Head Attention",
        "Motivation",
        "Concatenation and Output Projection",
        "Parameter Count",
        "What Do Heads Learn?",
    ],
    "1_07_computation_flow": ["Attention Computation Flow"],
    "1_08_implementation": ["PyTorch Implementation: Multi-Head Attention"],
    "1_09_complexity": ["Complexity Analysis"],
    "1_10_flash_attention": ["Flash Attention: IO-Aware Efficient Attention"],
}

BAD_CELLS = {
    "late_imports": [new_code_cell("x = 1"), new_code_cell("if x:\n    import os")],
    "long_cells": [new_code_cell("\n".join(["x = 1"] * 16))],
    "definitions": [new_code_cell("f = lambda x: x")],
    "shell_commands": [new_code_cell("%pip install x")],
    "network_use": [new_code_cell("from urllib.request import urlopen")],
    "typed_numbers": [new_markdown_cell("## 1.3.2 Scores")],
    "misplaced_titles": [new_markdown_cell("# Another title")],
    "outputs_to_compare_missing": [
        new_code_cell("1 + 1", metadata={"tags": ["nbval-check-output"]})
    ],
    "unlabelled_equations": [new_markdown_cell("$$\na = b\n$$\n\nand $$c = d$$ (eq-c)")],
    "images_without_text": [new_markdown_cell("![](a.png)")],
}


def notebook_with(*cells):
    """Make a notebook that is good but for the given cells."""
    cells = [new_markdown_cell("# Title"), *copy.deepcopy(cells)]
    return new_notebook(cells=cells, metadata=tidy.METADATA)


@pytest.mark.parametrize("rule", style.RULES, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_chapter_keeps_the_rule(path, rule):
    assert rule(nbformat.read(path, as_version=4)) == []


@pytest.mark.parametrize("rule", style.RULES, ids=lambda rule: rule.__name__)
def test_the_rule_can_be_broken_by_just_what_it_forbids(rule):
    broken = {r.__name__ for r in style.RULES if r(notebook_with(*BAD_CELLS[rule.__name__]))}
    assert broken == {rule.__name__}
    assert len(rule(notebook_with(*BAD_CELLS[rule.__name__]))) == 1


@pytest.mark.parametrize(
    "source", ["def f():\n    pass", "class A:\n    pass", "async def f():\n    pass"]
)
def test_every_kind_of_definition_is_found(source):
    assert style.definitions(notebook_with(new_code_cell(source)))


def test_a_shell_command_is_found_and_an_inequality_is_none():
    assert style.shell_commands(notebook_with(new_code_cell("!ls")))
    assert not style.shell_commands(notebook_with(new_code_cell("a = 1\nb = a != 2")))


def test_a_comment_in_a_block_of_code_is_no_heading():
    text = "```python\n# 1 comment\n```"
    assert style.headings(notebook_with(new_markdown_cell(text))) == [(1, "Title")]


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_headings_are_those_of_the_outline(path):
    found = style.headings(nbformat.read(path, as_version=4))
    titles = [title for level, title in found if level <= 2]
    outline = OUTLINE[path.stem]
    if len(outline) > 1:
        assert titles == outline
    else:
        assert titles[:1] == outline
        assert len(titles) >= 5


@pytest.mark.parametrize("path", tidy.notebooks(), ids=lambda path: path.stem)
def test_notebook_is_in_committed_form(path):
    text = path.read_text(encoding="utf-8")
    assert text == tidy.committed_form(text), "run `make tidy`"


def messy_notebook():
    """Make a notebook as Jupyter saves it after a run."""
    picture = new_output("display_data", data={"image/png": "aGk=", "text/plain": "<Figure>"})
    result = new_output("execute_result", data={"text/plain": "2"}, execution_count=7)
    lone_picture = new_output("display_data", data={"image/png": "aGk="})
    checked = {"tags": ["nbval-check-output"], "execution": {"iopub.status.busy": "now"}}
    notebook = notebook_with(
        new_code_cell("1 + 1", id="free", execution_count=6, outputs=[result]),
        new_code_cell(
            "1 + 1",
            id="checked",
            execution_count=7,
            outputs=[picture, result, lone_picture],
            metadata=checked,
        ),
    )
    notebook.metadata["widgets"] = {"state": {}}
    notebook.metadata["language_info"]["version"] = "3.12.1"
    return notebook


def test_committed_form_drops_every_trace_of_a_run_but_the_outputs_to_compare():
    tidied = json.loads(tidy.committed_form(json.dumps(messy_notebook())))
    free, checked = tidied["cells"][1:]
    assert tidied["metadata"] == tidy.METADATA
    assert (free["execution_count"], free["outputs"]) == (None, [])
    assert checked["metadata"] == {"tags": ["nbval-check-output"]}
    assert [sorted(output["data"]) for output in checked["outputs"]] == [["text/plain"]] * 2
    assert checked["outputs"][1]["execution_count"] is None
    assert (free["id"], checked["id"]) == ("free", "checked")


def test_committed_form_is_stable_and_gives_lasting_ids_to_cells_without():
    raw = json.loads(json.dumps(messy_notebook()))
    del raw["cells"][0]["id"]
    raw["nbformat_minor"] = 4
    once = tidy.committed_form(json.dumps(raw))
    assert once == tidy.committed_form(json.dumps(raw)) == tidy.committed_form(once)
    assert json.loads(once)["cells"][0]["id"] == "cell-0"
    assert json.loads(once)["nbformat_minor"] == 5


def test_tidy_names_what_differs_and_repairs_it(tmp_path, monkeypatch, capsys):
    path = tmp_path / "chapters" / "x.ipynb"
    path.parent.mkdir()
    path.write_text(json.dumps(messy_notebook()), encoding="utf-8")
    monkeypatch.setattr(tidy, "ROOT", tmp_path)
    assert tidy.main(check=True) == 1
    assert capsys.readouterr().out == "chapters/x.ipynb is not in committed form: run `make tidy`\n"
    assert tidy.main(check=False) == 0
    assert tidy.main(check=True) == 0
