"""Other people's settings: where they end, and git's view of a notebook."""

import json
import os
import subprocess
import sys

import install
import nbformat
import pytest
from files import ROOT

FOREIGN = {
    "PYTHONHOME": "/nowhere",
    "PYTHONPATH": "/nowhere",
    "PYTHONSAFEPATH": "1",
    "PYTHONOPTIMIZE": "2",
    "JUPYTER_PATH": "/nowhere",
    "MPLBACKEND": "TkAgg",
    "CONDA_PREFIX": "/nowhere",
}
SHOW = "import json, os, sys; print(json.dumps([dict(os.environ), sys.stdout.errors]))"


@pytest.fixture
def seen_from(tmp_path):
    """Give a function that says what a target's Python sees of the environment."""
    makefile = ROOT.joinpath("Makefile").read_text(encoding="utf-8")
    makefile = makefile.replace("tools/check.py", "show.py").replace("-m jupyterlab", "show.py")
    tmp_path.joinpath("Makefile").write_text(makefile)
    tmp_path.joinpath("show.py").write_text(SHOW)
    tmp_path.joinpath("tools").mkdir()
    tmp_path.joinpath("tools", "install.py").touch()

    def seen(target, **environment):
        command = [
            "make",
            f"VENV_PYTHON={sys.executable}",
            f"PYTHON={sys.executable}",
            "-s",
            target,
        ]
        environment = os.environ | {"IPYTHONDIR": "/theirs", **environment}
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return seen


def test_settings_of_another_python_or_jupyter_end_in_the_makefile(seen_from):
    environment, _ = seen_from("check", **FOREIGN)
    assert environment.keys() & FOREIGN.keys() == {"CONDA_PREFIX"}
    assert environment["JUPYTER_PREFER_ENV_PATH"] == "1"
    assert environment["IPYTHONDIR"].endswith("_build/ipython")


def test_lab_keeps_a_users_ipython(seen_from):
    environment, _ = seen_from("lab", **FOREIGN)
    assert environment["IPYTHONDIR"] == "/theirs"
    assert environment.keys() & FOREIGN.keys() == {"CONDA_PREFIX"}


@pytest.mark.parametrize("locale", ["C", "C.UTF-8", "xx_YY.UTF-8"])
def test_no_terminal_breaks_a_message(seen_from, locale):
    assert seen_from("check", LC_ALL=locale)[1] == "replace"


def test_settings_of_pip_send_nothing_elsewhere(tmp_path):
    tmp_path.joinpath("pyproject.toml").write_text('[project]\nname = "x"\nversion = "1"\n')
    command = [sys.executable, "-m", "pip", "install", *install.INTO_VENV, "--dry-run", "."]
    command += ["--no-build-isolation", "--no-deps", "--disable-pip-version-check"]
    environment = os.environ | {"HOME": str(tmp_path), "PIP_USER": "1"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Would install x-1" in done.stdout


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """Give a clone with one notebook, and a function that runs git in it."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    folder = tmp_path / "clone"
    folder.mkdir()
    folder.joinpath(".venv").symlink_to(ROOT / ".venv")
    folder.joinpath(".gitignore").write_text("/.venv\n")
    folder.joinpath(".gitattributes").write_bytes(ROOT.joinpath(".gitattributes").read_bytes())
    text = "The weights sum to one.\nThe mask says who may attend."
    cells = [nbformat.v4.new_markdown_cell(text), nbformat.v4.new_code_cell("1 + 1")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / "page.ipynb")

    def git(*arguments):
        who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        command = ["git", "-C", str(folder), *who, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.stdout

    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "A page")
    monkeypatch.setattr(install, "ROOT", folder)
    return folder, git


def change_a_sentence(folder):
    page = folder / "page.ipynb"
    page.write_text(page.read_text().replace("sum to one", "always sum to one"))


def test_a_changed_sentence_is_shown_as_a_sentence(clone):
    folder, git = clone
    install.show_notebooks_as_text()
    change_a_sentence(folder)
    shown = git("diff").splitlines()
    assert "-The weights sum to one." in shown
    assert "+The weights always sum to one." in shown
    assert not [line for line in shown if '"' in line or "\x1b" in line]


def test_without_the_driver_it_is_shown_as_a_file(clone):
    folder, git = clone
    change_a_sentence(folder)
    assert '+    "The weights always sum to one.\\n",' in git("diff").splitlines()


def test_where_the_driver_fails_it_is_shown_as_a_file(clone):
    folder, git = clone
    install.show_notebooks_as_text()
    change_a_sentence(folder)
    folder.joinpath(".venv").unlink()
    assert '+    "The weights always sum to one.\\n",' in git("diff").splitlines()


def test_a_repository_around_the_project_is_left_alone(clone, monkeypatch):
    folder, git = clone
    inner = folder / "inner"
    inner.mkdir()
    monkeypatch.setattr(install, "ROOT", inner)
    install.show_notebooks_as_text()
    assert git("config", "--get", "diff.notebook.command") == ""


def test_another_clone_that_a_hook_works_in_is_left_alone(clone, monkeypatch, tmp_path):
    folder, git = clone
    monkeypatch.setattr(install, "ROOT", tmp_path)
    monkeypatch.setenv("GIT_DIR", str(folder / ".git"))
    install.show_notebooks_as_text()
    monkeypatch.delenv("GIT_DIR")
    assert git("config", "--get", "diff.notebook.command") == ""


def test_no_git_and_no_repository_do_no_harm(tmp_path, monkeypatch):
    monkeypatch.setattr(install, "ROOT", tmp_path)
    install.show_notebooks_as_text()
    monkeypatch.setenv("PATH", "/nowhere")
    install.show_notebooks_as_text()
    assert list(tmp_path.iterdir()) == []
