"""Checks of exercise 1.7: the softmax in one pass, score by score, then block by block.

The student writes steps, and the check drives them: whoever gets one score at a time cannot read
twice. A whole pass is held against attention, and where the student's own step is wrong, against
what that step makes of it.
"""

import math
from collections.abc import Callable

import numpy as np

from attnlab.checks._diagnose import differs, first_cause, show
from attnlab.checks._settings import Exercise
from attnlab.checks.check_1_7 import cases, driving
from attnlab.checks.check_1_7.cases import Blocks, Case, path_of
from attnlab.checks.check_1_7.contracts import TOLD
from attnlab.checks.check_1_7.made import flat
from attnlab.checks.check_1_7.mistakes import MISTAKES
from nbmark.answers import case_rng, record

LENGTHS = 256, 512  # at which memory is counted
FLOAT32 = 2**-23  # of a large score what its number type cannot hold

exercise = Exercise("1.7")


@exercise.check(points=3, **TOLD["adds_scores"])
def adds_scores(add_score: Callable) -> str:
    """Show that m and l describe all scores so far, after each of them."""
    rng = case_rng("scores")
    tried = [[0.5], [1.0, 3.0, 2.0], [3.0, 1.0, 2.0, 3.0]]
    tried += [draw.round(3).tolist() for draw in rng.normal(0, 2, (2, 9))]
    given = [driving.path(add_score, scores) for scores in tried]
    right = [path_of(cases.add_score, scores) for scores in tried]
    wrong = [i for i in range(len(tried)) if differs(given[i], right[i])]
    if wrong:
        made = [MISTAKES.made("scores", np.array(scores)) for scores in tried]
        cause = first_cause(given, made, driving.alike) or "step_value"
        first = wrong[0]
        raise MISTAKES.failure(cause, _table(tried[first], given[first], right[first]))
    record("paths", np.concatenate(given[3:]))
    return "After each score m and l describe all that came before, and none is read twice."


def _table(scores: list[float], given: np.ndarray, right: np.ndarray) -> str:
    columns = {"scores": scores, "your m": given[:, 0], "right m": right[:, 0]}
    return show(4, **columns, **{"your l": given[:, 1], "right l": right[:, 1]})


@exercise.check(points=1, **TOLD["survives_extremes"])
def survives_extremes(add_score: Callable) -> str:
    """Show that large scores and blocked ones do no harm to what the same step makes of others."""
    rng = case_rng("extremes")
    scores = rng.normal(0, 2, 7).round(3).tolist()
    own, right = driving.path(add_score, scores), path_of(cases.add_score, scores)
    for shift in (2000.0, -2000.0):
        moved = [s + shift for s in scores]
        with driving.overflow_told(shift):
            given = driving.path(add_score, moved)
        lost = differs(given - [shift, 0], own, FLOAT32 * abs(shift) * own.max())
        example = show(4, scores=moved, your_l=given[:, 1], your_l_of_small_ones=own[:, 1])
        MISTAKES.fail_if(lost, "shift_felt", example, shift=shift)
    blocked = [-math.inf, -math.inf, *scores[:3], -math.inf, *scores[3:]]
    given = driving.path(add_score, blocked)
    example = show(4, scores=blocked, your_m=given[:, 0], your_l=given[:, 1])
    MISTAKES.fail_if(differs(given[:2, 1], [0, 0]), "blocked_first", example)
    kept = np.concatenate([given[2:5], given[6:]])
    bad = np.isnan(kept).any()
    MISTAKES.fail_if(bad, "blocked_first", example)
    MISTAKES.fail_if(differs(kept, own) or differs(given[5], own[2]), "blocked_felt", example)
    record("path", kept - own + right)
    return "Scores of thousands do no harm, and blocked scores change nothing."


@exercise.check(points=3, **TOLD["adds_blocks"])
def adds_blocks(add_block: Callable) -> str:
    """Show that m, l and O describe all blocks so far, for each query by itself."""
    rng = case_rng("blocks")
    widths = rng.permutation([1, 2, 4, 5]).tolist()
    tried = [Blocks(rng, 1, [2], 1), Blocks(rng, 2, [1, 1, 1], 2), Blocks(rng, 4, [3, 3, 3], 2)]
    tried += [Blocks(rng, 3, widths, 2)]
    given = [flat(driving.block_path(add_block, case)) for case in tried]
    right = [flat(case.path(cases.add_block)) for case in tried]
    wrong = [i for i in range(len(tried)) if differs(given[i], right[i])]
    if wrong:
        cause = first_cause(given, [MISTAKES.made("blocks", case) for case in tried], driving.alike)
        driving.fail_at_block(cause, tried[wrong[0]], given[wrong[0]], right[wrong[0]])
    record("sums", given[-1].ravel())
    return "After each block m, l and O describe all keys so far, for each query by itself."


@exercise.check(points=3, **TOLD["matches_attention"])
def matches_attention(tiled_attention: Callable, add_block: Callable) -> str:
    """Show that the pass gives attention's output, or what the student's own step makes of it."""
    rng = case_rng("attention")
    S_q, d_k, d_v = rng.permutation([3, 4, 6]).tolist()
    sizes = [((1, 2, 2, 1), 2), ((2, 4, 3, 2), 2), ((3, 7, 4, 2), 3), ((3, 5, 4, 2), 8)]
    tried = [Case(rng, each, block) for each, block in [*sizes, ((S_q, 11, d_k, d_v), 4)]]
    given = [driving.attend(tiled_attention, case) for case in tried]
    right = [case.output for case in tried]
    if any(map(differs, given, right)):
        own = [driving.composed(add_block, case) for case in tried]
        if any(o is None or differs(g, o) for g, o in zip(given, own, strict=True)):
            driving.fail_at_pass(tiled_attention, tried, given)
        record("output", (given[-1] - own[-1] + right[-1]).sum())
        return """Your pass does with your step what it should. Apart from what the check of the
            step finds wrong, this is right."""
    record("output", given[-1].sum())
    return "Your pass gives attention's output, in whatever blocks the keys come."


@exercise.check(points=2, **TOLD["holds_no_table"])
def holds_no_table(tiled_attention: Callable, add_block: Callable) -> str:
    """Show that memory grows like n, by counting it at two lengths."""
    rng = case_rng("memory")
    peaks = [driving.peak(tiled_attention, add_block, Case(rng, (n, n, 8, 8), 32)) for n in LENGTHS]
    (small, large), n = peaks, LENGTHS[1]
    output = 4 * n * 8
    MISTAKES.fail_if(large <= 1.5 * output, "not_in_pytorch")
    tables, growth = large / (4 * n**2), large / small
    if growth > 2.3:
        held = tables > 0.9
        facts = {"n": n, "peak": f"{large:,}", "tables": tables, "growth": growth}
        raise MISTAKES.failure("table_held" if held else "grows_like_a_table", **facts)
    record("grows like n", bool(growth < 2.3))
    return f"""At n = {n:,} the pass holds {large:,} bytes, {tables:.0%} of a table of all scores,
        and the memory grows like n."""


__all__ = ["exercise", *exercise.points]
