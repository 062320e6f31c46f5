"""What known mistakes make of the weights of a head, and of a search through them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnlab.checks._diagnose import TOLERANCE, differs, read_array, show
from attnlab.masks import make_causal_mask
from attnlab.multihead import MultiHeadAttention
from nbmark.graded import CheckFailed

MESSAGES = {
    "head_ignored": "Your function gives the weights of head 0 whatever head it is asked for. Use "
    "its argument head as the index.",
    "mean_over_heads": "You average over the heads. Take the weights of one: the second axis of "
    "the module's weights counts heads.",
    "wrong_head": "You give the weights of another head. Heads are counted from 0, along the "
    "second axis of the module's weights.",
    "mask_ignored": "Your weights are those without a mask. Hand the mask on to the module: "
    "mha(x, x, x, mask).",
    "mask_inverted": "You invert the mask. True means may attend, for this module too, so hand it "
    "on as it is.",
    "mask_after_softmax": "You multiply finished weights by the mask, so rows no longer sum to 1. "
    "Let the module apply the mask: mha(x, x, x, mask).",
    "own_mask": "You apply a causal mask of your own. Hand on the mask that you are given, even "
    "where it is None.",
    "transposed": "Your weights are transposed. Leave them as the module returns them: a row for "
    "each query.",
}


def all_weights(mha: MultiHeadAttention, x: Tensor, mask: Tensor | None) -> np.ndarray:
    """Give what the module itself returns, (H, S, S)."""
    with torch.no_grad():
        return mha(x, x, x, mask)[1][0].double().numpy()


def compare_head(
    name: str, given: Any, mha: MultiHeadAttention, x: Tensor, mask: Tensor | None, head: int
) -> np.ndarray:
    """Compare weights with those of one head, or say which known mistake made them.

    Parameters
    ----------
    name : str
        What the message calls them.
    given : object
        The student's weights.
    mha, x, mask, head
        The module, one sequence (1, S, d_model), the mask or None, and which head.

    Returns
    -------
    weights : float64 array, shape (S, S)

    Raises
    ------
    CheckFailed
        With the cause.
    """
    if isinstance(given, tuple):
        said = f"`{name}` is what the module returns, output and weights. Take it apart: "
        raise CheckFailed("returns_pair", said + "output, weights = mha(x, x, x, mask).")
    weights = read_array(name, given)
    right = all_weights(mha, x, mask)  # (H, S, S)
    if weights.shape != right[head].shape:
        cause, message = _explain_shape(weights.shape, x)
        raise CheckFailed(cause, f"`{name}` has shape {weights.shape}. {message}")
    if differs(weights, right[head]):
        for cause, values in _wrong_weights(mha, x, mask, head):
            if not differs(weights, values):
                raise CheckFailed(cause, MESSAGES[cause], _rows(weights, right[head]))
        if not differs(weights, right[head], 6e-3):
            said = f"`{name}` is close, but rounded. Give the weights as the module returns them."
            raise CheckFailed("rounded", said, _rows(weights, right[head], 7))
        said = f"`{name}` is not what head {head} of this module gives. Use nothing but the "
        said += "arguments: mha(x, x, x, mask) returns output and weights; index the weights."
        raise CheckFailed("value", said, _rows(weights, right[head]))
    return weights


def _explain_shape(shape: tuple[int, ...], x: Tensor) -> tuple[str, str]:
    S, d_model = x.shape[1:]
    if shape[-2:] == (S, d_model):
        said = "That is the output. The module returns it first and the weights second."
        return "output_for_weights", said
    said = f"One head of one sequence has shape ({S}, {S}): take index 0 along the batch and index "
    return "wrong_shape", said + "head along the heads, weights[0, head]."


def _wrong_weights(
    mha: MultiHeadAttention, x: Tensor, mask: Tensor | None, head: int
) -> Iterator[tuple[str, np.ndarray]]:
    right, free = all_weights(mha, x, mask), all_weights(mha, x, None)  # (H, S, S)
    causal = make_causal_mask(x.shape[1])
    yield "head_ignored", right[0]
    yield "mean_over_heads", right.mean(0)
    yield "transposed", right[head].T
    for values in right:
        yield "wrong_head", values
    if mask is None:
        yield "own_mask", all_weights(mha, x, causal)[head]
        return
    yield "mask_ignored", free[head]
    yield "mask_inverted", all_weights(mha, x, ~mask)[head]
    yield "mask_after_softmax", free[head] * mask[0, 0].numpy()
    yield "own_mask", all_weights(mha, x, causal)[head]


def _rows(given: np.ndarray, right: np.ndarray, precision: int = 3) -> str:
    row = int(np.argmax(np.abs(given - right).max(-1) > TOLERANCE))
    return show(precision, **{f"your row {row}": given[row], "expected": right[row]})
