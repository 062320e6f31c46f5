"""How a check of exercise 1.3 begins: what holds for each, and what earlier checks found."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from attnlab.checks._diagnose import alike, differs, show
from attnlab.checks.check_1_3.cases import Case, draw
from attnlab.checks.check_1_3.compare import Function, attend, order_of, right_weights
from attnlab.checks.check_1_3.follow import (
    DISTRIBUTION,
    MASKS,
    REFERENCE,
    REPAIRS,
    Given,
    reordered,
    variants,
)
from attnlab.checks.check_1_3.mistakes import MISTAKES
from attnlab.checks.check_1_3.numpy_only import require_numpy_only
from nbmark.answers import case_rng
from nbmark.graded import CheckFailed


def begin(function: Function, stage: str) -> tuple[Case, np.random.Generator]:
    """Require NumPy alone, and other weights for other inputs; give a case, and more at random."""
    require_numpy_only(function)
    return _require_depends(function, stage), case_rng(f"{stage}, cases")


def _require_depends(function: Function, stage: str) -> Case:
    """Fail unless the result depends on the arguments and on nothing else."""
    rng = case_rng(stage)
    case, other = draw(rng), draw(rng)
    with _other_order(function, case):
        (_, first), (_, second) = attend(function, case), attend(function, other)
    none = _reads_none_as_false(function, case, first)
    MISTAKES.fail_if(none, "mask_is_none", show(your_weights=first))
    same, again = not differs(first, second, 1e-9), attend(function, case)[1]
    remembers = not alike(again, first) or (same and not differs(first, right_weights(case)))
    MISTAKES.fail_if(remembers, "not_repeatable", show(first=first[0], again=again[0]))
    MISTAKES.fail_if(same, "hard_coded", show(your_weights=first))
    return case


@contextmanager
def _other_order(function: Function, case: Case) -> Iterator[None]:
    """Turn a failure into that of arguments in another order, where this is the cause."""
    try:
        yield
    except CheckFailed as failed:
        if order := order_of(function, case):
            names = ", ".join("QKV"[i] for i in order)
            raise MISTAKES.failure("argument_order", failed.example, order=names) from None
        raise


def _reads_none_as_false(function: Function, case: Case, weights: np.ndarray) -> bool:
    """Tell whether weights without a mask are wrong, and right with one that blocks nothing."""
    if not differs(weights, right_weights(case)):
        return False
    everything = Case(case.Q, case.K, case.V, np.ones(case.raw.shape, bool))
    try:
        return not differs(attend(function, everything)[1], right_weights(case))
    except CheckFailed:
        return False


def go_on(
    function: Function, stage: str, before: Sequence[str]
) -> tuple[Given, np.random.Generator]:
    """Begin a check, with what the checks in `before` found taken as given."""
    require_numpy_only(function)
    given, case = Given(function), draw(case_rng(stage))
    for _ in range(3):  # mistakes of form, of which there may be several
        try:
            _require_depends(given.function, stage)
            break
        except CheckFailed as failed:
            if failed.cause == "keys_for_values":
                given.judges_output = False
                given.about.append(DISTRIBUTION)
                break
            repair = REPAIRS.get(failed.cause)
            if failed.cause == "argument_order":
                repair = reordered(order_of(given.function, case))
            if repair is None:
                raise
            given.function = repair(given.function)
            given.about.append(DISTRIBUTION)
    output, weights = attend(given, case)
    if differs(weights, right_weights(case)):
        given.variants = [pair for pair in variants() if pair[0] in before]
        if not given.expects(case, weights):
            given.variants = []
    elif REFERENCE in before and differs(output, weights @ case.V):
        given.judges_output = False
        given.about.append(REFERENCE)
    return given, case_rng(f"{stage}, cases")


def masks_are_right(given: Given, stage: str) -> bool:
    """Tell whether masks may be used in a check that is about something else."""
    case = draw(case_rng(stage), mask=np.tri(5, 7, dtype=bool))
    try:
        weights = attend(given, case)[1]
    except CheckFailed:
        weights = np.array(np.nan)
    fine = not differs(weights, right_weights(case)) or given.expects(case, weights)
    if not fine:
        given.about.append(MASKS)
    return fine
