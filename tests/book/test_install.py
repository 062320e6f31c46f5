"""Making the environment: messages, stamp, and the search for Python. Nothing is installed."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import install
import pytest
import report
import vendor
from files import ROOT
from report import ToolError, explain

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
    monkeypatch.setattr(report, "ROOT", tmp_path)
    log = tmp_path / "_build" / "x.log"
    script = "import sys; print('first'); print('ERROR: last', file=sys.stderr); sys.exit(3)"
    with pytest.raises(ToolError, match=r"ERROR: last The whole output: _build/x\.log"):
        report.run_logged([sys.executable, "-c", script], log)
    assert sorted(log.read_text().split("\n")[:2]) == ["ERROR: last", "first"]


PIP = ["pip"] * 2  # the requirements, and the trained model without what it asks for


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Give an empty project and the list of commands that install.py would have run in it."""
    for name in install.REQUIREMENTS:
        tmp_path.joinpath(name).write_text("x==1\n")
    python = tmp_path / ".venv" / "bin" / "python"
    commands = []

    def run(command, _log):
        commands.append("venv" if "venv" in command else "pip")
        python.parent.mkdir(parents=True, exist_ok=True)
        if not python.exists():
            python.symlink_to(sys.executable)

    for name, value in {
        "ROOT": tmp_path,
        "VENV": tmp_path / ".venv",
        "VENV_PYTHON": python,
        "STAMP": tmp_path / ".venv" / "installed",
        "LAB_CONFIG": tmp_path / ".venv" / "lab" / "config.json",
        "run_logged": run,
    }.items():
        monkeypatch.setattr(install, name, value)
    return tmp_path, commands


def test_a_second_call_does_nothing(project):
    _, commands = project
    assert install.main() == install.main() == 0
    assert commands == ["venv", *PIP]


def test_a_readers_lab_shows_nothing_of_nbgrader(project):
    install.main()
    shown = json.loads(install.LAB_CONFIG.read_text())
    assert shown == {"disabledExtensions": {"@jupyter/nbgrader": True}}


def test_changed_requirements_are_installed_into_what_is_there(project):
    root, commands = project
    install.main()
    root.joinpath("requirements.txt").write_text("x==2\n")
    install.main()
    assert commands == ["venv", *PIP, *PIP]


@pytest.mark.parametrize("error", [ToolError("why"), KeyboardInterrupt()])
def test_an_installation_that_did_not_end_starts_afresh(project, monkeypatch, capsys, error):
    _, commands = project
    run = install.run_logged

    def fail_at_pip(command, log):
        run(command, log)
        if "pip" in command:
            raise error

    with monkeypatch.context() as patch:
        patch.setattr(install, "run_logged", fail_at_pip)
        assert install.main() != 0
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
    assert not install.STAMP.exists()
    assert install.main() == 0
    assert commands == ["venv", "pip", "venv", *PIP]


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


def test_help_lists_every_target_in_one_line_and_needs_no_python(tmp_path):
    done = make("help", path=tmp_path)
    targets = [line.split()[1] for line in done.stdout.splitlines()]
    assert targets == [
        "help",
        "book",
        "serve",
        "lab",
        "check",
        "test",
        "lint",
        "tidy",
        "release",
        "bench",
        "bench-pages",
        "profile-gpu",
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
