"""A whole exercise with one mistake: the cells of its solution, run with one answer exchanged.

What takes long in a notebook, training and measuring, is done with small stand-ins.
"""

import contextlib
import functools
import importlib
import io
import re
import warnings
from pathlib import Path
from types import CodeType
from typing import Any

import matplotlib.pyplot as plt
import nbformat
from answers import Call

from nbmark.graded import CheckFailed

SOLUTIONS = Path(__file__).resolve().parents[3] / "solutions"
TABLE = Path(__file__).with_name("costs.md")
BY_PERSONS = {"1_1": 4, "1_8": 3}  # points for what persons read
APART = {"1_2", "1_5"}  # whose functions do not call one another

# Of an exercise, what stands in for the source of a cell.
BY_HAND = {
    f"1_1-{what}-{kind}-answer": f"""
try:
    {what}_{kind} = {source.format(kind)}
except (TypeError, ValueError):  # of weights that nothing follows from
    {what}_{kind} = None
"""
    for kind in ("unscaled", "scaled")
    for what, source in {
        "output": "(np.array(weights_{}) @ [[1, 2], [3, 4], [5, 6]]).round(3)",
        "entropy": "[-sum(p * math.log(p) for p in row if p > 0) for row in weights_{}]",
    }.items()
}
SMALL = """
CUDA = torch.cuda.is_available()
n_values = [128, 256, 512, 1024, 2048]
def naive(n):
    return torch.ones(n * n, dtype=torch.uint8)[: 16 * n].clone()
def fused(n):
    return torch.ones(64 * n, dtype=torch.uint8)[: 16 * n].clone()
"""
TRAINED = """
from exercise_1_4.right import Trained, readout
model, test = Trained(), torch.randint(4, 12, (50, LENGTH))
"""
ADJACENCY = """
def adjacency(maps):
    return np.maximum(*(np.asarray(relation_score(maps, k)) for k in (-1, 1)))
"""
ROLES = """
head_roles = None
maps = attention_maps(model, test)
far = [np.asarray(relation_score(maps, k)) for k in range(-10, 11) if abs(k) >= 2]
scores = [np.asarray(adjacency(maps)), np.max(far, axis=0), np.asarray(uniformity(maps))]
head_roles = {}
for i in range(2):
    for j in range(4):
        near, away, flat = (score[i, j] for score in scores)
        name = "adjacent" if near >= 0.5 else "relation" if away >= 0.5 else "other"
        head_roles[i, j] = "uniform" if flat >= 0.9 else name
"""
RUNS = """
LENGTHS, LOSSES = [4, 8, 12, 16], {}
from exercise_1_8.right import RESULTS
def trained(width=32, every_step=False, seed=0):
    names = {32: "base", 96: "wider", 8: "narrower"}
    return "every step" if every_step else "second seed" if seed else names[width]
def tested(name):
    shares, bits = RESULTS[name]
    nats = [math.log(2) * (3 - b / T) for b, T in zip(bits, LENGTHS)]
    return shares, [float(bits_read(x, T, 8)) for x, T in zip(nats, LENGTHS)]
"""
STAND_INS = {
    "1_4-plain-copy": "SYMBOLS, LENGTH = 8, 20",
    "1_4-training": TRAINED,
    "1_4-accuracy": "",
    "1_4-adjacency": ADJACENCY,
    "1_4-roles": ROLES,
    "1_5-settings": SMALL,
    "1_5-doublings": "",
    "1_5-gpu": "",
    "1_6-beside": "",
    "1_7-measure": "",
    "1_7-picture-of-memory": "",
    "1_8-helpers": RUNS,
    "1_8-places": "",
    "1_3-compare": "",
    "1_3-picture-of-weights": "",
    "1_2-wrong-masks": "",
    **BY_HAND,
}


@functools.cache
def cells(number: str) -> list[tuple[CodeType, str, list[str]]]:
    """Give the code cells of a solution: what they do, what check they call, with which names."""
    (path,) = SOLUTIONS.glob(f"{number}_*.ipynb")
    found = []
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type != "code":
            continue
        called = re.match(rf"check_{number}\.(\w+)\((.+)\)", cell.source, re.DOTALL)
        check, names = called.groups() if called else ("", "")
        source = compile(STAND_INS.get(cell.id, cell.source), cell.id, "exec")
        found.append((source, check, re.findall(r"\w+", names)))
    return found


def run(number: str, instead: dict[str, Any]) -> dict[str, str]:
    """Run an exercise with answers, by their names, exchanged; give the causes of failed checks.

    An answer is exchanged as soon as there is one of its name, for all that comes after it.
    """
    space: dict[str, Any] = {"__name__": "__main__"}
    exec("import math\nimport numpy as np", space)
    failed, there = {}, set()
    for source, check, names in cells(number):
        for name in instead.keys() & space.keys() - there:
            if space[name] is not None:
                space[name] = instead[name]
                there.add(name)
        if number in APART and instead and there.isdisjoint(names) and _are_functions(names, space):
            continue  # it is as right as without the mistake
        try:
            with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(source, space)
        except CheckFailed as found:
            failed[check] = found.cause
        except Exception:  # of a cell that could not do without what is wrong
            if check:
                raise
        plt.close("all")
    return failed


def mistaken(number: str, check: str, answer: Any) -> dict[str, Any]:
    """Give by their names the answers that a wrong one to a check stands for."""
    (names,) = [names for _, called, names in cells(number) if called == check]
    values = answer.make() if isinstance(answer, Call) else (answer,)
    return dict(zip(names, values, strict=False))


def _are_functions(names: list[str], space: dict[str, Any]) -> bool:
    return bool(names) and all(callable(space.get(name)) for name in names)


def listed(number: str) -> list[tuple[str, str, int, int, str]]:
    """Give the rows of an exercise in costs.md: check, label, points lost, of how many, why."""
    pattern = (
        rf"^\| {number.replace('_', '.')} \| ([\w ]+): ([^|]+?) \| (\d+) of (\d+) \| ?(.*?) ?\|$"
    )
    rows = re.findall(pattern, TABLE.read_text(encoding="utf-8"), re.MULTILINE)
    return [(c.replace(" ", "_"), label, int(a), int(b), why) for c, label, a, b, why in rows]


def differing(number: str) -> dict[tuple[str, str], tuple[int, int]]:
    """Work the rows of an exercise out again: what the table says and what is so, if other."""
    wrong = importlib.import_module(f"exercise_{number}.wrong").WRONG
    points = importlib.import_module(f"attnlab.checks.check_{number}").exercise.points
    assert run(number, {}) == {}
    found = {}
    for check, label, said, total, _ in listed(number):
        name, answer = next(iter(mistaken(number, check, wrong[check][label][0]).items()))
        lost = sum(points[failed] for failed in run(number, {name: answer}))
        if (said, total) != (lost, sum(points.values()) + BY_PERSONS.get(number, 0)):
            found[check, label] = said, lost
    return found
