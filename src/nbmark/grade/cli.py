"""The arguments of ``python -m nbmark grade``."""

import argparse
import os
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

from nbmark.doctor import FULL, NONE
from nbmark.grade import batch
from nbmark.grade.executors import MARKER, LocalPool
from nbmark.grade.owners import moment
from nbmark.limits import CELL_SECONDS, NOTEBOOK_SECONDS

MARKED, REFUSED, INTERRUPTED = 0, 1, 130


def _time(text: str) -> datetime:
    found = moment(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no time; write it as 2026-12-31T18:00")
    return found


def _whole(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 0 on")
    return int(text)


OPTIONS: dict[str, dict[str, Any]] = {
    "folder": {"type": Path, "metavar": "FOLDER", "help": "where the submissions are"},
    "--out": {"type": Path, "required": True, "metavar": "GRADES", "help": "where the grades go"},
    "--originals": {
        "type": Path,
        "metavar": "FOLDER",
        "help": "the solutions (default: solutions/)",
    },
    "--roster": {
        "type": Path,
        "metavar": "FILE",
        "help": "the class as CSV: who is missing is named",
    },
    "--due": {"type": _time, "metavar": "TIME", "help": "what came later is flagged as late"},
    "--seed": {"type": _whole, "help": "draws the checks' cases (default: kept from call to call)"},
    "--cell-limit": {
        "type": float,
        "default": CELL_SECONDS,
        "metavar": "SECONDS",
        "help": "how long a cell may run (default: %(default)g)",
    },
    "--notebook-limit": {
        "type": float,
        "default": NOTEBOOK_SECONDS,
        "metavar": "SECONDS",
        "help": "how long a notebook's cells may run together (default: %(default)g)",
    },
    "--processes": {"type": _whole, "help": "how many mark at a time (default: one a core)"},
    "--executor": {
        "choices": ("local", "dask"),
        "default": "local",
        "help": "where they run (default: %(default)s)",
    },
    "--scheduler": {
        "metavar": "ADDRESS",
        "help": "that of the Dask cluster, such as tcp://host:8786",
    },
    "--require-sandbox": {
        "action": "store_const",
        "const": FULL,
        "default": NONE,
        "help": "refuse to mark where students' code cannot be kept behind walls (see doctor)",
    },
    "--regrade": {
        "action": "append",
        "default": [],
        "metavar": "STUDENT|EX",
        "help": "mark once more",
    },
    "--override": {
        "action": "append",
        "nargs": 4,
        "default": [],
        "metavar": ("STUDENT", "CELL", "POINTS", "REASON"),
        "help": "give a cell's points by hand; it stays through regrading, - takes it back",
    },
}


def add_to(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "grade",
        help="mark a folder of submissions",
        description="Mark a folder of submissions, or a zip file as Canvas, Moodle and Gradescope "
        "give it. A call that was ended is completed by the next one.",
    )
    for name, settings in OPTIONS.items():
        parser.add_argument(name, **settings)
    parser.set_defaults(do=do)


def do(options: argparse.Namespace, marker: str = MARKER) -> int:
    """Mark; the exit status is 0 whatever the submissions earned."""
    sys.stdout.reconfigure(errors="replace")
    try:
        batch.run(_request(options), _executor(options, marker), _say)
    except (batch.Refusal, ConnectionError) as refusal:
        print(f"Not marked: {refusal}.", file=sys.stderr)
        return REFUSED
    except KeyboardInterrupt:
        print("\nInterrupted. What is marked is kept: the same call goes on.", file=sys.stderr)
        return INTERRUPTED
    return MARKED


def _request(options: argparse.Namespace) -> batch.Request:
    return batch.Request(
        folder=options.folder,
        out=options.out,
        originals=options.originals,
        roster=options.roster,
        due=options.due,
        seed=options.seed,
        cell_seconds=options.cell_limit,
        notebook_seconds=options.notebook_limit,
        sandbox=options.require_sandbox,
        regrade=tuple(options.regrade),
        override=tuple(tuple(one) for one in options.override),
    )


def _executor(options: argparse.Namespace, marker: str) -> batch.Executor:
    """Choose where submissions are marked."""
    if options.executor == "local":
        return LocalPool(options.processes or os.cpu_count() or 1, marker)
    if not options.scheduler:
        raise batch.Refusal("--executor dask needs --scheduler ADDRESS")
    try:
        from nbmark.grade.cluster import Cluster
    except ImportError as error:
        said = f"Dask is not installed ({error.name}): pip install dask distributed"
        raise batch.Refusal(said) from None
    return Cluster(options.scheduler, marker)


def _say(text: str) -> None:
    print(text, flush=True)
