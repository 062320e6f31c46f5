"""Build the book into _build/html; execute only what changed, and never show a stale page.

_build/book.json remembers the hash of everything the last good build was made from. It is written
in such an order that an interruption at any moment makes the next build do too much rather than too
little.
"""

import json
import os
import re
import shutil
import subprocess
import sys

import vendor
from commands import COLOUR, ToolError, explain_refusal
from files import BUILD, DOCTREES, ROOT, files_below, hash_files, one_at_a_time

from nbmark.files import put
from nbmark.own_kernel import use_own_kernel

HTML = BUILD / "html"
MEMORY = BUILD / "book.json"
LOG = BUILD / "sphinx.log"

# A change here can change every page; Sphinx itself does not notice all of them.
SETUP = (
    *("_config.yml", "_toc.yml", "references.bib", "package-lock.json"),
    *("requirements.lock", "requirements-torch.lock"),
    *("_static", "tools"),
)
CONTENT = (
    *("index.md", "measured.md", "answers.md", "cheat_sheet.md", "glossary.md", "references.md"),
    *("api.md", "api", "chapters", "exercises", "solutions", "images", "src"),
)

SPHINX = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()"]


def read_memory() -> dict:
    """Read what earlier builds left; a damaged file counts as none."""
    empty = {"setup": None, "content": None}
    try:
        return empty | json.loads(MEMORY.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return empty


def write_memory(memory: dict) -> None:
    """Replace the file as a whole."""
    BUILD.mkdir(exist_ok=True)
    put(MEMORY, json.dumps(memory, indent=1))


def name_cell(place: re.Match) -> str:
    """Say in words where MyST-NB found something: it adds the line to the cell times 10,000."""
    return f".ipynb, cell {int(place[1])}, line {int(place[2])}:"


def run_sphinx() -> None:
    """Turn sources and outputs into pages; a warning is an error.

    Raises
    ------
    ToolError
        With the warnings.
    """
    command = [*SPHINX, "build", str(ROOT), "-W", "-n", "--keep-going"]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, encoding="utf-8", errors="replace"
    )
    LOG.write_text(done.stdout + done.stderr, encoding="utf-8")
    if done.returncode:
        said, _, _ = COLOUR.sub("", done.stderr).partition("Traceback (most recent call last)")
        said = re.sub(r"\.ipynb:(\d+)(\d{4}):", name_cell, said.strip() or done.stderr[-2000:])
        raise ToolError(f"{said}\nThe whole output: {LOG.relative_to(ROOT)}")


def build() -> str:
    """Do what is left to do, and say in one line what that was.

    Raises
    ------
    ToolError
        If a notebook fails or Sphinx warns.
    """
    vendor.ensure()
    memory = read_memory()
    now = {
        "setup": f"{hash_files(files_below(*SETUP))} {os.environ.get('SOLUTIONS', '')}",
        "content": hash_files(files_below(*CONTENT)),
    }
    if HTML.joinpath("index.html").is_file() and memory | now == memory:
        return "Nothing changed since the last build."
    from execute import execute_all  # slow to import, and not needed where nothing changed

    if failures := execute_all():
        raise ToolError("\n\n".join(map(str, failures)))
    if memory["setup"] != now["setup"]:
        # Also after a failed or interrupted build, since Sphinx warns only of pages that it reads.
        shutil.rmtree(DOCTREES, ignore_errors=True)
        shutil.rmtree(HTML, ignore_errors=True)
    write_memory(memory | {"setup": None, "content": None})
    print("building the pages ...", flush=True)
    run_sphinx()
    write_memory(memory | now)
    return "The book is built."


def main() -> int:
    """Build, and say where the book is."""
    use_own_kernel()
    try:
        with one_at_a_time("build", "Another build is at work; this one waits for its end."):
            print(build())
    except ToolError as error:
        print(f"\n{error}\n\nThe book is not built.", file=sys.stderr)
        return 1
    except OSError as error:
        print(explain_refusal(error), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted; the next call goes on from here.", file=sys.stderr)
        return 130
    print(f"Open {HTML / 'index.html'} or run `make serve`.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
