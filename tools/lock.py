"""Name every Python package with its version and hashes: ``make lock``, or check it (`--check`).

requirements.lock comes from requirements.txt and requirements-model.txt and serves every system and
Python. PyTorch stands apart, in requirements-torch.lock with all that its CUDA build brings, since
a machine may offer another build of the same version, whose files have other hashes.

What is locked stays as it is as long as it fits. `--upgrade` takes the newest of all that
requirements.txt does not name.
"""

import re
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

from commands import ToolError, run_logged
from files import BUILD, ROOT

LOCK, TORCH_LOCK = ROOT / "requirements.lock", ROOT / "requirements-torch.lock"
HUMAN, MODEL = ROOT / "requirements.txt", ROOT / "requirements-model.txt"
TORCHS_OWN = re.compile(r"torch|triton|nvidia-.*|cuda-.*")
# jsonschema goes without it, and with it builds 39 grammars for addresses in other alphabets: more
# than a second, whenever a program that reads notebooks starts.
LEFT_OUT = ("rfc3987-syntax", "lark")
LOG = BUILD / "lock.log"
HEAD = "# Written by `make lock` from {}: edit that.\n"
REMEDY = "requirements.lock is not what {} asks for ({}): run `make lock`"


def entries(text: str) -> dict[str, str]:
    """Split a lock into its packages: name, and the lines with its versions, hashes and users."""
    found: dict[str, str] = {}
    for entry in re.findall(r"^[a-z0-9].*\n(?:^ .*\n)*", text, re.MULTILINE):
        name = re.match(r"[a-z0-9-]+", entry)[0]
        found[name] = found.get(name, "") + entry  # more than one if Pythons need different ones
    return found


def pins(text: str) -> set[str]:
    """Give what a list of requirements asks for, as ``name==version`` with the name normalised."""
    lines = (re.fullmatch(r"([\w.-]+)==(\S+)", line) for line in text.splitlines())
    return {f"{re.sub(r'[-_.]+', '-', m[1]).lower()}=={m[2]}" for m in lines if m}


def directly_locked(source: Path) -> set[str]:
    """Give what the locks hold because `source` asks for it."""
    locked = entries("".join(path.read_text(encoding="utf-8") for path in (LOCK, TORCH_LOCK)))
    asked = re.compile(rf"-r {re.escape(source.name)}$", re.MULTILINE)
    return {entry.split()[0] for entry in locked.values() if asked.search(entry)}


def complaints() -> Iterator[str]:
    """Say where the lists that people write and the locks disagree."""
    for source in (HUMAN, MODEL):
        differ = pins(source.read_text(encoding="utf-8")) ^ directly_locked(source)
        if differ:
            yield REMEDY.format(source.name, ", ".join(sorted(differ)))


def resolve(source: Path, known: str, *options: str) -> dict[str, str]:
    """Let uv find what `source` needs on every system, and keep what is known where it fits."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    oldest = project["requires-python"].removeprefix(">=")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "lock")
        target.write_text(known, encoding="utf-8")
        command = [sys.executable, "-m", "uv", "pip", "compile", source.name, "-o", str(target)]
        command += ["--quiet", "--no-header", "--generate-hashes", "--universal", *options]
        command += ["--python-version", oldest]
        command += [f"--no-emit-package={name}" for name in (project["name"], *LEFT_OUT)]
        run_logged(command, LOG)
        return entries(target.read_text(encoding="utf-8"))


def lock(*options: str) -> None:
    """Write both locks."""
    known = "".join(path.read_text("utf-8") for path in (LOCK, TORCH_LOCK) if path.is_file())
    found = resolve(HUMAN, known, *options)
    torch = {name: entry for name, entry in found.items() if TORCHS_OWN.fullmatch(name)}
    rest = {name: entry for name, entry in found.items() if name not in torch}
    rest |= resolve(MODEL, known, "--no-deps", *options)
    names = f"{HUMAN.name} and {MODEL.name}"
    for path, chosen, source in ((LOCK, rest, names), (TORCH_LOCK, torch, HUMAN.name)):
        path.write_text(HEAD.format(source) + "".join(map(chosen.get, sorted(chosen))), "utf-8")
        print(f"wrote {path.name}, {len(chosen)} packages")


def main(*arguments: str) -> int:
    """Lock, or say where the locks are behind."""
    try:
        if "--check" not in arguments:
            lock(*arguments)
    except ToolError as error:
        print(error, file=sys.stderr)
        return 1
    said = list(complaints())
    print("\n".join(said), end="\n" if said else "")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
