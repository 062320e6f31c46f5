"""One submission: a Job goes in, a Result comes out, and both survive being written as JSON."""

import asyncio
import base64
from concurrent.futures import ThreadPoolExecutor

import nbformat
import pytest
from course import make_course, recorded, submitted
from nbformat.v4 import new_code_cell

from nbmark.doctor import examine
from nbmark.mark_one import Job, Result, mark

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\nrest").decode()
DRAWS = (
    "from IPython.display import display\n"
    f"display({{'image/png': '{PNG}', 'text/plain': 'f'}}, raw=True)\n"
    "display({'image/png': 'PHNjcmlwdD4='}, raw=True)"
)


def draws(cells):
    cells.insert(1, new_code_cell(DRAWS, id="drawing"))


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return make_course(tmp_path_factory.mktemp("course"), {})


def marked(course, notebook, exercise="9_1_x", **limits):
    """Mark a notebook, by way of JSON."""
    path = course / "copy" / f"{exercise}.ipynb"
    path.parent.mkdir(exist_ok=True)
    text = notebook if isinstance(notebook, str) else nbformat.writes(notebook)
    path.write_text(text, encoding="utf-8")
    original = str(course / "solutions" / f"{exercise}.ipynb")
    job = Job(str(path), "ann", exercise, original, seed=7, **limits)
    result = mark(Job.from_json(job.to_json()))
    assert Result.from_json(result.to_json()) == result
    return result


def test_each_graded_cell_says_what_it_earned_and_why_not_more(course):
    made = submitted(one="a = 0")
    draws(made.cells)
    made.cells[2].source = "assert True"
    result = marked(course, made)
    found = [(m.name, m.earned, m.points, m.reason, m.cause, m.is_manual) for m in result.marks]
    assert found == [
        ("is-one", 0, 2, "a should be 1", "AssertionError", False),
        ("is-two", 3, 3, "", "", False),
        ("why", 0, 4, "", "", True),
    ]
    assert result.figures == (("added-1-after-one", PNG),), "only what is a PNG file"
    assert result.flags == ("restored: is-one (its text was changed)",)
    assert (result.fault, result.sandbox) == ("", examine().level)
    assert result.warnings == ("9_1_x: no answers to compare with, it holds no solution.",)
    assert result.seconds > 0


def test_answers_are_compared_with_the_solution_s(course):
    result = marked(course, recorded(function="3 * x"), "9_2_k")
    assert [(m.earned, m.cause) for m in result.marks] == [(0, "differs"), (1, "")]


def test_what_cannot_be_read_has_a_fault(course):
    result = marked(course, "{")
    assert "its end is missing" in result.fault
    assert sum(m.earned for m in result.marks) == 0
    assert len(result.marks) == 3


def test_it_may_be_asked_for_where_a_loop_of_events_runs(course):
    async def ask():
        return marked(course, submitted())

    with ThreadPoolExecutor(1) as aside:
        assert aside.submit(asyncio.run, ask()).result().marks == marked(course, submitted()).marks


def test_a_cell_that_takes_too_long_costs_itself(course):
    result = marked(course, submitted(one="a = 1\nwhile True: pass"), cell_seconds=1)
    assert [m.earned for m in result.marks] == [2, 3, 0]
    assert "one: the time limit was exceeded" in result.flags
