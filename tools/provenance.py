"""Say on what, when, and with which code a measurement was made."""

import contextlib
import platform
import subprocess
from datetime import UTC, datetime
from importlib import metadata

import torch
from files import ROOT
from sphinx_ext.machine import cpu_model


def provenance(device: str) -> dict:
    """Give the device's name, the date, the versions and the commit of this moment."""
    name = torch.cuda.get_device_name() if device == "cuda" else f"CPU {cpu_model()}"
    versions = {"python": platform.python_version(), "torch": torch.__version__}
    versions |= {"cuda": torch.version.cuda, "triton": None}
    with contextlib.suppress(metadata.PackageNotFoundError):
        versions["triton"] = metadata.version("triton")
    git = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=40"]
    commit = subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip()
    return {
        "device": name,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "versions": versions,
        "commit": commit or None,
    }
