"""Which graded cells of an exercise are judged outside of the student's process, and how.

A graded cell that is one call of a check with names for arguments, ``check_1_3.masks(function)``,
can be judged outside. The course says in a module ``serving`` beside its checks what is special:
``INSIDE`` names cells that are judged in the student's process all the same, with the reason;
``PACKAGES`` the only packages that an exercise's functions may use; ``HANDED_OUT`` the cells whose
values a check takes from the exercise itself; ``ADAPTERS`` the module for `nbmark.served`.
"""

import ast
import hashlib
import importlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import nbformat
from nbformat import NotebookNode

from nbmark.notebook import grade_id, is_code, is_graded, is_manual, is_solution, settings

SERVE = "__import__('nbmark.serving', fromlist=['serve']).serve"
SEEDING = re.compile(r"(torch\.manual_seed\()\d+\)")


@dataclass(frozen=True)
class Check:
    """A graded cell that is judged outside."""

    module: str  # such as attnlab.checks.check_1_3
    name: str  # of the check
    arguments: tuple[str, ...]  # names

    @property
    def path(self) -> str:
        """Name the check in full."""
        return f"{self.module}:{self.name}"


@dataclass(frozen=True)
class Plan:
    """How an exercise is judged."""

    checks: Mapping[str, Check] = field(default_factory=dict)  # by the name of the graded cell
    inside: Mapping[str, str] = field(default_factory=dict)  # cells that are not, and why
    packages: tuple[str, ...] | None = None  # the only ones that there are; None: all
    handed_out: Mapping[str, Any] = field(default_factory=lambda: {"cells": [], "names": []})
    seeded: tuple[str, ...] = ()  # cells of the exercise whose seed is another when marking
    adapters: str = ""

    @property
    def is_sealed(self) -> bool:
        """Tell whether no check is made in the student's process."""
        return bool(self.checks) and not self.inside

    @property
    def modules(self) -> set[str]:
        """Give the modules of checks."""
        return {check.module for check in self.checks.values()}


def plan_of(original: NotebookNode) -> Plan:
    """Find out how the graded cells of an exercise are judged."""
    graded = [c for c in original.cells if is_code(c) and is_graded(c) and not is_manual(c)]
    imported = _imports(original)
    found = {grade_id(cell): _check(cell.source, imported) for cell in graded}
    course = _course({check.module for check in found.values() if check})
    if course is None:
        return Plan(inside=dict.fromkeys(found, "its course does not say how it is served"))
    inside = {name: course.INSIDE[name] for name in found if name in course.INSIDE}
    inside |= {name: "it is no call of a check" for name, check in found.items() if not check}
    checks = {name: check for name, check in found.items() if name not in inside}
    modules = {check.module for check in checks.values()}
    own = {name.rpartition(".")[2] for name in modules}
    packages = [tuple(course.PACKAGES[name]) for name in own if name in course.PACKAGES]
    handed_out = [course.HANDED_OUT[name] for name in own if name in course.HANDED_OUT]
    return Plan(
        checks,
        inside,
        packages[0] if packages else None,
        handed_out[0] if handed_out else {"cells": [], "names": []},
        tuple(handed_out[0]["seeded"]) if handed_out else (),
        course.ADAPTERS,
    )


def _imports(notebook: NotebookNode) -> dict[str, str]:
    """Give the modules that cells import by ``from package import module``, by their names."""
    found = {}
    for cell in filter(is_code, notebook.cells):
        for node in ast.walk(_parsed(cell.source)):
            if isinstance(node, ast.ImportFrom) and node.module and not is_solution(cell):
                found |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
    return found


def _parsed(source: str) -> ast.Module:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def _check(source: str, imported: Mapping[str, str]) -> Check | None:
    """Read the call of a check; None if it is anything else."""
    match _parsed(source).body:
        case [ast.Expr(ast.Call(ast.Attribute(ast.Name(module), name), args, []))]:
            if module in imported and all(isinstance(each, ast.Name) for each in args):
                return Check(imported[module], name, tuple(each.id for each in args))
    return None


def _course(modules: set[str]) -> ModuleType | None:
    """Find what the course says of its checks."""
    packages = {name.rpartition(".")[0] for name in modules}
    try:
        return importlib.import_module(f"{packages.pop()}.serving") if len(packages) == 1 else None
    except ModuleNotFoundError:
        return None


def served(notebook: NotebookNode, plan: Plan, seed: int) -> NotebookNode:
    """Give a rebuilt notebook in the form in which it is run: its graded cells serve."""
    made = nbformat.from_dict(notebook)
    last = max((i for i, cell in enumerate(made.cells) if is_graded(cell)), default=-1)
    for index, cell in enumerate(made.cells):
        name = grade_id(cell)
        if index > last and is_code(cell) and settings(cell).get("locked"):
            cell.source = ""  # the exercise's own, and no mark rests on it
        if is_graded(cell) and (check := plan.checks.get(name)):
            cell.source = f"{SERVE}({check.path!r}, {', '.join(check.arguments)})"
        elif name in plan.seeded:
            cell.source = seeded(cell.source, seed)
    return made


def seeded(source: str, seed: int) -> str:
    """Give a cell of the exercise with another seed, which does not tell the one of the cases."""
    digest = hashlib.sha256(f"handed out {seed}".encode()).digest()
    return SEEDING.sub(rf"\g<1>{int.from_bytes(digest[:4]) >> 1})", source)


def handed_out(original: NotebookNode, plan: Plan, seed: int) -> dict[str, Any]:
    """Give the cells whose values a judge takes from the exercise, and the names of these."""
    sources = {grade_id(cell): cell.source for cell in original.cells}
    chosen = {name: sources[name] for name in plan.handed_out["cells"]}
    cells = [seeded(s, seed) if name in plan.seeded else s for name, s in chosen.items()]
    return {"cells": cells, "names": list(plan.handed_out["names"])}
