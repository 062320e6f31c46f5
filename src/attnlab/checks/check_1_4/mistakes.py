"""The mistakes of exercise 1.4, and what each makes of a case.

Quantities: ``maps`` of all layers, from the right ones and a function that runs the layers again;
``drawn``, what a figure shows in place of ``maps[0]``; ``relation``, ``adjacency`` and
``uniformity`` of a case; ``mean``, that of values (L, B, H, queries) in any of these scores;
``shape``, that of a score, from the sizes; ``keys``, those of the heads' names, from L and H.
"""

import numpy as np

from attnlab.checks._diagnose import Mistake, Mistakes
from attnlab.checks.check_1_4.cases import Case, entropies, relation, uniformity

LAYER_1 = "Layer 1 of the text is the one next to the embedding, index 0: maps[0]."
WHOLE = "The model's own forward returns the weights of all layers."
ONE_SCALE = "Draw the weights themselves, all on one scale, such as vmin=0 and vmax=1."
ONE_EACH = "Average over sequences and queries, and over nothing else: one number a layer and head."
BASES = np.log(2), 1 / np.log(2), np.log(10), 1 / np.log(10)
LARGER = "Take the larger mean of a head's two sides."
LOG_S = "The largest entropy of a row is log S, with S the number of keys: divide by that."
TOO_LOW = """the score of head {head} is {value:.2f} and not {least} or more. Average over
    many sequences, not over a single one."""
HEADS = "Layers run from 0 to {last_layer} and heads from 0 to {last_head}, as in the maps."


def _wrapped(case: Case) -> list:
    """Let keys run over both ends, or over the left alone as Python's negative indices do."""
    both = relation(np.roll(case.maps, -case.offset, -1), 0)
    return [both, both if case.offset < 0 else case.right]


def _both_sides(case: Case) -> list:
    sides = case.right, relation(case.maps, -case.offset)
    return [sum(sides), sum(sides) / 2, np.maximum(*sides)]


def _per_query(case: Case) -> list:
    """Take the larger side of each query; where it has one alone it counts as larger, or not."""
    left, right = (np.pad(s, [(0, 0)] * 3 + [(1, 1)]) for s in case.sides)  # (L, B, H, S + 1)
    larger = np.maximum(left[..., :-1], right[..., 1:])  # (L, B, H, S)
    return [larger.mean((1, 3)), np.maximum(*case.sides).mean((1, 3))]


def _at(case: Case, offset: int) -> np.ndarray:
    return relation(case.maps, offset) if abs(offset) < case.S else np.array(np.nan)


def _means(*parts: np.ndarray) -> list:
    """Average each over queries and sequences."""
    return [part.mean((1, 3)) if part.size else np.array(np.nan) for part in parts]


def _other_measures(case: Case) -> list:
    """Take other measures of the rows than their entropy, and what is left of 1."""
    kinds = [np.max, np.min, np.std, np.var, np.median, lambda w, a: (w**2).sum(a)]
    values = [kind(case.maps, -1).mean((1, 3)) for kind in kinds]
    return [*values, *[1 - value for value in values]]


def _keys(L: int, H: int, first: tuple[int, int] = (0, 0)) -> set[tuple[int, int]]:
    return {(first[0] + layer, first[1] + head) for layer in range(L) for head in range(H)}


MISTAKES = Mistakes(
    # The maps, and what a figure shows
    axis_order=Mistake("""Your axes come in another order. It is (layers, B, H, S, S).
        """).makes(maps=lambda m, *_: [m.swapaxes(0, 1), m.swapaxes(1, 2), np.moveaxis(m, 2, 0)]),
    one_layer=Mistake("""You return the maps of one layer alone. Stack those of all layers.
        """).makes(maps=lambda m, *_: [m[-1], m[0]]),
    heads_averaged=Mistake("You average over the heads. Keep each of them by itself.").makes(
        maps=lambda m, *_: m.mean(2),
        drawn=lambda m: m[0].mean(1),
        shape=lambda L, B, H, S: [(L, B), (L,)],
    ),
    batch_averaged=Mistake("""You average over the sequences. Keep each of them by itself.
        """).makes(maps=lambda m, *_: m.mean(1)),
    sequences_averaged=Mistake("""You show the mean over the sequences. Draw each by itself.
        """).makes(drawn=lambda m: m[0].mean(0)),
    layers_averaged=Mistake(f"""You average over the layers. Keep each by itself. {LAYER_1}
        """).makes(drawn=lambda m: m.mean(0), shape=lambda L, B, H, S: (H,)),
    first_sequence=Mistake("""You take the first sequence alone. Take the whole batch.
        """).makes(maps=lambda m, *_: m[:, 0], mean=lambda v: v[:, 0].mean(-1)),
    transposed=Mistake("""Rows and columns are swapped. In a map a row belongs to a query and sums
        to 1, in a table of scores to a layer.""").makes(
        maps=lambda m, *_: m.swapaxes(-1, -2),
        drawn=lambda m: m[0].swapaxes(-1, -2),
        shape=lambda L, B, H, S: (H, L),
    ),
    layers_reversed=Mistake(f"""Your layers come in reverse. {LAYER_1}
        """).makes(maps=lambda m, *_: m[::-1]),
    softmax_twice=Mistake("""You apply a softmax to weights, which are one already.
        """).makes(maps=lambda m, *_: np.exp(m) / np.exp(m).sum(-1, keepdims=True)),
    no_positions=Mistake(f"""Your maps are those of a model without positions. {WHOLE}
        """).makes(maps=lambda m, again: again(positions=False)),
    no_norm=Mistake(f"""Your maps leave out the normalisation in front of the attention. {WHOLE}
        """).makes(maps=lambda m, again: again(norm=False)),
    returns_pair="""You return all that the model returns: its states and the weights. Return the
        weights alone, the second of the two.""",
    states_for_maps="""These are the states of the positions. The weights are the second thing that
        model(x, return_weights=True) returns.""",
    maps_logarithms=Mistake("""These are logarithms of weights. Give the weights as the model
        returns them.""").makes(maps=lambda m, *_: np.log(np.maximum(m, 1e-300))),
    wrong_maps="""These are not the weights that the model attends with. It returns these with
        return_weights=True.""",
    wrong_shape="The shape should be {fits}. Take all sizes from what your function is given.",
    other_layer=Mistake(f"You show another layer. {LAYER_1}").makes(drawn=lambda m: m[1:]),
    rescaled=Mistake(f"""Your maps are divided by their largest weight. {ONE_SCALE}
        """).makes(drawn=lambda m: [m[0] / m[0].max(a, keepdims=True) for a in ((-2, -1), -1)]),
    logarithms=Mistake(f"""You show the logarithms of the weights. {ONE_SCALE}
        """).makes(drawn=lambda m: [log(m[0]) for log in (np.log, np.log2, np.log10)]),
    upside_down=Mistake("""The rows of your maps are in reverse order. Row 0 is the first query.
        """).makes(drawn=lambda m: m[0, ..., ::-1, :]),
    no_maps="""`fig` shows no matrix of {S} x {S} weights. Draw each map as an image, for example
        with ax.imshow(maps[0, sequence, head]).""",
    other_maps="""None of the maps in `fig` is one of layer 1's for these five sequences. Draw
        maps[0, sequence, head], with maps = attention_maps(model, sequences).""",
    first_row_below="""The first query of a map lies at the bottom. Queries run down: imshow does so
        by itself, and after pcolormesh or origin="lower" it is ax.invert_yaxis().""",
    own_scales="""Each map has a colour scale of its own, so they cannot be compared. Give all the
        same limits, such as vmin=0, vmax=1.""",
    maps_missing="Draw all 20 maps; sequence {sequence}, head {head} is missing.",
    # The relation score
    offset_sign=Mistake("""Your keys lie on the other side, at query - offset. With offset 1 the key
        is the one to the right.""").makes(relation=lambda c: relation(c.maps, -c.offset)),
    offset_absolute=Mistake("""You drop the sign. At offset -2 the key lies two places to the left.
        """).makes(relation=lambda c: relation(c.maps, abs(c.offset))),
    both_sides=Mistake("""You count both sides. The offset has a sign: +2 and -2 are two relations.
        """).makes(relation=_both_sides),
    counts_outside=Mistake("""You divide by all S queries. Those whose key would fall outside do not
        count: divide by S - abs(offset).
        """).makes(relation=lambda c: c.by_all, adjacency=lambda c: c.by_all),
    wraps_around=Mistake("""Your keys wrap around the end of the sequence. Leave a query out where
        query + offset lies outside of 0 ... S - 1.""").makes(relation=_wrapped),
    argmax_share=Mistake("""You count how often the key gets the largest weight. Average the weight
        itself.""").makes(relation=lambda c: relation(np.eye(c.S)[c.maps.argmax(-1)], c.offset)),
    first_query=Mistake("""You look at one query alone. Average over all that have a key there.
        """).makes(mean=lambda v: v[..., 0].mean(1)),
    off_by_one=Mistake("""Your keys lie one place off. With offset k it is key = query + k, and 0 is
        the query itself.""").makes(relation=lambda c: [_at(c, c.offset + k) for k in (1, -1)]),
    # The adjacency
    two_away=Mistake("""Your neighbours are not next door. They lie at offsets -1 and +1.
        """).makes(adjacency=lambda c: [np.maximum(_at(c, k), _at(c, -k)) for k in (2, 0)]),
    one_side=Mistake(f"""You look to one side alone. {LARGER}
        """).makes(adjacency=lambda c: list(c.means)),
    mean_of_both=Mistake(f"""You average the two sides, so that a head that looks to the left alone
        scores 0.5. {LARGER}""").makes(adjacency=lambda c: sum(c.means) / 2),
    sum_of_both=Mistake(f"""You add the two sides up. {LARGER}
        """).makes(adjacency=lambda c: sum(c.means)),
    smaller_of_both=Mistake(f"""You take the smaller of the two sides. {LARGER}
        """).makes(adjacency=lambda c: np.minimum(*c.means)),
    larger_per_query=Mistake(f"""You choose the side anew for each query. {LARGER}
        """).makes(adjacency=_per_query),
    larger_per_sequence=Mistake(f"""You choose the side anew for each sequence. {LARGER}
        """).makes(adjacency=lambda c: np.maximum(*(v.mean(-1) for v in c.sides)).mean(1)),
    includes_itself=Mistake("""You let the diagonal count. A position is not its own neighbour.
        """).makes(adjacency=lambda c: np.maximum(c.right, relation(c.maps, 0))),
    # The uniformity
    not_normalised=Mistake(f"""Your entropy is in nats and not yet divided. {LOG_S}
        """).makes(uniformity=lambda c: c.nats),
    bits_not_normalised=Mistake(f"""Your entropy is in bits and not yet divided. {LOG_S} Take both
        logarithms to the same base.""").makes(uniformity=lambda c: c.nats / np.log(2)),
    mixed_logarithms=Mistake("""Entropy and log S have different bases. Take one for both.
        """).makes(uniformity=lambda c: [c.right * f for f in BASES]),
    sign=Mistake("""Your entropy is negative, as the logarithm of a weight is. Put a minus in front
        of the sum.""").makes(uniformity=lambda c: -c.right),
    reversed=Mistake("""Yours is 1 where a head looks at one key. Uniformity is the other way round:
        1 where all keys get the same.""").makes(uniformity=lambda c: 1 - c.right),
    wrong_length=Mistake(f"""You divide by the logarithm of another number than S. {LOG_S}
        """).makes(uniformity=lambda c: [c.nats / np.log(n) for n in (*c.maps.shape[:3], c.S**2)]),
    divided_by_S=Mistake(f"You divide by S. {LOG_S}").makes(uniformity=lambda c: c.nats / c.S),
    perplexity=Mistake(f"""You give the share of keys in use, exp(entropy) / S. {LOG_S}
        """).makes(uniformity=lambda c: (c.S ** entropies(c.maps)).mean((1, 3)) / c.S),
    averaged_first=Mistake("""You average the maps and take the entropy of the mean. Take that of
        each row first, then average.""").makes(
        uniformity=lambda c: [uniformity(c.maps.mean(a, keepdims=True)) for a in (1, -2, (1, -2))]
    ),
    nan_to_zero=Mistake("""You turn the nan of a whole row into 0, and lose what its other weights
        add. Leave out the single weights that are 0.
        """).makes(uniformity=lambda c: (entropies(c.maps) * c.maps.all(-1)).mean((1, 3))),
    large_epsilon=Mistake("""What you add inside the logarithm shifts the entropy. Skip weights of
        0, or add something like 1e-12.""").makes(
        uniformity=lambda c: [uniformity(c.maps, more) for more in (0.1, 0.01, 0.001)]
    ),
    nan_at_zero="""A computer takes 0 times log 0 for nan. A weight of 0 adds nothing to the
        entropy: leave it out.""",
    not_entropy=Mistake("""That is another measure of a row: its largest or smallest weight, its
        standard deviation, variance or sum of squares. Take the entropy, the sum of -w log w.
        """).makes(uniformity=_other_measures),
    averaged_terms=Mistake(f"""You average the terms -w log w of a row. Add them up. {LOG_S}
        """).makes(uniformity=lambda c: [c.nats / c.S, c.right / c.S]),
    # All three scores
    rounded=Mistake("""You round. Return the score as it comes out.
        """).makes(
        **{
            score: lambda c: [c.right.round(k) for k in (0, 1, 2, 3)]
            for score in ("relation", "adjacency", "uniformity")
        }
    ),
    percent=Mistake("""You give percentages. Leave out the factor 100.
        """).makes(
        **{score: lambda c: 100 * c.right for score in ("relation", "adjacency", "uniformity")}
    ),
    median_not_mean=Mistake("""You take the median. Take the mean over queries and sequences.
        """).makes(mean=lambda v: [np.median(v, (1, 3)), np.median(v, 3).mean(1)]),
    query_dropped=Mistake("""You leave a query out that has a key there. Average over all that have.
        """).makes(mean=lambda v: _means(v[..., 1:], v[..., :-1])),
    sequence_dropped=Mistake("""You leave a sequence out. Average over the whole batch.
        """).makes(mean=lambda v: _means(v[:, 1:], v[:, :-1])),
    thresholded=Mistake("""You count weights above a threshold, or keep those alone. Average the
        weights themselves, small ones too.
        """).makes(
        mean=lambda v: [
            f
            for t in (0.1, 0.2, 0.25, 0.3, 0.5)
            for f in ((v > t).mean((1, 3)), np.where(v > t, v, 0).mean((1, 3)))
        ]
    ),
    max_not_mean=Mistake("""You keep the largest value. Take the mean over queries and sequences.
        """).makes(mean=lambda v: [v.max(-1).mean(1), v.max((1, 3))]),
    sum_not_mean=Mistake("""You add up. Divide by how many there are, or it grows with B and S.
        """).makes(mean=lambda v: [v.sum((1, 3)), v.sum(-1).mean(1), v.mean(-1).sum(1)]),
    one_number=Mistake(f"You average over everything. {ONE_EACH}").makes(shape=lambda *sizes: ()),
    batch_not_averaged=Mistake(f"""You keep the sequences apart. {ONE_EACH}
        """).makes(shape=lambda L, B, H, S: (L, B, H)),
    queries_not_averaged=Mistake(f"""You keep the queries apart. {ONE_EACH}
        """).makes(shape=lambda L, B, H, S: (L, H, S)),
    not_averaged=Mistake(f"""You keep sequences and queries apart. {ONE_EACH}
        """).makes(shape=lambda *sizes: sizes),
    not_finite="Look at what you divide by, and at slices that may be empty.",
    wrong_value="With {case} your score of head {head} is {given:.4f}, but {right:.4f} is right.",
    # The names of the heads
    no_dictionary="""`head_roles` is of type {kind}. Make it a dictionary, such as {{(0, 0):
        'other', (0, 1): 'uniform', ...}}.""",
    wrong_keys="A key of `head_roles` is no pair (layer, head). Use both numbers, such as (0, 3).",
    counted_from_one=Mistake(f"""Your keys count from 1. {HEADS}
        """).makes(keys=lambda L, H: [_keys(L, H, first) for first in ((1, 1), (1, 0), (0, 1))]),
    keys_exchanged=Mistake("""Your keys are (head, layer). Write (layer, head).
        """).makes(keys=lambda L, H: {(head, layer) for layer, head in _keys(L, H)}),
    no_such_head=f"There is no head {{head}}. {HEADS}",
    heads_missing="Head {head} has no name. Name all {number} heads; 'other' is a name, too.",
    unknown_name="Head {head} is called {name!r}. Use one of {names}.",
    untrained="""Your model copies only {share:.0%} right, so its heads have learned little. Run the
        cell that trains it once more, from a new model on.""",
    layers_exchanged="""Your names fit if the layers are exchanged. Index 0 is the layer next to the
        embedding, as in the maps.""",
    overlooked="""Head {head} is not 'other': one of its three scores reaches the threshold.
        Compute all three.""",
    adjacent_as_relation=f"The key of head {{head}} is a neighbour. At offsets from 2 on {TOO_LOW}",
    relation_as_adjacent=f"""The key of head {{head}} is further away. At offsets -1 and +1
        {TOO_LOW}""",
    not_adjacent=f"For 'adjacent' {TOO_LOW}",
    no_relation=f"For 'relation' {TOO_LOW}",
    not_uniform=f"For 'uniform' {TOO_LOW}",
)
