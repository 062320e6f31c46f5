"""Copies what was handed in into a fresh folder, before anything of it is read or run.

Only regular files are copied. Links are not followed, archives are unpacked within limits, and what
is left aside is said.
"""

import errno
import os
import stat
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from nbmark.files import is_hand_in

FILE_BYTES = 20_000_000  # of one notebook; Jupyter itself slows down long before
ZIP_BYTES = 400_000_000  # of an archive in an archive
ARCHIVE_BYTES, ARCHIVE_FILES, ARCHIVE_DEPTH = 4_000_000_000, 20_000, 2  # unpacked; zips in zips
DEPTH = 12  # of folders
NAME_BYTES = 200  # of a copy's name; file systems end at 255
COMPANIONS = {"__MACOSX", ".ipynb_checkpoints", ".git", ".DS_Store", "Thumbs.db", "desktop.ini"}
NOTES = {"timestamp.txt", "submission_metadata.yml"}  # what platforms put beside hand-ins


@dataclass(frozen=True)
class Staged:
    """Something that was found, and its copy."""

    parts: tuple[str, ...]  # its path below the folder; an archive counts as a folder
    copy: Path | None = None  # none if it is left aside
    word: str = ""  # why it is left aside
    written: float = 0  # when it was last changed, as far as that is known

    @property
    def name(self) -> str:
        """Give its path."""
        return "/".join(self.parts)


class Refused(ValueError):  # noqa: N818 - a finding, named as it reads
    """Something is not copied; the message says why."""


class Stage:
    """The fresh folder, and what was copied into it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.count = 0

    def fill(self, source: Path) -> list[Staged]:
        """Copy the hand-ins of a folder or an archive, in the order of their names."""
        if zipfile.is_zipfile(source):
            with source.open("rb") as file:
                return list(self._archive(file, (), 0, _Budget()))
        entries = [entry for entry in os.scandir(source) if not _is_companion(entry.name)]
        if len(entries) == 1 and entries[0].name.lower().endswith(".zip"):
            return list(self._file(entries[0].path, (), bulk=True))
        return list(self._tree(source, ()))

    def _tree(self, folder: Path | str, parts: tuple[str, ...]) -> Iterator[Staged]:
        """Copy what a folder holds."""
        if len(parts) > DEPTH:
            yield Staged(parts, word="it lies too deep")
            return
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            yield Staged(parts, word=f"the folder cannot be read: {error.strerror}")
            return
        for entry in entries:
            own = (*parts, _text(entry.name))
            if _is_companion(entry.name):
                continue
            if entry.is_dir(follow_symlinks=False):
                if is_hand_in(Path(entry.name)):
                    yield Staged(own, word="it is a folder that is called like a notebook")
                yield from self._tree(entry.path, own)
            else:
                yield from self._file(entry.path, own)

    def _file(self, path: str, parts: tuple[str, ...], bulk: bool = False) -> Iterator[Staged]:
        """Copy one file, or unpack it; `bulk` for the one archive that holds everything."""
        try:
            with open_regular(path) as file:
                written = os.fstat(file.fileno()).st_mtime
                if bulk or parts[-1].lower().endswith(".zip"):
                    inside = parts if bulk else (*parts[:-1], parts[-1][:-4])
                    yield from self._archive(file, inside, 0, _Budget())
                elif (word := _why_not(parts)) is not None:
                    yield Staged(parts, word=word)
                else:
                    yield Staged(parts, self._keep(file, parts[-1]), written=written)
        except Refused as refused:
            yield Staged(parts, word=str(refused))
        except OSError as error:
            yield Staged(parts, word=f"it cannot be read: {error.strerror or error}")

    def _archive(
        self, file: BinaryIO, parts: tuple[str, ...], depth: int, budget: "_Budget"
    ) -> Iterator[Staged]:
        """Unpack an archive, as far as its entries are files at home in it."""
        try:
            with zipfile.ZipFile(file) as archive:
                entries = [entry for entry in archive.infolist() if not entry.is_dir()]
                for entry in sorted(entries, key=lambda entry: entry.filename):
                    yield from self._entry(archive, entry, parts, depth, budget)
        except (zipfile.BadZipFile, zipfile.LargeZipFile, EOFError, NotImplementedError) as error:
            yield Staged(parts or ("the archive",), word=f"it is a damaged zip file: {error}")

    def _entry(
        self,
        archive: zipfile.ZipFile,
        entry: zipfile.ZipInfo,
        parts: tuple[str, ...],
        depth: int,
        budget: "_Budget",
    ) -> Iterator[Staged]:
        """Unpack one entry."""
        inside = PurePosixPath(entry.filename.replace("\\", "/")).parts
        own = (*parts, *map(_text, inside))
        if any(map(_is_companion, inside)):
            return
        try:
            _check(entry, inside)
            budget.spend(entry)
            if not own[-1].lower().endswith(".zip"):
                yield self._unpacked(archive, entry, own, FILE_BYTES)
                return
            if depth + 1 >= ARCHIVE_DEPTH:
                raise Refused("it is an archive in an archive in an archive")
            packed = self._unpacked(archive, entry, own, ZIP_BYTES).copy
            with packed.open("rb") as file:
                yield from self._archive(file, (*own[:-1], own[-1][:-4]), depth + 1, budget)
            packed.unlink()
        except Refused as refused:
            yield Staged(own or parts, word=str(refused))
        except (OSError, RuntimeError, zipfile.BadZipFile, zlib.error, EOFError) as error:
            yield Staged(own or parts, word=f"it cannot be unpacked: {error}")

    def _unpacked(
        self, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, own: tuple[str, ...], most: int
    ) -> Staged:
        """Copy one entry; Refused if it is neither a hand-in nor an archive."""
        is_zip = own[-1].lower().endswith(".zip")
        if not is_zip and (word := _why_not(own)) is not None:
            raise Refused(word)
        with archive.open(entry) as packed:
            return Staged(own, self._keep(packed, own[-1], most), written=_when(entry))

    def _keep(self, file: BinaryIO, name: str, most: int = FILE_BYTES) -> Path:
        """Copy what a file holds, into a folder of its own; Refused if that is too much."""
        self.count += 1
        folder = self.folder / f"{self.count:06}"
        folder.mkdir()
        copy = folder / name.encode()[-NAME_BYTES:].decode(errors="replace")
        size = 0
        with copy.open("xb") as target:
            while block := file.read(1 << 20):
                size += len(block)
                if size > most:
                    copy.unlink()
                    raise Refused(f"it is larger than {most / 1e6:.0f} MB; clear its outputs")
                target.write(block)
        return copy


class _Budget:
    """How much an archive may still unpack, with all that are in it."""

    def __init__(self) -> None:
        self.bytes, self.files = ARCHIVE_BYTES, ARCHIVE_FILES

    def spend(self, entry: zipfile.ZipInfo) -> None:
        """Take an entry off; Refused if there is not enough left, or if it grows without sense."""
        self.files -= 1
        self.bytes -= entry.file_size
        if self.bytes < 0 or self.files < 0:
            raise Refused("the archive unpacks to more than any class hands in")
        if entry.file_size > 1_000_000 and entry.file_size > 500 * max(entry.compress_size, 1):
            raise Refused("it would grow more than 500 times when unpacked")


def open_regular(path: str | Path) -> BinaryIO:
    """Open a regular file that is no link, or raise Refused."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_NOFOLLOW", 0))
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise Refused("it is a link; hand in the file itself") from None
        if error.errno == errno.ENXIO:
            raise Refused("it is no file") from None
        raise
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise Refused("it is no file")
    return os.fdopen(number, "rb")


def _check(entry: zipfile.ZipInfo, inside: tuple[str, ...]) -> None:
    """Refuse an entry that would lie outside, or that is no file."""
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if ".." in inside or entry.filename.startswith(("/", "\\")) or ":" in (inside or (":",))[0]:
        raise Refused("its path leads out of the archive")
    if kind and kind != stat.S_IFREG:
        raise Refused("it is a link; hand in the file itself")
    if entry.flag_bits & 1:
        raise Refused("it is locked with a password")
    if len(inside) > DEPTH:
        raise Refused("it lies too deep")


def _why_not(parts: tuple[str, ...]) -> str | None:
    """Say why a file is left aside, by its name."""
    if parts[-1] in NOTES or is_hand_in(Path(parts[-1])):
        return None
    return "it is no notebook"


def _is_companion(name: str) -> bool:
    """Tell whether systems put this beside files by themselves."""
    return name in COMPANIONS or name.startswith("._")


def _text(name: str) -> str:
    """Give a file's name as text that can be written anywhere."""
    return name.encode("utf-8", "backslashreplace").decode()


def _when(entry: zipfile.ZipInfo) -> float:
    """Give the time that an archive notes for an entry."""
    try:
        return datetime(*entry.date_time).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0
