"""Kernels of this project's own interpreter, whatever the user's settings name."""

import os
import sys


def use_own_kernel() -> None:
    """Let the kernel python3 be that of this interpreter.

    Of all the folders where Jupyter looks for kernels, those in JUPYTER_PATH win.
    """
    own = os.path.join(sys.prefix, "share", "jupyter")
    others = os.environ.get("JUPYTER_PATH", "").split(os.pathsep)
    kept = [path for path in others if path not in ("", own)]
    os.environ["JUPYTER_PATH"] = os.pathsep.join([own, *kept])
