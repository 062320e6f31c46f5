"""Making the environment: messages, stamp, and the search for Python. Nothing is installed."""

import json
import os
import re
import shutil
import subprocess
import sys
from errno import EACCES, ENOSPC, EROFS
from pathlib import Path
from types import SimpleNamespace

import commands
import install
import pytest
import vendor
from commands import ToolError, explain
from files import ROOT

NO_NETWORK = """\
WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError(': Failed to
ERROR: Could not find a version that satisfies the requirement torch==2.13.0 (from versions: none)
ERROR: No matching distribution found for torch==2.13.0
"""


@pytest.mark.parametrize(
    ("output", "named"),
    [
        (NO_NETWORK, "No network"),
        ("npm error code ENOTFOUND\nnpm error network request failed", "No network"),
        ("ERROR: Could not install packages: [Errno 28] No space left on device", "disk is full"),
        (
            "created successfully because ensurepip is not available.",
            "apt-get install python3-venv",
        ),
        ("/usr/bin/python3: No module named venv", "apt-get install python3-venv"),
        ("collecting\nERROR: No matching distribution found for x==1\n\n", "found for x==1"),
        ("npm error code E404\nnpm error 404 Not Found", "npm error 404 Not Found"),
        ("ERROR: No matching distribution found for torch==2.13.0", "no build for this system"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQ\n x", "pip config list"),
        ("Error: [Errno 13] Permission denied: '/x/.venv'", "cannot be written to"),
        ("something odd", "something odd"),
        ("", "without a word"),
    ],
)
def test_a_failure_is_explained_in_one_line(output, named):
    assert named in explain(output)
    assert "\n" not in explain(output)


def test_a_hiccup_of_the_network_long_before_the_failure_is_not_blamed():
    output = NO_NETWORK.splitlines()[0] + "\nCollecting x" * 50 + "\nERROR: the real one"
    assert explain(output) == "ERROR: the real one"


def test_a_failing_command_is_explained_and_its_whole_output_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(commands, "ROOT", tmp_path)
    log = tmp_path / "_build" / "x.log"
    script = "import sys; print('first'); print('ERROR: last', file=sys.stderr); sys.exit(3)"
    with pytest.raises(ToolError, match=r"ERROR: last The whole output: _build/x\.log"):
        commands.run_logged([sys.executable, "-c", script], log)
    assert sorted(log.read_text().split("\n")[:2]) == ["ERROR: last", "first"]


PIP = ["requirements.lock", "versions of torch", "requirements-torch.lock", "."]


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Give an empty project and the list of commands that install.py would have run in it."""
    for name in install.REQUIREMENTS:
        tmp_path.joinpath(name).write_text("torch==1.0 \\\n")
    python = tmp_path / ".venv" / "bin" / "python"
    commands = []

    def run(command, log):
        if "venv" in command:
            commands.append("venv")
        elif "index" in command:
            commands.append("versions of torch")
            log.parent.mkdir(exist_ok=True)
            log.write_text("torch (1.1)\nAvailable versions: 1.1, 1.0, 0.9+cpu\n")
        else:
            assert "--no-user" in command
            commands.append(command[-1])
        python.parent.mkdir(parents=True, exist_ok=True)
        if not python.exists():
            python.symlink_to(sys.executable)

    for name, value in {
        "ROOT": tmp_path,
        "LOG": tmp_path / "_build" / "install.log",
        "VENV": tmp_path / ".venv",
        "VENV_PYTHON": python,
        "STAMP": tmp_path / ".venv" / "installed",
        "run_logged": run,
    }.items():
        monkeypatch.setattr(install, name, value)
    return tmp_path, commands


def test_a_second_call_does_nothing(project):
    _, commands = project
    assert install.main() == install.main() == 0
    assert commands == ["venv", *PIP]


def test_a_readers_lab_shows_nothing_of_nbgrader_and_nbdime(project):
    install.main()
    settings = install.VENV / "etc" / "jupyter"
    shown = json.loads((settings / "labconfig" / "page_config.json").read_text())
    assert shown == {"disabledExtensions": {"@jupyter/nbgrader": True, "nbdime-jupyterlab": True}}
    server = json.loads((settings / "jupyter_server_config.json").read_text())
    assert server == {"ServerApp": {"jpserver_extensions": {"nbdime": False}}}


def test_changed_requirements_are_installed_into_what_is_there(project):
    root, commands = project
    install.main()
    root.joinpath("requirements.lock").write_text("x==2\n")
    install.main()
    assert commands == ["venv", *PIP, *PIP]


@pytest.mark.parametrize("error", [ToolError("why"), KeyboardInterrupt()])
def test_an_installation_that_did_not_end_starts_afresh(project, monkeypatch, capsys, error):
    _, commands = project
    run = install.run_logged

    def fail_at_pip(command, log):
        run(command, log)
        if "install" in command:
            raise error

    with monkeypatch.context() as patch:
        patch.setattr(install, "run_logged", fail_at_pip)
        assert install.main() != 0
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
    assert not install.STAMP.exists()
    assert install.main() == 0
    assert commands == ["venv", PIP[0], "venv", *PIP]


def test_an_environment_without_interpreter_is_made_again(project):
    _, commands = project
    install.main()
    install.VENV_PYTHON.unlink()
    install.VENV_PYTHON.symlink_to("/nowhere/python")
    install.main()
    assert commands == ["venv", *PIP] * 2


def test_a_moved_environment_is_made_again(project):
    _, commands = project
    install.main()
    elsewhere = install.STAMP.read_text().replace(str(install.VENV), "/elsewhere/.venv")
    install.STAMP.write_text(elsewhere)
    install.main()
    assert commands == ["venv", *PIP] * 2


def test_a_build_of_pytorch_that_pip_has_been_shown_is_taken_without_a_hash(
    project, monkeypatch, capsys
):
    _, commands = project
    run = install.run_logged

    def offer_another(command, log):
        run(command, log)
        if "index" in command:
            log.write_text("torch (1.1)\nAvailable versions: 1.1, 1.0+cpu, 1.0, 0.9+cpu\n")

    monkeypatch.setattr(install, "run_logged", offer_another)
    install.main()
    assert commands[3:] == ["torch==1.0+cpu", "."]
    assert "PyTorch 1.0+cpu, which your pip offers, without a hash" in capsys.readouterr().out


def test_a_path_is_the_same_in_every_locale(tmp_path):
    root = tmp_path / "bücher"
    shutil.copytree(ROOT / "tools", root / "tools")
    for name in install.REQUIREMENTS:
        shutil.copy(ROOT / name, root)
    command = [sys.executable, "-c", "import install; print(install.wanted()[0])"]
    ascii_only = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    for locale in ({"LC_ALL": "C.UTF-8"}, ascii_only):
        environment = os.environ | locale
        wanted = subprocess.check_output(command, cwd=root / "tools", env=environment, text=True)
        assert wanted == f"{os.fsencode(root / '.venv')!r}\n"


@pytest.mark.parametrize(
    ("number", "named"),
    [(EACCES, "copy the book's folder"), (EROFS, "copy the book's"), (ENOSPC, "disk is full")],
)
def test_a_place_where_one_may_not_write_is_named(project, monkeypatch, capsys, number, named):
    root, _ = project

    def refuse(_command, log):
        raise OSError(number, "no", str(log.parent))

    monkeypatch.setattr(install, "run_logged", refuse)
    assert install.main() == 1
    said = capsys.readouterr().err
    assert named in said
    assert len(said.splitlines()) == 1
    assert (str(root / "_build") in said) == (number != ENOSPC)


def make(*arguments: str, path: Path) -> subprocess.CompletedProcess:
    """Run make with only the given folder, and the tools that the Makefile needs, on the PATH."""
    for tool in ("sh", "awk", "find", "rm"):
        if not path.joinpath(tool).exists():
            path.joinpath(tool).symlink_to(shutil.which(tool))
    command = [shutil.which("make"), "-C", str(ROOT), "--no-print-directory", *arguments]
    environment = {"PATH": str(path)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def fake_python(folder: Path, exit_status: int) -> None:
    """Write a python3 that only ends with a status, as a shim of pyenv does."""
    script = folder / "python3"
    script.write_text(f"#!/bin/sh\nexit {exit_status}\n")
    script.chmod(0o755)


@pytest.mark.parametrize("shim", [False, True])
def test_a_missing_python_gets_one_clear_line(tmp_path, shim):
    if shim:
        fake_python(tmp_path, exit_status=127)
    done = make("book", path=tmp_path)
    lines = [line for line in done.stderr.splitlines() if not line.startswith("make: ***")]
    assert done.returncode != 0
    assert len(lines) == 1
    assert "Python 3.11" in lines[0]
    assert "make PYTHON=/path/to/python3.11 book" in lines[0]


@pytest.mark.parametrize(
    ("version", "works"),
    [((3, 10), False), ((3, 11), True), ((3, 14), True), ((3, 15), False)],
)
def test_pythons_that_have_a_pytorch_are_taken(version, works):
    text = ROOT.joinpath("Makefile").read_text(encoding="utf-8")
    found = re.search(r"sys\.exit\((.*?)\)' >", text)[1]
    assert eval(found, {"sys": SimpleNamespace(version_info=version)}) is not works


def test_help_lists_every_target_in_one_line_and_needs_no_python(tmp_path):
    done = make("help", path=tmp_path)
    targets = [line.split()[1] for line in done.stdout.splitlines()]
    assert targets == [
        "help",
        "book",
        "pdf",
        "epub",
        "serve",
        "lab",
        "check",
        "grade",
        "gradescope",
        "soak",
        "test",
        "test-fast",
        "lint",
        "tidy",
        "release",
        "lock",
        "bench",
        "bench-marking",
        "bench-pages",
        "profile-gpu",
        "times",
        "story",
        "clean",
    ]
    assert make(path=tmp_path).stdout == done.stdout


def test_the_lock_holds_no_address_and_the_packages_that_are_unpacked():
    assert "://" not in vendor.LOCK.read_text(encoding="utf-8")
    assert all(vendor.locked(name)[1].startswith("sha512-") for name in vendor.KEPT)


def test_a_package_that_is_not_the_locked_one_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(vendor, "BUILD", tmp_path)
    version, _ = vendor.locked("katex")
    archive = tmp_path / "npm" / f"katex-{version}.tgz"

    def download_something_else(_command, _log):
        archive.write_bytes(b"not the package")

    monkeypatch.setattr(vendor, "run_logged", download_something_else)
    with pytest.raises(ToolError, match=r"not what package-lock\.json names"):
        vendor.fetch("katex")
