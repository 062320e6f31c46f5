"""Right answers to exercise 1.2, as different students write them."""

import copy

import matplotlib.pyplot as plt
import numpy as np
import torch
from answers import EVERY_SEED, Call, stub

from attnlab import plotting
from attnlab.masks import make_causal_mask
from attnlab.multihead import MultiHeadAttention

# The weights of one head


def head_by_index(mha, x, mask, head=0):
    _, weights = mha(x, x, x, mask)
    return weights[0, head].detach()


def head_with_gradient(mha, x, mask, head=0):
    return mha(query=x, key=x, value=x, mask=mask)[1][0][head]


def head_as_array(mha, x, mask, head=0):
    with torch.no_grad():
        return mha(x, x, x, mask=mask)[1].numpy()[0, head]


def head_as_lists(mha, x, mask=None, head=0):
    return mha.eval()(x, x, x, mask)[1].squeeze(0)[head].tolist()


def head_by_selection(mha, x, mask, head=0):
    return torch.einsum("bhij->hij", mha(x, x, x, mask)[1]).select(0, head).double()


def head_by_hand(mha, x, mask, head=0):
    Q, K = mha.split_heads(mha.W_q(x))[0, head], mha.split_heads(mha.W_k(x))[0, head]
    scores = Q @ K.T / mha.d_k**0.5
    if mask is not None:
        blocked = ~mask[0, 0] if mask.dim() == 4 else ~mask
        scores = scores.masked_fill(blocked, float("-inf"))
    return scores.softmax(-1)


# The largest weight on the future


def future_by_triu(weights):
    return weights.triu(1).max().item()


def future_by_mask(weights):
    S = len(weights)
    return weights[torch.ones(S, S, dtype=torch.bool).triu(1)].max()


def future_by_loops(weights):
    largest = 0.0
    for i in range(len(weights)):
        for j in range(i + 1, len(weights)):
            largest = max(largest, float(weights[i][j]))
    return largest


def future_by_numpy(weights):
    return float(np.triu(np.asarray(weights), k=1).max())


def future_of_arrays_alone(weights):
    return weights[np.triu_indices(weights.shape[0], 1)].max(axis=0).astype(float)


def future_by_comparison(weights):
    i, j = torch.meshgrid(torch.arange(len(weights)), torch.arange(len(weights)), indexing="ij")
    return torch.where(j > i, torch.as_tensor(weights), 0.0).amax()


# The leak


def leak_by_loop(mha, x, mask):
    mha.eval()
    before, _ = mha(x, x, x, mask)
    largest = 0.0
    for t in range(1, x.shape[1]):
        changed = x.clone()
        changed[:, t] = torch.randn(x.shape[-1])
        after, _ = mha(changed, changed, changed, mask)
        largest = max(largest, (after - before)[:, :t].abs().max().item())
    return largest


@torch.no_grad()
def leak_in_one_batch(mha, x, mask):
    mha.eval()
    S = x.shape[1]
    copies = x.repeat(S, 1, 1)
    copies[range(S), range(S)] += torch.randn(S, x.shape[2])
    moved = mha(copies, copies, copies, mask)[0] - mha(x, x, x, mask)[0]
    return moved.abs().amax(-1).tril(-1).max()


def leak_by_zeroing(mha, x, mask):
    training = mha.training
    mha.eval()
    with torch.no_grad():
        before = mha(x, x, x, mask)[0][0]
        moves = [0.0]
        for t in range(x.size(1)):
            keep = torch.ones(1, x.size(1), 1)
            keep[0, t] = 0
            after = mha(x * keep, x * keep, x * keep, mask)[0][0]
            moves += [torch.dist(after[i], before[i]).item() for i in range(t)]
    mha.train(training)
    return max(moves)


def leak_by_jacobian(mha, x, mask):
    mha.eval()
    J = torch.autograd.functional.jacobian(lambda y: mha(y, y, y, mask)[0], x)
    J = J[0, :, :, 0].abs().amax((1, 3))
    return float(J.triu(1).max())


def leak_through_keys_and_values(mha, x, mask):
    mha.eval()
    before = mha(x, x, x, mask)[0]
    largest = torch.tensor(0.0)
    for t in range(x.shape[1] - 1, 0, -1):
        y = x.clone()
        y[0, t, :] = -3 * y[0, t, :]
        after = mha(x, y, y, mask)[0]
        largest = torch.maximum(largest, (after - before)[0, :t].abs().max())
    return largest


def leak_with_the_same_dropout(mha, x, mask):
    def run(y):
        torch.manual_seed(3)
        return mha(y, y, y, mask)[0].detach().numpy()[0]

    found = []
    for t in range(1, x.shape[1]):
        kept = x[0, t].clone()
        before = run(x)
        x[0, t] += 1.0
        after = run(x)
        x[0, t] = kept
        found.append(np.linalg.norm(after - before, axis=1)[:t].max())
    return np.max(found)


def leak_of_whole_futures(mha, x, mask):
    mha.eval()
    before = mha(x, x, x, mask)[0]
    ends = [torch.cat([x[:, :t], torch.randn_like(x[:, t:])], dim=1) for t in range(1, x.shape[1])]
    moved = [(mha(y, y, y, mask)[0] - before)[:, :t].abs().max() for t, y in enumerate(ends, 1)]
    return max(moved)


def relative_leak(mha, x, mask):
    mha.eval()
    before = mha(x, x, x, mask)[0].detach()
    found = []
    for t in range(1, x.shape[1]):
        y = x.clone()
        y[0, t] = torch.randn(x.shape[-1])
        after = mha(y, y, y, mask)[0].detach()
        found.append(((after - before)[0, :t].norm(dim=-1) / before[0, :t].norm(dim=-1)).max())
    return torch.stack(found).max()


def cosine_leak(mha, x, mask):
    mha.eval()
    before = mha(x, x, x, mask)[0].detach().double()
    largest = 0.0
    for t in range(1, x.shape[1]):
        y = x.clone()
        y[0, t] = 10 * torch.randn(x.shape[-1])
        after = mha(y, y, y, mask)[0].detach().double()
        angles = 1 - torch.cosine_similarity(after[0, :t], before[0, :t], dim=-1)
        largest = max(largest, angles.max().item())
    return largest


def leak_of_a_copy(mha, x, mask):
    return leak_by_loop(copy.deepcopy(mha).eval(), x, mask)


def leak_with_a_guard_at_0(mha, x, mask):
    mha.eval()
    before, largest = mha(x, x, x, mask)[0], 0.0
    for t in range(x.shape[1]):
        y = x.clone()
        y[:, t] = torch.zeros(x.shape[-1])
        moved = (mha(y, y, y, mask)[0] - before)[:, :t].abs()
        largest = max(largest, moved.max().item() if moved.numel() else 0.0)
    return largest


def head_in_bfloat16(mha, x, mask, head=0):
    return head_by_index(mha, x, mask, head).to(torch.bfloat16)


def head_as_tuples(mha, x, mask, head=0):
    return tuple(map(tuple, head_by_index(mha, x, mask, head).tolist()))


def future_without_axes(weights):
    return np.array(np.triu(np.asarray(weights), 1).max())


# The maps and the figure


with torch.random.fork_rng(devices=[]):
    torch.manual_seed(0)
    MHA, X = MultiHeadAttention(64, 4), torch.randn(1, 12, 64)
MASK = make_causal_mask(12)
CAUSAL, FULL = (head_by_index(MHA, X, mask).numpy() for mask in (MASK, None))


def figure_of_images(causal, full):
    fig, axes = plt.subplots(1, 3)
    for ax, data in zip(axes, (causal, full, full - causal), strict=True):
        image = ax.imshow(data)
        fig.colorbar(image, ax=ax)
        ax.set(xlabel="key", ylabel="query")
    return fig


def figure_of_meshes(causal, full):
    fig, axes = plt.subplots(3, 1, sharex=True)
    for ax, data in zip(axes, (full, causal, causal - full), strict=True):
        ax.pcolormesh(data)
        ax.invert_yaxis()
    fig.supxlabel("keys")
    fig.supylabel("queries")
    return fig, axes


def figure_of_blank_cells(causal, full):
    _, axes = plt.subplots(2, 2)
    blocked = np.triu(np.ones_like(causal), 1) > 0
    axes[0, 0].matshow(np.ma.masked_where(blocked, causal))
    axes[0, 1].pcolor(full)
    axes[0, 1].invert_yaxis()
    axes[1, 0].imshow(np.abs(full - causal), cmap="magma")
    axes[1, 0].set(xlabel="position of the key", ylabel="position of the query")
    axes[1, 1].plot(full[0])
    return axes


def figure_of_nan_cells(causal, full):
    _, axes = plt.subplots(ncols=3)
    axes[0].imshow(np.where(causal > 0, causal, np.nan))
    axes[1].imshow(full, vmin=0, vmax=1)
    axes[2].pcolormesh(np.arange(13), np.arange(13), causal - full, cmap="RdBu")
    axes[2].invert_yaxis()
    axes[0].set_ylabel("query")
    axes[1].set_xlabel("key")
    return axes[0]


def figure_with_swapped_axes(causal, full):
    fig, axes = plt.subplots(1, 3)
    for ax, data in zip(axes, (causal, full, full - causal), strict=True):
        ax.imshow(data.T)
        ax.set(xlabel="Query", ylabel="Key")
    return fig


def figure_in_the_books_look(causal, full):
    with plt.rc_context():
        plotting.use_book_style()
        fig, axes = plt.subplots(1, 3)
        for ax, data in zip(axes, (causal, full, full - causal), strict=True):
            plotting.heatmap(ax, data, blocked=causal == 0)
    return fig


def named_axes(draw):
    """Draw three matrices on axes of their own and name these."""

    def figure(causal, full):
        fig, axes = plt.subplots(1, 3)
        for ax, data in zip(axes, (causal, full, full - causal), strict=True):
            draw(ax, data)
            ax.set(xlabel="Key position", ylabel="Query position")
        return fig

    return figure


def filled_contours(ax, data):
    ax.contourf(data, 30)
    ax.invert_yaxis()


def points(ax, data):
    i, j = np.indices(data.shape)
    ax.scatter(j, i, c=data, s=80, marker="s")
    ax.invert_yaxis()


def rows_in_reverse(ax, data):
    ax.imshow(data[::-1])
    ax.set_yticks(range(12), range(11, -1, -1))


def reversed_and_turned(ax, data):
    ax.imshow(data[::-1], origin="lower")


def columns_of_bars(ax, data):
    for row in data:
        ax.bar(range(12), row)
    ax.invert_yaxis()


DRAWN = {
    "contourf": named_axes(filled_contours),
    "scatter": named_axes(points),
    "rows in reverse, labelled so": named_axes(rows_in_reverse),
    "rows in reverse, from below": named_axes(reversed_and_turned),
    "percent": named_axes(lambda ax, data: ax.imshow(100 * data)),
    "upper triangle blank": named_axes(
        lambda ax, data: ax.imshow(np.ma.masked_equal(data, 0), cmap="viridis")
    ),
    "bars": named_axes(columns_of_bars),
}


def maps(causal, full):
    """Make what the check of the maps is called with."""
    return Call(lambda: (causal, full, MHA, X))


def drawn(draw, causal=CAUSAL, full=FULL):
    """Make what the check of a figure is called with."""
    return Call(lambda: (draw(causal, full), causal, full))


def named(*functions):
    return {function.__name__: function for function in functions}


RIGHT = {
    "takes_the_weights_of_one_head": named(
        head_by_index,
        head_with_gradient,
        head_as_array,
        head_as_lists,
        head_by_selection,
        head_by_hand,
        head_in_bfloat16,
        head_as_tuples,
    ),
    "finds_weight_on_the_future": named(
        future_by_triu,
        future_by_mask,
        future_by_loops,
        future_by_numpy,
        future_of_arrays_alone,
        future_by_comparison,
        future_without_axes,
    ),
    "mask_hides_the_future": {
        form.__name__: maps(form(CAUSAL), form(FULL))
        for form in (np.array, torch.tensor, np.ndarray.tolist, np.float64)
    },
    "figure_shows_maps_and_difference": {
        draw.__name__: drawn(draw)
        for draw in (
            figure_of_images,
            figure_of_meshes,
            figure_of_blank_cells,
            figure_of_nan_cells,
            figure_with_swapped_axes,
            figure_in_the_books_look,
        )
    }
    | {label: drawn(draw) for label, draw in DRAWN.items()},
    "leak_is_measured": named(
        leak_by_loop,
        leak_in_one_batch,
        leak_by_zeroing,
        leak_by_jacobian,
        leak_through_keys_and_values,
        leak_with_the_same_dropout,
        leak_of_whole_futures,
        relative_leak,
        cosine_leak,
        leak_of_a_copy,
        leak_with_a_guard_at_0,
    ),
}
UNTOUCHED = {check: [stub, None] for check in RIGHT} | {
    "mask_hides_the_future": [maps(None, FULL), maps(CAUSAL, None)],
    "figure_shows_maps_and_difference": [
        drawn(lambda causal, full: None),
        Call(lambda: (figure_of_images(CAUSAL, FULL), None, FULL)),
        Call(lambda: (figure_of_images(CAUSAL, FULL), CAUSAL, None)),
    ],
}
SEEDS = EVERY_SEED
FIXED = {"mask_hides_the_future", "figure_shows_maps_and_difference"}
SEEDED = {"takes_the_weights_of_one_head"}
