"""Wrong weights of exercise 1.1, taken as given: what follows from them costs nothing more."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from attnlab.checks._diagnose import differs, read_array
from attnlab.checks.check_1_1.cases import Case, V
from nbmark.graded import CheckFailed


def follows(
    quantity: str, given: Any, weights: Any, case: Case, tolerance: Mapping[str, float]
) -> bool:
    """Tell whether an output or entropies are what the student's own wrong weights lead to."""
    try:
        numbers, own = read_array("given", given), read_array("weights", weights)
    except CheckFailed:
        return False
    if own.shape != case.weights.shape or not differs(own, case.weights, tolerance["weights"]):
        return False
    if not (np.isfinite(own).all() and (own >= 0).all() and own.any(-1).all()):
        return False  # a row of nothing leads to nothing
    logs = np.log(own, out=np.zeros_like(own), where=own > 0)
    made = {"output": own @ V, "entropy": -(own * logs).sum(-1)}[quantity]
    return numbers.size == made.size and not differs(
        numbers.reshape(made.shape), made, tolerance[quantity] * max(1, np.abs(made).max() / 5)
    )
