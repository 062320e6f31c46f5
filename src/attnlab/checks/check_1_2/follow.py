"""A wrong `head_weights` of exercise 1.2, taken as given: maps that it gives cost nothing more."""

from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor

from attnlab.checks._diagnose import agrees, ask, differs, read_array
from attnlab.checks.check_1_2.cases import Case
from attnlab.checks.check_1_2.mistakes import MISTAKES
from nbmark.graded import CheckFailed


def follows(
    head_weights: Callable[..., Any] | None, maps: Mapping[Tensor | None, Any], case: Case
) -> bool:
    """Tell whether maps under these masks come of the student's function and its known mistake."""
    if head_weights is None:
        return False
    wrong = False
    for mask, given in maps.items():
        asked = case._replace(mask=mask)
        try:
            own = read_array("own", ask(head_weights, asked.mha, asked.x, asked.mask))
            if not agrees(read_array("given", given), own):
                return False
        except CheckFailed:
            return False
        right = asked.right
        if differs(own, right[0]):
            rounded = not differs(own, right[0], 6e-3)
            uncut = own.shape in (right.shape, (1, *right.shape), (1, *right[0].shape))
            uncut = uncut and agrees(own.reshape(-1, *right[0].shape)[0], right[0])
            if not (rounded or uncut or MISTAKES.explain("weights", own, asked)):
                return False
            wrong = True
    return wrong
