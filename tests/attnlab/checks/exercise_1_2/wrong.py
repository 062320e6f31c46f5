"""Wrong answers to exercise 1.2, each with its cause and words of the message."""

import matplotlib.pyplot as plt
import numpy as np
import torch
from exercise_1_2.right import (
    CAUSAL,
    FULL,
    MASK,
    MHA,
    X,
    drawn,
    figure_of_images,
    head_by_index,
    maps,
    named_axes,
)

from attnlab.masks import make_causal_mask


def weights_of(mha, x, mask):
    return mha(x, x, x, mask)[1].detach()


def own_mask(mha, x, mask, head=0):
    return weights_of(mha, x, make_causal_mask(x.shape[1]))[0, head]


def inverted(mha, x, mask, head=0):
    return weights_of(mha, x, None if mask is None else ~mask)[0, head]


def masked_late(mha, x, mask, head=0):
    weights = weights_of(mha, x, None)[0, head]
    return weights if mask is None else weights * mask[0, 0]


HEADS = {
    "head ignored": (
        lambda mha, x, m, head=0: weights_of(mha, x, m)[0, 0],
        "head_ignored",
        "index",
    ),
    "rounded": (
        lambda mha, x, m, head=0: weights_of(mha, x, m)[0, head].round(decimals=2),
        "rounded",
        "close, but rounded",
    ),
    "mean": (lambda mha, x, m, head=0: weights_of(mha, x, m)[0].mean(0), "mean_over_heads", "one"),
    "from 1": (
        lambda mha, x, m, head=0: weights_of(mha, x, m)[0, head - 1],
        "wrong_head",
        "from 0",
    ),
    "mask ignored": (
        lambda mha, x, m, head=0: weights_of(mha, x, None)[0, head],
        "mask_ignored",
        "Hand the mask on",
    ),
    "own mask": (own_mask, "own_mask", "mask of your own"),
    "sum": (lambda mha, x, m, head=0: weights_of(mha, x, m)[0].sum(0), "sum_over_heads", "of one"),
    "largest": (
        lambda mha, x, m, head=0: weights_of(mha, x, m)[0].amax(0),
        "sum_over_heads",
        "weights of one",
    ),
    "softmax again": (
        lambda mha, x, m, head=0: weights_of(mha, x, m)[0, head].softmax(-1),
        "softmax_twice",
        "one already",
    ),
    "percent": (
        lambda mha, x, m, head=0: 100 * weights_of(mha, x, m)[0, head],
        "percent",
        "Give shares",
    ),
    "strictly before": (
        lambda mha, x, m, head=0: weights_of(
            mha, x, torch.ones(x.shape[1], x.shape[1]).tril(-1).bool()
        )[0, head],
        "strictly_before",
        "may read itself",
    ),
    "mask inverted where None": (
        lambda mha, x, m, head=0: mha(x, x, x, ~m)[1][0, head],
        "mask_is_none",
        "if mask is not None",
    ),
    "with gradients to NumPy": (
        lambda mha, x, m, head=0: mha(x, x, x, m)[1][0, head].numpy(),
        "needs_detach",
        ".detach()",
    ),
    "printed": (
        lambda mha, x, m, head=0: print(end=""),
        "returns_nothing",
        "return statement; what print",
    ),
    "a name that is nowhere": (
        lambda mha, x, m, head=0: attention_weights[0, head],  # noqa: F821 - the mistake
        "unknown_name",
        "`attention_weights`",
    ),
    "inverted": (inverted, "mask_inverted", "may attend"),
    "masked late": (masked_late, "mask_after_softmax", "no longer sum to 1"),
    "transposed": (
        lambda mha, x, m, head=0: weights_of(mha, x, m)[0, head].mT,
        "transposed",
        "row for each query",
    ),
    "output": (lambda mha, x, m, head=0: mha(x, x, x, m)[0][0], "output_for_weights", "first"),
    "all heads": (lambda mha, x, m, head=0: weights_of(mha, x, m)[0], "wrong_shape", "[0, head]"),
    "batch kept": (
        lambda mha, x, m, head=0: weights_of(mha, x, m)[:, head],
        "wrong_shape",
        "index 0 along the batch",
    ),
    "pair": (lambda mha, x, m, head=0: mha(x, x, x, m), "returns_pair", "apart"),
    "nothing": (lambda mha, x, m, head=0: None, "returns_nothing", "return"),
    "the notebook's module": (
        lambda mha, x, m, head=0: weights_of(MHA, X, m)[0, head],
        "wrong_shape",
        "(12, 12)",
    ),
    "uniform": (
        lambda mha, x, m, head=0: torch.ones(x.shape[1], x.shape[1]) / x.shape[1],
        "value",
        "nothing but the arguments",
    ),
    "text": (lambda mha, x, m, head=0: "weights", "no_numbers", "array or a tensor"),
    "unknown keyword": (lambda mha, x, m: weights_of(mha, x, m)[0, 0], "signature", "head="),
    "without values": (
        lambda mha, x, m, head=0: mha(x, x, m)[1][0, head],
        "is_none",
        "an argument missing",
    ),
    "attribute of a pair": (
        lambda mha, x, m, head=0: mha(x, x, x, m).weights[0, head],
        "pair_as_array",
        "output, weights",
    ),
}


def changes_weights(weights):
    weights[torch.ones_like(weights).bool().tril()] = 0
    return weights.max()


FUTURES = {
    "too many axes": (lambda w: w[0, 0].triu(1).max(), "raised", "at least 2 dimensions"),
    "nothing found": (lambda w: 0.0, "finds_nothing", "worth nothing"),
    "everything": (lambda w: w.max(), "whole_matrix", "the future alone"),
    "below": (lambda w: w.tril(-1).max(), "wrong_triangle", "below it is the past"),
    "diagonal": (lambda w: w.triu().max(), "counts_diagonal", "reads itself"),
    "past and future": (lambda w: w.max() + 1, "finds_past", "0 is right"),
    "two off": (lambda w: w.triu(2).max(), "misses_neighbour", "You miss the weight in row 0"),
    "neighbour only": (lambda w: w.diagonal(1).max(), "misses_entries", "column 5"),
    "first row": (lambda w: w[0, 1:].max(), "misses_entries", "You miss"),
    "last column": (lambda w: w[:-1, -1].max(), "misses_entries", "You miss"),
    "corner": (lambda w: w[0, -1], "misses_entries", "You miss"),
    "sum": (lambda w: w.triu(1).sum(), "sum_not_max", "Found: 0.625, where the largest"),
    "largest sum": (lambda w: w.triu(1).sum(-1).max(), "sum_of_row", "single weight"),
    "standard deviation": (
        lambda w: np.std(np.asarray(w)[np.triu_indices(len(w), 1)]),
        "standard_deviation",
        "how its weights are spread",
    ),
    "median": (
        lambda w: np.median(np.asarray(w)[np.triu_indices(len(w), 1)]),
        "finds_nothing",
        "worth nothing",
    ),
    "smallest": (lambda w: w[torch.ones_like(w).bool().triu(1)].min(), "finds_nothing", "nothing"),
    "Python's max": (lambda w: max(w.triu(1)), "python_max", ".max()"),
    "sum above": (lambda w: w.sum() - w.tril().sum(), "sum_not_max", "Take the largest"),
    "mean": (lambda w: w.triu(1).sum() / 15, "mean_not_max", "their mean"),
    "count": (lambda w: (w.triu(1) > 0).sum(), "count_not_max", "how many"),
    "verdict": (lambda w: bool(w.triu(1).any()), "count_not_max", "whether there are any"),
    "rounded": (lambda w: round(w.triu(1).max().item(), 3), "rounds_away", "Do not round"),
    "tolerant": (lambda w: w.triu(1).max() * (w.triu(1).max() > 1e-3), "rounds_away", "leaks"),
    "percent": (lambda w: 100 * w.triu(1).max(), "percent", "0.375"),
    "changed": (changes_weights, "mutates_input", "changes its input weights"),
    "a matrix": (lambda w: w.triu(1), "wrong_shape", "Give one number"),
    "a few": (lambda w: w.triu(1).amax(-1), "wrong_shape", "holds 6 numbers"),
    "position": (lambda w: w.triu(1).argmax(), "future_value", "the future is where"),
}


def measure(
    times=lambda S: range(1, S),
    change=lambda x, t: torch.randn(x.shape[-1]),
    distance=lambda before, after, t: (after - before)[:, :t].abs().max().item(),
    gather=max,
    prepare=lambda mha: mha.eval(),
    run=lambda mha, y, mask: mha(y, y, y, mask)[0],
    copy=lambda x: x.clone(),
):
    """Make a measure of leaks of which one part is replaced."""

    def max_leak(mha, x, mask):
        prepare(mha)
        before = run(mha, x, mask).detach().clone()
        found = []
        for t in times(x.shape[1]):
            y = copy(x)
            y[:, t] = change(x, t)
            found.append(distance(before, run(mha, y, mask), t))
        return gather(found)

    return max_leak


def accumulating(mha, x, mask):
    mha.eval()
    before, y, largest = mha(x, x, x, mask)[0], x.clone(), 0.0
    for t in range(1, x.shape[1]):
        y[:, t] = torch.randn(x.shape[-1])
        largest = max(largest, (mha(y, y, y, mask)[0] - before)[:, :t].abs().max().item())
    return largest


def by_weights(mha, x, mask):
    return weights_of(mha, x, mask).triu(1).max().item()


def by_weights_that_move(mha, x, mask):
    return measure(
        run=lambda mha, y, mask: weights_of(mha, y, mask).triu(1).sum((1, 3))[..., None]
    )(mha.eval(), x, mask)


def by_mask(mha, x, mask):
    allowed = torch.ones(1, 1, x.shape[1], x.shape[1]) if mask is None else mask.float()
    return allowed.triu(1).max().item()


def by_key(mha, x, mask):
    return measure(run=lambda mha, y, mask: mha(x, y, x, mask)[0])(mha, x, mask)


def by_query(mha, x, mask):
    mha.eval()
    before, largest = mha(x, x, x, mask)[0], 0.0
    for t in range(1, x.shape[1]):
        y = x.clone()
        y[:, t] = 0
        largest = max(largest, (mha(y, x, x, mask)[0] - before)[:, :t].abs().max().item())
    return largest


def by_two_tokens(mha, x, mask):
    mha.eval()
    before, largest = mha(x, x, x, mask)[0], 0.0
    for t in range(1, x.shape[1]):
        y = x.clone()
        y[:, t - 1 : t + 1] += 1
        largest = max(largest, (mha(y, y, y, mask)[0] - before)[:, :t].abs().max().item())
    return largest


LEAKS = {
    "weights read": (by_weights, "reads_weights", "outputs"),
    "mask read": (by_mask, "module_not_called", "Run the module"),
    "constant 0": (lambda mha, x, mask: 0.0, "module_not_called", "without looking"),
    "runs and says 0": (measure(gather=lambda found: 0.0), "finds_nothing", "worth nothing"),
    "nothing changed": (measure(change=lambda x, t: x[0, t]), "changes_nothing", "three times"),
    "queries only": (by_query, "changes_nothing", "keys and values"),
    "keys only": (by_key, "values_unchanged", "three times"),
    "a component of all tokens": (
        lambda mha, x, mask: (
            (mha(y := x + 1, y, y, mask)[0] - mha.eval()(x, x, x, mask)[0]).abs().max()
        ),
        "changes_several",
        "token t alone",
    ),
    "two tokens at once": (by_two_tokens, "changes_several", "token t alone"),
    "mask not handed on": (
        measure(run=lambda mha, y, mask: mha(y, y, y)[0]),
        "mask_ignored",
        "Hand the mask on",
    ),
    "own mask": (
        measure(run=lambda mha, y, mask: mha(y, y, y, make_causal_mask(y.shape[1]))[0]),
        "own_mask",
        "with every wrong mask",
    ),
    "mask transposed": (
        measure(run=lambda mha, y, mask: mha(y, y, y, None if mask is None else mask.mT)[0]),
        "false_alarm",
        "in that token alone",
    ),
    "own position": (
        measure(distance=lambda b, a, t: (a - b)[:, : t + 1].abs().max().item()),
        "counts_own_position",
        "ends before t",
    ),
    "all positions": (
        measure(distance=lambda b, a, t: (a - b).abs().max().item()),
        "counts_own_position",
        "output at t itself",
    ),
    "later positions": (
        measure(
            lambda S: range(S - 1), distance=lambda b, a, t: (a - b)[:, t + 1 :].abs().max().item()
        ),
        "counts_later_positions",
        "outputs after t",
    ),
    "changes accumulate": (accumulating, "accumulates_changes", "fresh copy"),
    "x changed": (measure(copy=lambda x: x), "mutates_input", "x.clone()"),
    "last token only": (measure(lambda S: [S - 1]), "misses_pairs", "every token t"),
    "token 1 only": (measure(lambda S: [1]), "misses_pairs", "reads token 6"),
    "middle token only": (measure(lambda S: [S // 2]), "misses_pairs", "reads token 1"),
    "last token left out": (measure(lambda S: range(1, S - 1)), "misses_pairs", "reads token 6"),
    "neighbour only": (
        measure(distance=lambda b, a, t: (a - b)[:, t - 1].abs().max().item()),
        "misses_pairs",
        "output 0 of 0 ... 6 reads token 6",
    ),
    "first output only": (
        measure(distance=lambda b, a, t: (a - b)[:, 0].abs().max().item()),
        "misses_pairs",
        "all outputs before t",
    ),
    "last loop only": (measure(gather=lambda found: found[-1]), "misses_pairs", "reads token 1"),
    "neighbour left out": (
        measure(
            lambda S: range(2, S), distance=lambda b, a, t: (a - b)[:, : t - 1].abs().max().item()
        ),
        "misses_mask",
        "one position too wide",
    ),
    "no absolute value": (
        measure(distance=lambda b, a, t: (a - b)[:, :t].max().item()),
        "no_abs",
        "absolute value",
    ),
    "sum of differences": (
        measure(distance=lambda b, a, t: (a - b)[:, :t].sum().item()),
        "no_abs",
        "never negative",
    ),
    "mean": (
        measure(
            gather=lambda found: sum(found) / len(found),
            distance=lambda b, a, t: (a - b)[:, :t].abs().mean().item(),
        ),
        "not_the_maximum",
        "Take the largest",
    ),
    "sum": (
        measure(gather=sum, distance=lambda b, a, t: (a - b)[:, :t].abs().sum().item()),
        "not_the_maximum",
        "no mean and no sum",
    ),
    "faint change": (measure(change=lambda x, t: x[0, t] + 1e-4), "change_too_small", "by more"),
    "dropout": (measure(prepare=lambda mha: None), "dropout", "mha.eval()"),
    "first component": (
        measure(distance=lambda b, a, t: (a - b)[:, :t, 0].abs().max().item()),
        "one_component",
        "all components",
    ),
    "last component": (
        measure(distance=lambda b, a, t: (a - b)[:, :t, -1].abs().max().item()),
        "one_component",
        "all components",
    ),
    "truth value": (
        measure(distance=lambda b, a, t: bool(((a - b)[:, :t].abs() > 1e-6).any())),
        "not_a_distance",
        "how far",
    ),
    "token's number": (
        measure(distance=lambda b, a, t: t if ((a - b)[:, :t].abs() > 1e-6).any() else 0),
        "not_a_distance",
        "number of a token",
    ),
    "how many": (
        measure(distance=lambda b, a, t: ((a - b)[:, :t].abs() > 1e-6).sum().item()),
        "not_a_distance",
        "count",
    ),
    "NaN": (
        measure(
            lambda S: range(S),
            distance=lambda b, a, t: (a - b)[:, :t].abs().mean().item(),
            gather=lambda f: torch.tensor(f).max(),
        ),
        "not_finite",
        "t = 1",
    ),
    "verdict in words": (
        measure(gather=lambda found: "no leak"),
        "no_numbers",
        "does not read as numbers",
    ),
    "all of them": (measure(gather=lambda found: found), "wrong_shape", "Give one number"),
    "pairs compared": (
        lambda mha, x, m: (mha(0 * x, x, x, m) - mha(x, x, x, m)).abs().max(),
        "pair_as_array",
        "Take it apart",
    ),
    "empty slice": (measure(lambda S: range(S)), "empty_array", "begin with t = 1"),
}


def under(mask, head=0):
    return head_by_index(MHA, X, mask, head)


MAPS = {
    "swapped": (maps(FULL, CAUSAL), "belongs to the run without a mask"),
    "mask_ignored": (maps(FULL, FULL), "Hand the mask on"),
    "own_mask": (maps(CAUSAL, CAUSAL), "even where it is None"),
    "mask_after_softmax": (maps(FULL * np.tri(12), FULL), "rows no longer sum to 1"),
    "wrong_head": (maps(under(MASK, 2), FULL), "`w_causal` holds the weights of another head"),
    "mask_inverted": (maps(under(~MASK), FULL), "invert"),
    "wrong_shape": (maps(CAUSAL[None], FULL), "`w_causal` has shape (1, 12, 12)"),
    "value": (maps(under(torch.ones(12, 12).tril(1).bool()), FULL), "head 0"),
    "transposed": (maps(CAUSAL, FULL.T), "w_full is transposed"),
}


def two_panels(causal, full):
    fig, axes = plt.subplots(1, 2)
    axes[0].imshow(causal)
    axes[1].imshow(full)
    return fig


def no_labels(causal, full):
    fig = figure_of_images(causal, full)
    for ax in fig.axes:
        ax.set(xlabel="", ylabel=" ")
    return fig


def called_a_and_b(causal, full):
    fig = figure_of_images(causal, full)
    for ax in fig.axes:
        ax.set(xlabel="a", ylabel="b")
    return fig


def transposed(causal, full):
    return figure_of_images(causal.T, full.T)


def curves(causal, full):
    fig, ax = plt.subplots()
    ax.plot(causal)
    ax.plot(full)
    return fig


FIGURES = {
    "two panels": (two_panels, "missing_panel", "w_causal - w_full"),
    "causal left out": (lambda c, f: figure_of_images(f, f), "missing_panel", "shows w_causal"),
    "ratio": (lambda c, f: figure_of_images(c, f + 0.1), "missing_panel", "shows w_full"),
    "transposed": (transposed, "transposed", "Your picture of w_causal is transposed"),
    "curves": (curves, "no_heat_maps", "imshow"),
    "empty": (lambda c, f: plt.figure(), "no_heat_maps", "own axes"),
    "upside down": (
        named_axes(lambda ax, data: ax.imshow(data, origin="lower")),
        "upside_down",
        "first query at the bottom",
    ),
    "a mesh from below": (
        named_axes(lambda ax, data: ax.pcolormesh(data)),
        "upside_down",
        "ax.invert_yaxis()",
    ),
    "rows in reverse": (
        named_axes(lambda ax, data: ax.imshow(data[::-1])),
        "upside_down",
        "Queries run downwards",
    ),
    "axes called a and b": (called_a_and_b, "other_labels", "which holds queries"),
    "no labels": (no_labels, "no_labels", "queries from keys"),
    "no figure": (lambda c, f: "fig", "no_figure", "plt.subplots"),
}

WRONG = {
    "takes_the_weights_of_one_head": HEADS,
    "finds_weight_on_the_future": FUTURES,
    "mask_hides_the_future": {
        cause: (answer, cause, words) for cause, (answer, words) in MAPS.items()
    },
    "figure_shows_maps_and_difference": {
        label: (drawn(draw), *told) for label, (draw, *told) in FIGURES.items()
    }
    | {"same map twice": (drawn(figure_of_images, full=CAUSAL), "same_maps", "no difference")},
    "leak_is_measured": LEAKS,
}
PASS_BEFORE = False
UNTOLD = set()
