"""The notebook that is run for marks: only sources of the student's own cells enter."""

import copy

import pytest
from course import STUB, answer, changed, graded, locked, notebook, submitted
from nbformat import validate
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from nbmark.notebook import grade_id
from nbmark.rebuild import rebuild

ORIGINAL = new_notebook(
    cells=[
        locked("setup", "import numpy as np"),
        new_markdown_cell("Task", id="task"),
        answer("f", "### BEGIN SOLUTION\ndef f(): return 1\n### END SOLUTION"),
        graded(
            "check-f", "check(f)\n### BEGIN HIDDEN TESTS\nassert f() == 1\n### END HIDDEN TESTS", 1
        ),
        answer("g", "g = None\n### BEGIN SOLUTION\ng = 1\n### END SOLUTION"),
        graded("check-g", "check(g)", 1),
    ]
)


def handed_in(change=lambda cells: None):
    """Make what a student hands in who did everything as asked."""
    made = copy.deepcopy(ORIGINAL)
    made.cells[2].source, made.cells[4].source = "def f(): return 2", "g = 2"
    made.cells[3].source = "check(f)"
    change(made.cells)
    return made


def sources(change=lambda cells: None):
    """Give the code that is run."""
    made = rebuild(ORIGINAL, handed_in(change)).notebook
    validate(made)
    return [cell.source for cell in made.cells if cell.cell_type == "code"]


SETUP, F, CHECK_F, G, CHECK_G = sources()


def test_the_students_answers_stand_among_the_originals_cells():
    assert (F, G) == ("def f(): return 2", "g = 2")
    assert ORIGINAL.cells[3].source == CHECK_F  # with the hidden tests
    assert (SETUP, CHECK_G) == ("import numpy as np", "check(g)")


def test_both_notebooks_are_left_as_they_are():
    original, submission = copy.deepcopy(ORIGINAL), handed_in()
    before = copy.deepcopy(submission)
    rebuild(original, submission)
    assert (original, submission) == (ORIGINAL, before)


def insert(at, source, **settings):
    return lambda cells: cells.insert(at, new_code_cell(source, **settings))


def moved(cells):
    cells.append(cells.pop(2))


def without_names(cells):
    for number, cell in enumerate(cells):
        cell.metadata, cell.id = {}, f"x{number}"


def drop(*indices):
    def change(cells):
        for index in sorted(indices, reverse=True):
            cells.pop(index)

    return change


def several(*changes):
    def change(cells):
        for one in changes:
            one(cells)

    return change


def twin(index, source=None):
    def change(cells):
        made = copy.deepcopy(cells[index])
        made.id, made.source = "twin", source or made.source
        cells.insert(index + 1, made)

    return change


def put(index, **values):
    return lambda cells: cells[index].update(values)


CASES = {
    "a helper before": (insert(2, "h = 1"), [SETUP, "h = 1", F, CHECK_F, G, CHECK_G]),
    "at the start": (insert(0, "h = 1"), ["h = 1", SETUP, F, CHECK_F, G, CHECK_G]),
    "at the end": (insert(6, "h = 1"), [SETUP, F, CHECK_F, G, CHECK_G, "h = 1"]),
    "an empty cell": (insert(2, " \n"), [SETUP, F, CHECK_F, G, CHECK_G]),
    "a name that nobody gave": (
        insert(2, "h = 1", metadata=graded("check-h", "", 9).metadata),
        [SETUP, "h = 1", F, CHECK_F, G, CHECK_G],
    ),
    "an import in a locked cell": (
        put(0, source="import numpy as np\nimport math"),
        ["import numpy as np\nimport math", SETUP, F, CHECK_F, G, CHECK_G],
    ),
    "a comment in a locked cell": (put(0, source="import numpy as np  # mine\n\n"), None),
    "an edited check": (put(3, source="check = print\ncheck(f)"), None),
    "a check twice": (twin(3), None),
    "a check twice, edited": (twin(3, "check = print"), None),
    "no check": (drop(3), None),
    "no checks and no setup": (drop(0, 3, 5), None),
    "a check as text": (put(3, cell_type="markdown"), None),
    "an answer as text": (put(2, cell_type="markdown"), None),
    "an answer as raw text": (put(2, cell_type="raw"), None),
    "an answer moved below its check": (moved, None),
    "no names": (without_names, None),
    "no names and a helper": (
        several(insert(2, "h = 1"), without_names),
        [SETUP, STUB, "h = 1", F, CHECK_F, G, CHECK_G],
    ),
    "an answer twice": (
        twin(2, "def f(): return 3"),
        [SETUP, F, "def f(): return 3", CHECK_F, G, CHECK_G],
    ),
    "a stub beside the answer": (
        several(put(2, source=STUB), twin(2, F)),
        [SETUP, STUB, F, CHECK_F, G, CHECK_G],
    ),
    "no answer": (drop(4), [SETUP, F, CHECK_F, f"g = None\n{STUB}", CHECK_G]),
    "an answer in a new cell": (
        several(put(4, source=STUB), insert(5, "g = 5")),
        [SETUP, F, CHECK_F, STUB, "g = 5", CHECK_G],
    ),
    "an answer in a new cell in its place": (
        several(drop(4), insert(4, "g = 5")),
        [SETUP, F, CHECK_F, "g = 5", CHECK_G],
    ),
    "comments for nbval": (
        put(4, source="# NBVAL_SKIP\n  #PYTEST_VALIDATE_IGNORE_OUTPUT\ng = 2  # NBVAL_SKIP"),
        [SETUP, F, CHECK_F, "#\n  #\ng = 2  # NBVAL_SKIP", CHECK_G],
    ),
}


@pytest.mark.parametrize(("change", "expected"), CASES.values(), ids=CASES)
def test_what_is_run_of_a_notebook_that_was_changed(change, expected):
    assert sources(change) == (expected or [SETUP, F, CHECK_F, G, CHECK_G])


def test_tags_metadata_outputs_and_counts_stay_behind():
    def spoil(cells):
        for cell in cells:
            cell.metadata.update(tags=["nbval-skip", "raises-exception"], mine=1)
            if "nbgrader" in cell.metadata:
                cell.metadata.nbgrader.update(points=99, grade=True)
            if cell.cell_type == "code":
                cell.update(outputs=[new_output("stream", text="x")], execution_count=7)

    submission = handed_in(several(insert(2, "h = 1"), spoil))
    submission.metadata.kernelspec = {"name": "mine", "display_name": "Mine"}
    made = rebuild(ORIGINAL, submission).notebook
    own = made.cells.pop(2)
    assert (own.source, own.metadata, own.outputs) == ("h = 1", {}, [])
    assert [cell.metadata for cell in made.cells] == [cell.metadata for cell in ORIGINAL.cells]
    assert [cell.get("outputs", []) for cell in made.cells] == [[]] * 6
    assert made.metadata == ORIGINAL.metadata


RESTORED = {
    "nothing": (lambda cells: None, ()),
    "lacking": (lambda cells: cells.pop(1), ("is-one (the notebook lacked it)",)),
    "twice": (twin(1), ("is-one (the notebook held it 2 times)",)),
    "text": (put(1, cell_type="markdown"), ("is-one (it was no code cell)",)),
    "edited": (put(1, source="1"), ("is-one (its text was changed)",)),
    "no Python": (put(1, source="%%bash\necho"), ("is-one (its text was changed)",)),
    "commented": (put(1, source="\nassert a == 1, 'a should be 1'  # ok"), ()),
}


@pytest.mark.parametrize(("change", "said"), RESTORED.values(), ids=RESTORED)
def test_what_was_restored_is_said(change, said):
    assert rebuild(notebook(), changed(change)).restored == said


def test_a_written_answer_is_taken_and_its_loss_told():
    assert rebuild(notebook(), submitted(text="My words")).notebook.cells[4].source == "My words"
    beside_the_stub = changed(twin(4, "My words"), text="YOUR ANSWER HERE")
    assert rebuild(notebook(), beside_the_stub).notebook.cells[4].source == "My words"
    lost = rebuild(notebook(), changed(lambda cells: cells.pop()))
    assert lost.lacking == {"why"}
    assert grade_id(lost.notebook.cells[4]) == "why"


def test_an_answer_that_no_region_marks_is_not_given_away():
    made = rebuild(notebook(), changed(lambda cells: cells.pop(0)))
    assert made.notebook.cells[0].source == STUB
