"""A course whose submissions are marked without a kernel, and calls that mark them.

A batch in this process takes milliseconds; one that is killed or that counts its processes is a
call of the command.
"""

import csv
import os
import time
from pathlib import Path

from nbmark.grade import batch
from nbmark.mark_one import CellMark, Job, Result
from nbmark.notebook import grade_id, is_graded, is_manual, read
from nbmark.submission import Original, read_submission

HERE = Path(__file__).parent
CALL = """\
import sys
from nbmark import __main__
from nbmark.grade import cli
cli.do.__defaults__ = ("grading:mark",)
sys.exit(__main__.main())
"""


def mark(job: Job) -> Result:
    """Mark as `nbmark.mark_one` does, by running the cells in this process."""
    if text := os.environ.get("MARKED_LOG"):
        with open(text, "a", encoding="utf-8") as log:
            log.write(f"{job.name}\n")
    time.sleep(float(os.environ.get("MARK_SECONDS", "0")))
    path = Path(job.original)
    original = Original(job.exercise, read(path), path.parent)
    submission = read_submission(Path(job.submission), job.name, [original])
    names: dict = {}
    marks = []
    for cell in submission.rebuilt.notebook.cells if submission.rebuilt else ():
        why, kind = "", ""
        try:
            if cell.cell_type == "code":
                exec(cell.source, names)
        except Exception as error:
            why, kind = str(error), type(error).__name__
        if is_graded(cell):
            points, manual = cell.metadata.nbgrader.points, is_manual(cell)
            earned = 0 if why or manual else points
            marks.append(CellMark(grade_id(cell), points, earned, why, kind, not manual, manual))
    return Result(tuple(marks), fault=submission.ledger.fault, figures=names.get("FIGURES", ()))


def dies(job):
    """Mark, unless the student's name says otherwise."""
    if job.name.startswith("bob"):
        os._exit(1)
    if job.name.startswith("cy"):
        time.sleep(60)
    print("this is no result")
    return Result(flags=(job.name,))


def here(jobs):
    """Mark in this process."""
    return ((ticket, mark(job)) for ticket, job in jobs)


def run(root, folder="handed-in", out="grades", executor=here, **request):
    """Mark a folder of a course in this process; give what was said."""
    said = []
    request = {"originals": root / "solutions", "seed": 7} | request
    batch.run(batch.Request(root / folder, root / out, **request), executor, said.append)
    return "\n".join(said)


def gradebook(root, out="grades", name="gradebook.csv"):
    """Read a table, by student."""
    with (root / out / name).open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    return {next(iter(row.values())): row for row in rows}
