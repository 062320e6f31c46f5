"""The locks of the Python packages: complete, by hash, without an address, and not behind."""

import re
from importlib import metadata

import commands
import lock
import pytest

HASHED = r"[a-z0-9-]+==\S+( ; .+?)? \\\n(    --hash=sha256:[0-9a-f]{64}( \\)?\n)+(    # .*\n)+"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Give a folder with small lists and the locks that belong to them."""
    texts = {
        "HUMAN": "# people's\nNumPy==2.0\nsphinx_book.theme==1.3\ntorch==2.13.0\n-e .\n",
        "MODEL": "tokenizers==0.1\n",
        "LOCK": "# head\nnumpy==2.0 ; python_version < '4' \\\n    --hash=sha256:0\n"
        "    # via\n    #   -r requirements.txt\n    #   pandas\n"
        "pandas==1.0 \\\n    --hash=sha256:1\n    # via x\n"
        "sphinx-book-theme==1.3 \\\n    --hash=sha256:2\n    # via -r requirements.txt\n"
        "tokenizers==0.1 \\\n    --hash=sha256:3\n    # via -r requirements-model.txt\n",
        "TORCH_LOCK": "torch==2.13.0 \\\n    --hash=sha256:4\n    # via -r requirements.txt\n",
    }
    for name, text in texts.items():
        path = tmp_path / getattr(lock, name).name
        path.write_text(text)
        monkeypatch.setattr(lock, name, path)
    return tmp_path


@pytest.mark.parametrize("path", [lock.LOCK, lock.TORCH_LOCK], ids=lambda path: path.name)
def test_every_package_has_its_hashes_and_no_file_an_address(path):
    text = path.read_text(encoding="utf-8")
    assert "://" not in text
    found = lock.entries(text)
    assert len(found) > 15
    body = "".join(found.values())
    assert text == text.partition("\n")[0] + "\n" + body
    for entry in found.values():
        assert re.fullmatch(f"({HASHED})+", entry), entry


def test_what_belongs_to_the_builds_of_pytorch_stands_apart():
    shared = lock.entries(lock.LOCK.read_text(encoding="utf-8"))
    torch = lock.entries(lock.TORCH_LOCK.read_text(encoding="utf-8"))
    assert not shared.keys() & torch.keys()
    assert {"torch", "triton", "nvidia-cublas"} <= torch.keys()
    assert {
        "numpy",
        "sphinx",
        "sphinx-book-theme",
        "myst-nb",
        "sympy",
        "tokenizers",
    } <= shared.keys()


def test_what_is_left_out_is_needed_by_nobody():
    assert not lock.entries(lock.LOCK.read_text(encoding="utf-8")).keys() & set(lock.LEFT_OUT)
    needed = [need for found in metadata.distributions() for need in found.requires or ()]
    strictly = {re.match(r"[\w.-]+", need)[0] for need in needed if "extra ==" not in need}
    assert "jsonschema" in strictly
    assert "rfc3987-syntax" not in strictly


def test_locks_are_what_the_lists_ask_for(capsys):
    assert lock.main("--check") == 0, capsys.readouterr().out


def test_names_are_compared_as_the_index_compares_them(files, capsys):
    assert lock.main("--check") == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("name", "old", "new", "named"),
    [
        ("requirements.txt", "NumPy==2.0", "NumPy==2.1", "(numpy==2.0, numpy==2.1)"),
        ("requirements.txt", "NumPy==2.0\n", "", "(numpy==2.0)"),
        ("requirements.txt", "-e .", "new==1.0\n-e .", "(new==1.0)"),
        ("requirements-model.txt", "0.1", "0.2", "(tokenizers==0.1, tokenizers==0.2)"),
        ("requirements-torch.lock", "2.13.0", "2.13.1", "(torch==2.13.0, torch==2.13.1)"),
    ],
)
def test_a_lock_that_is_behind_is_told_with_the_remedy(files, capsys, name, old, new, named):
    path = files / name
    path.write_text(path.read_text().replace(old, new))
    assert lock.main("--check") == 1
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 1
    assert named in said[0]
    assert said[0].endswith("run `make lock`")


def test_a_failure_is_explained_and_leaves_the_locks(files, monkeypatch, capsys):
    files.joinpath("pyproject.toml").write_text('[project]\nname = "x"\nrequires-python = ">=3.11"')
    monkeypatch.setattr(lock, "ROOT", files)
    monkeypatch.setattr(commands, "ROOT", files)
    monkeypatch.setattr(lock, "LOG", files / "lock.log")
    files.joinpath("requirements.txt").write_text("numpy 2.4\n")
    before = lock.LOCK.read_text()
    assert lock.main("--offline") == 1
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    assert said.endswith("The whole output: lock.log\n")
    assert lock.LOCK.read_text() == before
