"""Answers that are alike: renamed copies are found, what the whole class writes is not."""

from pathlib import Path

from course import answer, graded
from nbformat.v4 import new_notebook

from nbmark.grade.alike import pairs, shingles
from nbmark.grade.owners import Owner
from nbmark.grade.plan import Task
from nbmark.submission import Original

STUB = """\
def attention(Q, K, V, mask=None):
    '''Give output and weights.'''
    ### BEGIN SOLUTION
    pass
    ### END SOLUTION
    return output, weights
"""
HEAD, TAIL = STUB.partition("    ### BEGIN")[0], "    return output, weights\n"
NATURAL = """\
    scores = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    scores = scores - scores.max(-1, keepdims=True)
    weights = np.exp(scores)
    weights = weights / weights.sum(-1, keepdims=True)
    output = weights @ V
"""
ODD = """\
    rows = []
    for b in range(len(Q)):
        row = [sum(Q[b][i] * K[c][i] for i in range(len(K[c]))) for c in range(len(K))]
        top = max(row) if row else 0
        e = [2.718281828 ** (x - top) for x in row]
        rows.append([x / (sum(e) or 1) for x in e])
    weights = np.array(rows)
    output = np.einsum("ij,jk->ik", weights, V)
"""
RENAMED = (ODD.replace("rows", "result").replace("row", "line").replace("top", "biggest")).replace(
    "e = [", "e = [  # mine\n            "
)
OTHER = """\
    weights = special.softmax(np.einsum("...qd,...kd->...qk", Q, K) * Q.shape[-1] ** -0.5, axis=-1)
    if mask is not None:
        kept = weights * mask
        total = kept.sum(axis=-1, keepdims=True)
        weights = np.divide(kept, total, out=np.zeros_like(kept), where=total > 0)
    output = np.einsum("...qk,...kd->...qd", weights, V)
"""


def found(**sources):
    cells = [answer("attention", STUB), graded("works", "check(attention)", 2)]
    original = Original("9_1_x", new_notebook(cells=cells), Path())
    tasks = [
        Task(Owner(name), "9_1_x", Path(), name, "", answers=(("attention", HEAD + text + TAIL),))
        for name, text in sources.items()
    ]
    return [(pair.cell, pair.students) for pair in pairs(tasks, [original])]


def test_a_renamed_copy_is_found():
    assert found(ann=ODD, bob=RENAMED, cy=NATURAL, dan=OTHER) == [("attention", ("ann", "bob"))]


def test_what_much_of_the_class_writes_is_not():
    natural = {f"s{i}": NATURAL for i in range(9)}
    assert found(**natural, ann=OTHER) == []


def test_stubs_short_answers_and_broken_ones_are_not():
    assert found(a="    pass\n", b="    pass\n", c="    return 1\n", d="    return 1\n") == []
    assert found(a="    x = (\n", b="    x = (\n") == []
    assert shingles("'''never ended") == shingles("") == frozenset()


def test_a_large_class_is_no_trouble():
    many = {f"s{i}": NATURAL.replace("np.inf", f"{i}e9") for i in range(1000)}
    assert len(found(**many)) <= 100
