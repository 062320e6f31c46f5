"""Checks of exercise 1.6: the module of multi-head attention, part by part and as a whole.

A part is judged by itself. The module is held against what attention is, and where one of the parts
that the student wrote is wrong, against what it must then make of that part: a mistake costs the
check that is about it.
"""

from collections.abc import Callable
from contextlib import suppress

import numpy as np
import torch

from attnlab.checks._diagnose import ask, differs, first_cause, show
from attnlab.checks._settings import Exercise
from attnlab.checks.check_1_6 import module
from attnlab.checks.check_1_6.asking import (
    ask_for,
    ask_for_weights,
    build,
    loaded,
    require_layers,
    tensor,
)
from attnlab.checks.check_1_6.cases import (
    NAMES,
    draw,
    draw_heads,
    merge,
    scores_of,
    shares,
    split,
)
from attnlab.checks.check_1_6.contracts import TOLD
from attnlab.checks.check_1_6.dropping import one_head, require_dropout
from attnlab.checks.check_1_6.follow import right_parts
from attnlab.checks.check_1_6.masking import compare_masked, is_distribution, renormalised
from attnlab.checks.check_1_6.mistakes import MISTAKES
from attnlab.checks.check_1_6.states import compare_states, converted, read_state
from nbmark.answers import case_rng, record
from nbmark.graded import CheckFailed, NotAttempted, require

exercise = Exercise("1.6")


@exercise.check(points=2, **TOLD["splits_heads"])
def splits_heads(split_heads: Callable) -> str:
    """Show that (B, S, d_model) becomes (B, H, S, d_k), each head its own part of the width."""
    rng = case_rng("split")
    B, S, H, d_k = rng.permutation([2, 3, 5, 7]).tolist()
    tried = [(np.arange(8.0).reshape(1, 2, 4), 2)]  # two tokens, two heads of width 2
    tried += [(draw(rng, b, s, h * d), h) for b, s, h, d in ((1, 1, 3, 2), (2, 6, 4, 3))]
    tried += [(draw(rng, B, S, H * d_k), H)]
    given = [ask_for("split_heads", split_heads, x, n) for x, n in tried]
    _compare("split", given, [split(x, n) for x, n in tried], tried)
    record("heads", given[-1].ravel())
    return "Each head gets its own d_k components of every token, and the tokens stay in order."


@exercise.check(points=1, **TOLD["merges_heads"])
def merges_heads(merge_heads: Callable) -> str:
    """Show that (B, H, S, d_k) becomes (B, S, d_model), the heads side by side."""
    rng = case_rng("merge")
    tried = [(np.arange(8.0).reshape(1, 2, 2, 2),)]
    tried += [(draw(rng, *sizes),) for sizes in ((1, 3, 1, 2), (2, 4, 6, 3))]
    tried += [(draw(rng, *rng.permutation([2, 3, 5, 7])),)]
    given = [ask_for("merge_heads", merge_heads, x) for (x,) in tried]
    _compare("merge", given, [merge(x) for (x,) in tried], tried)
    record("merged", given[-1].ravel())
    return "Each token gets back the components of all its heads, side by side."


def _compare(quantity: str, given: list, right: list, tried: list[tuple]) -> None:
    """Fail unless all are right, with the cause that makes all of them."""
    wrong = [i for i in range(len(given)) if differs(given[i], right[i])]
    if not wrong:
        return
    cause = first_cause(given, [MISTAKES.made(quantity, *case) for case in tried])
    first = wrong[0]
    x, yours, ours = tried[first][0], given[first], right[first]
    example = f"    x of shape {x.shape}: yours has shape {yours.shape}, right is {ours.shape}"
    if x.size == 8:
        example = show(x=x[0], yours=yours, right=ours)
    raise MISTAKES.failure(cause or f"{quantity}_value", example)


@exercise.check(points=2, **TOLD["gives_weights"])
def gives_weights(attention_weights: Callable) -> str:
    """Show that weights are the softmax over the keys of the scaled scores, head by head."""
    rng = case_rng("weights")
    drawn = (*rng.permutation([2, 3, 5, 7]).tolist(), 4)
    tried = [draw_heads(rng, sizes) for sizes in ((1, 1, 1, 2, 4), (1, 2, 3, 2, 4), drawn)]
    given = [ask_for_weights(attention_weights, *case) for case in tried]
    again = ask_for_weights(attention_weights, *tried[-1])
    MISTAKES.fail_if(differs(given[-1], again), "weights_random")
    right = [shares(scores_of(Q, K) / Q.shape[-1] ** 0.5) for Q, K in tried]
    wrong = [i for i in range(3) if differs(given[i], right[i])]
    if wrong:
        cause = first_cause(given, [MISTAKES.made("weights", *case) for case in tried])
        Q, K = tried[wrong[0]]
        ours, yours = right[wrong[0]], given[wrong[0]]
        scores = scores_of(Q, K)[0, 0, 0] / Q.shape[-1] ** 0.5
        rows = {"first query's scores": scores, "right weights": ours[0, 0, 0]}
        if yours.shape == ours.shape:
            rows["your weights"] = yours[0, 0, 0]
        else:
            rows |= {"your shape": yours.shape, "right shape": ours.shape}
        raise MISTAKES.failure(cause or "weights_value", show(**rows))
    record("weights", given[-1].ravel())
    return "Your weights are the softmax of the scaled scores, for each head by itself."


@exercise.check(points=1, **TOLD["follows_masks"])
def follows_masks(attention_weights: Callable) -> str:
    """Show what a mask does to the weights that the same function gives without one."""
    rng = case_rng("masks")
    Q, K = draw_heads(rng, (2, 3, 5, 5, 4))
    free = ask_for_weights(attention_weights, Q, K)
    right = shares(scores_of(Q, K) / Q.shape[-1] ** 0.5)
    scores = scores_of(Q, K) / Q.shape[-1] ** 0.5
    if differs(free, right) and is_distribution(free, right):
        scores = np.log(free)  # those of another scale, say, are no matter here
    else:
        free = right
    some = rng.random((2, 1, 5, 5)) < 0.6
    some |= np.eye(5, dtype=bool)
    some[0, 0, 0, 4], some[0, 0, 4, 0] = True, False
    nothing = some.copy()
    nothing[1, 0, 2] = False
    padded = np.ones((2, 1, 1, 5), bool)
    padded[1, ..., 3:] = False
    masks = np.ones((5, 5), bool), some, padded, np.tri(5, dtype=bool), some[0, 0], nothing
    given = [ask_for_weights(attention_weights, Q, K, mask) for mask in masks]
    allowed = [np.broadcast_to(mask, right.shape) for mask in masks]
    compare_masked(given, free, scores, allowed)
    kept = renormalised(right, allowed[-1])
    record("masked", given[-1] - renormalised(free, allowed[-1]) + kept)
    return """Blocked keys get 0, the others share out 1, masks broadcast, and a query that may read
        nothing gets zeros."""


@exercise.check(points=1, **TOLD["holds_the_projections"])
def holds_the_projections(MultiHeadAttention: type) -> str:
    """Show that a module has four projections and no other parameter, and refuses odd sizes."""
    rng = case_rng("projections")
    H, d_k = rng.permutation([3, 4]).tolist()
    width = H * d_k
    made = build(MultiHeadAttention, width, H, 0.1)
    require_layers(made, width)
    layers = {}
    for name in NAMES:
        layers.setdefault(id(getattr(made, name)), []).append(name)
    shared = next((names for names in layers.values() if len(names) > 1), None)
    MISTAKES.fail_if(shared, "one_layer_for_all", names=" and ".join(shared or []))
    given, right = sum(p.numel() for p in made.parameters()), 4 * width**2 + 4 * width
    names = dict(made.named_parameters())
    listed = all(f"{name}.weight" in names for name in NAMES)
    MISTAKES.fail_if(not listed, "not_registered")
    MISTAKES.fail_if(given != right, "extra_parameters", width=width, right=right, given=given)
    try:
        build(MultiHeadAttention, 10, 4)
    except CheckFailed as failed:
        refused = isinstance(failed.error, ValueError)
        MISTAKES.fail_if(not refused, "not_refused", what="another error came")
    else:
        raise MISTAKES.failure("not_refused", what="no error came")
    record("parameters", given)
    return f"""Four projections, {given:,} parameters for d_model={width}, whatever the number of
        heads; and a width that does not split is refused."""


@exercise.check(points=2, **TOLD["computes_attention"])
def computes_attention(
    MultiHeadAttention: type,
    split_heads: Callable,
    attention_weights: Callable,
    merge_heads: Callable,
) -> str:
    """Show that a module puts the parts together: self- and cross-attention, with masks."""
    require(MultiHeadAttention=MultiHeadAttention)
    parts = split_heads, attention_weights, merge_heads
    try:
        return _computes(MultiHeadAttention, parts)
    except NotAttempted:
        raise
    except CheckFailed as failed:
        with right_parts(MultiHeadAttention), suppress(CheckFailed):
            _computes(MultiHeadAttention, ())
            return APART
        raise failed from None


APART = """Your module puts its parts together as it should. Apart from what the checks above find
    wrong with one of them, this is right."""


def _computes(MultiHeadAttention: type, parts: tuple[Callable, ...]) -> str:
    """Try the module on its cases, or hold it against what wrong parts make of them."""
    seen = module.try_cases(MultiHeadAttention, module.cases(case_rng("module")))
    right = [trial.is_right() for trial in seen]
    follows = not all(right) and parts and all(trial.follows(parts) for trial in seen)
    if not (all(right) or follows):
        module.explain(seen)
    for trial in seen:
        trial.require_gradients()
    last = seen[-1]
    output, weights = last.as_if_parts_were_right(parts) if follows else last.given
    record("output", output.ravel())
    record("weights", weights.ravel())
    if follows:
        return APART
    return "Your module is multi-head attention: within a sequence and across two, with masks too."


@exercise.check(points=2, **TOLD["drops_weights"])
def drops_weights(MultiHeadAttention: type) -> str:
    """Show that dropout thins out the weights while training, and nothing else or at other times.

    One head is enough for that, so a wrong split or merge is no matter here.
    """
    try:
        return _drops(MultiHeadAttention)
    except NotAttempted:
        raise
    except CheckFailed as failed:
        with right_parts(MultiHeadAttention), suppress(CheckFailed):
            return f"""{_drops(MultiHeadAttention)} Apart from what the checks of the parts find
                wrong with one of them, this is right."""
        raise failed from None


def _drops(MultiHeadAttention: type) -> str:
    """Compare what a module puts out while training with the weights that it returns."""
    rng = case_rng("dropout")
    torch.manual_seed(int(rng.integers(2**31)))
    for p in (0.5, float(rng.choice([0.2, 0.3, 0.4]))):
        case = one_head(rng)
        share = require_dropout(loaded(MultiHeadAttention, case, p), case, p)
    record("share dropped, less p", np.round(share - p, 1), tolerance=0.11)
    return (
        "In training some weights are dropped and the others grow; the weights returned are whole."
    )


@exercise.check(points=1, **TOLD["takes_over_pytorch"])
def takes_over_pytorch(convert_state: Callable) -> str:
    """Show that the state of nn.MultiheadAttention becomes that of the module written here."""
    require(convert_state=convert_state)
    rng = case_rng("state")
    H, d_k = rng.permutation([2, 3]).tolist()
    width = H * d_k
    theirs = torch.nn.MultiheadAttention(width, H, batch_first=True)
    state = {n: tensor(draw(rng, *w.shape)) for n, w in theirs.state_dict().items()}
    state = type(theirs.state_dict())(state)
    right = converted({n: w.numpy().astype(float) for n, w in state.items()}, width)
    before = {n: w.clone() for n, w in state.items()}
    case = f"the state of nn.MultiheadAttention({width}, {H})"
    given = read_state(ask(convert_state, state, case=case), right)
    kept = all(name in state and torch.equal(state[name], before[name]) for name in before)
    MISTAKES.fail_if(not kept, "not_a_state", what="leave theirs as it is, and make a new one")
    compare_states(given, right, width)
    record("state", np.concatenate([given[name].ravel() for name in right]))
    return "Your module can take over what nn.MultiheadAttention has learnt."


__all__ = ["exercise", *exercise.points]
