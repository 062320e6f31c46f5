"""What this machine enforces when it runs strangers' notebooks: tried out, not guessed."""

import argparse
import os
import platform
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from nbmark.sandbox import View
from nbmark.warm import JUPYTER
from nbmark.warmth import NoFork, Warm, can_fork, environment_behind_walls

FULL, LIMITS, NONE = "full", "limits", "none"
LEVELS = {
    FULL: "kernels stand behind walls, and checks are made outside of them",
    LIMITS: "checks are made outside of kernels, but kernels can read files and reach the network",
    NONE: "plain kernels: a student's code can do what you can do, and can decide its own mark",
}
WANTED = {  # what a kernel behind walls finds, as `_look` tells it
    "no network": "reaches a network",
    "no other processes": "sees other processes",
    "no files of others": "sees files of others",
    "nothing written outside": "writes outside of its home",
    "no rights of its own": "has rights of an administrator",
    "sockets only between them": "fills a folder that it shares",
}


@dataclass(frozen=True)
class Health:
    """What was found."""

    level: str
    why: str = ""  # what keeps it from being full
    gaps: tuple[str, ...] = ()  # what walls that stand let through

    def __str__(self) -> str:
        lines = [f"sandbox: {self.level} ({LEVELS[self.level]})"]
        lines += [f"  because: {self.why}"] if self.why else []
        kept = WANTED if self.level == FULL else {}
        lines += [f"  {'no' if gap in self.gaps else 'yes':4}{name}" for name, gap in kept.items()]
        return "\n".join(lines)


@lru_cache(maxsize=1)
def examine() -> Health:
    """Try what this machine can enforce, once for this process."""
    if not can_fork():
        return Health(NONE, f"{platform.system()} does not fork processes in the way this needs")
    try:
        warm = Warm.of(JUPYTER)
    except NoFork as error:
        return Health(NONE, str(error))
    with tempfile.TemporaryDirectory() as scratch:
        request = {
            "what": "look",
            "environment": environment_behind_walls(),
            "walls": View(sockets=scratch).as_dict(),
            "scratch": scratch,
        }
        try:
            os.chmod(scratch, 0o777)
            child = warm.fork(request)
        except NoFork as error:
            return Health(LIMITS, str(error).strip().rpartition("\n")[2])
        found = child.told.get("gaps", [])
        child.close()
    return Health(FULL, gaps=tuple(gap for gap in WANTED.values() if gap in found))


def add_to(commands: Any) -> None:
    """Add the command ``doctor``."""
    parser = commands.add_parser("doctor", help="say what this machine enforces when it marks")
    parser.add_argument("--require", choices=list(LEVELS), default=NONE, help="fail below this")
    parser.set_defaults(do=do)


def do(options: argparse.Namespace) -> int:
    """Print what was found; the exit status is 0 if it is what is required."""
    health = examine()
    print(health)
    return 0 if reaches(health.level, options.require) else 1


def reaches(level: str, wanted: str) -> bool:
    """Tell whether a level is as good as another."""
    order = list(LEVELS)
    return order.index(level) <= order.index(wanted)
