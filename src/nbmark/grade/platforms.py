"""Marks one student's folder where a platform runs the marking, and says so in its form.

Gradescope ("Autograder Specifications", gradescope-autograders.readthedocs.io/en/latest/specs)
wants a file `results/results.json` with a score, an output and tests, each with its score.
GitHub Classroom's reporter (github.com/classroom-resources/autograding-grading-reporter) wants an
output named `result`: JSON in base 64, again with tests and their scores.
"""

import argparse
import base64
import dataclasses
import json
import secrets
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nbmark.files import put
from nbmark.grade.book import is_to_be_read
from nbmark.grade.executors import MARKER, Worker
from nbmark.grade.pages import clean
from nbmark.grade.plan import plan
from nbmark.grade.roster import Roster
from nbmark.grade.stage import Stage
from nbmark.mark_one import CellMark, Job, Result
from nbmark.notebook import number
from nbmark.submission import Original, read_originals


def mark_folder(folder: Path, original: Original, marker: str = MARKER) -> tuple[Result, str]:
    """Mark what one student handed in for an exercise; give the file's name too."""
    with tempfile.TemporaryDirectory() as stage:
        found = Stage(Path(stage)).fill(folder)
        files = [dataclasses.replace(file, parts=("student", *file.parts)) for file in found]
        made = plan(files, [original], Roster())
        task = next((task for task in made.tasks if task.exercise), None)
        if task is None:
            words = made.words + [f"{one.name}: {one.fault}" for one in made.tasks]
            said = "; ".join(word.removeprefix("student/") for word in words)
            return Result(fault=f"no notebook of {original.stem} is there. {said}".strip()), ""
        if task.fault:
            return Result(fault=task.fault), task.copy.name
        path = str(original.folder / f"{original.stem}.ipynb")
        job = Job(str(task.copy), task.name, task.exercise, path, secrets.randbelow(2**31))
        worker = Worker(marker)
        try:
            return worker.mark(job), task.copy.name
        finally:
            worker.close()


def gradescope(result: Result, original: Original, name: str) -> dict[str, Any]:
    """Give what Gradescope reads: the checks as tests, the rest as the output."""
    marks = _marks(result, original)
    by_hand = sum(mark.points for mark in marks if is_to_be_read(mark))
    said = [f"{name} was marked." if name else "", clean(result.fault), *map(clean, result.flags)]
    if by_hand:
        said.append(f"A person reads your text and gives up to {by_hand:g} points more.")
    checks = [mark for mark in marks if not mark.is_manual]
    tests = [
        {
            "name": mark.name,
            "score": mark.earned,
            "max_score": mark.points,
            "status": _status(mark),
            "output": clean(mark.reason) or "It is right.",
            "output_format": "text",
            "visibility": "visible",
        }
        for mark in checks
    ]
    return {
        "score": sum(mark.earned for mark in checks),
        "output": "\n".join(filter(None, said)),
        "output_format": "text",
        "stdout_visibility": "hidden",
        "execution_time": round(result.seconds),
        "tests": tests,
    }


def classroom(result: Result, original: Original) -> str:
    """Give what GitHub Classroom's reporter reads."""
    checks = [mark for mark in _marks(result, original) if not mark.is_manual]
    tests = [
        {
            "name": mark.name,
            "status": {"passed": "pass", "failed": "fail"}[_status(mark)],
            "score": mark.earned,
            "message": clean(mark.reason),
            "test_code": mark.name,
            "filename": "",
            "line_no": 0,
            "duration": 0,
        }
        for mark in checks
    ]
    full = all(test["status"] == "pass" for test in tests)
    most = sum(mark.points for mark in checks)
    told = {"version": 1, "status": "pass" if full else "fail", "max_score": most, "tests": tests}
    return base64.b64encode(json.dumps(told).encode()).decode()


def _marks(result: Result, original: Original) -> Sequence[CellMark]:
    """Give the marks; of what could not be marked, a zero for each check."""
    blank = [
        CellMark(cell.name, cell.points, 0, result.fault, is_manual=cell.manual)
        for cell in original.cells
    ]
    return result.marks or blank


def _status(mark: CellMark) -> str:
    return "passed" if mark.earned == mark.points else "failed"


def main(arguments: Sequence[str] | None = None, marker: str = MARKER) -> int:
    """Mark a folder for a platform."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("platform", choices=("gradescope", "classroom"))
    parser.add_argument("folder", type=Path, help="what the student handed in")
    parser.add_argument("originals", type=Path, help="the folder of solutions")
    parser.add_argument("exercise", help="such as 1_3")
    parser.add_argument("target", type=Path, help="the file to write")
    options = parser.parse_args(arguments)
    originals = read_originals(options.originals)
    wanted = options.exercise.replace(".", "_")
    original = next(o for o in originals if wanted in (o.stem, number(o.stem)))
    result, name = mark_folder(options.folder, original, marker)
    if options.platform == "gradescope":
        options.target.parent.mkdir(parents=True, exist_ok=True)
        put(options.target, json.dumps(gradescope(result, original, name), indent=1))
    else:
        with options.target.open("a", encoding="utf-8") as file:  # GitHub's file of outputs
            file.write(f"result={classroom(result, original)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
