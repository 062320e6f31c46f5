"""Wrong answers to exercise 1.3: which check finds each, its cause, and words of the message."""

import importlib
import math

import numpy as np
import torch
from answers import Call
from torch.nn import functional as F

from attnlab import reference
from attnlab.reference import scaled_dot_product_attention as borrowed


def attention(
    scale=lambda Q, K, V: 1 / np.sqrt(Q.shape[-1]),
    block=lambda s, mask: np.where(mask, s, -np.inf),
    normalise=lambda s: softmax(s),
    late=lambda w, mask: w,
    mix=lambda w, Q, K, V: w @ V,
    give=lambda output, weights: (output, weights),
    prepare=lambda Q, K, V, mask: None,
):
    """Make an attention function of which one part is replaced."""

    def scaled_dot_product_attention(Q, K, V, mask=None):
        prepare(Q, K, V, mask)
        s = Q @ K.T * scale(Q, K, V)
        if mask is not None:
            s = block(s, mask)
        w = normalise(s)
        if mask is not None:
            w = late(w, mask)
        return give(mix(w, Q, K, V), w)

    return scaled_dot_product_attention


def softmax(s, axis=-1, top_axis=-1):
    top = s.max(axis=top_axis, keepdims=True)
    e = np.exp(s - np.where(np.isneginf(top), 0, top))
    total = e.sum(axis=axis, keepdims=True)
    return e / np.where(total == 0, 1, total)


def plain(s):
    e = np.exp(s)
    return e / e.sum(-1, keepdims=True)


def shifted(s):
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def spread(s):
    with np.errstate(invalid="ignore"):
        return s.std(-1, keepdims=True)


def divide(w):
    total = w.sum(-1, keepdims=True)
    return w / np.where(total == 0, 1, total)


def ignore(s, mask):
    return s


def scale_queries_in_place(Q, K, V, mask):
    Q /= np.sqrt(Q.shape[-1])


def zero_values_in_place(Q, K, V, mask):
    if mask is not None:
        V[~np.broadcast_to(mask, (len(Q), len(K))).any(0)] = 0


def invert_in_place(s, mask):
    np.logical_not(mask, out=mask)
    return np.where(mask, -np.inf, s)


def pytorch(Q, K, V, mask=None):
    Q, K, V = (torch.from_numpy(a) for a in (Q, K, V))
    mask = None if mask is None else torch.from_numpy(mask)
    weights = F.scaled_dot_product_attention(Q, K, torch.eye(len(K)).double(), mask)
    return (weights @ V).numpy(), weights.numpy()


def local_import(Q, K, V, mask=None):
    from attnlab.reference import scaled_dot_product_attention

    return scaled_dot_product_attention(Q, K, V, mask)


def by_name(Q, K, V, mask=None):
    module = importlib.import_module("attnlab.reference")
    return module.scaled_dot_product_attention(Q, K, V, mask)


def helped(Q, K, V, mask=None):
    return _helper(Q, K, V, mask)


def _helper(*args):
    return reference.scaled_dot_product_attention(*args)


def by_default(Q, K, V, mask=None, compute=borrowed):
    return compute(Q, K, V, mask)


def scipys(Q, K, V, mask=None):
    from scipy.special import softmax

    weights = softmax(Q @ K.T / np.sqrt(K.shape[-1]), axis=-1)
    return weights @ V, weights


def tensors(Q, K, V, mask=None):
    weights = softmax(Q @ K.T / np.sqrt(K.shape[-1]))
    return (weights @ V).tolist(), weights.tolist()


KNOWN = borrowed(*(np.random.default_rng(3).standard_normal(s) for s in ((5, 4), (7, 4), (7, 6))))


def hard_coded(Q, K, V, mask=None):
    return KNOWN


def uniform(Q, K, V, mask=None):
    weights = np.full((len(Q), len(K)), 1 / len(K))
    return weights @ V, weights


def forgets_to_return(Q, K, V, mask=None):
    softmax(Q @ K.T)


def asks_for_truth_of_mask(Q, K, V, mask=None):
    return attention()(Q, K, V, mask if mask else None)


def indexes_mask(s, mask):
    s = s.copy()
    s[~mask] = -np.inf
    return s


def no_transpose(Q, K, V, mask=None):
    return attention()(Q, K.T, V, mask)


def raw_scores(Q, K):
    return Q @ K.T / np.sqrt(Q.shape[-1])


def no_keepdims(Q, K, V, mask=None):
    scores = raw_scores(Q, K)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    largest = scores.max(-1, keepdims=True)
    e = np.exp(scores - np.where(np.isneginf(largest), 0, largest))
    total = e.sum(-1)
    w = e / np.where(total == 0, 1, total)
    return w @ V, w


def no_keepdims_of_max(Q, K, V, mask=None):
    scores = raw_scores(Q, K)
    e = np.exp(scores - scores.max(-1))
    return softmax(scores) @ V, e


def star(Q, K, V, mask=None):
    scores = Q * K.T / np.sqrt(Q.shape[-1])
    w = softmax(scores)
    return w @ V, w


def star_of_values(Q, K, V, mask=None):
    w = softmax(raw_scores(Q, K))
    return w * V, w


def as_in_keras(query, value, key, mask=None):
    return attention()(query, key, value, mask)


def key_first(K, Q, V, mask=None):
    return attention()(Q, K, V, mask)


def hint_word_for_word(Q, K, V, mask=None):
    scores = np.where(mask, raw_scores(Q, K), -np.inf)
    w = softmax(scores)
    return w @ V, w


def hint_without_guard(Q, K, V, mask=None):
    scores = np.where(mask, raw_scores(Q, K), -np.inf)
    e = np.exp(scores - scores.max(-1, keepdims=True))
    w = e / e.sum(-1, keepdims=True)
    return w @ V, w


def inverts_none(Q, K, V, mask=None):
    scores = raw_scores(Q, K)
    scores[~mask] = -np.inf
    w = softmax(scores)
    return w @ V, w


def multiplies_none(Q, K, V, mask=None):
    w = softmax(raw_scores(Q, K) * mask)
    return w @ V, w


def as_in_mingpt(Q, K, V, mask=None):
    scores = np.where(np.tri(len(Q), len(K), dtype=bool), raw_scores(Q, K), -np.inf)
    w = softmax(scores)
    return w @ V, w


def newly_remembering():
    """Make a function as the cell that defines it does: its default remembers nothing yet."""

    def remembers(Q, K, V, mask=None, cache={}):  # noqa: B006 - the mistake
        if "weights" not in cache:
            cache["weights"] = attention()(Q, K, V, mask)[1]
        return cache["weights"] @ V, cache["weights"]

    return (remembers,)


def collects(Q, K, V, mask=None, seen=[]):  # noqa: B006 - the mistake
    seen.append(raw_scores(Q, K))
    w = softmax(sum(seen))
    return w @ V, w


def drops(Q, K, V, mask=None):
    w = attention()(Q, K, V, mask)[1]
    w = w * (np.random.rand(*w.shape) > 0.2) / 0.8
    return w @ V, w


def sized_by_hand(Q, K, V, mask=None):
    w = np.zeros((5, 7))
    for i in range(5):
        for j in range(7):
            w[i, j] = np.exp(Q[i] @ K[j] / 2)
        w[i] /= w[i].sum()
    return w @ V, w


def filled_to_size(Q, K, V, mask=None):
    w = np.zeros((5, 7))
    w[: len(Q), : len(K)] = attention()(Q, K, V, mask)[1]
    return (w[:, : len(K)] @ V), w


def reshaped_by_hand(Q, K, V, mask=None):
    w = attention()(Q, K, V, mask)[1].reshape(5, 7)
    return w @ V, w


NOTEBOOK_K, NOTEBOOK_V = (np.random.default_rng(5).standard_normal((7, n)) for n in (4, 6))


def with_the_notebooks_keys(Q, K, V, mask=None):
    return attention()(Q, NOTEBOOK_K, V, mask)


def with_the_notebooks_values(Q, K, V, mask=None):
    w = attention()(Q, K, V, mask)[1]
    return w[:, :1] + 0 * w @ V[:, :1] + np.zeros((1, V.shape[1])), w


def pythons_max(Q, K, V, mask=None):
    scores = raw_scores(Q, K)
    e = np.exp(scores - max(scores))
    w = e / e.sum(-1, keepdims=True)
    return w @ V, w


def without_mask(Q, K, V):
    return attention()(Q, K, V)


def stable_by(number):
    """Subtract from each row a number that is not its largest score."""

    def normalise(s):
        with np.errstate(all="ignore"):
            finite = np.where(np.isneginf(s), np.nan, s)
            shift = np.nan_to_num(number(finite))
        e = np.exp(s - shift)
        total = e.sum(-1, keepdims=True)
        return e / np.where(total == 0, 1, total)

    return attention(normalise=normalise)


def one_row_alone(s, mask):
    s, mask = s.copy(), np.repeat(mask, len(s), 0) if len(mask) == 1 else mask
    s[~mask] = -np.inf
    return s


def math_on_arrays(Q, K, V, mask=None):
    weights = math.exp(Q @ K.T / np.sqrt(Q.shape[1]))
    return weights @ V, weights


def values_first(Q, K, V, mask=None):
    weights = softmax(Q @ K.T / np.sqrt(Q.shape[1]))
    return V @ weights, weights


def minus_mask(Q, K, V, mask=None):
    scores = Q @ K.T / np.sqrt(Q.shape[1])
    if mask is not None:
        scores[-mask] = -np.inf
    weights = softmax(scores)
    return weights @ V, weights


# check that fails first, label: function, cause, words of the message
WRONG = {
    "weights_are_a_distribution": {
        "Python's exp": (math_on_arrays, "math_on_array", "np.exp"),
        "values first": (values_first, "shapes_differ", "(7, 6) and (5, 7)"),
        "softmax over queries": (
            attention(normalise=lambda s: softmax(s, 0, 0)),
            "softmax_axis",
            "axis=-1",
        ),
        "no keepdims": (no_keepdims, "keepdims_missing", "keepdims=True"),
        "no keepdims of the maximum": (no_keepdims_of_max, "keepdims_missing", "(5, 7) meets (5,)"),
        "star for @": (star, "star_for_matmul", "written with `@`"),
        "star for values": (star_of_values, "star_for_matmul", "written with `@`"),
        "arguments as in Keras": (as_in_keras, "argument_order", "Q, V, K would be right"),
        "key first": (key_first, "argument_order", "Q, K, V, mask"),
        "hint 3 without its condition": (hint_word_for_word, "mask_is_none", "not None"),
        "hint 3 without its condition, NaN": (hint_without_guard, "mask_is_none", "not None"),
        "None inverted": (inverts_none, "mask_is_none", "if mask is not None"),
        "None multiplied": (multiplies_none, "mask_is_none", "if mask is not None"),
        "mutable default": (Call(newly_remembering), "not_repeatable", "remembers"),
        "list that grows": (collects, "not_repeatable", "from call to call"),
        "dropout": (drops, "not_repeatable", "dropout"),
        "log-softmax": (
            attention(normalise=lambda s: np.log(softmax(s))),
            "log_softmax",
            "logarithms",
        ),
        "four places": (attention(normalise=lambda s: softmax(s).round(4)), "rounded", "rounded"),
        "Python's max": (pythons_max, "python_max", ".max()"),
        "no softmax, whose rows are shown": (
            attention(normalise=lambda s: softmax(s) + 1e-3 * (np.arange(len(s)) == 3)[:, None]),
            "row_sums",
            "your row 3",
        ),
        "softmax over everything": (
            attention(normalise=lambda s: softmax(s, None, None)),
            "softmax_both_axes",
            "keepdims",
        ),
        "no softmax": (attention(normalise=lambda s: s), "no_softmax", "are the scores"),
        "exponentials only": (attention(normalise=np.exp), "not_normalised", "Divide each row"),
        "exponentials only, shifted": (
            attention(normalise=lambda s: np.exp(s - s.max(-1, keepdims=True))),
            "not_normalised",
            "Divide each row",
        ),
        "no exponential": (
            attention(normalise=lambda s: s / s.sum(-1, keepdims=True)),
            "no_exponential",
            "exponential of each score",
        ),
        "sigmoid": (attention(normalise=lambda s: 1 / (1 + np.exp(-s))), "row_sums", "sum to 1"),
        "scale after softmax": (
            attention(
                scale=lambda Q, K, V: 1,
                mix=lambda w, Q, K, V: w @ V / 2,
                give=lambda o, w: (o, w / 2),
            ),
            "scale_after_softmax",
            "before the softmax",
        ),
        "weights transposed": (
            attention(give=lambda o, w: (o, w.T)),
            "transposed",
            "Queries are the rows",
        ),
        "output only": (attention(give=lambda o, w: o), "returns_output_only", "Return two"),
        "weights first": (
            attention(give=lambda o, w: (w, o)),
            "swapped_outputs",
            "the weights first",
        ),
        "three results": (attention(give=lambda o, w: (o, w, w)), "wrong_number", "3 things"),
        "batch axis added": (
            attention(give=lambda o, w: (o[None], w[None])),
            "wrong_shape",
            "must have shape (5, 6)",
        ),
        "forgets to return": (forgets_to_return, "returns_nothing", "a return statement"),
        "half precision": (
            attention(give=lambda o, w: (o.astype(np.float16), w.astype(np.float16))),
            "wrong_dtype",
            "float16",
        ),
        "K not transposed": (no_transpose, "not_transposed", "A @ B.T"),
        "hard-coded": (hard_coded, "hard_coded", "whatever Q and K"),
        "uniform": (uniform, "hard_coded", "Compute them from Q and K"),
        "PyTorch": (pytorch, "not_numpy", "uses torch"),
        "PyTorch's own function": (F.scaled_dot_product_attention, "not_numpy", "uses torch"),
        "the book's function": (borrowed, "not_numpy", "uses attnlab"),
        "the book's function imported inside": (local_import, "not_numpy", "uses attnlab"),
        "the book's function by name": (by_name, "not_numpy", "NumPy alone"),
        "the book's function in a helper": (helped, "not_numpy", "uses attnlab"),
        "the book's function as a default": (by_default, "not_numpy", "uses attnlab"),
        "SciPy's softmax": (scipys, "not_numpy", "uses scipy"),
        "lists": (tensors, "not_numpy", "Return a NumPy array"),
        "masked array": (
            attention(give=lambda o, w: (o, np.ma.masked_array(w))),
            "masked_array",
            ".filled(0)",
        ),
        "sum too large": (
            attention(normalise=lambda s: softmax(s) / 1.001),
            "row_sums",
            "sum to 1",
        ),
        "rounded": (
            attention(normalise=lambda s: softmax(s).round(3)),
            "rounded",
            "as they are computed",
        ),
        "K mixed": (
            lambda Q, K, V, mask=None: attention()(Q, K, K, mask),
            "keys_for_values",
            "weights @ V",
        ),
    },
    "matches_reference": {
        "no scale": (attention(scale=lambda Q, K, V: 1), "no_scale", "not scaled"),
        "relu shares": (
            attention(normalise=lambda s: np.maximum(s, 0) / np.maximum(s, 0).sum(-1)[:, None]),
            "relu_shares",
            "exponential is missing",
        ),
        "powers of ten": (
            attention(normalise=lambda s: softmax(s * np.log(10))),
            "exponential_base",
            "Another number than e",
        ),
        "softmax twice": (
            attention(normalise=lambda s: softmax(softmax(s))),
            "softmax_twice",
            "once",
        ),
        "squares of the scores": (
            attention(normalise=lambda s: s**2 / (s**2).sum(-1, keepdims=True)),
            "absolute_shares",
            "exponential is missing",
        ),
        "K reshaped": (
            lambda Q, K, V, mask=None: attention(
                scale=lambda *_: 1,
                normalise=lambda s: softmax(Q @ K.reshape(K.shape[::-1]) / np.sqrt(K.shape[1])),
            )(Q, K, V, mask),
            "reshaped",
            "no transpose",
        ),
        "cosine similarity": (
            lambda Q, K, V, mask=None: attention(
                normalise=lambda s: softmax(
                    Q @ K.T / np.outer(np.linalg.norm(Q, axis=-1), np.linalg.norm(K, axis=-1))
                )
            )(Q, K, V, mask),
            "product_of_norms",
            "cosines",
        ),
        "distances": (
            lambda Q, K, V, mask=None: attention(
                normalise=lambda s: softmax(-((Q[:, None] - K) ** 2).sum(-1))
            )(Q, K, V, mask),
            "distances",
            "dot products",
        ),
        "as in minGPT": (as_in_mingpt, "mask_not_used", "none where none is"),
        "sizes typed": (sized_by_hand, "index_out_of_range", "Take sizes from the shape"),
        "filled to size": (filled_to_size, "hard_coded_sizes", "as numbers"),
        "reshaped to size": (reshaped_by_hand, "hard_coded_size", "from the shape"),
        "the notebook's values": (with_the_notebooks_values, "argument_unused", "argument V"),
        "values of the best key": (
            attention(mix=lambda w, Q, K, V: V[w.argmax(-1)]),
            "best_value",
            "best key",
        ),
        "mean of the values": (
            attention(mix=lambda w, Q, K, V: np.tile(V.mean(0), (len(Q), 1))),
            "output_elementwise",
            "matrix product",
        ),
        "scale of V": (
            attention(scale=lambda Q, K, V: V.shape[-1] ** -0.5),
            "scale_wrong_d",
            "V's width",
        ),
        "scale of the number of keys": (
            attention(scale=lambda Q, K, V: len(K) ** -0.5),
            "scale_wrong_d",
            "root of another size",
        ),
        "scale of the number of queries": (
            attention(scale=lambda Q, K, V: len(Q) ** -0.5),
            "scale_wrong_d",
            "how many queries",
        ),
        "scale twice": (
            attention(scale=lambda Q, K, V: 1 / Q.shape[-1]),
            "scale_twice",
            "scale twice",
        ),
        "scale inverted": (
            attention(scale=lambda Q, K, V: Q.shape[-1] ** 0.5),
            "scale_inverted",
            "multiplied",
        ),
        "scale fixed at d_k = 4": (
            attention(scale=lambda Q, K, V: 0.5),
            "scale_fixed",
            "from the shape of K",
        ),
        "fourth root": (
            attention(scale=lambda Q, K, V: Q.shape[-1] ** -0.25),
            "scale_fixed",
            "not 1/√d_k",
        ),
        "scores negated": (
            attention(scale=lambda Q, K, V: -(Q.shape[-1] ** -0.5)),
            "scores_negated",
            "wrong sign",
        ),
        "maximum of columns": (
            attention(normalise=lambda s: softmax(s, top_axis=0)),
            "max_of_columns",
            "largest score of each column",
        ),
        "powers of two": (
            attention(normalise=lambda s: softmax(s * np.log(2))),
            "exponential_base",
            "np.exp",
        ),
        "best key only": (
            attention(normalise=lambda s: np.eye(s.shape[-1])[s.argmax(-1)]),
            "hard_max",
            "every key a share",
        ),
        "half precision inside": (
            attention(normalise=lambda s: softmax(s.astype(np.float16).astype(float))),
            "imprecise",
            "float32",
        ),
        "cosine": (
            attention(normalise=lambda s: softmax(s / np.linalg.norm(s, axis=-1, keepdims=True))),
            "value",
            "QKᵀ / √d_k",
        ),
        "scores mixed": (
            attention(mix=lambda w, Q, K, V: Q @ K.T @ V),
            "output_from_scores",
            "by the weights",
        ),
        "output divided": (
            attention(mix=lambda w, Q, K, V: w @ V / len(K)),
            "output_scaled",
            "not divided",
        ),
        "scores standardised": (
            attention(normalise=lambda s: softmax((s - s.mean(-1, keepdims=True)) / spread(s))),
            "nan",
            "a sum that is 0",
        ),
        "output shifted": (
            attention(mix=lambda w, Q, K, V: w @ V + 1),
            "output_value",
            "weighted mean of the values",
        ),
        "output rounded": (
            attention(mix=lambda w, Q, K, V: (w @ V).round(2)),
            "imprecise",
            "Do not round",
        ),
    },
    "masks": {
        "minus for not": (minus_mask, "minus_for_not", "~mask"),
        "mask ignored": (attention(block=ignore), "mask_ignored", "without a mask"),
        "mask inverted": (
            attention(block=lambda s, m: np.where(m, -np.inf, s)),
            "mask_inverted",
            "may attend",
        ),
        "mask after softmax": (
            attention(block=ignore, late=lambda w, m: w * m),
            "mask_after_softmax",
            "before the softmax",
        ),
        "keys for all": (
            attention(block=lambda s, m: np.where(m.any(0) if len(m) > 1 else m, s, -np.inf)),
            "mask_by_key",
            "Whole keys",
        ),
        "keys that all may read": (
            attention(block=lambda s, m: np.where(m.all(0), s, -np.inf)),
            "mask_by_key",
            "place by place",
        ),
        "queries for all": (
            attention(block=lambda s, m: np.where(m.all(-1, keepdims=True), s, -np.inf)),
            "mask_by_query",
            "Whole queries",
        ),
        "strictly before": (
            attention(block=lambda s, m: np.where(np.tri(*s.shape, -1, dtype=bool), s, -np.inf)),
            "mask_not_used",
            "passed in",
        ),
        "minus infinity after the softmax": (
            attention(block=ignore, late=lambda w, m: np.where(m, w, -np.inf)),
            "mask_infinite_weights",
            "belongs on the scores",
        ),
        "-1e9 after the softmax": (
            attention(block=ignore, late=lambda w, m: np.where(m, w, -1e9)),
            "mask_infinite_weights",
            "before the softmax",
        ),
        "one row alone": (
            attention(block=one_row_alone),
            "mask_not_broadcast",
            "one column for all keys",
        ),
        "no mask parameter": (without_mask, "signature", "arguments"),
        "scores set to 0": (attention(block=lambda s, m: s * m), "mask_zero_score", "exp(0) = 1"),
        "mask added": (attention(block=lambda s, m: s + m), "mask_added", "blocks nothing"),
        "plus infinity": (
            attention(block=lambda s, m: np.where(m, s, np.inf)),
            "zero_times_infinity",
            "plus infinity",
        ),
        "-1e9": (
            attention(block=lambda s, m: np.where(m, s, -1e9)),
            "mask_finite",
            "may read nothing",
        ),
        "-1e9 added": (
            attention(block=lambda s, m: s + np.where(m, 0, -1e9)),
            "mask_finite",
            "finite number",
        ),
        "-10 added": (attention(block=lambda s, m: s - 10 * ~m), "mask_finite", "minus infinity"),
        "NaN on empty rows": (
            attention(normalise=shifted),
            "nan_on_masked_row",
            "may read nothing gets NaN",
        ),
        "0 times infinity": (
            attention(block=lambda s, m: s + np.where(m, 0.0, 1.0) * -np.inf),
            "zero_times_infinity",
            "np.where",
        ),
        "causal whatever the mask": (
            attention(block=lambda s, m: np.where(np.tri(*s.shape, dtype=bool), s, -np.inf)),
            "mask_not_used",
            "passed in",
        ),
        "mask transposed": (
            attention(
                block=lambda s, m: np.where(m.T if m.shape[0] == m.shape[1] else m, s, -np.inf)
            ),
            "mask_transposed",
            "axes swapped",
        ),
        "mask not broadcast": (
            attention(block=indexes_mask),
            "mask_not_broadcast",
            "np.broadcast_to",
        ),
        "truth of a mask": (asks_for_truth_of_mask, "truth_of_array", "if mask is not None"),
        "output without the mask": (
            attention(mix=lambda w, Q, K, V: softmax(Q @ K.T / np.sqrt(Q.shape[-1])) @ V),
            "output_ignores_mask",
            "masked weights",
        ),
    },
    "stays_stable": {
        "no maximum subtracted": (
            attention(normalise=lambda s: np.nan_to_num(plain(s))),
            "no_max_subtraction",
            "Subtract from each row",
        ),
        "maximum of everything": (
            attention(normalise=lambda s: np.nan_to_num(softmax(s, top_axis=None))),
            "global_max",
            "own largest score",
        ),
        "mean subtracted": (
            stable_by(lambda s: np.nanmean(s, -1, keepdims=True)),
            "shift_not_max",
            "not the mean",
        ),
        "least subtracted": (
            stable_by(lambda s: np.nanmin(s, -1, keepdims=True)),
            "shift_not_max",
            "not the mean, the least",
        ),
        "first subtracted": (
            stable_by(lambda s: s[:, :1]),
            "shift_not_max",
            "largest score",
        ),
        "scores clipped": (
            attention(normalise=lambda s: softmax(np.where(np.isinf(s), s, s.clip(-500, 500)))),
            "scores_clipped",
            "cut off",
        ),
        "mask after softmax, divided again": (
            attention(block=ignore, late=lambda w, m: divide(w * m)),
            "mask_after_softmax_renormalised",
            "before you look for the largest",
        ),
        "-5000, empty rows zeroed": (
            attention(
                block=lambda s, m: np.where(m, s, -5000.0),
                late=lambda w, m: w * m.any(-1, keepdims=True),
            ),
            "mask_finite",
            "finite number",
        ),
    },
    "leaves_inputs_alone": {
        "Q changed": (
            attention(scale=lambda Q, K, V: 1, prepare=scale_queries_in_place),
            "mutates_input",
            "changes its input Q",
        ),
        "V changed": (
            attention(prepare=zero_values_in_place),
            "mutates_input",
            "changes its input V",
        ),
        "mask changed": (
            attention(block=invert_in_place),
            "mutates_input",
            "changes its input mask",
        ),
    },
}

PASS_BEFORE = True
UNTOLD = set()
