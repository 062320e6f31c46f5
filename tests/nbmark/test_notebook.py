"""Reading what others wrote, and saying what it is instead of a notebook."""

import codecs
import json

import pytest
from course import SUBMITTED, submitted

from nbmark.files import is_hand_in
from nbmark.notebook import Unreadable, number, read

MARKED = SUBMITTED.encode()
OLD_CELL = {"cell_type": "code", "input": "a = 1", "outputs": [], "language": "python"}
OLD = {
    "nbformat": 3,
    "nbformat_minor": 0,
    "metadata": {},
    "worksheets": [{"cells": [OLD_CELL]}],
}
READABLE = {
    "plain": MARKED,
    "byte order mark": codecs.BOM_UTF8 + MARKED,
    "UTF-16": SUBMITTED.encode("utf-16"),
    "UTF-16, the other way round": codecs.BOM_UTF16_BE + SUBMITTED.encode("utf-16-be"),
    "Windows' line ends": MARKED.replace(b"\n", b"\r\n"),
    "version 3": json.dumps(OLD).encode(),
}


@pytest.mark.parametrize("data", READABLE.values(), ids=READABLE)
def test_what_can_be_read_is_read(data, tmp_path):
    path = tmp_path / "x.ipynb"
    path.write_bytes(data)
    cells = read(path).cells
    assert [cell.source for cell in cells][:1] == ["a = 1"]
    assert len(cells) in (1, len(submitted().cells))


UNREADABLE = {
    "nothing": ("", "it is empty"),
    "blanks": ("\ufeff \n", "it is empty"),
    "a page": ("\n<html lang='en'><body>", "it is a web page; download the notebook itself"),
    "a page that says what it is": ("<!doctype HTML>", "it is a web page"),
    "cut off in a text": (SUBMITTED[: SUBMITTED.index("should") + 2], "its end is missing"),
    "cut off between": (SUBMITTED.rstrip()[:-1], "its end is missing; save or download it once"),
    "a merge": (
        '{\n<<<<<<< HEAD\n"a": 1\n=======\n"a": 2\n>>>>>>> x\n}',
        "line 2 is left of a merge",
    ),
    "prose": ("Dear teacher", "line 1 is no JSON"),
    "a comma too many": ('{"cells": [1,],\n"a": 2}', "line 1 is no JSON"),
    "no cells": (
        '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}}',
        "is missing an expected key: cells",
    ),
    "deep": ("[" * 100_000, "it is no notebook"),
}


@pytest.mark.parametrize(("text", "reason"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_read_is_named_in_one_line(text, reason, tmp_path):
    path = tmp_path / "x.ipynb"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(Unreadable) as caught:
        read(path)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("stem", ["1_3_numpy", "1_3"])
def test_an_exercise_is_known_by_its_number(stem):
    assert number(stem) == "1_3"
    assert number(stem.replace("3", "10")) == "1_10"


@pytest.mark.parametrize("stem", ["numpy", "1", "1_3numpy", "x_1_3_y", ""])
def test_what_has_no_number_has_none(stem):
    assert number(stem) is None


HAND_INS = (
    *("x.ipynb", "x (1).ipynb", "x-2.ipynb", "X.IPYNB", "x.Ipynb", "x.ipynb.txt", "x.ipynb.json"),
    *("x.ipynb (1)", "x.ipynb-1", "x.ipynb.html", "x.ipynb copy", "=x.ipynb"),
)
OTHERS = (
    *("._x.ipynb", ".x.ipynb", "__MACOSX/x.ipynb", ".ipynb_checkpoints/x-checkpoint.ipynb"),
    *("x.py", "x.ipynb.py", "x.ipynb~", "x.ipynb.bak", "notes.txt", "x.html", "ipynb"),
)


@pytest.mark.parametrize("name", HAND_INS)
def test_a_hand_in_is_known_by_its_name_whatever_was_added(name, tmp_path):
    assert is_hand_in(tmp_path / name)


@pytest.mark.parametrize("name", OTHERS)
def test_what_nobody_handed_in_is_none(name, tmp_path):
    assert not is_hand_in(tmp_path / name)
