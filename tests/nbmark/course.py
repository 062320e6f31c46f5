"""Two small exercises, what students hand in of the first, and pytest that marks it."""

import copy
import csv
import os
import subprocess
import sys

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
HIDDEN = "\n### BEGIN HIDDEN TESTS\nassert b * b == 4\n### END HIDDEN TESTS"
STUB = "# YOUR CODE HERE\nraise NotImplementedError()"


def metadata(name, **settings):
    base = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
    return {"nbgrader": base | {"grade_id": name} | settings}


def graded(name, source, points):
    return new_code_cell(source, id=name, metadata=metadata(name, grade=True, points=points))


def answer(name, source):
    return new_code_cell(source, id=name, metadata=metadata(name, solution=True))


def locked(name, source):
    return new_code_cell(source, id=name, metadata=metadata(name, locked=True))


def notebook(one="a = 1", two="b = 2", text="Because."):
    """Make exercise 9_1_x, with 2 + 3 points by checks and 4 by a person."""
    manual = metadata("why", grade=True, solution=True, points=4)
    cells = [
        answer("one", one),
        graded("is-one", "assert a == 1, 'a should be 1'", 2),
        answer("two", two),
        graded("is-two", f"assert b == 2{HIDDEN}", 3),
        new_markdown_cell(text, id="why", metadata=manual),
    ]
    return new_notebook(cells=cells, metadata=copy.deepcopy(KERNEL))


def submitted(**answers):
    """Make what a student hands in: hidden tests are gone."""
    made = notebook(**answers)
    made.cells[3].source = "assert b == 2"
    return made


def changed(change, **answers):
    """Make what a student hands in, with something done to its cells."""
    made = submitted(**answers)
    change(made.cells)
    return made


CHECKS = """\
from nbmark.answers import case_rng, record
from nbmark.graded import Exercise, call

exercise = Exercise("9.2")

@exercise.check(points=2)
def doubles(f):
    record("doubled", call(f, case_rng("doubles").random(3)), tolerance=0.01)
    return "It gives numbers."

@exercise.check(points=1)
def counts(n):
    record("count", n)
    return "It is a number.\""""


def recorded(function="x + x", count="3"):
    """Make exercise 9_2_k, whose checks believe everything and record it."""
    begin, end = "### BEGIN SOLUTION\n", "\n### END SOLUTION"
    cells = [
        locked("setup", CHECKS),
        answer("function", f"{begin}def f(x):\n    return {function}{end}"),
        graded("doubles", "doubles(f)", 2),
        answer("count", f"{begin}n = {count}{end}"),
        graded("counts", "counts(n)", 1),
    ]
    return new_notebook(cells=cells, metadata=copy.deepcopy(KERNEL))


def make_course(root, submissions):
    """Write the exercises into solutions/, and what students handed in, by path."""
    root.joinpath("solutions").mkdir()
    nbformat.write(notebook(), root / "solutions" / "9_1_x.ipynb")
    nbformat.write(recorded(), root / "solutions" / "9_2_k.ipynb")
    for name, content in submissions.items():
        path = root / "handed-in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif isinstance(content, str):
            path.write_text(content, encoding="utf-8")
        else:
            path.write_text(nbformat.writes(content), encoding="utf-8")
    return root


def run(root, *options, **environment):
    """Run pytest in a folder."""
    # Hypothesis would be imported at each start, which takes longer than all else.
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:hypothesispytest"]
    command += ["-p", "no:cacheprovider", "--tb=no"]
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(
        [*command, "--color=no", *options],
        cwd=root,
        env=env | {"COLUMNS": "250"} | environment,
        capture_output=True,
        text=True,
        timeout=600,
    )


def rows(table):
    """Read a table of points, by notebook."""
    with table.open(encoding="utf-8-sig", newline="") as file:
        return {row["notebook"].lstrip("'"): row for row in csv.DictReader(file)}


def mark(root, *options, **environment):
    """Mark what was handed in; give what pytest said, and the table."""
    done = run(root, "--nbval-lax", "--points=p.csv", *options, **environment)
    return done, rows(root / "p.csv")


SUBMITTED = nbformat.writes(submitted())
