"""What known mistakes make of exercise 1.3: each is worked out from the formula it stands for."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from attnlab.checks._shared import TOLERANCE
from attnlab.reference import softmax

SCALE = "Divide the scores by √d_k, the root of a key's width, once."

MESSAGES = {
    "softmax_axis": "The columns of your weights sum to 1. Each query shares out its own weight: "
    "take the softmax over the keys, axis=-1.",
    "softmax_both_axes": "All your weights together sum to 1. Sum each row by itself: axis=-1 with "
    "keepdims=True.",
    "no_softmax": "What you return as weights are the scores. Turn each row into shares that sum "
    "to 1 with a softmax.",
    "not_normalised": "Your weights are the exponentials alone. Divide each row by its sum.",
    "no_exponential": "You divide the scores by their sum. Take the exponential of each score "
    "first, or a share can be negative.",
    "scale_after_softmax": "Your rows sum to 1/√d_k. The scale belongs on the scores, before the "
    "softmax.",
    "hard_max": "Each of your queries takes its best key and nothing else. A softmax gives every "
    "key a share.",
    "transposed": "You return a transposed matrix. Queries are the rows, of the weights and of the "
    "output.",
    "keys_for_values": "Your output mixes the rows of K. The weights come from the keys; what they "
    "mix are the values: weights @ V.",
    "output_from_scores": "Your output multiplies V by the scores. Multiply it by the weights.",
    "output_ignores_mask": "Your weights follow the mask, but your output does not. Compute it "
    "from the masked weights.",
    "output_scaled": "Your output is a fraction of the weighted mean. The weights sum to 1 "
    "already: return weights @ V, not divided by anything.",
    "mask_ignored": "Your weights are those without a mask. Set blocked scores to minus infinity "
    "before the softmax.",
    "mask_inverted": "You read what is blocked and block what may be read. True in the mask means: "
    "may attend.",
    "mask_after_softmax": "You set weights to zero after the softmax, so the rest of a row no "
    "longer sums to 1. Mask the scores, before the softmax.",
    "mask_zero_score": "A blocked key keeps a share, because its score is 0 and exp(0) = 1. Set "
    "the score to minus infinity instead.",
    "mask_transposed": "You read the mask with its axes swapped. Its rows are queries and its "
    "columns keys, like those of the scores.",
    "mask_not_used": "You apply a causal mask of your own. Apply the mask that is passed in, "
    "whatever its pattern.",
    "no_scale": f"Your scores are not scaled. {SCALE}",
    "scale_twice": f"Your scores are divided by d_k: the root is missing, or you scale twice. "
    f"{SCALE}",
    "scale_inverted": f"Your scores are multiplied by √d_k. {SCALE}",
    "scale_wrong_d": f"You scale by the root of another size: V's width, or how many queries or "
    f"keys there are. {SCALE}",
    "exponential_base": "You raise 2 to the scores. The softmax takes e to the scores: np.exp.",
    "scale_fixed": f"Your scale is not 1/√d_k at every size. Take d_k from the shape of K. {SCALE}",
    "scores_negated": "Your scores have the wrong sign: keys that point the way of a query get the "
    "least. Use Q @ K.T as it is.",
    "max_of_columns": "You subtract the largest score of each column, which changes the shares "
    "within a row. Subtract that of the row: max(axis=-1, keepdims=True).",
    "mask_added": "You add the mask to the scores. True counts as 1 there, which blocks nothing: "
    "choose with np.where(mask, scores, -np.inf).",
}


class Case(NamedTuple):
    """What the student's function is called with."""

    Q: np.ndarray  # (S_q, d_k)
    K: np.ndarray  # (S_k, d_k)
    V: np.ndarray  # (S_k, d_v)
    mask: np.ndarray | None = None  # broadcasts to (S_q, S_k), True = may attend

    def scores(self) -> np.ndarray:
        """Give the dot products, not yet scaled."""
        return self.Q.astype(np.float64) @ self.K.astype(np.float64).T  # (S_q, S_k)

    def allowed(self) -> np.ndarray:
        """Give the mask in full, (S_q, S_k)."""
        return np.broadcast_to(True if self.mask is None else self.mask, self.scores().shape)

    def sizes(self) -> str:
        """Write the sizes for a message."""
        (S_q, d_k), (S_k, d_v) = self.Q.shape, self.V.shape
        return f"S_q={S_q}, S_k={S_k}, d_k={d_k}, d_v={d_v}"


def wrong_weights(case: Case) -> Iterator[tuple[str, np.ndarray]]:
    """Give the causes known, and what each makes of the weights without a mask."""
    raw = case.scores()
    root = np.sqrt(case.Q.shape[-1])
    for s in (raw / root, raw):
        e = np.exp(s)
        yield "softmax_axis", e / e.sum(0)
        yield "softmax_both_axes", e / e.sum()
        yield "no_softmax", s
        yield "not_normalised", e
        yield "not_normalised", np.exp(s - s.max(-1, keepdims=True))
        yield "no_exponential", s / s.sum(-1, keepdims=True)
        yield "scale_after_softmax", softmax(s) / root
    s = raw / root
    yield "max_of_columns", softmax(s - s.max(0))
    yield "hard_max", np.eye(raw.shape[1])[raw.argmax(-1)]


def wrong_masked(case: Case) -> Iterator[tuple[str, np.ndarray]]:
    """Give the causes known, and what each makes of the weights where some keys are blocked."""
    allowed, raw = case.allowed(), case.scores()
    s = raw / np.sqrt(case.Q.shape[-1])
    yield "mask_ignored", softmax(s)
    yield "mask_inverted", softmax(np.where(allowed, -np.inf, s))
    yield "mask_after_softmax", softmax(s) * allowed
    yield "mask_zero_score", softmax(s * allowed)
    yield "mask_added", softmax(s + allowed)
    yield "mask_not_used", softmax(np.where(np.tri(*s.shape, dtype=bool), s, -np.inf))
    if s.shape[0] == s.shape[1]:
        yield "mask_transposed", softmax(np.where(allowed.T, s, -np.inf))


def wrong_outputs(case: Case, weights: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Give the causes known, and what each makes of the output beside weights that are right."""
    raw, V = case.scores(), case.V
    root = np.sqrt(case.Q.shape[-1])
    yield "keys_for_values", weights @ case.K
    for s in (raw / root, raw):
        yield "output_from_scores", s @ V
    yield "output_ignores_mask", softmax(raw / root) @ V
    for divisor in (root, *V.shape):
        yield "output_scaled", weights @ V / divisor
    yield "transposed", (weights @ V).T


def wrong_scale(case: Case, weights: np.ndarray) -> str | None:
    """Name the cause where weights are a softmax of the allowed scores, wrongly scaled."""
    c = _scale_used(case, weights)
    (S_q, d_k), (S_k, d_v) = case.Q.shape, case.V.shape
    if c is None or np.isclose(c, d_k**-0.5, rtol=1e-3):
        return None
    if c < 0:
        return "scores_negated"
    known = {
        "no_scale": [1],
        "scale_twice": [1 / d_k],
        "scale_inverted": [np.sqrt(d_k)],
        "exponential_base": [np.log(2) / np.sqrt(d_k)],
        "scale_wrong_d": [size**-0.5 for size in (d_v, S_k, S_q)],
    }
    for cause, factors in known.items():
        if np.isclose(c, factors, rtol=1e-3).any():
            return cause
    return "scale_fixed"


def _scale_used(case: Case, weights: np.ndarray) -> float | None:
    """Find c where weights are softmax(c QKᵀ) over the allowed keys, or None if no c fits."""
    allowed = case.allowed()
    counts = allowed.sum(-1, keepdims=True)
    if (weights[allowed] <= 0).any() or (counts == 0).any():
        return None
    logs = np.log(weights, where=allowed, out=np.zeros_like(weights))
    raw = np.where(allowed, case.scores(), 0)
    logs, raw = ((a - a.sum(-1, keepdims=True) / counts) * allowed for a in (logs, raw))
    if not raw.any():
        return None
    c = float((logs * raw).sum() / (raw**2).sum())
    fitted = softmax(np.where(allowed, c * case.scores(), -np.inf))
    return c if np.allclose(fitted, weights, rtol=0, atol=TOLERANCE) else None
