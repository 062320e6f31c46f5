"""A batch that was killed goes on; what changed is marked anew; what a person decided stays."""

import json
import os
import re
from dataclasses import replace

import nbformat
import pytest
import soak
from course import make_course, notebook, recorded, submitted
from grading import CALL, gradebook, here, run

from nbmark.doctor import FULL
from nbmark.grade.batch import Refusal
from nbmark.grade.executors import GRACE, LocalPool
from nbmark.grade.journal import Journal, JournalError
from nbmark.mark_one import NO_SANDBOX, Job, Result

COUNT = soak.COUNT // 20
CLASS = {
    "ann/9_1_x.ipynb": submitted(),
    "ann/9_2_k.ipynb": recorded(),
    "bob/9_1_x.ipynb": submitted(one="a = 0"),
    "cy/9_1_x.ipynb": "{",
}


@pytest.fixture
def root(tmp_path):
    return make_course(tmp_path, CLASS)


def lines(root, kind="mark"):
    """Give what the journal holds of a kind."""
    text = (root / "grades" / "journal.jsonl").read_text()
    told = (json.loads(line) for line in text.splitlines() if line)
    return [(one.get("student"), one.get("exercise")) for one in told if one["kind"] == kind]


def reports(root):
    """Give all reports, but for the times in them."""
    folder = root / "grades"
    names = ["gradebook.csv", "canvas.csv", "moodle.csv", "class.html"]
    paths = [folder / name for name in names]
    paths += sorted(p for f in ("feedback", "junit") for p in (folder / f).iterdir())
    return {path.name: path.read_bytes() for path in paths}


def test_a_second_call_marks_nothing_again(root):
    assert "4 submissions, 4 marked now" in run(root)
    first = reports(root)
    assert "4 submissions, 0 marked now" in run(root)
    assert reports(root) == first
    assert len(lines(root)) == 4


def test_a_torn_last_line_costs_only_itself(root):
    run(root)
    first, path = reports(root), root / "grades" / "journal.jsonl"
    data = path.read_bytes()
    path.write_bytes(data[: data.rindex(b'"exercise"')])
    assert "1 marked now" in run(root)
    assert reports(root) == first
    assert "0 marked now" in run(root)


def test_what_changed_is_marked_anew_and_this_is_said(root):
    run(root)
    path = root / "handed-in" / "bob" / "9_1_x.ipynb"
    path.write_text(nbformat.writes(submitted()))
    assert "1 marked now" in run(root)
    changed = notebook()
    changed.cells[1].source = "assert a == 5, 'a should be 5'"
    nbformat.write(changed, root / "solutions" / "9_1_x.ipynb")
    assert "3 marked now" in run(root)
    assert "4 marked now" in run(root, seed=8)
    assert "4 marked now" in run(root, seed=8, cell_seconds=3)
    page = (root / "grades" / "class.html").read_text()
    assert "bob, is-one: 0 → 2, the submission changed" in page
    assert "bob, is-one: 2 → 0, the exercise changed" in page
    assert gradebook(root)["bob"]["is-one"] == "0"


def test_one_student_or_exercise_is_marked_once_more(root):
    run(root)
    assert "2 marked now" in run(root, regrade=("Ann",))
    assert "3 marked now" in run(root, regrade=("9.1",))
    assert "0 marked now" in run(root)
    with pytest.raises(Refusal, match="no student or exercise is called 'zoe'"):
        run(root, regrade=("zoe",))


def test_regrading_goes_on_where_it_was_killed(root):
    run(root)

    def dies(jobs):
        yield next(iter(here(jobs)))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(root, executor=dies, regrade=("9_1",))
    assert "1 marked now" in run(root)


def test_what_a_person_decides_stays(root):
    given = ("bob", "is-one", "1.5", "right idea"), ("ann", "why", "4", "=well said")
    run(root, override=given)
    for again in ({}, {"override": given}, {"regrade": ("9_1",)}, {"seed": 9}):
        run(root, **again)
        table = gradebook(root)
        assert (table["bob"]["is-one"], table["bob"]["total"]) == ("1.5", "4.5")
        assert (table["ann"]["why"], table["ann"]["total"]) == ("4", "12")
    assert len(lines(root, "override")) == 2
    assert "points given by a person, right idea" in table["bob"]["flags"]
    assert "Your teacher: right idea" in (root / "grades/feedback/bob.html").read_text()
    run(root, override=(("bob", "is-one", "-", "a mistake of mine"),))
    assert gradebook(root)["bob"]["is-one"] == "0"
    page = (root / "grades" / "class.html").read_text()
    assert "bob, is-one: 1.5, by hand: right idea" in page
    assert "bob, is-one: as the check says, by hand: a mistake of mine" in page


WRONG = {
    "nobody": (("zoe", "is-one", "1", "x"), "no student or exercise is called 'zoe'"),
    "no cell": (("bob", "is-four", "1", "x"), "there is no graded cell 'is-four'; choose from"),
    "too much": (("bob", "is-one", "3", "x"), "is-one is worth 2 points, '3' cannot be given"),
    "no number": (("bob", "is-one", "all", "x"), "'all' cannot be given"),
}


@pytest.mark.parametrize(("override", "said"), WRONG.values(), ids=WRONG)
def test_a_decision_that_makes_no_sense_is_refused(override, said, root):
    with pytest.raises(Refusal, match=said):
        run(root, override=(override,))


def test_results_are_never_written_through_a_link(root):
    target = root / "solutions" / "9_1_x.ipynb"
    before = target.read_bytes()
    out = root / "grades"
    out.mkdir()
    for name in ("gradebook.csv", "class.html", "canvas.csv"):
        (out / name).symlink_to(target)
    (out / "feedback").symlink_to(root / "solutions")
    (out / "junit").symlink_to(root / "solutions")
    run(root)
    assert target.read_bytes() == before
    assert sorted(p.name for p in (root / "solutions").iterdir()) == ["9_1_x.ipynb", "9_2_k.ipynb"]
    assert not any(path.is_symlink() for path in out.iterdir())
    for name in ("journal.jsonl", "results"):
        other = root / f"other-{name}"
        other.mkdir()
        (other / name).symlink_to(target if name != "results" else root / "solutions")
        with pytest.raises(JournalError):
            Journal(other)
    lock = out / ".lock"
    lock.unlink(missing_ok=True)
    lock.symlink_to(target)
    with pytest.raises(Refusal, match="remove it"):
        run(root)
    assert target.read_bytes() == before


def test_two_calls_do_not_mark_into_one_folder(root):
    def second(jobs):
        with pytest.raises(Refusal, match="another call is marking"):
            run(root)
        return here(jobs)

    run(root, executor=second)


def test_a_mark_from_behind_lower_walls_than_wanted_does_not_count(root):
    def walled(jobs):
        return ((ticket, replace(result, sandbox=FULL)) for ticket, result in here(jobs))

    def open_to_all(jobs):
        return ((ticket, Result(fault=f"{NO_SANDBOX}: so it is")) for ticket, _ in jobs)

    run(root)
    with pytest.raises(Refusal, match="so it is"):
        run(root, sandbox=FULL, executor=open_to_all)
    assert "3 marked now" in run(root, sandbox=FULL, executor=walled)
    assert "0 marked now" in run(root, sandbox=FULL)


def test_a_journal_of_something_else_is_not_used(root):
    run(root)
    path = root / "grades" / "journal.jsonl"
    path.write_text('{"kind": "mark", "student": 1}\n')
    with pytest.raises(Refusal, match="a line that is none of ours"):
        run(root)


def test_a_call_that_is_killed_at_any_moment_is_completed(tmp_path, capsys, monkeypatch):
    log = tmp_path / "log"
    monkeypatch.setenv("MARKED_LOG", str(log))
    monkeypatch.setenv("MARK_SECONDS", "0.04")
    monkeypatch.setenv("PYTHONPATH", os.path.dirname(__file__))
    monkeypatch.setattr(soak, "KILLED_AT", (0.1, 0.5))
    assert soak.soak(tmp_path, COUNT, "1", CALL) == []
    known = re.findall(rf"killed with (\d+) of {COUNT} marked", capsys.readouterr().out)
    assert len(known) == 2
    assert COUNT <= len(log.read_text().splitlines()) <= COUNT + 8, "what was under way ran twice"


def test_a_process_that_ends_or_hangs_costs_its_own_submission_alone(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.path.dirname(__file__))
    limits = {"cy": 1 - GRACE / 2}  # two seconds in all
    names = ("ann", "bob", "cy", "dan")
    jobs = [(n, Job(n, n, "x", "x", 1, notebook_seconds=limits.get(n, 60))) for n in names]
    results = dict(LocalPool(1, "grading:dies")(jobs))
    assert results["ann"] == Result(flags=("ann",))
    assert "ended, 2 times" in results["bob"].fault
    assert "took too long" in results["cy"].fault
    assert results["dan"] == Result(flags=("dan",))
