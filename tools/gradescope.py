"""Write the zip file with which Gradescope marks an exercise: ``make gradescope EX=1_3``.

Gradescope unpacks it into /autograder/source, runs `setup.sh` once, and `run_autograder` for each
submission ("Autograder Specifications", gradescope-autograders.readthedocs.io/en/latest/specs).
What is installed there is what `make env` installs here.
"""

import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from check import choose
from files import BUILD, ROOT, files_below

SETUP = """\
#!/bin/sh
# Makes the environment, once. PyTorch 2.13 needs a Python from 3.11 on.
set -eu
cd "$(dirname "$0")"
find_python() {
  for python in python3 python3.14 python3.13 python3.12 python3.11; do
    if "$python" -c 'import sys, venv; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' \\
        >/dev/null 2>&1; then
      echo "$python"
      return
    fi
  done
}
python=$(find_python)
if [ -z "$python" ]; then
  apt-get update
  apt-get install -y python3.11 python3.11-venv
  python=$(find_python)
fi
exec "$python" tools/install.py
"""

RUN = """\
#!/bin/sh
# Marks one submission. The folder is Gradescope's, unless a test says otherwise.
set -eu
home=${{AUTOGRADER_HOME:-/autograder}}
cd "$home/source"
exec .venv/bin/python -m nbmark.grade.platforms gradescope \\
  "$home/submission" solutions {exercise} "$home/results/results.json"
"""

NEEDED = (
    *("src/attnlab", "src/nbmark", "pyproject.toml", "requirements.lock", "requirements.txt"),
    *("requirements-torch.lock", "requirements-model.txt"),
    *("tools/install.py", "tools/commands.py", "tools/files.py"),
)


def main(name: str = "") -> int:
    """Write the file, and say where it is."""
    try:
        if not name.strip():
            raise LookupError("Say which exercise: make gradescope EX=1_3")
        solution = choose(name, sorted((ROOT / "solutions").glob("*.ipynb")))[0]
    except LookupError as error:
        print(error, file=sys.stderr)
        return 1
    target = BUILD / f"gradescope_{solution.stem}.zip"
    BUILD.mkdir(exist_ok=True)
    write(target, solution)
    print(f"Wrote {target.relative_to(ROOT)}: upload it as the autograder of a programming task.")
    return 0


def write(target: Path, solution: Path) -> None:
    """Write the zip file of an exercise, the same bytes for the same sources."""
    scripts = {"setup.sh": SETUP, "run_autograder": RUN.format(exercise=solution.stem)}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in scripts.items():
            _put(archive, name, text.encode(), 0o755)
        for path in [*_needed(), solution]:
            _put(archive, path.relative_to(ROOT).as_posix(), path.read_bytes(), 0o644)


def _needed() -> Iterator[Path]:
    yield from sorted(files_below(*NEEDED))


def _put(archive: zipfile.ZipFile, name: str, data: bytes, mode: int) -> None:
    entry = zipfile.ZipInfo(name)
    entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, (0o100000 | mode) << 16
    archive.writestr(entry, data)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
