"""The mistakes of exercise 1.2, and what each makes of a case.

Quantities: ``weights`` of one head, and ``future``, the largest weight above the diagonal of a
matrix. What a measure of leaks does wrong is seen in how it calls a module; see `leaks`.
"""

import numpy as np
import torch

from attnlab.checks._diagnose import Mistake, Mistakes
from attnlab.checks.check_1_2.cases import Case
from attnlab.masks import make_causal_mask

RUN = "mha(x, x, x, mask)"
FUTURE = "Row i holds what query i reads, so the future is where the column j is larger than i."
TURNS = "Change every token t in turn, from 1 on, and look at all outputs before t."
THREE_TIMES = "Hand it on three times: mha(changed, changed, changed, mask)."
SPREADS = np.std, np.var, np.median
BEFORE = "may move: compare [:, :t], which ends before t."


def _above(weights: np.ndarray) -> np.ndarray:
    return weights[np.triu_indices(len(weights), 1)]


def _inverted(case: Case) -> np.ndarray:
    return case.weights(None if case.mask is None else ~case.mask)[case.head]


def _causal(case: Case) -> np.ndarray:
    return case.weights(make_causal_mask(case.x.shape[1]))[case.head]


def _masked_late(case: Case) -> np.ndarray:
    allowed = 1 if case.mask is None else case.mask[0, 0].cpu().numpy()
    return case.weights(None)[case.head] * allowed


def _softmax(weights: np.ndarray) -> np.ndarray:
    return np.exp(weights) / np.exp(weights).sum(-1, keepdims=True)


def _strict(case: Case) -> np.ndarray:
    mask = torch.ones(case.x.shape[1], case.x.shape[1], dtype=torch.bool).tril(-1)
    return case.weights(mask)[case.head]


MISTAKES = Mistakes(
    # The weights of one head
    returns_pair=f"""`{{name}}` is what the module returns, output and weights. Take it apart:
        output, weights = {RUN}.""",
    output_for_weights="""`{name}` has shape {shape}. That is the output. The module returns it
        first and the weights second.""",
    wrong_shape="""`{name}` has shape {shape}. One head of one sequence has shape ({S}, {S}): take
        index 0 along the batch and index head along the heads, weights[0, head].""",
    swapped="""`w_full` has nothing above the diagonal. It belongs to the run without a mask, and
        `w_causal` to the one with it.""",
    head_ignored=Mistake("""Your function gives the weights of head 0 whatever head it is asked for.
        Use its argument head as the index.""").makes(weights=lambda case: case.right[0]),
    sum_over_heads=Mistake("""You add up the heads. Take the weights of one: the second axis of the
        module's weights counts heads.""").makes(
        weights=lambda case: [case.right.sum(0), case.right.max(0), case.right.min(0)]
    ),
    softmax_twice=Mistake("""A softmax of weights: they are one already. Give them as the module
        returns them.""").makes(weights=lambda case: _softmax(case.right[case.head])),
    percent=Mistake("""These are percentages. Give shares, as the module returns them.
        """).makes(
        weights=lambda case: 100 * case.right[case.head],
        future=lambda weights: 100 * _above(weights).max(),
    ),
    strictly_before=Mistake("""The diagonal is masked, too. A query may read itself: hand on the
        mask as it is.""").makes(weights=_strict),
    mean_over_heads=Mistake("""You average over the heads. Take the weights of one: the second axis
        of the module's weights counts heads.""").makes(weights=lambda case: case.right.mean(0)),
    transposed=Mistake("""{name} is transposed. Queries run downwards and keys to the right: a row
        for each query.""").makes(weights=lambda case: case.right[case.head].T),
    wrong_head=Mistake("""`{name}` holds the weights of another head. Count heads from 0, along the
        second axis of the module's weights.""").makes(weights=lambda case: list(case.right)),
    mask_ignored=Mistake(f"""You run the module without the mask. Hand the mask on: {RUN}.
        """).makes(weights=lambda case: case.weights(None)[case.head]),
    mask_inverted=Mistake("""You invert the mask. True means may attend, for this module too, so
        hand it on as it is.""").makes(weights=_inverted),
    mask_after_softmax=Mistake(f"""You multiply finished weights by the mask, so rows no longer sum
        to 1. Let the module apply the mask: {RUN}.""").makes(weights=_masked_late),
    own_mask=Mistake("""You use a causal mask of your own. Hand on the mask that you are given, even
        where it is None.""").makes(weights=_causal),
    rounded="`{name}` is close, but rounded. Give the weights as the module returns them.",
    value=f"""`{{name}}` is not what head {{head}} of this module gives. Use nothing but the
        arguments: {RUN} returns output and weights; index the weights.""",
    # The largest weight on the future
    counts_diagonal=Mistake(f"""Leave out the diagonal, where each query reads itself. {FUTURE}
        """).makes(future=lambda weights: [np.triu(weights).max(), np.diag(weights).max()]),
    wrong_triangle=Mistake(f"""Look above the diagonal: below it is the past. {FUTURE}
        """).makes(future=lambda weights: np.tril(weights, -1).max()),
    whole_matrix=Mistake(f"""Look at the future alone, not at all weights. {FUTURE}
        """).makes(future=np.max),
    finds_past=f"Where nothing lies above the diagonal, 0 is right. {FUTURE}",
    rounds_away=Mistake("""Do not round: a mask that leaks a little leaks.
        """).makes(future=lambda weights: [_above(weights).max().round(k) for k in (2, 3, 4)]),
    finds_nothing=Mistake("""A measure that cannot find a leak is worth nothing. {look}
        """).makes(future=lambda weights: 0.0),
    misses_neighbour=Mistake(f"""You miss the weight in row {{row}}, column {{column}}. {FUTURE}
        """).makes(future=lambda weights: np.triu(weights, 2).max()),
    sum_of_row=Mistake("""Look for the largest single weight, not for the query that gives most to
        the future in all.""").makes(future=lambda weights: np.triu(weights, 1).sum(1).max()),
    standard_deviation=Mistake("""Take the largest weight on the future, not how its weights are
        spread, and not their median.""").makes(
        future=lambda weights: [
            f(a) for a in (_above(weights), np.triu(weights, 1)) for f in SPREADS
        ]
    ),
    sum_not_max=Mistake("""Take the largest weight on the future, not their sum.
        """).makes(future=lambda weights: _above(weights).sum()),
    mean_not_max=Mistake("""Take the largest weight on the future, not their mean.
        """).makes(future=lambda weights: [_above(weights).mean(), np.triu(weights, 1).mean()]),
    count_not_max=Mistake("""Return the largest weight itself, not how many there are or whether
        there are any.""").makes(future=lambda weights: (_above(weights) > 0).sum()),
    misses_entries=f"You miss the weight in row {{row}}, column {{column}}. {FUTURE}",
    future_value=f"Return the largest weight on the future and nothing else. {FUTURE}",
    # The figure
    same_maps="""`w_causal` and `w_full` are the same, so there is no difference to show. Compute
        the first with the causal mask.""",
    no_heat_maps="""Your figure shows no heat map of this size. Draw each matrix on its own axes,
        for instance with axes[0].imshow(w_causal).""",
    missing_panel="""None of your heat maps shows {name}. Draw w_causal, w_full, and w_causal -
        w_full or the reverse.""",
    upside_down="""Your picture of {name} has the first query at the bottom. Queries run downwards:
        imshow does so by itself, and after pcolormesh, contourf or origin="lower" it is
        ax.invert_yaxis().""",
    other_labels="""The names of the axes do not say which holds queries and which holds keys: for
        instance ax.set(xlabel="key", ylabel="query").""",
    no_labels="""Name the axes: a reader cannot tell queries from keys. For instance
        ax.set(xlabel="key", ylabel="query").""",
    # What a measure of leaks finds where there is none
    module_not_called=f"""You measure {{found:.3g}} without looking. Run the module, output, weights
        = {RUN}, before and after a change, and compare the outputs.""",
    no_abs="Take the absolute value of each difference, then the largest.",
    not_finite="""You measure {found}. Look for a position that has no other before it: begin with
        t = 1.""",
    changes_several="""You change several tokens at once, and they move their own outputs. Change
        token t alone: changed[:, t].""",
    accumulates_changes="""You change a token while one before it is still changed. Begin each time
        with a fresh copy, x.clone().""",
    counts_own_position=f"Leave out the output at t itself. It {BEFORE}",
    counts_later_positions=f"Leave out the outputs after t. They {BEFORE}",
    false_alarm=f"{TURNS} Compare two runs that differ in that token alone.",
    dropout="""Two runs in training mode drop different weights. Measure in evaluation mode:
        mha.eval().""",
    # What it misses
    changes_nothing=f"""The module never gets a changed token among its keys and values. Change a
        copy of x. {THREE_TIMES}""",
    misses_mask=f"{TURNS} Some leaks reach only some of them.",
    change_too_small="""Such a change is lost in rounding. Change the token by more, for
        instance to a new random vector.""",
    values_unchanged=f"""You hand the changed copy on as query or key alone, but this module leaks
        through its values. {THREE_TIMES}""",
    reads_weights=f"Compare *outputs*, before and after a change. {TURNS}",
    one_component="""Look at all components of the outputs, not at one: take the largest over the
        last axis, too.""",
    not_a_distance="""Return how far the outputs move. A truth value, the number of a token or a
        count does not say whether a leak is faint or strong.""",
    misses_pairs=f"""Here output {{output}} of 0 ... {{last}} reads token {{token}} and its own,
        which gives {{found:.3g}}. {TURNS}""",
    not_the_maximum="Take the largest over all t and all outputs before it, no mean and no sum.",
)
