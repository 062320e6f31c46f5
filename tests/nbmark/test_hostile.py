"""Hostile submissions and unlucky ones, marked in one batch between honest neighbours."""

import hashlib
import importlib
import json
import os
import sys
import time
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell

from nbmark.doctor import FULL, examine
from nbmark.mark_one import Job, mark
from nbmark.notebook import grade_id
from nbmark.release import student_version

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(Path(__file__).with_name("hostile")))
HOSTILE = [
    entry
    for name in ("kernels_bent", "keys_read", "harm")
    for entry in importlib.import_module(name).SUBMISSIONS
]
HONEST = importlib.import_module("harm").HONEST
EVERY = 12  # so many hostile ones between two honest ones


@pytest.fixture(scope="module")
def walls():
    health = examine()
    if health.level != FULL or health.gaps:
        pytest.skip(f"this machine has no sandbox: {health.why or health.gaps}")


def write(folder, entry):
    """Write what was handed in, in its own folder; give the path."""
    solution = nbformat.read(ROOT / "solutions" / f"{entry.exercise}.ipynb", 4)
    notebook = student_version(solution, entry.name)
    cells = []
    for cell in notebook.cells:
        if grade_id(cell) in entry.cells:
            cells += [new_code_cell(entry.first)] if entry.first else []
            cell.source = entry.cells[grade_id(cell)]
            cells += [cell, *([new_code_cell(entry.last)] if entry.last else [])]
        else:
            cells.append(cell)
    notebook.cells = cells
    path = folder / entry.name / f"{entry.exercise}.ipynb"
    path.parent.mkdir()
    path.write_text(nbformat.writes(notebook).replace("VICTIM", str(folder)), encoding="utf-8")
    return path


def fingerprint(*folders):
    """Give what tells whether a file of these folders was changed, added or deleted."""
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(f"{path} {path.stat().st_mtime_ns}".encode() + path.read_bytes())
    return digest.hexdigest()


def processes():
    """Give the commands of all processes that a submission may have left behind."""
    found = set()
    for path in Path("/proc").glob("[0-9]*"):
        try:
            command = path.joinpath("cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if "4321" in command:
            found.add((path.name, command))
    return found


@pytest.fixture(scope="module")
def batch(walls, tmp_path_factory):
    """Mark all; give marks by submission, and whether files were touched."""
    folder = tmp_path_factory.mktemp("handed-in")
    order = list(HOSTILE)
    for place in range(0, len(order) + len(order) // EVERY, EVERY + 1):
        order.insert(place, HONEST[0])
    written = {entry.name: write(folder, entry) for entry in (*HOSTILE, *HONEST)}
    watched = folder, ROOT / "src", ROOT / "solutions", ROOT / "exercises"
    before, found = fingerprint(*watched), {}
    for entry in (*order, *HONEST[1:]):
        original = str(ROOT / "solutions" / f"{entry.exercise}.ipynb")
        limits = {"cell_seconds": entry.seconds, "notebook_seconds": 4 * entry.seconds}
        job = Job(str(written[entry.name]), entry.name, entry.exercise, original, 7, **limits)
        began = time.monotonic()
        result = mark(Job.from_json(job.to_json()))
        found.setdefault(entry.name, []).append((result, time.monotonic() - began))
    return found, fingerprint(*watched) == before


def earned(result):
    return {one.name: one.earned for one in result.marks if one.earned}


def test_there_are_enough_of_them():
    assert len({entry.name for entry in (*HOSTILE, *HONEST)}) == len(HOSTILE) + len(HONEST)
    assert len(HOSTILE) >= 60


@pytest.mark.parametrize("entry", HOSTILE, ids=lambda entry: entry.name)
def test_an_attack_earns_nothing(batch, entry):
    (result, _), *_ = batch[0][entry.name]
    assert earned(result) == entry.may_earn, [m.reason for m in result.marks]
    assert result.fault == ""
    assert len(result.marks) > 1
    assert all(one.reason for one in result.marks if not one.is_manual)


@pytest.mark.parametrize("entry", HONEST, ids=lambda entry: entry.name)
def test_an_honest_mistake_costs_what_it_deserves(batch, entry):
    for result, _ in batch[0][entry.name]:
        assert earned(result) == entry.may_earn, [m.reason for m in result.marks]


def test_nobody_s_files_are_touched(batch):
    assert batch[1]
    assert not list(Path("/tmp").glob("hostile-was-here"))
    assert not list((ROOT / "src").rglob("*hostile*"))


def test_nothing_survives_its_run(batch):
    assert processes() == set()


def test_what_is_told_can_be_written_down(batch):
    for results in batch[0].values():
        for result, _ in results:
            text = json.dumps(json.loads(result.to_json()))
            assert len(text) < 200_000
            assert "\x1b" not in "".join(one.reason for one in result.marks)


def test_no_submission_takes_longer_than_its_limit(batch):
    slow = {name: seconds for name, ((_, seconds), *_) in batch[0].items() if seconds > 60}
    assert slow == {}, os.getloadavg()
