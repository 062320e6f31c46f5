"""A submission that is judged outside: its kernels, and its judge."""

import contextlib
import hashlib
import json
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nbformat import NotebookNode

from nbmark.answers import PICTURES, SEED
from nbmark.kernels import Setting, kernels_with
from nbmark.notebook import grade_id
from nbmark.own_kernel import know_forked_kernels
from nbmark.plan import Plan, handed_out
from nbmark.sandbox import View
from nbmark.warm import ALL, JUDGE, JUPYTER
from nbmark.warmth import Child, Warm, environment_behind_walls

VERDICT_SECONDS = 60.0  # how long a judge may take to end a check that nobody answers any more
LONGEST_VERDICT = 1 << 18
NOT_MADE = "the check was not made"


@dataclass(frozen=True)
class Verdict:
    """What a check found."""

    passed: bool
    reason: str = ""  # in full
    cause: str = ""
    text: str = ""  # as the student sees it


class Trial:
    """Everything that judges one submission."""

    def __init__(self, plan: Plan, seed: int, judge: Child) -> None:
        self.plan, self.judge, self.kernel_seed = plan, judge, seed_inside(seed)

    def setting(self) -> Setting:
        """Give what its kernels get."""
        modules = sorted(self.plan.modules) if self.plan.is_sealed else []
        hidden = sorted({m.rpartition(".")[0].replace(".", "/") for m in modules})
        alone = self.plan.packages is not None
        told = {"adapters": "" if alone else self.plan.adapters, "modules": modules}
        return Setting(
            View(hidden=hidden, loaded_alone=alone),
            self._channel,
            told | {"alone": alone},
            {SEED: str(self.kernel_seed)},
            JUPYTER if alone else ALL,
        )

    def _channel(self) -> socket.socket:
        """Give a new kernel its end of a connection with the judge."""
        mine, other = socket.socketpair()
        with other:
            socket.send_fds(self.judge.connection, [b"{}"], [other.fileno()])
        return mine

    def expect(self, cell: NotebookNode) -> None:
        """Let the check of a graded cell be made, once."""
        name = grade_id(cell)
        if check := self.plan.checks.get(name):
            due = {"cell": name, "check": check.path, "names": check.arguments}
            self._tell({"expect": due})

    def verdict(self, name: str) -> Verdict:
        """Give what the check of a cell found; it will not be made any more."""
        self._tell({"verdict": name})
        try:
            self.judge.connection.settimeout(VERDICT_SECONDS)
            found = json.loads(self.judge.connection.recv(LONGEST_VERDICT) or b"null")
        except (OSError, ValueError):
            found = None
        if found is None:
            return Verdict(False, NOT_MADE, "not_made")
        if found["passed"]:
            return Verdict(True)
        return Verdict(False, *(_printable(found[key]) for key in ("message", "cause", "text")))

    def _tell(self, message: Mapping[str, Any]) -> None:
        with contextlib.suppress(OSError):
            self.judge.connection.send(json.dumps(message).encode())


def _printable(text: str) -> str:
    """Leave out what would move a terminal's cursor or change its colours."""
    return "".join(letter for letter in text if letter.isprintable() or letter == "\n")


def seed_inside(seed: int) -> int:
    """Give the seed of checks in a student's process, which does not tell that of the others."""
    digest = hashlib.sha256(f"inside {seed}".encode()).digest()
    return int.from_bytes(digest[:4]) >> 1


@contextlib.contextmanager
def trial(original: NotebookNode, plan: Plan, seed: int, seconds: float) -> Iterator[Trial]:
    """Set up what judges a submission, and take it down."""
    know_forked_kernels()
    request = {
        "what": "judge",
        "environment": environment_behind_walls() | {SEED: str(seed), PICTURES: "0"},
        "adapters": plan.adapters,
        "packages": plan.packages,
        "seconds": seconds,
        "handed_out": handed_out(original, plan, seed),
    }
    modules = ALL if plan.packages is None else (*JUDGE, *sorted(plan.modules))
    judge = Warm.of(modules).fork(request)
    made = Trial(plan, seed, judge)
    try:
        with kernels_with(made.setting()):
            yield made
    finally:
        judge.close()
