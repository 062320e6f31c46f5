"""Names the processor of this machine."""

import contextlib
import platform
from pathlib import Path


def cpu_model() -> str:
    """Name the processor's model, or its architecture where the system tells no more."""
    with contextlib.suppress(OSError):  # no Linux
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
