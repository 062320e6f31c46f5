"""Make .venv and install the locked packages into it, unless that is done already.

The system's Python runs this file, so it needs nothing but the standard library.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys

from commands import ToolError, explain_refusal, run_logged
from files import BUILD, ROOT

VENV = ROOT / ".venv"
VENV_PYTHON = VENV / "bin" / "python"
STAMP = VENV / "installed"  # written last: without it .venv counts for nothing
LOG = BUILD / "install.log"
REQUIREMENTS = ("requirements.lock", "requirements-torch.lock", "pyproject.toml")
# A user's settings of pip may send packages elsewhere; these send them into .venv. Python compiles
# what it imports; compiling all beforehand takes as long as the rest of the installation.
INTO_VENV = ("--no-user", "--target=", "--no-compile")
# nbgrader is here to be tested with and nbdime for git; their menus are nothing for a reader's
# JupyterLab, and nbdime's part of its server complains where there is no git.
JUPYTER_SETTINGS = {
    "labconfig/page_config.json": {
        "disabledExtensions": {"@jupyter/nbgrader": True, "nbdime-jupyterlab": True}
    },
    "jupyter_server_config.json": {"ServerApp": {"jpserver_extensions": {"nbdime": False}}},
}
# How git shows a changed notebook (.gitattributes): nbdime's way, or as a file where that fails.
SHOW_NOTEBOOK = (
    'f() { [ -t 1 ] || [ "$GIT_PAGER_IN_USE" ] || plain=--no-color; '
    '.venv/bin/git-nbdiffdriver diff $plain "$@" 2>/dev/null || diff -u "$2" "$5" || :; }; f'
)


def wanted() -> list[bytes]:
    """Give what the stamp of a finished installation says: where it is, and from which files.

    A virtual environment holds absolute paths, so a moved one does not work. Paths are compared as
    the system's bytes, since what these spell depends on the locale.
    """
    digest = hashlib.sha256(b"".join((ROOT / name).read_bytes() for name in REQUIREMENTS))
    return [os.fsencode(VENV), digest.hexdigest().encode()]


def stamped() -> list[bytes]:
    """Read the stamp; an installation that is unfinished, moved or without interpreter has none."""
    if not STAMP.is_file():
        return []
    lines = STAMP.read_bytes().splitlines()
    return lines if lines[:1] == [os.fsencode(VENV)] and interpreter_works() else []


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
    print("Installing requirements.lock into .venv, some minutes", flush=True)
    pip("install", *INTO_VENV, "--no-deps", "--require-hashes", "-r", "requirements.lock")
    install_torch()
    pip("install", *INTO_VENV, "--no-deps", "--no-build-isolation", "-e", ".")
    for name, settings in JUPYTER_SETTINGS.items():
        path = VENV / "etc" / "jupyter" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(settings), encoding="utf-8")
    show_notebooks_as_text()
    STAMP.write_bytes(b"\n".join(wanted()) + b"\n")


def install_torch() -> None:
    """Install PyTorch by its hash, or the build of the same version that pip has been shown.

    Only an index or a folder of the user's own holds builds such as 2.13.0+cpu. They are without
    the gigabytes of CUDA, or made for another device, and their hashes are known to nobody here.
    """
    text = (ROOT / "requirements-torch.lock").read_text(encoding="utf-8")
    version = re.search(r"^torch==(\S+)", text, re.MULTILINE)[1]
    pip("index", "versions", "torch")
    own = re.search(rf"\b{re.escape(version)}\+[\w.]+", LOG.read_text(encoding="utf-8"))
    if own:
        print(f"Installing PyTorch {own[0]}, which your pip offers, without a hash", flush=True)
        pip("install", *INTO_VENV, f"torch=={own[0]}")
    else:
        print(f"Installing PyTorch {version}: on Linux 3 GB more, with CUDA", flush=True)
        pip("install", *INTO_VENV, "--no-deps", "--require-hashes", "-r", "requirements-torch.lock")


def pip(command: str, *arguments: str) -> None:
    """Run a command of .venv's pip."""
    quiet = ["--disable-pip-version-check", "--no-input"]
    run_logged([str(VENV_PYTHON), "-m", "pip", command, *quiet, *arguments], LOG)


def show_notebooks_as_text() -> None:
    """Let git, in this clone, show changes of notebooks as text.

    Where there is no git, no clone of this folder's own, or no right to write, all stays as it is.
    """
    git = ["git", "-C", str(ROOT)]
    # What git tells a hook, or a user tells git, may name another clone.
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        top = subprocess.run([*git, "rev-parse", "--show-toplevel"], capture_output=True, env=env)
        folder = top.stdout.removesuffix(b"\n")
        if folder and os.path.samefile(folder, ROOT):
            driver = ["config", "--local", "diff.notebook.command", SHOW_NOTEBOOK]
            subprocess.run([*git, *driver], capture_output=True, env=env)
    except OSError:
        pass


def main() -> int:
    """Install if need be."""
    if stamped() == wanted():
        return 0
    try:
        install()
    except ToolError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(explain_refusal(error), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted; the next call goes on from here.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
