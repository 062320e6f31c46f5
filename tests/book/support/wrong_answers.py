"""Wrong answers that the acceptance test types into each exercise, in JupyterLab."""

from typing import NamedTuple


class Wrong(NamedTuple):
    """What is typed into which cell, and words that its graded cell must then show."""

    answer: str
    graded: str
    source: str
    words: str


WRONG_ANSWERS = {
    "1_1_by_hand": [
        Wrong(
            "1_1-weights-unscaled-answer",
            "1_1-weights-without-scale",
            "weights_unscaled = [[0.731, 0.269, 0.5], [0.269, 0.731, 0.5]]",
            "you normalised each column",
        ),
        Wrong(
            "1_1-weights-scaled-answer",
            "1_1-weights-with-scale",
            "weights_scaled = weights_unscaled = [[0.422, 0.155, 0.422], [0.155, 0.422, 0.422]]",
            "the scale is missing",
        ),
        Wrong(
            "1_1-weights-scaled-answer",
            "1_1-weights-with-scale",
            "weights_scaled = [[0.384, 0.233, 0.384], [0.233, 0.384, 0.384]]",
            "you divided by d_k = 2",
        ),
        Wrong(
            "1_1-output-unscaled-answer",
            "1_1-output-without-scale",
            "output_unscaled = [[3, 3.534], [4, 4.534]]",
            "rows and columns are swapped",
        ),
        Wrong(
            "1_1-entropy-scaled-answer",
            "1_1-entropy-with-scale",
            "entropy_scaled = [1.520, 1.520]",
            "these are bits",
        ),
        Wrong(
            "1_1-entropy-scaled-answer",
            "1_1-entropy-with-scale",
            "entropy_scaled = [-1.053, -1.053]",
            "never negative",
        ),
    ],
    "1_4_heads": [
        Wrong(
            "1_4-maps",
            "1_4-returns-all-maps",
            "def attention_maps(model, x):\n"
            "    return model(x, return_weights=True)[1].detach().transpose(0, 1)",
            "Your axes come in another order",
        ),
        Wrong(
            "1_4-figure",
            "1_4-shows-twenty-maps",
            "fig, axes = plt.subplots(5, 4)\n"
            "maps = attention_maps(model, sequences)[1].flatten(0, 1)\n"
            "images = [place.imshow(matrix) for place, matrix in zip(axes.flat, maps)]",
            "You show another layer",
        ),
        Wrong(
            "1_4-relation",
            "1_4-scores-relations",
            "def relation_score(maps, offset):\n"
            "    return torch.as_tensor(maps).diagonal(-offset, -2, -1).mean((1, 3))",
            "Your keys lie on the other side",
        ),
        Wrong(
            "1_4-uniformity",
            "1_4-scores-uniformity",
            "def uniformity(maps):\n"
            "    maps = torch.as_tensor(maps)\n"
            "    return -(maps * maps.log()).sum(-1).mean((1, 3)) / math.log(maps.shape[-1])",
            "A computer takes 0 times log 0 for nan",
        ),
        Wrong(
            "1_4-roles",
            "1_4-names-heads",
            "head_roles = {(i, h): 'other' for i in range(2) for h in range(4)}",
            "names do not follow from your model",
        ),
    ],
    "1_5_profiling": [
        Wrong(
            "1_5-profile",
            "1_5-measures-time",
            "def profile(fn, n_values):\n"
            "    rows = []\n"
            "    for n in n_values:\n"
            "        with PeakMemory() as memory:\n"
            "            fn(n)\n"
            "        start = time.perf_counter()\n"
            "        fn(n)\n"
            "        rows.append((n, time.perf_counter() - start, memory.peak))\n"
            "    return rows",
            "A single call decides your time",
        ),
        Wrong(
            "1_5-fit",
            "1_5-fits-powers",
            "def fit_exponent(n, y):\n"
            "    pairs = [(a, b) for a, b in zip(n, y) if b is not None]\n"
            "    return np.polyfit(*np.array(pairs, dtype=float).T, 1)[0]",
            "Take the logarithm of both",
        ),
        Wrong(
            "1_5-exponents",
            "1_5-memory-grows-as-predicted",
            "exponents = {'naive': 1.0, 'fused': 2.0}",
            "which is the exponent of",
        ),
    ],
}
