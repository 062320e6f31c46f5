"""The build of a tiny book, step by step: what is executed, what is said, what pages show."""

import re

import pytest
from tiny import NUMBERS, TinyBook

PAGE = "chapters/1_02_numbers.html"
BAD_START = """\
# Start

{eq}`eq-nowhere`

```mermaid
flowchart LR
    accTitle: A diagram without description
    a --> b
```

A formula: $\\nosuch$
"""


def executed(output: str) -> list[str]:
    """Give the names of the notebooks that a build executed."""
    return re.findall(r"^executing \d of \d: chapters/(\w+)\.ipynb", output, re.M)


def article(tiny) -> str:
    """Give the page's text without what stands around it."""
    return tiny.page(PAGE).split("<article")[1].split("</article>")[0]


def test_the_first_build_executes_every_notebook_and_says_where_the_book_is(tiny):
    status, output = tiny.first
    assert status == 0, output
    assert executed(output) == ["1_02_numbers", "1_04_widgets"]
    assert f"Open {tiny.html / 'index.html'} or run `make serve`." in output
    assert "the value is 1" in tiny.page(PAGE)
    assert "WARNING" not in output


def files_of(tiny) -> dict[str, bytes]:
    """Read all files of a book."""
    paths = (path for path in tiny.html.rglob("*") if path.is_file())
    return {path.relative_to(tiny.html).as_posix(): path.read_bytes() for path in paths}


def test_two_builds_in_two_folders_differ_in_no_byte(tiny, tmp_path):
    first = files_of(tiny)
    assert b"7 ns; over 0" in first["chapters/1_04_widgets.html"]
    other = TinyBook(tmp_path)
    status, output = other.first
    assert status == 0, output
    second = files_of(other)
    assert sorted(first) == sorted(second)
    assert [name for name in first if first[name] != second[name]] == []


def test_sphinx_itself_executes_nothing(tiny):
    log = tiny.root.joinpath("_build", "sphinx.log").read_text(encoding="utf-8")
    assert log.count("Using cached notebook") == 2
    assert "Executing notebook" not in log


def test_a_section_has_the_number_of_its_file_name_where_earlier_ones_are_missing(tiny):
    shown = re.findall(r'section-number">([\d.]+)', article(tiny))
    assert shown == ["1.2", "1.2.1"]
    assert re.findall(r'class="eqno">(\([\d.]+\))', tiny.page(PAGE)) == ["(1.2.1)", "(1.2.2)"]


def test_a_second_build_does_nothing(tiny):
    status, output = tiny.build()
    assert status == 0
    assert output.startswith("Nothing changed")


def test_a_change_of_text_or_of_code_that_nobody_imports_executes_nothing(tiny):
    tiny.write("src/tinypkg/unused.py", "VALUE = 2\n")
    cells = [*NUMBERS[:-1], NUMBERS[-1] | {"source": "New words.\n\n$$ c = d $$ (eq-second)"}]
    tiny.write_notebook("chapters/1_02_numbers.ipynb", cells)
    status, output = tiny.build()
    assert status == 0, output
    assert executed(output) == []
    assert "New words." in tiny.page(PAGE)
    assert "the value is 1" in tiny.page(PAGE)


def test_a_build_killed_while_it_writes_pages_leaves_no_stale_page(tiny):
    tiny.write("src/tinypkg/numbers.py", "VALUE = 2\n")
    tiny.build_and_kill_at("building the pages")
    status, output = tiny.build()
    assert status == 0, output
    assert executed(output) == []  # the killed build had finished that
    assert "the value is 2" in tiny.page(PAGE)


def test_a_build_killed_while_it_executes_executes_again(tiny):
    tiny.write("src/tinypkg/numbers.py", "VALUE = 3\n")
    tiny.build_and_kill_at("executing 1 of 1")
    tiny.write("chapters/1_00_start.md", BAD_START)
    status, output = tiny.build()
    assert executed(output) == ["1_02_numbers"]
    assert status == 1


@pytest.mark.parametrize("time", ["first", "second"])
def test_a_warning_is_an_error_each_time_until_it_is_gone(tiny, time):
    status, output = tiny.build()
    assert status == 1
    assert "1_00_start.md:3: WARNING: equation not found: eq-nowhere" in output
    assert "1_00_start.md:5: WARNING: the diagram lacks accDescr" in output
    assert "WARNING: KaTeX parse error: Undefined control sequence: \\nosuch" in output
    assert "Traceback" not in output
    assert "The book is not built." in output


def test_a_failing_cell_is_named_with_the_end_of_its_traceback(tiny):
    tiny.write("chapters/1_00_start.md", "# Start\n")
    bad = NUMBERS[2] | {"source": "print(VALUE)\n1 / 0"}
    tiny.write_notebook("chapters/1_02_numbers.ipynb", [*NUMBERS[:2], bad, NUMBERS[3]])
    status, output = tiny.build()
    assert status == 1
    assert "chapters/1_02_numbers.ipynb, cell value:" in output
    assert "ZeroDivisionError: division by zero" in output
    assert "tools/" not in output


def test_the_book_is_built_once_all_is_well_again(tiny):
    tiny.write_notebook("chapters/1_02_numbers.ipynb", NUMBERS)
    status, output = tiny.build()
    assert status == 0, output
    assert "the value is 3" in tiny.page(PAGE)


def test_ctrl_c_while_a_cell_runs_ends_the_build_quietly(tiny):
    wait = 'from pathlib import Path\nfrom time import sleep\nPath("runs").touch()\nsleep(60)'
    slow = [*NUMBERS[:2], NUMBERS[2] | {"source": wait}, NUMBERS[3]]
    tiny.write_notebook("chapters/1_02_numbers.ipynb", slow)
    status, output = tiny.build_and_press_ctrl_c_once("chapters/runs")
    assert status == 130
    assert output.strip().endswith("Interrupted; the next call goes on from here.")
    assert "Kernel died" not in output
    assert "Traceback" not in output
