"""Scaled dot-product attention in PyTorch, for any number of leading dimensions.

The book's equations: eq-attention in section 1.3 is `scaled_dot_product_attention`, eq-causal in
section 1.5 is the same under a mask, and eq-renormalise there is `masked_softmax`.

Every function takes a mask, a bool Tensor that broadcasts to (..., S_q, S_k), True where a query
may attend to a key; without it every query sees every key. It raises TypeError if the mask is not
boolean, and ValueError if the mask or the shapes do not fit.
"""

import math

import torch
from torch import Tensor

from attnlab.masks import check_mask


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Softmax over the keys that each query may attend to.

    Blocked scores become minus infinity, so that their weight is exactly zero and the softmax
    divides by what is left. A query that may attend to nothing gets a row of zeros instead of
    NaN, and its gradient is zero.

    Parameters
    ----------
    scores : Tensor, shape (..., S_q, S_k), one number for each pair of query and key
    mask : bool Tensor, broadcastable to (..., S_q, S_k), optional

    Returns
    -------
    weights : Tensor, shape (..., S_q, S_k)
        Non-negative, in the dtype of `scores`. Each row sums to 1, or to 0 where it is fully
        masked.
    """
    if mask is None:
        return torch.softmax(scores, dim=-1)
    check_mask(mask, scores.shape)
    empty = ~mask.any(dim=-1, keepdim=True)  # (..., S_q, 1): queries that may attend to nothing
    scores = scores.masked_fill(~mask, -math.inf).masked_fill_(empty, 0.0)
    weights = torch.softmax(scores, dim=-1)
    del scores  # one table less while the next one is made
    return weights.masked_fill(empty, 0.0)


def attention_weights(
    Q: Tensor, K: Tensor, mask: Tensor | None = None, scale: float | None = None
) -> Tensor:
    r"""Compute :math:`\mathrm{softmax}(\text{scale} \cdot QK^\top)`, the weights alone.

    Arguments and errors are those of `scaled_dot_product_attention`, which mixes the values too.
    The result has shape (..., S_q, S_k).
    """
    d_k = Q.shape[-1]
    if K.shape[-1] != d_k or d_k < 1:
        raise ValueError(
            f"queries have width {d_k} and keys have width {K.shape[-1]}: "
            "a dot product needs both to be d_k, at least 1"
        )
    scale = 1 / math.sqrt(d_k) if scale is None else scale
    # The scores, (..., S_q, S_k), get no name here: masked_softmax can let go of them.
    return masked_softmax((Q * scale) @ K.transpose(-2, -1), mask)


def scaled_dot_product_attention(
    Q: Tensor, K: Tensor, V: Tensor, mask: Tensor | None = None, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    r"""Compute :math:`\mathrm{softmax}(QK^\top / \sqrt{d_k})\,V` and the weights that led to it.

    Vaswani et al. (2017), "Attention Is All You Need", equation 1. Beside the mask's faults it
    raises ValueError if the widths of `Q` and `K` differ or are 0, or the lengths of `K` and `V`.

    Parameters
    ----------
    Q : Tensor, shape (..., S_q, d_k), queries: what each position looks for
    K : Tensor, shape (..., S_k, d_k), keys: what each position offers to be found by
    V : Tensor, shape (..., S_k, d_v), values: what each position hands over
    mask : bool Tensor, broadcastable to (..., S_q, S_k), optional
    scale : float, optional, factor on the dot products; :math:`1/\sqrt{d_k}` unless given

    Returns
    -------
    output : Tensor, shape (..., S_q, d_v)
        For each query the weighted mean of the values, or zeros where the mask leaves it nothing.
    weights : Tensor, shape (..., S_q, S_k)
    """
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(
            f"there are {K.shape[-2]} keys and {V.shape[-2]} values: each key needs its own value"
        )
    weights = attention_weights(Q, K, mask, scale)
    return torch.matmul(weights, V), weights  # (..., S_q, d_v), (..., S_q, S_k)
