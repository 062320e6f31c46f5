"""The verdict on one cell, and what marks add up to."""

import pytest
from nbformat.v4 import new_output

from nbmark.answers import MIME, encode
from nbmark.limits import LEAST_SECONDS, Clock
from nbmark.marks import Evidence, GradedCell, Ledger, so_far
from nbmark.skip import REASON

CELLS = (GradedCell("a", 2), GradedCell("b", 3), GradedCell("why", 4, manual=True))


def recorded(**values):
    return [{"data": {MIME: {name: encode(value) for name, value in values.items()}}}]


ERROR = new_output("error", ename="CheckFailed", evalue="The scale is missing.\n\nyours: 3")
SKIPPED = {"output_type": "display_data", "metadata": {REASON: "no GPU"}}
CASES = {
    "it ran": (Evidence([]), None, ""),
    "an error": (Evidence([ERROR], "error"), None, "The scale is missing."),
    "an error that a later output follows": (
        Evidence([ERROR, SKIPPED]),
        None,
        "The scale is missing.",
    ),
    "an error without words": (
        Evidence([new_output("error", ename="KeyError", evalue="")], "error"),
        None,
        "KeyError",
    ),
    "an error that it hides": (
        Evidence([], "error"),
        None,
        "it ended with an error that it does not",
    ),
    "no reply": (Evidence([], None), None, "it ended with an error that it does not show"),
    "aborted": (Evidence([], "aborted"), None, "it ended with an error that it does not show"),
    "skipped": (Evidence([SKIPPED]), None, "it was skipped"),
    "trouble": (Evidence([ERROR], "ok", "the kernel died"), None, "the kernel died"),
    "the right answer": (Evidence(recorded(x=1.0)), recorded(x=1.0), ""),
    "another answer": (
        Evidence(recorded(x=1.1)),
        recorded(x=1.0),
        "its answers are not the solution's: x",
    ),
    "no answer": (Evidence([]), recorded(x=1.0), "it did not record the answers"),
    "an answer too many": (
        Evidence(recorded(x=1, y=2)),
        recorded(x=1),
        "it did not record the answers",
    ),
    "no key": (Evidence(recorded(x=1.1)), None, ""),
    "an answer twice": (Evidence(recorded(x=1) * 2), recorded(x=1), "its answers cannot be read"),
}


@pytest.mark.parametrize(("evidence", "key", "reason"), CASES.values(), ids=CASES)
def test_a_cell_earns_its_points_only_if_nothing_is_wrong(evidence, key, reason):
    said = evidence.why_not(key)
    assert said.startswith(reason)
    assert bool(said) == bool(reason)


def test_marks_add_up_and_say_what_they_leave_out():
    ledger = Ledger(CELLS, outcomes={"a": "", "b": "it is wrong"})
    total = ledger.score
    assert (str(total), total.to_be_read, total.is_full) == ("2 of 5 points", 4, False)
    ledger.outcomes["b"] = ""
    assert ledger.score.is_full


def test_what_nobody_ran_is_neither_earned_nor_lost():
    total = Ledger(CELLS, outcomes={"a": ""}, selected={"a"}).score
    assert (str(total), total.is_full) == ("2 of 2 points", False)
    assert [mark.reason for mark in total.marks] == ["", "it was not selected", ""]
    assert Ledger(CELLS).score.marks[0].reason == "it was not run"


def test_a_fault_of_the_whole_costs_all_points_and_a_lost_text_its_own():
    total = Ledger(CELLS, fault="it is empty", outcomes={"a": ""}).score
    assert (str(total), total.to_be_read) == ("0 of 5 points", 0)
    lost = Ledger(CELLS, lacking=frozenset({"why"})).score
    assert (lost.to_be_read, lost.marks[2].reason) == (0, "the notebook lacks it")


def test_checks_that_passed_so_far_add_up_in_the_same_way():
    assert str(so_far({"a": 2, "b": 3}, ["b"])) == "3 of 5 points"
    assert str(so_far({"a": 2, "b": 3}, [])) == "0 of 5 points"


def test_a_cell_gets_its_limit_then_what_is_left_then_a_little():
    assert Clock(cell=8, notebook=100).limit() == 8
    assert 19 < Clock(cell=60, notebook=20).limit() <= 20
    assert Clock(cell=60, notebook=0).limit() == LEAST_SECONDS
    assert Clock(cell=2, notebook=0).limit() == 2
