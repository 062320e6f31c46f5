import copy

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from nbmark.release import ReleaseError, student_version


def metadata(name, **settings):
    base = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
    return {"nbgrader": base | {"grade_id": name} | settings}


FUNCTION = """\
def f(x):
    '''Docstring.'''
    if x:
        ### BEGIN SOLUTION
        y = x
        return y
        ### END SOLUTION
    ### BEGIN SOLUTION
    return 0
    ### END SOLUTION"""

STUB = """\
def f(x):
    '''Docstring.'''
    if x:
        # YOUR CODE HERE
        raise NotImplementedError()
    # YOUR CODE HERE
    raise NotImplementedError()"""

HIDDEN = "check(f)\n### BEGIN HIDDEN TESTS\nassert f(1) == 1\n### END HIDDEN TESTS"


def notebook():
    """Make a solution with one cell of each kind."""
    return new_notebook(
        cells=[
            new_markdown_cell("# Title", id="title", metadata=metadata("title", locked=True)),
            new_markdown_cell("A remark.", id="free"),
            new_code_cell(
                FUNCTION,
                id="f",
                metadata=metadata("f", solution=True) | {"tags": ["a"], "nbmark": {"b": 1}},
                execution_count=3,
                outputs=[new_output("stream", text="2")],
            ),
            new_code_cell(HIDDEN, id="test", metadata=metadata("test", grade=True, points=2)),
            new_markdown_cell(
                "Because.",
                id="why",
                metadata=metadata("why", grade=True, solution=True, points=0.5),
            ),
        ],
        metadata={"kernelspec": {"name": "python3", "display_name": "x", "language": "python"}},
    )


def test_answers_and_hidden_tests_go_and_all_else_stays():
    solution = notebook()
    before = copy.deepcopy(solution)
    exercise = student_version(solution, "x")
    assert solution == before
    title, free, f, test, why = exercise.cells
    assert f.source == STUB
    assert (f.outputs, f.execution_count) == ([], None)
    assert test.source == "check(f)"
    assert why.source == "YOUR ANSWER HERE"
    assert [title.source, free.source] == ["# Title", "A remark."]
    locks = {"deletable": False, "editable": False}
    kept = [(title, locks), (free, {}), (f, {"deletable": False}), (test, locks)]
    for cell, lock in [*kept, (why, {"deletable": False})]:
        old = next(c for c in before.cells if c.id == cell.id)
        assert cell.metadata == old.metadata | lock
        assert cell.cell_type == old.cell_type
    assert exercise.metadata == before.metadata


def test_a_region_in_a_written_answer_leaves_what_stands_around_it():
    solution = notebook()
    solution.cells[
        4
    ].source = "Say why:\n\n### BEGIN SOLUTION\nBecause.\n### END SOLUTION\n\nThanks."
    assert (
        student_version(solution, "x").cells[4].source == "Say why:\n\nYOUR ANSWER HERE\n\nThanks."
    )


FAULTS = {
    "no end": (2, "source", "### BEGIN SOLUTION\n1", "BEGIN SOLUTION without END"),
    "no beginning": (2, "source", "1\n### END SOLUTION", "END SOLUTION without BEGIN"),
    "nested": (2, "source", "### BEGIN SOLUTION\n" * 2 + "### END SOLUTION", "inside a region"),
    "no region": (2, "source", "x = 1", "without BEGIN SOLUTION and END"),
    "hidden without end": (3, "source", "### BEGIN HIDDEN TESTS", "add the end"),
    "hidden, not graded": (2, "source", FUNCTION + "\n" + HIDDEN, "not graded"),
    "solution elsewhere": (1, "source", FUNCTION, "is no solution cell"),
    "no metadata": (2, "metadata", {}, "is no solution cell"),
    "no grade_id": (3, "grade_id", None, "grade_id is None"),
    "odd grade_id": (3, "grade_id", "a b", "grade_id is 'a b'"),
    "same grade_id": (3, "grade_id", "f", "another cell has the same grade_id"),
    "no points": (3, "points", None, "points None"),
    "odd points": (3, "points", "2", "points '2'"),
    "negative points": (3, "points", -1, "points -1"),
    "old schema": (3, "schema_version", 2, "schema_version is 2"),
    "odd truth": (3, "locked", 1, "`locked` is 1"),
    "text graded alone": (4, "solution", False, "graded and a solution, or neither"),
}


@pytest.mark.parametrize(("index", "key", "value", "words"), FAULTS.values(), ids=FAULTS)
def test_what_cannot_be_released_is_named_with_its_cell(index, key, value, words):
    solution = notebook()
    cell = solution.cells[index]
    if key in {"source", "metadata"}:
        cell[key] = value
    else:
        cell.metadata["nbgrader"][key] = value
    with pytest.raises(ReleaseError) as caught:
        student_version(solution, "solutions/9_9_x.ipynb")
    said = str(caught.value)
    names = {cell.id, str(cell.metadata.get("nbgrader", {}).get("grade_id"))}
    assert said.startswith("solutions/9_9_x.ipynb, cell ")
    assert any(said.split("cell ")[1].startswith(f"{name}: ") for name in names)
    assert words in said
    assert "\n" not in said


def test_the_faultless_notebook_has_no_fault():
    student_version(notebook(), "x")
