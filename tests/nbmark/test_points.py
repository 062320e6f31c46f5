"""`pytest --points`: what each kind of submission earns, all of them marked in one run."""

import copy

import pytest
from course import KERNEL, SUBMITTED, changed, make_course, mark, recorded, submitted
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output


def copy_of(index, source=None):
    def change(cells):
        twin = copy.deepcopy(cells[index])
        twin.id, twin.source = "twin", source or twin.source
        cells.insert(index + 1, twin)

    return change


def as_text(cells):
    cells[1] = new_markdown_cell(cells[1].source, id="t", metadata=cells[1].metadata)


def added(source, at=1):
    return changed(lambda cells: cells.insert(at, new_code_cell(source, id="mine")))


def tags(*names, **settings):
    def change(cells):
        for cell in cells:
            cell.metadata.update(tags=list(names))
            cell.metadata.nbgrader.update(settings)

    return change


def stripped(cells):
    """Keep the texts alone, as some editors do."""
    for number, cell in enumerate(cells):
        cell.metadata, cell.id = {}, f"x{number}"


def edit(index, source):
    return lambda cells: cells[index].update(source=source)


EQUALS = "class A:\n    def __eq__(self, other):\n        "
HIDE = "get_ipython().showtraceback = lambda *args, **options: None"
STORED = [new_output("stream", text="left over")]
SLEEP = "import time\ntry:\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    pass"
ENDLESS = "import time\nwhile True:\n    time.sleep(0.1)"
LOOP = "while True:\n    try:\n        time.sleep(1)\n    except BaseException:\n        pass"
WAIT = "import time\ntime.sleep(4)\nb = 2"
DEAF = f"import time\n{LOOP}"
BOM, UTF16 = "\ufeff{}", SUBMITTED.encode("utf-16")
PAGE = "<!DOCTYPE html>\n<html><body>Log in</body></html>"
MERGE = SUBMITTED.replace('  {\n   "cell_type"', '<<<<<<< HEAD\n  {\n   "cell_type"', 1)
ODD = (
    '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{'
    '"cell_type": "code", "source": "", "metadata": null}]}'
)

# name of the file: (content, points, part of the reason)
PLAIN = {
    "ann_9_1_x.ipynb": (submitted(), 5, ""),
    "half_9_1_x.ipynb": (submitted(one="a = 0"), 3, "is-one: a should be 1"),
    "hidden_test_9_1_x.ipynb": (
        submitted(two="b = type('B', (), dict(__eq__=lambda *a: 1))()"),
        2,
        "is-two: unsup",
    ),
    "by_cells.ipynb": (submitted(), 5, ""),
    "9_2_k of another name.ipynb": (submitted(), 5, ""),
    "=calc_9_1_x.ipynb": (submitted(), 5, ""),
    "skips_9_1_x.ipynb": (
        submitted(one=f"from nbmark.skip import skip_cell\n{EQUALS}skip_cell('no')\na = A()"),
        3,
        "is-one: it was skipped",
    ),
    "hidden_9_1_x.ipynb": (submitted(one=HIDE, two="a = 1"), 0, "error that it does not show"),
    "imports_9_1_x.ipynb": (submitted(one="import yaml\na = yaml.safe_load('1')"), 5, ""),
    "stranger.ipynb": (new_notebook(cells=[new_code_cell("1")], metadata=KERNEL), 0, "none of"),
}
# What was done to the notebook itself costs nothing, and brings nothing.
REBUILT = {
    "missing_9_1_x.ipynb": (
        changed(lambda c: c.pop(1)),
        5,
        "restored: is-one (the notebook lacked",
    ),
    "twice_9_1_x.ipynb": (
        changed(copy_of(1)),
        5,
        "restored: is-one (the notebook held it 2 times)",
    ),
    "edited_9_1_x.ipynb": (changed(edit(1, "1")), 5, "restored: is-one (its text was changed)"),
    "edited_wrong_9_1_x.ipynb": (changed(edit(1, "1"), one="a = 0"), 3, "is-one: a should be 1"),
    "comment_9_1_x.ipynb": (
        changed(edit(1, "\n# checks\nassert a == 1, 'a should be 1'\n")),
        5,
        "",
    ),
    "as_text_9_1_x.ipynb": (changed(as_text), 5, "restored: is-one (it was no code cell)"),
    "tags_9_1_x.ipynb": (
        changed(tags("raises-exception"), one="a = 0"),
        3,
        "is-one: a should be 1",
    ),
    "skip_tag_9_1_x.ipynb": (changed(tags("nbval-skip", "skip-execution")), 5, ""),
    "comments_9_1_x.ipynb": (
        submitted(one="# NBVAL_SKIP\na = 0", two="#NBVAL_RAISES_EXCEPTION\n1/0"),
        0,
        "is-one: a should be 1; is-two",
    ),
    "points_9_1_x.ipynb": (changed(tags(points=99), one="a = 0"), 3, "is-one"),
    "not_graded_9_1_x.ipynb": (changed(tags(grade=False)), 5, ""),
    "outputs_9_1_x.ipynb": (
        changed(lambda c: c[1].update(outputs=STORED), one="a = 0"),
        3,
        "is-one",
    ),
    "twins_9_1_x.ipynb": (changed(copy_of(0, "a = 1"), one="a = 0"), 5, ""),
    "forged_twin_9_1_x.ipynb": (changed(copy_of(1, "a = 1"), one="a = 0"), 3, "is-one: a should"),
    "lost_answer_9_1_x.ipynb": (changed(lambda c: c.pop(0)), 3, "is-one: name 'a' is not"),
    "elsewhere_9_1_x.ipynb": (
        changed(lambda c: c.insert(1, new_code_cell("a = 1")), one="raise NotImplementedError()"),
        5,
        "",
    ),
    "stripped_9_1_x.ipynb": (changed(stripped), 5, ""),
    "stripped_wrong.ipynb": (changed(stripped, one="a = 0"), 3, "is-one: a should be 1"),
}
# What goes wrong in an honest notebook costs the cell alone.
HONEST = {
    "endless_9_1_x.ipynb": (added(ENDLESS), 5, "added-1-after-one: the time limit"),
    "deaf_9_1_x.ipynb": (added(DEAF), 5, "added-1-after-one: the time limit"),
    "slow_9_1_x.ipynb": (submitted(two=SLEEP + "\nb = 2"), 5, "two: the time limit"),
    "slow_check_9_1_x.ipynb": (
        submitted(one=f"import time\n{EQUALS}while True: time.sleep(0.1)\na = A()"),
        3,
        "is-one: the time limit",
    ),
    "exit_9_1_x.ipynb": (submitted(one="a = 1\nexit()\nquit(keep_kernel=False)", two=WAIT), 5, ""),
    "sys_exit_9_1_x.ipynb": (added("import sys\nsys.exit(1)"), 5, ""),
    "dead_9_1_x.ipynb": (submitted(two="import os\nos._exit(0)"), 2, "two: the kernel died"),
    "dead_before_9_1_x.ipynb": (added("import os\nos._exit(0)"), 5, "one: the kernel died"),
    "dies_9_1_x.ipynb": (
        submitted(one=f"import os\n{EQUALS}os._exit(0)\na = A()"),
        3,
        "is-one: the kernel died",
    ),
    "shell_9_1_x.ipynb": (added("!no-such-command --at all\n%no_magic\n!cat"), 5, ""),
    "asks_9_1_x.ipynb": (added("input('name? ')"), 5, ""),
    "fails_9_1_x.ipynb": (added("1 / 0"), 5, ""),
    "no_python_9_1_x.ipynb": (added("for x in"), 5, ""),
    "noisy_9_1_x.ipynb": (added("print('x' * 10**7)"), 5, ""),
    "no_kernel_9_1_x.ipynb": (submitted(), 5, ""),
}
# What browsers, systems and other programs make of a file.
FILES = {
    "9_1_x (1).ipynb": (submitted(), 5, ""),
    "9_1_x-2.ipynb": (submitted(), 5, ""),
    "9_1_X.IPYNB": (submitted(), 5, ""),
    "9_1_x.ipynb.txt": (submitted(), 5, ""),
    "9_1_x.ipynb (2)": (submitted(), 5, ""),
    "utf16_9_1_x.ipynb": (UTF16, 5, ""),
    "with_bom_9_1_x.ipynb": ("\ufeff" + SUBMITTED, 5, ""),
    "broken_9_1_x.ipynb": ("{", 0, "cannot be read: it is no notebook: its end is missing"),
    "cut_off_9_1_x.ipynb": (SUBMITTED[:700], 0, "its end is missing; save or download it"),
    "page_9_1_x.ipynb": (PAGE, 0, "it is a web page; download the notebook itself"),
    "merge_9_1_x.ipynb": (MERGE, 0, "is left of a merge; choose one of the two"),
    "empty_9_1_x.ipynb": ("", 0, "cannot be read: it is empty"),
    "bom_9_1_x.ipynb": (BOM, 0, "cannot be read"),
    "latin_9_1_x.ipynb": ('{"é": 1}'.encode("latin-1"), 0, "it is not encoded as UTF-8"),
    "list_9_1_x.ipynb": ("[]", 0, "cannot be read"),
    "odd_9_1_x.ipynb": (ODD, 0, "cannot be read"),
}
# Answers are compared with the solution's under a seed that nobody knew.
COMPARED = {
    "right_9_2_k.ipynb": (recorded("2.001 * x"), 3, ""),
    "wrong_9_2_k.ipynb": (
        recorded("3 * x"),
        1,
        "doubles: its answers are not the solution's: doubled",
    ),
    "count_9_2_k.ipynb": (
        recorded(count="4"),
        2,
        "counts: its answers are not the solution's: count",
    ),
    "table_9_2_k.ipynb": (
        recorded("2 * __import__('numpy').random.default_rng([0, 727832336]).random(3)"),
        1,
        "doubles: its answers are not",
    ),
    "silent_9_2_k.ipynb": (recorded("x[:2] * 2"), 1, "doubles: its answers are not"),
    "other_setup_9_2_k.ipynb": (recorded(), 3, ""),
}
SUBMISSIONS = PLAIN | REBUILT | HONEST | FILES | COMPARED
NO_HAND_INS = [
    "._9_1_x.ipynb",
    "__MACOSX/9_1_x.ipynb",
    ".ipynb_checkpoints/9_1_x.ipynb",
    "notes.txt",
]


@pytest.fixture(scope="module")
def marked(tmp_path_factory):
    """Mark all submissions in one run."""
    contents = {name: copy.deepcopy(content) for name, (content, *_) in SUBMISSIONS.items()}
    contents["no_kernel_9_1_x.ipynb"].metadata.kernelspec.name = "alices-own"
    contents["other_setup_9_2_k.ipynb"].cells[0].source += "\nimport math"
    contents |= dict.fromkeys(NO_HAND_INS, SUBMITTED)
    contents |= dict.fromkeys(["test_of_a_student.py", "yaml.py"], "raise SystemExit('it ran')")
    root = make_course(tmp_path_factory.mktemp("course"), contents)
    root.joinpath("handed-in", "folder.ipynb").mkdir()
    root.joinpath("handed-in", "link_9_1_x.ipynb").symlink_to(root / "solutions" / "9_1_x.ipynb")
    return mark(root, "handed-in", "--nbval-cell-timeout=8")


@pytest.mark.parametrize("name", SUBMISSIONS)
def test_a_submission_earns_what_it_should_and_says_why_not_more(name, marked):
    _, points, reason = SUBMISSIONS[name]
    row = marked[1][f"handed-in/{name}"]
    assert row["points"] == str(points), row["reasons"]
    assert reason in row["reasons"]
    assert bool(reason) == bool(row["reasons"])
    possible = "0" if name == "stranger.ipynb" else "3" if "9_2_k.i" in name else "5"
    assert row["possible points"] == possible


def test_each_cell_has_a_column_and_a_person_reads_the_rest(marked):
    row = marked[1]["handed-in/half_9_1_x.ipynb"]
    assert list(row)[:5] == [
        *("notebook", "exercise", "points", "possible points", "points to be read")
    ]
    assert row["exercise"] == "9_1_x"
    cells = [row["is-one (of 2)"], row["is-two (of 3)"], row["why (of 4)"]]
    assert cells == ["0", "3", "to be read"]
    assert row["points to be read"] == "4"


def test_there_is_a_line_a_notebook_and_no_notebook_ends_the_run(marked):
    done, rows = marked
    lines = done.stdout.partition("= points =")[2].splitlines()
    assert len([line for line in lines if line.startswith("handed-in/")]) == len(SUBMISSIONS) + 2
    assert "handed-in/half_9_1_x.ipynb: 3 of 5 points (0/2 3/3), 4 to be read" in lines
    assert "INTERNALERROR" not in done.stdout + done.stderr
    assert "it ran" not in done.stdout + done.stderr
    unread = {
        name: rows[f"handed-in/{name}"]["reasons"] for name in ("folder.ipynb", "link_9_1_x.ipynb")
    }
    assert unread["folder.ipynb"] == "the notebook cannot be read: it is a folder"
    assert unread["link_9_1_x.ipynb"].endswith("it is a link; hand in the file itself")


def test_companions_of_a_hand_in_get_no_row(marked):
    assert len(marked[1]) == len(SUBMISSIONS) + 2


def test_the_seed_is_told_so_that_marks_can_be_given_again(marked):
    assert "The cases were drawn with NBMARK_SEED=" in marked[0].stdout
    assert "9_1_x: no answers to compare with, it holds no solution." in marked[0].stdout
