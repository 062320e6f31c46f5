"""When a notebook counts as changed: its code, what it imports however indirectly, its data."""

import pytest
from fingerprint import files_of, fingerprint
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

FILES = {
    "requirements.lock": "numpy==2.0.0\n",
    "src/pkg/__init__.py": "",
    "src/pkg/direct.py": "from . import indirect\n",
    "src/pkg/indirect.py": "from .deep.module import value\n",
    "src/pkg/unused.py": "",
    "src/pkg/deep/__init__.py": "",
    "src/pkg/deep/module.py": "value = 1\n",
    "src/pkg/deep/widget.js": "export default {}\n",
    "src/other/__init__.py": "",
    "chapters/data/used.json": "{}",
    "chapters/data/unused.json": "{}",
    "chapters/1_02_x.ipynb": "",
}
CODE = '%matplotlib inline\nfrom pkg.direct import indirect\nopen("data/used.json")'


@pytest.fixture
def root(tmp_path):
    """Write the files."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def mark(root, *cells):
    """Take the fingerprint of a notebook with these cells."""
    cells = cells or (new_code_cell(CODE),)
    return fingerprint(new_notebook(cells=list(cells)), root / "chapters" / "1_02_x.ipynb", root)


CHANGES_IT = [
    "requirements.lock",
    "src/pkg/__init__.py",
    "src/pkg/direct.py",
    "src/pkg/indirect.py",
    "src/pkg/deep/__init__.py",
    "src/pkg/deep/module.py",
    "src/pkg/deep/widget.js",
    "chapters/data/used.json",
]


@pytest.mark.parametrize("name", FILES)
def test_exactly_the_files_that_a_notebook_uses_change_its_fingerprint(root, name):
    before = mark(root)
    files_of.cache_clear()  # each build is a process of its own
    root.joinpath(name).write_text(FILES[name] + "\n")
    assert (mark(root) != before) == (name in CHANGES_IT)


def test_a_new_file_that_fits_a_pattern_of_the_code_changes_the_fingerprint(root):
    cell = new_code_cell('read("data", "flash_*.json")')
    before = mark(root, cell)
    root.joinpath("chapters/data/other.json").write_text("{}")
    assert mark(root, cell) == before
    root.joinpath("chapters/data/flash_new.json").write_text("{}")
    assert mark(root, cell) != before


def test_code_and_tags_count_and_text_does_not(root):
    cell = new_code_cell(CODE, id="one")
    assert mark(root, cell) == mark(root, new_markdown_cell("Text"), cell)
    assert mark(root, cell) != mark(root, new_code_cell(CODE + "\n1", id="one"))
    tagged = new_code_cell(CODE, id="one", metadata={"tags": ["raises-exception"]})
    assert mark(root, cell) != mark(root, tagged)


def test_a_value_that_is_committed_counts(root):
    said = [new_output("stream", text=f"≈ {value}; over 0: True") for value in (1, 2)]
    one, two = (new_code_cell(CODE, id="one", outputs=[output]) for output in said)
    assert mark(root, one) != mark(root, two)


@pytest.mark.parametrize(
    "line", ["import pkg.direct", "from pkg import direct", "import pkg.direct as d"]
)
def test_every_way_to_import_a_module_is_followed(root, line):
    before = mark(root, new_code_cell(line))
    files_of.cache_clear()
    root.joinpath("src/pkg/deep/module.py").write_text("value = 2\n")
    assert mark(root, new_code_cell(line)) != before
