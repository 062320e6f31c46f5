"""Masks, and the ways that PyTorch's own functions spell them.

Here a mask is boolean and True means *may attend*. PyTorch holds two opposite conventions:

=========================================  ==================  ======================
function                                   True means          additive mask
=========================================  ==================  ======================
``F.scaled_dot_product_attention``         may attend          0 attend, -inf blocked
``nn.MultiheadAttention`` (both masks)     **blocked**         0 attend, -inf blocked
=========================================  ==================  ======================

The functions below convert between them, so that no ``~`` is ever forgotten in a call. Each raises
TypeError for a mask that is not boolean, and ValueError for one of another shape than it takes.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from attnlab.arguments import check_counts


def check_mask(mask: Tensor, scores_shape: Sequence[int] | None = None) -> None:
    """Raise unless `mask` is boolean (TypeError) and fits the scores in one way (ValueError).

    A mask of two or three axes fits scores (B, H, S_q, S_k) in two ways if its first axis could be
    the batch as well: (S_k, S_k) where B = S_q, (B, S_q, S_k) where B = H.
    """
    if mask.dtype != torch.bool:
        raise TypeError(
            f"the mask is {mask.dtype}, but a mask here is torch.bool with True = may attend; "
            "convert an additive mask of 0 and -inf with attnlab.masks.from_sdpa, "
            "a mask of ones and zeros with .bool()"
        )
    if scores_shape is None:
        return
    named = f"a mask of shape {tuple(mask.shape)}", f"the scores' shape {tuple(scores_shape)}"
    try:
        mask.expand(scores_shape)
    except RuntimeError:
        raise ValueError(
            f"{named[0]} does not broadcast to {named[1]}; for a padding mask of shape (B, S_k) "
            "use mask[:, None, None, :]"
        ) from None
    if len(scores_shape) > 3 and mask.dim() in (2, 3) and 1 < mask.shape[0] == scores_shape[-4]:
        batch_first = "mask[:, None, None, :]" if mask.dim() == 2 else "mask[:, None]"
        raise ValueError(
            f"{named[0]} can be read in two ways beside {named[1]}: use {batch_first} if its first "
            f"axis is the batch, {'mask[None, None]' if mask.dim() == 2 else 'mask[None]'} if not"
        )


def _check_layout(mask: Tensor, fits: bool, layout: str) -> None:
    """Raise unless `mask` is boolean (TypeError) and of the layout that fits (ValueError)."""
    check_mask(mask)
    if not fits:
        raise ValueError(f"the mask has shape {tuple(mask.shape)}, but {layout} fits")


def make_causal_mask(seq_len: int, device: torch.device | str | None = None) -> Tensor:
    """Let each position attend to itself and to what came before it.

    Parameters
    ----------
    seq_len : int, the sequence length S, from 0 on: anything else raises TypeError or ValueError
    device : torch.device or str, optional

    Returns
    -------
    mask : bool Tensor, shape (1, 1, S, S), True where key j <= query i
    """
    check_counts(seq_len=seq_len)
    ones = torch.ones(seq_len, seq_len, dtype=torch.bool, device=device)
    return ones.tril()[None, None]  # (1, 1, S, S)


def make_padding_mask(lengths: Tensor | Sequence[int], max_len: int) -> Tensor:
    """Hide the padding behind each sequence's end.

    Parameters
    ----------
    lengths : int Tensor or sequence of int, shape (B,), how many tokens of each sequence are real
    max_len : int, the length S_k that the batch is padded to

    Returns
    -------
    mask : bool Tensor, shape (B, 1, 1, S_k), True on real tokens

    Raises
    ------
    TypeError, ValueError
        If a length is no whole number, as NaN or a truth value; if one lies outside of 0 ...
        `max_len`, or `lengths` has not one dimension.
    """
    check_counts(max_len=max_len)
    lengths = torch.as_tensor(lengths)
    if lengths.dim() != 1:
        raise ValueError(f"lengths has shape {tuple(lengths.shape)}, but (B,) fits")
    _check_whole_lengths(lengths)
    outside = (lengths < 0) | (lengths > max_len)
    if outside.any():
        raise ValueError(
            f"length {lengths[outside][0].item()} lies outside 0 ... max_len={max_len}; "
            "raise max_len or cut the sequence"
        )
    positions = torch.arange(max_len, device=lengths.device)
    return (positions < lengths[:, None])[:, None, None, :]  # (B, 1, 1, S_k)


def _check_whole_lengths(lengths: Tensor) -> None:
    """Raise TypeError unless the lengths have a dtype of integers; an empty list has none."""
    dtype = lengths.dtype
    if lengths.numel() and (dtype == torch.bool or dtype.is_floating_point or dtype.is_complex):
        raise TypeError(
            f"lengths are {dtype}, such as {lengths[0].item()}, but a length counts tokens: pass "
            "whole numbers, for shares of max_len (shares * max_len).round().long(), "
            "for a boolean mask of real tokens mask.sum(-1)"
        )


def to_additive(mask: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """Write a boolean mask as the matrix M that is added to the scores: 0, or minus infinity."""
    check_mask(mask)
    return torch.zeros_like(mask, dtype=dtype).masked_fill(~mask, -math.inf)


def to_sdpa(mask: Tensor) -> Tensor:
    """Give the boolean ``attn_mask`` of ``F.scaled_dot_product_attention``: the same, checked.

    An inverted or an additive mask would be read there without an error. Shapes: (B or 1, H or 1,
    S_q or 1, S_k), True = may attend.
    """
    check_mask(mask)
    return mask


def from_sdpa(attn_mask: Tensor) -> Tensor:
    """Read an ``attn_mask`` of ``F.scaled_dot_product_attention``, boolean or additive.

    It raises TypeError if the mask holds integers, where a 0 could mean either, and ValueError if
    an additive one holds anything but 0 and -inf: a bias or a stand-in like -1e9.
    """
    if attn_mask.dtype == torch.bool:
        return attn_mask
    if not attn_mask.is_floating_point():
        raise TypeError(
            f"the attn_mask is {attn_mask.dtype}, but only torch.bool or a floating dtype fits; "
            "a mask of ones (attend) and zeros (blocked) becomes one with .bool()"
        )
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
    attn_mask : bool Tensor, shape (B * H, S_q, S_k), heads varying fastest; True = blocked
        For a mask of shape (1, 1, S_q, S_k) it is (S_q, S_k), which serves every batch.
    """
    check_counts(least=1, n_heads=n_heads)
    fits = mask.dim() == 4 and mask.shape[1] in (1, n_heads)
    _check_layout(mask, fits, f"(B, 1 or {n_heads}, S_q, S_k), or for padding to_key_padding,")
    if mask.shape[:2] == (1, 1):
        return ~mask[0, 0]  # (S_q, S_k)
    return ~mask.expand(-1, n_heads, -1, -1).flatten(0, 1)  # (B * H, S_q, S_k)


def to_key_padding(mask: Tensor) -> Tensor:
    """Give the ``key_padding_mask``, (B, S_k), of ``nn.MultiheadAttention``: True on padding.

    A mask that depends on the head or the query, unlike (B, 1, 1, S_k), is refused.
    """
    _check_layout(mask, mask.dim() == 4 and mask.shape[1:3] == (1, 1), "(B, 1, 1, S_k)")
    return ~mask[:, 0, 0]  # (B, S_k)
