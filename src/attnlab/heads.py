"""What an attention head does, in numbers: statistics of its maps, and the words it connects.

The maps `weights` have shape (..., B, H, S, S), queries first, as `attnlab.multihead` and
`attnlab.minilm` return them. A statistic averages over all queries of all sequences and leaves one
number for each head, shape (..., H), so that the maps of L layers, (L, B, H, S, S), give (L, H).

A mask has True where a query may attend to a key, and broadcasts to the maps. A query counts if it
may attend to itself, so under a padding mask of shape (B, 1, 1, S) the padding does not. Where
nothing is left to average the result is NaN. Maps or masks of another shape raise ValueError, a
mask that is not boolean TypeError.

`pairs` of words, shape (N, 3), hold the number of the sequence, the word from and the word to, as
`attnlab.sentences.pairs` gives them.
"""

import torch
from torch import Tensor

from attnlab.arguments import check_whole
from attnlab.masks import check_mask


def _allowed(weights: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """Give the pairs that may attend (..., B, H, S, S), the queries that count (..., B, H, S)."""
    if weights.dim() < 4 or weights.shape[-1] != weights.shape[-2]:
        raise ValueError(
            f"the maps have shape {tuple(weights.shape)}, but (..., B, H, S, S) fits; "
            "give a single sequence a batch of 1 with weights[None]"
        )
    mask = weights.new_ones((), dtype=torch.bool) if mask is None else mask
    check_mask(mask, weights.shape)
    pairs = mask.expand(weights.shape)
    return pairs, pairs.diagonal(dim1=-2, dim2=-1)


def _mean(values: Tensor, counted: Tensor) -> Tensor:
    """Average values (..., B, H, S) over the counted queries of all sequences: (..., H)."""
    total = values.masked_fill(~counted, 0.0).sum(dim=(-3, -1))
    return total / counted.sum(dim=(-3, -1))


def entropy(weights: Tensor, mask: Tensor | None = None) -> Tensor:
    r"""Average the entropy :math:`-\sum_j w_j \ln w_j` of the rows, in nats.

    It is 0 for a head that looks at one key (Clark et al. 2019, section 3.3).
    """
    _, counted = _allowed(weights, mask)
    return _mean(torch.special.entr(weights).sum(-1), counted)


def uniformity(weights: Tensor, mask: Tensor | None = None) -> Tensor:
    """Average each row's entropy over the logarithm of how many keys the row may attend to.

    From 0, one key takes all, to 1, all keys are alike. Queries with a single key are left out.
    The entropy is that of Clark et al. (2019), section 3.3; the division is ours.
    """
    pairs, counted = _allowed(weights, mask)
    n_keys = pairs.sum(-1)  # (..., B, H, S)
    largest = n_keys.clamp(min=2).to(weights.dtype).log()
    return _mean(torch.special.entr(weights).sum(-1) / largest, counted & (n_keys > 1))


def position_score(weights: Tensor, offset: int, mask: Tensor | None = None) -> Tensor:
    """Average the weight, 0 to 1, on the key that lies `offset` tokens to the right of the query.

    Queries whose key would fall outside of the sequence, or is masked, are left out.
    """
    check_whole(offset=offset)
    pairs, counted = _allowed(weights, mask)
    first, last = max(0, -offset), weights.shape[-1] - max(0, offset)
    along = weights.diagonal(offset, -2, -1)  # (..., B, H, S - |offset|)
    counted = counted[..., first : max(first, last)] & pairs.diagonal(offset, -2, -1)
    return _mean(along, counted)


def previous_token_score(weights: Tensor, mask: Tensor | None = None) -> Tensor:
    """Average the weight on the token before the query: `position_score` at offset -1."""
    return position_score(weights, -1, mask)


def next_token_score(weights: Tensor, mask: Tensor | None = None) -> Tensor:
    """Average the weight on the token after the query: `position_score` at offset 1."""
    return position_score(weights, 1, mask)


def delimiter_score(weights: Tensor, delimiters: Tensor, mask: Tensor | None = None) -> Tensor:
    """Average the weight, 0 to 1, that ordinary tokens spend on delimiters such as [CLS].

    `delimiters`, bool of shape (B, S), is True on them; they are left out as queries (Clark et al.
    2019, section 3.2).
    """
    _, counted = _allowed(weights, mask)
    check_mask(delimiters)
    spent = (weights * delimiters[:, None, None, :]).sum(-1)  # (..., B, H, S)
    return _mean(spent, counted & ~delimiters[:, None, :])


def merge_word_pieces(weights: Tensor, word_ids: Tensor) -> Tensor:
    """Turn a map over word pieces into a map over words.

    Attention to a word is the sum over its pieces, attention from a word the mean over them
    (Clark et al. 2019, section 4.1). Pieces that belong to no word, such as [CLS], are dropped, so
    a row may sum to less than 1.

    `word_ids`, int of shape (B, S), has the word that each piece belongs to, counted from 0, or -1
    for none. The result has shape (..., B, H, W, W) for the W words of the longest sequence; rows
    and columns beyond a shorter sequence's end are 0.
    """
    words = torch.arange(int(word_ids.max()) + 1, device=word_ids.device)
    belongs = (word_ids[:, None, :] == words[:, None]).to(weights.dtype)  # (B, W, S)
    share = belongs / belongs.sum(-1, keepdim=True).clamp(min=1)
    return share[:, None] @ weights @ belongs[:, None].mT  # (..., B, H, W, W)


def syntax_score(word_weights: Tensor, pairs: Tensor) -> Tensor:
    """Give the share of the pairs whose word *from* attends more to word *to* than to any other.

    `word_weights`, shape (..., B, H, W, W), are maps over words, as `merge_word_pieces` gives them;
    attention of a word to itself does not compete. The result has shape (..., H).
    """
    itself = torch.eye(word_weights.shape[-1], dtype=torch.bool, device=word_weights.device)
    favourite = word_weights.masked_fill(itself, -1.0).argmax(-1)  # (..., B, H, W)
    sequence, start, end = pairs.unbind(-1)
    found = favourite.movedim(-2, -1)[..., sequence, start, :]  # (..., N, H)
    return (found == end[:, None]).float().mean(-2)


def best_offset(pairs: Tensor) -> int:
    """Give the distance, positive to the right, that the most pairs have: the baseline to beat."""
    return int((pairs[:, 2] - pairs[:, 1]).mode().values)


def offset_score(pairs: Tensor, offset: int) -> float:
    """Give the share of pairs whose words lie `offset` apart."""
    check_whole(offset=offset)
    return (pairs[:, 2] - pairs[:, 1] == offset).float().mean().item()
