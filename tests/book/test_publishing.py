"""What stands around the book for those who publish, cite and report."""

import json
import re
import tomllib

import pytest
import yaml
from files import ROOT

FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def read(name):
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def test_citation_changes_and_package_name_the_same_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    cited = read("CITATION.cff")
    assert cited["version"] == project["version"]
    assert cited["title"] == read("_config.yml")["title"]
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## (\d\S*)", changes, re.M)
    assert released[0] == project["version"]


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_a_form_for_reports_asks_for_what_is_needed(path):
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert form["name"]
    assert form["description"]
    assert [field["id"] for field in form["body"] if field.get("validations", {}).get("required")]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_calls_only_commands_that_there_are(path):
    (job,) = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].values()
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    commands = [step["run"].split() for step in job["steps"] if "run" in step]
    assert commands
    for program, *arguments in commands:
        assert set(arguments) <= set(targets) if program == "make" else (ROOT / program).is_file()


def test_the_container_makes_the_environment():
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text("utf-8"))
    assert container["postCreateCommand"] == "make env"
    assert (ROOT / ".devcontainer" / container["build"]["dockerfile"]).is_file()


def test_binder_installs_what_the_chapters_import():
    *packages, pip = read(".binder/environment.yml")["dependencies"]
    assert {"pytorch-cpu", "numpy", "matplotlib", "anywidget", "jupyterlab"} <= set(packages)
    assert pip["pip"][-1] == "-e .."
