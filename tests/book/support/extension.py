"""Imports an extension of the book's build, as Sphinx does."""

import importlib
import sys
from types import ModuleType

from files import ROOT

FOLDER = str(ROOT / "tools" / "sphinx_ext")


def extension(name: str) -> ModuleType:
    """Give the module."""
    if FOLDER not in sys.path:
        sys.path.insert(0, FOLDER)
    return importlib.import_module(name)
