"""The ``source`` directive shows code from src/ without its docstrings."""

import ast
import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location(
    "source_code", ROOT / "tools" / "sphinx_ext" / "source_code.py"
)
source_code = importlib.util.module_from_spec(spec)
spec.loader.exec_module(source_code)


def test_a_function_is_shown_whole_but_for_its_docstring():
    path, code = source_code.code_without_docstring("attnlab.attention.masked_softmax")
    assert path == ROOT / "src" / "attnlab" / "attention.py"
    assert code.startswith("def masked_softmax(")
    assert "Parameters" not in code
    shown, real = ast.parse(code).body[0], definition(path, "masked_softmax")
    assert [ast.unparse(s) for s in shown.body] == [ast.unparse(s) for s in real.body[1:]]


def test_a_method_is_shown_at_the_margin():
    _, code = source_code.code_without_docstring("attnlab.multihead.MultiHeadAttention.split_heads")
    assert code.startswith("def split_heads(self")
    assert '"""' not in code


def test_a_class_is_shown_without_the_docstrings_of_its_methods():
    _, code = source_code.code_without_docstring("attnlab.multihead.MultiHeadAttention")
    assert code.count("def ") == 5
    assert '"""' not in code
    ast.parse(code)


@pytest.mark.parametrize(
    "name",
    ["attnlab.attention.no_such_function", "attnlab.attention", "nowhere.at_all", "attnlab"],
)
def test_a_wrong_name_is_an_error_that_names_it(name):
    with pytest.raises(LookupError, match=name.replace(".", r"\.")):
        source_code.code_without_docstring(name)


def definition(path, name):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name)


def test_an_equation_that_src_names_stands_in_a_chapter():
    pages = "".join(path.read_text("utf-8") for path in sorted((ROOT / "chapters").glob("1_*.*")))
    named = {
        label
        for path in sorted((ROOT / "src" / "attnlab").rglob("*.py"))
        for label in re.findall(r"\beq-[a-z-]+", path.read_text("utf-8"))
    }
    assert len(named) > 5
    assert [label for label in sorted(named) if f"$$ ({label})" not in pages] == []
