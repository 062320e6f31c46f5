"""Mark a large batch of light submissions, kill it on the way, and go on: ``make soak``.

What is looked for: a result that is lost, wrong or there twice, and memory that grows with the
batch. The notebooks import nothing, so that what is measured is the batch and not PyTorch.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

COUNT = 1000
KILLED_AT = (0.1, 0.2)  # of the batch
MOST_GROWTH = 20e6  # bytes, from three tenths of the batch to its end
CALL = "import sys; from nbmark import __main__; sys.exit(__main__.main())"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the batch; the exit status is 1 if anything is amiss."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=COUNT, help="submissions (%(default)s)")
    parser.add_argument("--processes", default=str(os.cpu_count() or 1))
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        faults = soak(Path(folder), options.count, options.processes)
    for fault in faults:
        print(f"FAULT: {fault}")
    return 1 if faults else 0


def soak(root: Path, count: int, processes: str, call: str = CALL) -> list[str]:
    """Make a class, mark it, kill what marks it twice; say what is amiss."""
    expected = make_class(root, count)
    command = [sys.executable, "-c", call, "grade", "handed-in", "--out", "grades"]
    command += ["--processes", processes]
    journal = root / "grades" / "journal.jsonl"
    began = time.monotonic()
    for share in KILLED_AT:
        watch(command, root, journal, share * count)
        print(f"killed with {marked(journal)} of {count} marked", flush=True)
    memory = watch(command, root, journal, None)
    seconds = time.monotonic() - began
    print(f"{count} submissions in {seconds:.0f} s; {memory[-1][1] / 1e6:.0f} MB at the end")
    return [*amiss(root, expected), *grown(memory, count)]


def make_class(root: Path, count: int) -> dict[str, str]:
    """Write an exercise and its submissions; give what each student should earn."""
    settings = {"locked": False, "task": False, "schema_version": 3}
    answer = {"grade_id": "answer", "grade": False, "solution": True, **settings}
    check = {"grade_id": "check", "grade": True, "solution": False, "points": 1, **settings}
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}

    def notebook(number: int) -> str:
        test = "assert value % 7, 'a seventh'"
        source = f"### BEGIN SOLUTION\nvalue = {number}\n### END SOLUTION"
        cells = [
            new_code_cell(source, id="answer", metadata={"nbgrader": answer}),
            new_code_cell(test, id="check", metadata={"nbgrader": check}),
        ]
        return nbformat.writes(new_notebook(cells=cells, metadata=kernel))

    (root / "solutions").mkdir()
    (root / "solutions" / "9_1_x.ipynb").write_text(notebook(1), encoding="utf-8")
    for number in range(count):
        folder = root / "handed-in" / f"s{number:05}"
        folder.mkdir(parents=True)
        (folder / "9_1_x.ipynb").write_text(notebook(number), encoding="utf-8")
    return {f"s{number:05}": str(int(number % 7 > 0)) for number in range(count)}


def watch(
    command: Sequence[str], root: Path, journal: Path, until: float | None
) -> list[tuple[int, int]]:
    """Run the batch to its end, or kill it; give how much memory it had at how many marks."""
    seen: list[tuple[int, int]] = []
    process = subprocess.Popen(command, cwd=root, stdout=subprocess.DEVNULL)
    while process.poll() is None:
        time.sleep(0.05)
        done = marked(journal)
        if until is not None and done >= until:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            return seen
        if used := resident(process.pid):
            seen.append((done, used))
    if process.returncode:
        raise RuntimeError(f"the batch ended with {process.returncode}")
    return seen


def marked(journal: Path) -> int:
    """Count the marks in a journal."""
    return journal.read_bytes().count(b'"kind": "mark"') if journal.exists() else 0


def resident(pid: int) -> int:
    """Give the bytes that a process has in memory; 0 where that cannot be known."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGESIZE")


def amiss(root: Path, expected: dict[str, str]) -> list[str]:
    """Say what is lost, wrong, or there twice."""
    text = (root / "grades" / "journal.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines() if line]
    times = Counter(line["student"] for line in lines if line["kind"] == "mark")
    rows = (root / "grades" / "gradebook.csv").read_text(encoding="utf-8-sig").splitlines()[1:]
    found = {row.split(",")[0]: row.split(",")[1] for row in rows}
    faults = [f"{name} was marked {n} times" for name, n in times.items() if n > 1]
    faults += [f"{name} is lost" for name in sorted(expected.keys() - found.keys())]
    wrong = [name for name in found if found[name] != expected[name]]
    pages = len(list((root / "grades" / "feedback").iterdir()))
    faults += [f"{pages} pages for {len(expected)} students"] if pages != len(expected) else []
    return faults + [f"{name} has {found[name]} points" for name in wrong]


def grown(memory: Sequence[tuple[int, int]], count: int) -> list[str]:
    """Say by how much memory grew while the batch was marked, if it grew."""
    while_marking = [used for done, used in memory if 0.3 * count <= done < count]
    if memory[0][0] >= 0.3 * count or len(while_marking) < 2:  # it was starting by then
        return []
    growth = max(while_marking) - while_marking[0]
    print(f"memory grew by {growth / 1e6:.1f} MB from 30 % of the batch to its end")
    return [f"memory grew by {growth / 1e6:.0f} MB"] if growth > MOST_GROWTH else []


if __name__ == "__main__":
    sys.exit(main())
