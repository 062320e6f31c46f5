"""Forked kernels under nbval as it is, and what walls around a stranger's kernel let through."""

import argparse
import re
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from course import KERNEL, run
from jupyter_client.manager import KernelManager
from nbformat.v4 import new_code_cell, new_notebook

from nbmark import doctor
from nbmark.kernels import ISOLATED, Setting, kernels_with
from nbmark.own_kernel import know_forked_kernels
from nbmark.sandbox import HOME, Limits, View
from nbmark.warmth import NoFork, Warm, can_fork

needs_fork = pytest.mark.skipif(not can_fork(), reason="this system cannot fork kernels")


@pytest.fixture(scope="module")
def health():
    found = doctor.examine()
    if found.level != doctor.FULL:
        pytest.skip(f"this machine has no sandbox: {found.why}")
    return found


@pytest.fixture
def kernel(health):
    """Give a function that runs code in a new kernel behind walls; it gives what was printed."""
    know_forked_kernels()
    started = []

    def ask(code, **setting):
        manager = KernelManager(kernel_name=ISOLATED)
        with kernels_with(Setting(**setting)):
            manager.start_kernel()
        client = manager.client()
        started.append((manager, client))
        client.start_channels()
        client.wait_for_ready(timeout=60)
        said = []
        client.execute_interactive(code, timeout=60, output_hook=said.append)
        return "".join(m["content"].get("text", m["content"].get("evalue", "")) for m in said)

    yield ask
    for manager, client in started:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


CELLS = ["import torch, matplotlib.pyplot as plt\nplt.plot([1, 2]);", "torch.ones(2).sum().item()"]


@needs_fork
@pytest.mark.parametrize("name", ["nbmark-warm", "nbmark-isolated"])
def test_unmodified_nbval_runs_them(tmp_path, name, health):
    cells = [new_code_cell(source, id=f"c{i}") for i, source in enumerate(CELLS)]
    cells.append(new_code_cell("import os\nos.getcwd()", id="c2"))
    notebook = new_notebook(cells=cells, metadata=KERNEL)
    nbformat.write(notebook, tmp_path / "a.ipynb")
    done = run(tmp_path, "--nbval-lax", "--nbval-kernel-name", name, "a.ipynb")
    assert (done.returncode, "3 passed" in done.stdout) == (0, True), done.stdout
    assert list(tmp_path.iterdir()) == [tmp_path / "a.ipynb"]


def test_walls_that_stand_have_no_gaps(health):
    assert health.gaps == (), str(health)


def test_a_stranger_sees_packages_and_nothing_else(kernel):
    said = kernel(
        "import os, glob, attnlab, torch\n"
        "print(sorted(os.listdir('/home')), os.getcwd(), os.listdir())\n"
        "print([n for _, _, names in os.walk('/') for n in names if n[:2] == '1_' and 'nb' in n])\n"
        "print(glob.glob(attnlab.__path__[0] + '/checks/*'), 'SEED' in str(os.environ))",
        view=View(hidden=["attnlab/checks"]),
    )
    assert said == f"['student'] {HOME} ['.ipython']\n[]\n[] False\n"


def test_files_beside_a_notebook_are_copied_but_no_links(kernel, tmp_path):
    (tmp_path / "data.csv").write_text("1,2")
    (tmp_path / "link.csv").symlink_to("/etc/hostname")
    said = kernel(
        "import os\nprint(*[n for n in os.listdir() if 'csv' in n], open('data.csv').read())\n"
        "open('data.csv', 'w').write('3')",
        view=View(files=str(tmp_path)),
    )
    assert said.startswith("data.csv 1,2\n")
    assert (tmp_path / "data.csv").read_text() == "1,2"


@pytest.mark.parametrize(
    ("limits", "code", "error"),
    [
        (Limits(memory=3 << 30), "x = bytearray(4 << 30)", "MemoryError"),
        (Limits(file_size=1 << 20), "open('x', 'wb').write(bytes(1 << 22))", "File too large"),
        (Limits(scratch=1 << 20), "open('x', 'wb').write(bytes(1 << 22))", "No space left"),
        (Limits(open_files=80), "x = [open('/dev/null') for _ in range(99)]", "Too many open"),
    ],
    ids=["memory", "file size", "scratch", "open files"],
)
def test_what_may_be_used_up_is_limited(kernel, limits, code, error):
    code = f"try:\n    {code}\nexcept BaseException as error:\n    print(repr(error))"
    assert error in kernel(code, view=View(limits=limits))


PROGRAM = """
import os, signal
from jupyter_client.manager import KernelManager
from nbmark.kernels import ISOLATED, Setting, kernels_with
from nbmark.own_kernel import know_forked_kernels
from nbmark.warm import JUPYTER
from nbmark.warmth import Warm

know_forked_kernels()
manager = KernelManager(kernel_name=ISOLATED)
with kernels_with(Setting(modules=JUPYTER)):
    manager.start_kernel()
print(manager.provisioner.child.pid, Warm.of(JUPYTER).process.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_all_processes_end_with_the_one_who_asked_for_them(health):
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    numbers = done.stdout.split()
    assert len(numbers) == 2, done.stderr
    end = time.monotonic() + 20
    while any(Path("/proc", number).exists() for number in numbers):
        assert time.monotonic() < end
        time.sleep(0.05)


THREADED = """
import socket, threading, time
from nbmark.warm import serve

threading.Thread(target=time.sleep, args=[60], daemon=True).start()
serve(socket.socketpair()[0], ["numpy"])
"""


@needs_fork
def test_nothing_is_forked_from_a_process_with_threads():
    done = subprocess.run([sys.executable, "-c", THREADED], capture_output=True, text=True)
    assert done.returncode == 1
    told = r"\d threads after the imports: nothing can be forked from here\n"
    assert re.fullmatch(told, done.stderr)  # NumPy may have some of its own


@needs_fork
def test_what_keeps_the_warm_process_from_starting_is_said(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(NoFork, match="no warm process"):
        Warm(["numpy"])


def test_the_doctor_fails_below_what_is_required(monkeypatch, capsys):
    poor = doctor.Health(doctor.LIMITS, "no namespaces here")
    monkeypatch.setattr(doctor, "examine", lambda: poor)
    parser = argparse.ArgumentParser()
    doctor.add_to(parser.add_subparsers())
    for arguments, status in (["doctor"], 0), (["doctor", "--require", "full"], 1):
        options = parser.parse_args(arguments)
        assert options.do(options) == status
        assert "because: no namespaces here" in capsys.readouterr().out
