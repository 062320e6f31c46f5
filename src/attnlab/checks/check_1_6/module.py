"""The module of exercise 1.6 as a whole: what it is called with, and what is wrong with it."""

from collections.abc import Callable

import numpy as np
import torch

from attnlab.checks._diagnose import alike, ask, differs, first_cause, read_array, show
from attnlab.checks.check_1_6.asking import loaded, run
from attnlab.checks.check_1_6.cases import NAMES, Case
from attnlab.checks.check_1_6.mistakes import MISTAKES
from nbmark.failing import last_call
from nbmark.graded import CheckFailed

Parts = tuple[Callable, Callable, Callable]  # split_heads, attention_weights, merge_heads


def cases(rng: np.random.Generator) -> list[Case]:
    """Give cases from the smallest on: one token tests V and W_o alone, two heads the split."""
    (B, S_q, H), S_k, d_k = rng.permutation([2, 3, 4]).tolist(), 5, 7
    some = rng.random((B, 1, S_q, S_k)) < 0.6
    some[..., 0] = True
    return [
        Case(rng, (1, 1, 1, 1, 2), crossed=False),
        Case(rng, (1, 1, 3, 1, 3)),
        Case(rng, (2, 4, 4, 3, 2), crossed=False),
        Case(rng, (2, 3, 3, 2, 4)),
        Case(rng, (2, 4, 4, 2, 3), np.tri(4, dtype=bool), crossed=False),
        Case(rng, (B, S_q, S_k, H, d_k), some),
    ]


class Trial:
    """A case, the module that ran it, and what came out."""

    def __init__(self, made: torch.nn.Module, case: Case) -> None:
        self.made, self.case = made, case
        self.output, weights = run(made, case)
        self.call = last_call()
        self.given = read_array("output", self.output), read_array("weights", weights)
        self.again = read_array("output", run(made, case)[0])

    def is_right(self) -> bool:
        """Tell whether output and weights are those of attention."""
        return not any(map(differs, self.given, (self.case.output, self.case.weights)))

    def follows(self, parts: Parts) -> bool:
        """Tell whether they are what a right module makes of the student's own parts."""
        own = self._composed(parts)
        return own is not None and not any(map(differs, self.given, own))

    def as_if_parts_were_right(self, parts: Parts) -> tuple[np.ndarray, np.ndarray]:
        """Give what came out, with right parts in place of the student's."""
        right, own = (self.case.output, self.case.weights), self._composed(parts)
        if any(o.shape != r.shape for o, r in zip(own, right, strict=True)):
            return right
        return tuple(g - o + r for g, o, r in zip(self.given, own, right, strict=True))

    def _composed(self, parts: Parts) -> tuple[np.ndarray, np.ndarray] | None:
        split_heads, attention_weights, merge_heads = parts
        query, key, value, *mask = self.case.tensors()
        made = self.made
        try:
            with torch.no_grad():
                projected = made.W_q(query), made.W_k(key), made.W_v(value)
                Q, K, V = (ask(split_heads, x, self.case.H) for x in projected)
                weights = ask(attention_weights, Q, K, *mask)
                output = made.W_o(ask(merge_heads, weights @ V))
                return read_array("output", output), read_array("weights", weights)
        except Exception:  # a part that cannot be put together explains nothing
            return None

    def require_gradients(self) -> None:
        """Fail unless the loss reaches all parameters."""
        if isinstance(self.output, torch.Tensor) and self.output.requires_grad:
            (self.output**2).sum().backward()
        lost = [n for n in NAMES if getattr(self.made, n).weight.grad is None]
        MISTAKES.fail_if(lost, "no_gradient", names=" and ".join(lost))


def try_cases(module: type, cases: list[Case]) -> list[Trial]:
    """Run all cases, or those up to an error that comes after a wrong result."""
    seen: list[Trial] = []
    for case in cases:
        try:
            seen.append(Trial(loaded(module, case), case))
        except CheckFailed:
            if all(trial.is_right() for trial in seen):
                raise
            break
    changing = any(not alike(trial.again, trial.given[0]) for trial in seen)
    MISTAKES.fail_if(changing, "dropped_at_rest")
    return seen


def explain(seen: list[Trial]) -> None:
    """Fail with what explains all cases, or all without a mask; of what is wrong first."""
    first = next(trial for trial in seen if not trial.is_right())
    (output, weights), case, head = first.given, first.case, f"    {first.case}"
    if output.shape == case.weights.shape and weights.shape == case.output.shape:
        raise MISTAKES.failure("forward_returns", head, what="the weights first")
    if all(not differs(trial.given[0], trial.case.output) for trial in seen):
        _explain_weights(seen, head)
    plain = [trial for trial in seen if trial.case.mask is None]
    cause = _cause(seen) or (plain and _cause(plain)) or "module_value"
    if output.shape == case.output.shape:
        head += "\n" + show(yours=output[0, -1], right=case.output[0, -1])
    else:
        head += f"\n    your output has shape {output.shape}, right is {case.output.shape}"
    raise MISTAKES.failure(cause, head).at(first.call)


def _cause(seen: list[Trial]) -> str | None:
    """Find what makes of these cases what was given, if at least one of them is wrong."""
    if all(trial.is_right() for trial in seen):
        return None
    made = [MISTAKES.made("output", trial.case) for trial in seen]
    return first_cause([trial.given[0] for trial in seen], made)


def _explain_weights(seen: list[Trial], head: str) -> None:
    """Fail with the cause of wrong weights beside right outputs."""
    means = [trial.case.weights.mean(1).ravel() for trial in seen]
    averaged = not any(differs(t.given[1].ravel(), m) for t, m in zip(seen, means, strict=True))
    MISTAKES.fail_if(averaged, "weights_averaged", head)
    wrong = next(t for t in seen if differs(t.given[1], t.case.weights))
    shape = wrong.given[1].shape
    what = "of other numbers" if shape == wrong.case.weights.shape else f"of shape {shape}"
    raise MISTAKES.failure("weights_wrong", head, given=what, case=wrong.case)
