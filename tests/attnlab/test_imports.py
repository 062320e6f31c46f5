"""What each module may import, seen from a fresh interpreter in a folder of its own."""

import ast
import functools
import graphlib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import attnlab

SRC = Path(__file__).parents[2] / "src"

# Import modules, and of a package all of its modules; name the packages that came with them.
PROGRAM = """
import importlib, pkgutil, sys
before = set(sys.modules)
for name in sys.argv[1:]:
    module = importlib.import_module(name)
    for found in pkgutil.walk_packages(getattr(module, "__path__", []), name + "."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)
packages = {name.partition(".")[0] for name in set(sys.modules) - before}
print(*sorted(packages - sys.stdlib_module_names))
"""


@functools.cache
def packages_imported_by(names):
    command = [sys.executable, "-c", PROGRAM, *names.split()]
    with tempfile.TemporaryDirectory() as elsewhere:
        run = subprocess.run(command, cwd=elsewhere, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    return frozenset(run.stdout.split())


def assert_kept_out(name, forbidden):
    strangers = packages_imported_by(name) & forbidden
    assert not strangers, f"{name} imports {', '.join(sorted(strangers))}"


def test_oracle_imports_numpy_and_nothing_else():
    assert packages_imported_by("attnlab.reference") == {"attnlab", "numpy"}


def test_formulas_import_nothing_at_all():
    assert packages_imported_by("attnlab.cost") == {"attnlab"}


def test_attention_imports_torch_but_no_figures():
    modules = "attnlab.masks", "attnlab.multihead", "attnlab.flash"
    assert "torch" in packages_imported_by(modules[0])
    assert_kept_out(" ".join(modules), {"matplotlib", "IPython"})


def test_first_exercise_does_not_wait_for_torch():
    assert_kept_out("attnlab.checks.check_1_1", {"torch", "matplotlib"})


def test_nbmark_knows_nothing_of_attention():
    assert_kept_out("nbmark", {"attnlab", "torch"})


def test_boundary_check_catches_an_import_that_is_there():
    with pytest.raises(AssertionError, match=r"attnlab\.reference imports numpy\b"):
        assert_kept_out("attnlab.reference", {"numpy", "torch"})


def test_boundary_check_fails_where_the_module_cannot_be_imported():
    with pytest.raises(AssertionError, match=r"No module named 'attnlab\.nowhere'"):
        packages_imported_by("attnlab.nowhere")


def imports_of(sources):
    """Give for each module, from its name to its text, those of them that its import runs first.

    What a function imports counts too: a circle that only calls close is one all the same.
    """
    found = {}
    for name, text in sources.items():
        nodes = list(ast.walk(ast.parse(text)))
        named = {
            alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names
        }
        for node in nodes:
            if isinstance(node, ast.ImportFrom) and not node.level:
                members = {f"{node.module}.{alias.name}" for alias in node.names}
                known = members & sources.keys()
                named |= known if known == members else known | {node.module}
        found[name] = named & sources.keys() - {name}
    return found


def circle_in(sources):
    """Name the modules of a circle of imports, or none."""
    try:
        graphlib.TopologicalSorter(imports_of(sources)).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return []


def test_imports_have_no_circle():
    paths = {path.relative_to(SRC).with_suffix(""): path for path in SRC.rglob("*.py")}
    sources = {
        ".".join(name.parts).removesuffix(".__init__"): path.read_text(encoding="utf-8")
        for name, path in paths.items()
    }
    assert imports_of(sources)["attnlab.attention"] == {"attnlab.masks"}
    assert circle_in(sources) == []


@pytest.mark.parametrize("line", ["import p.a", "from p import a", "from p.a import x"])
def test_circle_check_catches_a_circle(line):
    sources = {"p": "", "p.a": "from p import b", "p.b": "from p.c import y"}
    assert circle_in(sources | {"p.c": "y = 1"}) == []
    assert set(circle_in(sources | {"p.c": f"def f():\n    {line}"})) == {"p.a", "p.b", "p.c"}


def test_modules_are_those_that_the_package_lists():
    listed = re.findall(r"`(\w+)`", attnlab.__doc__.split("Symbols")[0])
    modules = {path.stem for path in (SRC / "attnlab").glob("[!_]*.py")} | {"figures", "checks"}
    assert sorted(listed) == sorted(modules)
