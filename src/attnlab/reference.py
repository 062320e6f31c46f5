"""Attention in plain NumPy and float64: the oracle that every other version is held against.

Slow and obvious on purpose. It imports nothing but NumPy, so it shares no code, and no mistake,
with what it checks.
"""

import numpy as np


def softmax(scores: np.ndarray) -> np.ndarray:
    """Turn each row of scores into weights ``exp(scores) / sum(exp(scores))``, which sum to 1.

    ``-inf`` marks a position that may not be attended to. A row that is ``-inf`` throughout has
    nothing to attend to and becomes a row of zeros.
    """
    scores = np.asarray(scores, dtype=np.float64)
    largest = scores.max(axis=-1, keepdims=True)
    largest = np.where(np.isneginf(largest), 0.0, largest)
    exponentials = np.exp(scores - largest)
    total = exponentials.sum(axis=-1, keepdims=True)
    return exponentials / np.where(total == 0.0, 1.0, total)


def scaled_dot_product_attention(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    r"""Compute :math:`\mathrm{softmax}(QK^\top / \sqrt{d_k})\,V` in float64, and the weights.

    Vaswani et al. (2017), "Attention Is All You Need", equation 1.

    Parameters
    ----------
    Q, K, V : array, shapes (..., S_q, d_k), (..., S_k, d_k) and (..., S_k, d_v)
    mask : bool array, broadcastable to (..., S_q, S_k), optional, True where a query may attend

    Returns
    -------
    output : float64 array, shape (..., S_q, d_v)
    weights : float64 array, shape (..., S_q, S_k); a row sums to 1, or to 0 if nothing is allowed

    Raises
    ------
    ValueError
        If the queries have no width, or the shapes do not fit.
    """
    Q, K, V = (np.asarray(array, dtype=np.float64) for array in (Q, K, V))
    if Q.shape[-1] < 1:
        raise ValueError("queries and keys have width 0: a dot product needs d_k of at least 1")
    scores = Q @ np.swapaxes(K, -2, -1) / np.sqrt(Q.shape[-1])  # (..., S_q, S_k)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ V, weights  # (..., S_q, d_v), (..., S_q, S_k)
