r"""Who handed a file in, as the platforms name it that files come from.

- Canvas, "Download Submissions": `lastfirst_12345_67890_name.ipynb`, with `_LATE` behind the name
  for a late one and `-1`, `-2` behind the file's for later versions (Canvas Instructor Guide, "How
  do I download all student submissions for an assignment?").
- Moodle, "Download all submissions": a folder `First Last_12345_assignsubmission_file_` each, or
  that before the file's name (MoodleDocs, "Using Assignment").
- Gradescope, "Export Submissions": folders `submission_12345`, and `submission_metadata.yml`, which
  names the submitters of each.
- nbgrader: `submitted/STUDENT/ASSIGNMENT/NAME.ipynb`, and `timestamp.txt` (nbgrader's
  documentation, "The philosophy and the approach of nbgrader").
- Else a folder for each student, or a file that bears the student's name.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import yaml

from nbmark.grade.stage import Staged

CANVAS = re.compile(r"([^_/]+?)(_LATE)?_(\d{2,})_(\d{2,})_(.+)$", re.DOTALL)
MOODLE = re.compile(r"(.+)_(\d+)_assignsubmission_(?:file|onlinetext)_?(.*)$", re.DOTALL)
VERSION = re.compile(r"(?:-(\d{1,3})|[ _]\((\d{1,3})\))(?=\.ipynb|$)|\.ipynb \((\d{1,3})\)", re.I)


@dataclass(frozen=True)
class Owner:
    """A student."""

    name: str
    number: str = ""  # by which the platform knows the student
    email: str = ""

    @property
    def key(self) -> str:
        """Give what tells students apart."""
        return self.number or unicodedata.normalize("NFC", self.name)


@dataclass(frozen=True)
class Handed:
    """A hand-in and who it is of."""

    file: Staged
    owner: Owner
    title: str  # the file's own name
    is_late: bool = False
    is_owner_sure: bool = True  # false if the file's name must say it
    at: datetime | None = None  # when it was handed in, if the platform says so


@dataclass
class Notes:
    """What platforms tell of hand-ins, beside them."""

    owners: dict[tuple[str, ...], Owner] = field(default_factory=dict)  # by folder
    times: dict[tuple[str, ...], datetime] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)


def plain(name: str) -> str:
    """Give the letters and digits of a name: platforms write the same one in many ways."""
    return "".join(filter(str.isalnum, name.casefold())) or name


def owned(files: Sequence[Staged]) -> tuple[list[Handed], list[str]]:
    """Say whose the files are; the words are on notes that cannot be read."""
    notes = _notes(files)
    is_course = any(file.parts[0] == "submitted" and len(file.parts) > 2 for file in files)
    hand_ins = []
    for file in files:
        if file.parts[-1] in ("timestamp.txt", "submission_metadata.yml"):
            continue
        if not is_course or file.parts[0] == "submitted":
            hand_ins.append(_owned(file, file.parts[1:] if is_course else file.parts, notes))
        elif file.copy is not None:
            notes.words.append(f"{file.name}: it does not lie in submitted/")
    return hand_ins, notes.words


def _owned(file: Staged, parts: tuple[str, ...], notes: Notes) -> Handed:
    """Find the owner of one file."""
    at = next((notes.times[p] for p in _folders(file.parts) if p in notes.times), None)
    for folder in _folders(file.parts):
        if folder in notes.owners:
            return Handed(file, notes.owners[folder], parts[-1], at=at)
    for part in parts:
        if found := MOODLE.fullmatch(part):
            title = found[3] or parts[-1]
            return Handed(file, Owner(found[1].strip(), found[2]), title, at=at)
    for part in (parts[-1], parts[0]):  # a file, or an archive that was handed in
        if found := CANVAS.fullmatch(part):
            title = found[5] if part == parts[-1] else parts[-1]
            return Handed(file, Owner(found[1], found[3]), title, bool(found[2]), at=at)
    if len(parts) > 1:
        return Handed(file, Owner(parts[0].strip()), parts[-1], at=at)
    return Handed(file, Owner(parts[0]), parts[0], is_owner_sure=False, at=at)


def _folders(parts: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
    """Give the folders that a file lies in, the nearest first."""
    return (parts[:length] for length in range(len(parts) - 1, 0, -1))


def version(title: str) -> int:
    """Give the number that a platform or browser put behind the name of a later version."""
    found = VERSION.search(title)
    return int(next(filter(None, found.groups()), 0)) if found else 0


def owner_in(title: str, stem: str) -> str:
    """Take the name of the exercise out of that of a file; what is left names the student."""
    base = re.split(r"\.ipynb", title, flags=re.I)[0]
    rest = re.sub(re.escape(stem), "", base, flags=re.I)
    return re.sub(r"[ _-]*\(\d+\)$", "", rest).strip(" _-.") or base


def moment(text: str) -> datetime | None:
    """Read a time; without a zone it is that of this machine. None if it is none."""
    text = re.sub(r"(?<=\d)\s+(?=[A-Z]|[+-]\d)", "", text.strip().removesuffix("UTC").strip())
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        return None
    return read.astimezone(UTC)


def _notes(files: Sequence[Staged]) -> Notes:
    """Read what platforms put beside hand-ins."""
    notes = Notes()
    for file in files:
        if file.copy is None or file.parts[-1] not in ("timestamp.txt", "submission_metadata.yml"):
            continue
        folder, text = file.parts[:-1], file.copy.read_bytes().decode("utf-8", "replace")
        if file.parts[-1] == "timestamp.txt":
            if (at := moment(text[:100])) is not None:
                notes.times[folder] = at
            continue
        try:
            _read_gradescope(yaml.load(text, _Loader), folder, notes)
        except (yaml.YAMLError, AttributeError, TypeError, KeyError, RecursionError) as error:
            notes.words.append(f"{file.name}: it cannot be read: {str(error)[:80]}")
    return notes


class _Loader(yaml.SafeLoader):
    """Reads what Ruby writes; of its own kinds of object nothing is made."""


_Loader.add_multi_constructor("!", lambda loader, suffix, node: None)


def _read_gradescope(metadata: Mapping[str, Any], folder: tuple[str, ...], notes: Notes) -> None:
    """Note whose each folder of a Gradescope export is; a group is named together."""
    for name, told in metadata.items():
        people = [_submitter(one) for one in told[":submitters"]]
        if not people:
            continue
        numbers = "+".join(filter(None, (one.number or one.email for one in people)))
        together = Owner(" & ".join(one.name for one in people), numbers, people[0].email)
        own = (*folder, str(name))
        notes.owners[own] = people[0] if len(people) == 1 else together
        at = told.get(":created_at")
        read = at.astimezone(UTC) if isinstance(at, datetime) else moment(str(at))
        if read is not None:
            notes.times[own] = read


def _submitter(told: Mapping[str, Any]) -> Owner:
    """Read one student of a Gradescope export."""
    number, email = (str(told.get(key) or "") for key in (":sid", ":email"))
    return Owner(str(told[":name"]), number or email, email)
