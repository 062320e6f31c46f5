"""What dropout does in a module of exercise 1.6 whose one head is looked at from outside."""

import numpy as np
import torch

from attnlab.checks._diagnose import alike, differs, read_array, show
from attnlab.checks.check_1_6.asking import run
from attnlab.checks.check_1_6.cases import NAMES, Case, single
from attnlab.checks.check_1_6.mistakes import MISTAKES

PLAY = 2e-3  # of weights that are worked out from a float32 output


def one_head(rng: np.random.Generator) -> Case:
    """Make a case of one head whose weights can be worked out from its output, none of them small.

    The maps change nothing and keys are values, at right angles to each other: neither a split nor
    a map that is wrong makes a difference here.
    """
    case = Case(rng, (6, 9, 7, 1, 8))
    for name in NAMES:
        case.W[name], case.b[name] = np.eye(8), np.zeros(8)
    turned = np.linalg.qr(rng.standard_normal((6, 8, 8)))[0]
    case.inputs["key"] = case.inputs["value"] = single(turned[:, :7])
    return case


def require_dropout(made: torch.nn.Module, case: Case, p: float) -> float:
    """Fail unless weights, and they alone, are dropped in training; give the share dropped."""
    calm, weights = (read_array("result", x) for x in run(made, case))
    again = read_array("output", run(made, case)[0])
    MISTAKES.fail_if(not alike(calm, again), "dropped_at_rest")
    V = case.inputs["value"]  # (B, S_k, d_k)
    MISTAKES.fail_if(weights.shape != case.weights.shape, "dropout_unclear")
    MISTAKES.fail_if(differs(calm, weights[:, 0] @ V, 1e-4), "dropout_unclear")
    made.train()
    output, returned = (read_array("result", x) for x in run(made, case))
    other = read_array("output", run(made, case)[0])
    MISTAKES.fail_if(not differs(output, other), "no_dropout", p=p)
    rows = returned.sum(-1)
    whole = not differs(rows, weights.sum(-1), 1e-4)
    if not whole:
        example = show(your_row_0=returned[0, 0, 0], its_sum=rows[0, 0, 0])
        raise MISTAKES.failure("dropped_weights_returned", example)
    used = (output @ np.linalg.pinv(V))[:, None]  # (B, 1, S_q, S_k)
    with np.errstate(all="ignore"):
        factors = used / returned
    kept = np.abs(used) > PLAY
    share = 1 - kept.mean()
    clean = np.abs(factors[kept] - 1 / (1 - p)) < 0.05
    if not clean.all():
        _explain(factors, kept, p, share, returned, used)
    MISTAKES.fail_if(abs(share - p) > 0.1, "dropout_probability", p=p, given=share)
    return float(share)


def _explain(
    factors: np.ndarray,
    kept: np.ndarray,
    p: float,
    share: float,
    returned: np.ndarray,
    used: np.ndarray,
) -> None:
    """Fail with the cause of weights that are neither 0 nor divided by 1 - p."""
    found = np.median(factors[kept]) if kept.any() else 0
    alike = (np.abs(factors[kept] - found) < 0.05).mean() > 0.98
    example = show(your_weights=returned[0, 0, 0], used=used[0, 0, 0])
    if alike and abs(found - 1) < 0.05:
        raise MISTAKES.failure("dropout_not_scaled", example)
    if alike and abs(share - (1 - 1 / found)) < 0.1:
        raise MISTAKES.failure("dropout_probability", example, p=p, given=share)
    raise MISTAKES.failure("dropout_elsewhere", example)
