"""One code, two places to stand: checks judge answers of another process as they judge their own.

Here both sides are threads of one process, connected as a student's kernel and its judge are.
"""

import socket
import threading
import time

import pytest
from answers import arguments
from test_checks import MODULE, NUMBERS, RIGHT, WRONG
from whole import cells

from attnlab.checks.serving import INSIDE
from nbmark.answers import SEED
from nbmark.graded import CheckFailed
from nbmark.served import References
from nbmark.serving import Kernel
from nbmark.wire import Broken, Channel, Peer

SECONDS = 60.0
MEASURED = {name.partition("-")[2].replace("-", "_") for name in INSIDE}
STAND_INS = {"names_heads"}  # whose answers have models that are none, which do not travel
CHECKS = [
    (n, name)
    for n in NUMBERS
    for name in MODULE[n].exercise.points
    if name not in MEASURED | STAND_INS
]
FEW = {"shows_twenty_maps": 2, "leak_is_measured": 5, "shows_both_curves": 4}  # that take long


@pytest.fixture
def hand_over():
    """Give a function that hands arguments from a student's side to a trusted one."""
    mine, theirs = socket.socketpair()
    trusted, student = References("attnlab.serving"), References("attnlab.serving")
    trusted.peer = Peer(Channel(mine), trusted.codec, SECONDS)
    student.peer = Kernel(Channel(theirs), student.codec, SECONDS)

    def serve():
        try:
            while True:
                end = time.monotonic() + SECONDS
                student.peer.answer(student.peer.receive(end), end)
        except Broken:
            pass

    thread = threading.Thread(target=serve)
    thread.start()

    def send(values, packages=None):
        trusted.packages = packages
        text, buffers = student.codec.pack(list(values))
        return trusted.codec.unpack(text, memoryview(b"".join(buffers)))

    yield send
    mine.close()
    thread.join()
    theirs.close()


def served(number, check, answer, hand_over):
    packages = ["numpy"] if number == "1_3" else None
    getattr(MODULE[number], check)(*hand_over(arguments(answer), packages))


@pytest.mark.parametrize(("number", "check"), CHECKS)
def test_right_answers_pass_there_too(number, check, hand_over, monkeypatch, shown):
    monkeypatch.setenv(SEED, RIGHT[number].SEEDS[-1])
    for answer in [*RIGHT[number].RIGHT[check].values()][: FEW.get(check)]:
        served(number, check, answer, hand_over)


@pytest.mark.parametrize(("number", "check"), CHECKS)
def test_wrong_answers_fail_there_too(number, check, hand_over, monkeypatch, shown):
    monkeypatch.setenv(SEED, RIGHT[number].SEEDS[0])
    told = {}
    wrong = [*WRONG[number].WRONG.get(check, {}).items()][: FEW.get(check)]
    for label, (answer, cause, _) in wrong:
        if cause == "not_numpy":
            continue  # where there is nothing else it is an error
        with pytest.raises(CheckFailed) as caught:
            served(number, check, answer, hand_over)
        told[label] = (cause, caught.value.cause)
    other = {label: causes for label, causes in told.items() if causes[0] != causes[1]}
    assert len(other) <= len(told) // 4, other


def test_the_cells_that_are_judged_inside_exist():
    for name in INSIDE:
        number, _, check = name.partition("-")
        assert check.replace("-", "_") in MODULE[number].exercise.points


def test_a_module_is_tried_with_right_parts_there_too(hand_over, shown):
    space = {}
    for source, check, _ in cells("1_6"):
        if check:
            break
        exec(source, space)
    space["split_heads"] = lambda x, n_heads: x.view(*x.shape[:2], n_heads, -1)
    exec(next(source for source, *_ in cells("1_6") if "1_6-module" in source.co_filename), space)
    exec(next(source for source, *_ in cells("1_6") if "1_6-weights" in source.co_filename), space)
    parts = [space[name] for name in ("split_heads", "attention_weights", "merge_heads")]
    module, *parts = hand_over([space["MultiHeadAttention"], *parts])
    MODULE["1_6"].computes_attention(module, *parts)
    MODULE["1_6"].drops_weights(module)
    assert "Apart from what" in " ".join(shown[-1]["text/plain"].split())
    with pytest.raises(CheckFailed):
        MODULE["1_6"].splits_heads(parts[0])
