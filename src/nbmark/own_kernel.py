"""Kernels of this project's own interpreter, whatever the user's settings name."""

import os
import sys
from pathlib import Path

SPECS = Path(__file__).with_name("kernelspecs")  # a folder of Jupyter's data


def use_own_kernel() -> None:
    """Let the kernel python3 be that of this interpreter: first of the folders in JUPYTER_PATH."""
    own = os.path.join(sys.prefix, "share", "jupyter")
    others = os.environ.get("JUPYTER_PATH", "").split(os.pathsep)
    kept = [path for path in others if path not in ("", own)]
    os.environ["JUPYTER_PATH"] = os.pathsep.join([own, *kept])


def know_forked_kernels() -> None:
    """Let the kernelspecs of `nbmark.kernels` be found, after all others."""
    paths = [path for path in os.environ.get("JUPYTER_PATH", "").split(os.pathsep) if path]
    if str(SPECS) not in paths:
        os.environ["JUPYTER_PATH"] = os.pathsep.join([*paths, str(SPECS)])
