"""Masks, and the ways that PyTorch's own functions spell them.

Here a mask is boolean and True means *may attend*. PyTorch holds two opposite conventions:

=========================================  ==================  ======================
function                                   True means          additive mask
=========================================  ==================  ======================
``F.scaled_dot_product_attention``         may attend          0 attend, -inf blocked
``nn.MultiheadAttention`` (both masks)     **blocked**         0 attend, -inf blocked
=========================================  ==================  ======================

The functions below convert between them, so that no ``~`` is ever forgotten in a call.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor


def check_mask(mask: Tensor, scores_shape: Sequence[int] | None = None) -> None:
    """Raise unless `mask` is boolean and fits the scores.

    Parameters
    ----------
    mask : Tensor
    scores_shape : sequence of int, optional, the (..., S_q, S_k) that the mask must broadcast to

    Raises
    ------
    TypeError
        If `mask` is not boolean.
    ValueError
        If `mask` does not broadcast to `scores_shape`.
    """
    if mask.dtype != torch.bool:
        raise TypeError(
            f"the mask is {mask.dtype}, but a mask here is torch.bool with True = may attend; "
            "convert an additive mask of 0 and -inf with attnlab.masks.from_sdpa, "
            "a mask of ones and zeros with .bool()"
        )
    if scores_shape is None:
        return
    try:
        mask.expand(scores_shape)
    except RuntimeError:
        raise ValueError(
            f"a mask of shape {tuple(mask.shape)} does not broadcast to the scores' shape "
            f"{tuple(scores_shape)}; for a padding mask of shape (B, S_k) "
            "use mask[:, None, None, :]"
        ) from None


def _check_layout(mask: Tensor, fits: bool, layout: str) -> None:
    """Raise unless `mask` is boolean (TypeError) and of the layout that fits (ValueError)."""
    check_mask(mask)
    if not fits:
        raise ValueError(f"the mask has shape {tuple(mask.shape)}, but {layout} fits")


def make_causal_mask(seq_len: int, device: torch.device | str | None = None) -> Tensor:
    """Let each position attend to itself and to what came before it.

    Parameters
    ----------
    seq_len : int, the sequence length S
    device : torch.device or str, optional

    Returns
    -------
    mask : bool Tensor, shape (1, 1, S, S)
        Lower-triangular, diagonal included: True where key j <= query i.

    Raises
    ------
    ValueError
        If `seq_len` is negative.
    """
    if seq_len < 0:
        raise ValueError(f"seq_len is {seq_len}, but a sequence length cannot be negative")
    ones = torch.ones(seq_len, seq_len, dtype=torch.bool, device=device)
    return ones.tril()[None, None]  # (1, 1, S, S)


def make_padding_mask(lengths: Tensor | Sequence[int], max_len: int) -> Tensor:
    """Hide the padding behind each sequence's end.

    Parameters
    ----------
    lengths : int Tensor or sequence of int, shape (B,)
        How many tokens of each sequence are real. A length of 0 gives a fully masked row.
    max_len : int, the length S_k that the batch is padded to

    Returns
    -------
    mask : bool Tensor, shape (B, 1, 1, S_k)
        True on real tokens. It broadcasts over heads and queries.

    Raises
    ------
    ValueError
        If a length is negative or exceeds `max_len`, or `lengths` is not one-dimensional.
    """
    lengths = torch.as_tensor(lengths)
    if lengths.dim() != 1:
        raise ValueError(f"lengths has shape {tuple(lengths.shape)}, but (B,) fits")
    outside = (lengths < 0) | (lengths > max_len)
    if outside.any():
        raise ValueError(
            f"length {lengths[outside][0].item()} lies outside 0 ... max_len={max_len}; "
            "raise max_len or cut the sequence"
        )
    positions = torch.arange(max_len, device=lengths.device)
    return (positions < lengths[:, None])[:, None, None, :]  # (B, 1, 1, S_k)


def to_additive(mask: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """Write a boolean mask as the matrix M that is added to the scores.

    Parameters
    ----------
    mask : bool Tensor, any shape, True = may attend
    dtype : torch.dtype, optional

    Returns
    -------
    M : Tensor, shape of `mask`, 0 = may attend, minus infinity = may not

    Raises
    ------
    TypeError
        If `mask` is not boolean.
    """
    check_mask(mask)
    return torch.zeros_like(mask, dtype=dtype).masked_fill(~mask, -math.inf)


def to_sdpa(mask: Tensor) -> Tensor:
    """Give the boolean ``attn_mask`` of ``F.scaled_dot_product_attention``: the same, checked.

    Parameters
    ----------
    mask : bool Tensor, shape (B or 1, H or 1, S_q or 1, S_k), True = may attend

    Returns
    -------
    attn_mask : bool Tensor, shape of `mask`, True = may attend

    Raises
    ------
    TypeError
        If `mask` is not boolean. An inverted or additive mask would be read differently there.
    """
    check_mask(mask)
    return mask


def from_sdpa(attn_mask: Tensor) -> Tensor:
    """Read an ``attn_mask`` of ``F.scaled_dot_product_attention``, boolean or additive.

    Parameters
    ----------
    attn_mask : Tensor, any shape, bool with True = may attend or floating with 0 and -inf

    Returns
    -------
    mask : bool Tensor, shape of `attn_mask`, True = may attend

    Raises
    ------
    ValueError
        If an additive mask holds anything but 0 and -inf: a bias or a stand-in like -1e9.
    """
    if attn_mask.dtype == torch.bool:
        return attn_mask
    blocked = torch.isneginf(attn_mask)
    strange = ~blocked & (attn_mask != 0)
    if strange.any():
        raise ValueError(
            f"the additive mask holds {attn_mask[strange][0].item():g}; only 0 (attend) and -inf "
            "(blocked) can become a boolean mask"
        )
    return ~blocked


def to_mha(mask: Tensor, n_heads: int) -> Tensor:
    """Give the ``attn_mask`` of ``nn.MultiheadAttention``, where True means blocked.

    Parameters
    ----------
    mask : bool Tensor, shape (B, H or 1, S_q, S_k), True = may attend
    n_heads : int

    Returns
    -------
    attn_mask : bool Tensor, shape (B * H, S_q, S_k) with heads varying fastest, True = blocked

    Raises
    ------
    TypeError, ValueError
        If `mask` is not boolean; if it is not 4-dimensional with 1 or `n_heads` heads.
    """
    fits = mask.dim() == 4 and mask.shape[1] in (1, n_heads)
    _check_layout(mask, fits, f"(B, 1 or {n_heads}, S_q, S_k), or for padding to_key_padding,")
    return ~mask.expand(-1, n_heads, -1, -1).flatten(0, 1)  # (B * H, S_q, S_k)


def from_mha(attn_mask: Tensor, n_heads: int) -> Tensor:
    """Read a boolean ``attn_mask`` of ``nn.MultiheadAttention``: the inverse of `to_mha`.

    From shape (B * H, S_q, S_k) or (S_q, S_k), True = blocked, to (B, H, S_q, S_k) or
    (1, 1, S_q, S_k), True = may attend. Raises TypeError if `attn_mask` is not boolean and
    ValueError if it has another number of dimensions or B * H is no multiple of `n_heads`.
    """
    fits = attn_mask.dim() == 2 or (attn_mask.dim() == 3 and attn_mask.shape[0] % n_heads == 0)
    _check_layout(attn_mask, fits, f"(S_q, S_k) or (B * {n_heads}, S_q, S_k)")
    if attn_mask.dim() == 2:
        return ~attn_mask[None, None]  # (1, 1, S_q, S_k)
    return ~attn_mask.unflatten(0, (-1, n_heads))  # (B, H, S_q, S_k)


def to_key_padding(mask: Tensor) -> Tensor:
    """Give the ``key_padding_mask`` of ``nn.MultiheadAttention``, where True means padding.

    Parameters
    ----------
    mask : bool Tensor, shape (B, 1, 1, S_k), True = may attend

    Returns
    -------
    key_padding_mask : bool Tensor, shape (B, S_k), True = padding, not attended to

    Raises
    ------
    TypeError, ValueError
        If `mask` is not boolean; if it has another shape, so depends on the head or the query.
    """
    _check_layout(mask, mask.dim() == 4 and mask.shape[1:3] == (1, 1), "(B, 1, 1, S_k)")
    return ~mask[:, 0, 0]  # (B, S_k)


def from_key_padding(key_padding_mask: Tensor) -> Tensor:
    """Read a ``key_padding_mask`` of ``nn.MultiheadAttention``: the inverse of `to_key_padding`.

    From shape (B, S_k), True = padding, to (B, 1, 1, S_k), True = may attend. Raises TypeError if
    `key_padding_mask` is not boolean and ValueError if it is not 2-dimensional.
    """
    _check_layout(key_padding_mask, key_padding_mask.dim() == 2, "(B, S_k)")
    return ~key_padding_mask[:, None, None, :]  # (B, 1, 1, S_k)
