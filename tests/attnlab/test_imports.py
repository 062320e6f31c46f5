"""What each module may import, seen from a fresh interpreter in a folder of its own."""

import functools
import subprocess
import sys
import tempfile

import pytest

# Import a module, and if it is a package all of its modules; name the packages that came with it.
PROGRAM = """
import importlib, pkgutil, sys
before = set(sys.modules)
module = importlib.import_module(sys.argv[1])
for found in pkgutil.walk_packages(getattr(module, "__path__", []), module.__name__ + "."):
    if not found.name.endswith("__main__"):
        importlib.import_module(found.name)
packages = {name.partition(".")[0] for name in set(sys.modules) - before}
print(*sorted(packages - sys.stdlib_module_names))
"""


@functools.cache
def packages_imported_by(name):
    command = [sys.executable, "-c", PROGRAM, name]
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


@pytest.mark.parametrize("name", ["attnlab.masks", "attnlab.multihead", "attnlab.flash"])
def test_attention_imports_torch_but_no_figures(name):
    assert "torch" in packages_imported_by(name)
    assert_kept_out(name, {"matplotlib", "IPython"})


def test_nbmark_knows_nothing_of_attention():
    assert_kept_out("nbmark", {"attnlab", "torch"})


def test_boundary_check_catches_an_import_that_is_there():
    with pytest.raises(AssertionError, match=r"attnlab\.reference imports numpy\b"):
        assert_kept_out("attnlab.reference", {"numpy", "torch"})


def test_boundary_check_fails_where_the_module_cannot_be_imported():
    with pytest.raises(AssertionError, match=r"No module named 'attnlab\.nowhere'"):
        packages_imported_by("attnlab.nowhere")
