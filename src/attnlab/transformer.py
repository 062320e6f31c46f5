"""A Transformer encoder on the book's own multi-head attention, and sinusoidal positions.

It normalises *before* each sublayer (pre-norm) where Vaswani et al. normalise after the sum. From
the last layer back to the embedding there is then a path of sums alone, gradients at the start
are of one size in all layers, and training needs no warm-up of the learning rate (Xiong et al.
2020). The price is one more normalisation after the last layer.

There is no dropout: the book trains on data drawn afresh for every step, which cannot be learnt by
heart. Sizes are whole numbers from 1 on: anything else raises TypeError or ValueError.
"""

import torch
from torch import Tensor, nn

from attnlab.arguments import check_counts
from attnlab.multihead import MultiHeadAttention


def sinusoidal_positions(
    max_len: int,
    d_model: int,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str | None = None,
) -> Tensor:
    r"""Give each position a vector of sines and cosines, from fast to slow.

    As in Vaswani et al. (2017), "Attention Is All You Need", section 3.5:

    .. math::
        P_{t,2i} = \sin(t / 10000^{2i/d_{model}}), \qquad
        P_{t,2i+1} = \cos(t / 10000^{2i/d_{model}})

    Parameters
    ----------
    max_len : int, how many positions, counted from 0; it may be 0
    d_model : int, width of a vector; if it is odd, the last sine stands without its cosine
    dtype : torch.dtype, optional, of the result; the angles are computed in float64
    device : torch.device or str, optional

    Returns
    -------
    P : Tensor, shape (max_len, d_model)
    """
    check_counts(max_len=max_len)
    check_counts(least=1, d_model=d_model)
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
    times = torch.arange(max_len, dtype=torch.float64)
    angles = times[:, None] / 10000**exponents  # (max_len, pairs)
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)  # (max_len, pairs, 2)
    return pairs.flatten(1)[:, :d_model].to(device, dtype)  # (max_len, d_model)


class EncoderLayer(nn.Module):
    """Self-attention, then a network `d_ff` wide on each position, both added to what they read.

    Vaswani et al. (2017), sections 3.1 and 3.3; pre-norm as in Xiong et al. (2020), "On Layer
    Normalization in the Transformer Architecture", figure 1b.
    """

    def __init__(self, d_model: int, n_heads: int, d_ff: int, bias: bool = True) -> None:
        super().__init__()
        check_counts(least=1, d_ff=d_ff)
        self.attend = MultiHeadAttention(d_model, n_heads, bias=bias)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model)
        )
        self.attend_norm = nn.LayerNorm(d_model)
        self.feed_forward_norm = nn.LayerNorm(d_model)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Let the positions (B, S, d_model) read each other, then think alone; give the weights."""
        normed = self.attend_norm(x)
        read, weights = self.attend(normed, normed, normed, mask)
        x = x + read
        return x + self.feed_forward(self.feed_forward_norm(x)), weights


class TransformerEncoder(nn.Module):
    """Embedding, positions, a stack of encoder layers, and a last normalisation.

    Vaswani et al. (2017), "Attention Is All You Need", section 3.

    Parameters
    ----------
    vocab_size, d_model, n_heads, n_layers : int
        Number of token ids; width of the tokens' vectors; heads of each layer, which must divide
        it, or ValueError is raised; number of layers.
    d_ff : int, optional, hidden width of the feed-forward networks; ``4 * d_model`` unless given
    positions : bool, optional
        Whether to add sinusoidal positions to the embeddings. Without them, and without a mask
        that tells positions apart, reordering the tokens reorders the states and does no more.
    bias : bool, optional, whether the projections of the attentions have a bias
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        n_heads: int,
        n_layers: int,
        d_ff: int | None = None,
        positions: bool = True,
        bias: bool = True,
    ) -> None:
        super().__init__()
        check_counts(least=1, vocab_size=vocab_size, d_model=d_model, n_layers=n_layers)
        d_ff = 4 * d_model if d_ff is None else d_ff
        self.positions = positions
        # Drawn with variance 1, so as large as the positions without the paper's factor.
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.layers = nn.ModuleList(
            EncoderLayer(d_model, n_heads, d_ff, bias) for _ in range(n_layers)
        )
        self.norm = nn.LayerNorm(d_model)

    def forward(
        self, tokens: Tensor, mask: Tensor | None = None, return_weights: bool = False
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Turn token ids into one state for each position.

        Parameters
        ----------
        tokens : int Tensor, shape (B, S)
        mask : bool Tensor, broadcastable to (B, H, S, S), optional, for every layer
            `make_padding_mask`, `make_causal_mask`, or both joined by ``&``.

        Returns
        -------
        states : Tensor, shape (B, S, d_model)
        weights : Tensor, shape (n_layers, B, H, S, S), of every layer, only if `return_weights`

        Raises
        ------
        TypeError, ValueError
            If a dtype is another; if a shape is, or an id lies outside the vocabulary.
        """
        self._check(tokens)
        x = self.embedding(tokens)  # (B, S, d_model)
        if self.positions:
            x = x + sinusoidal_positions(*x.shape[1:], dtype=x.dtype, device=x.device)
        weights = []
        for layer in self.layers:
            x, layer_weights = layer(x, mask)
            weights.append(layer_weights)
        states = self.norm(x)
        return (states, torch.stack(weights)) if return_weights else states

    def _check(self, tokens: Tensor) -> None:
        """Raise unless `tokens` holds ids of the vocabulary, one row for each sequence."""
        if tokens.dtype not in (torch.int64, torch.int32):
            raise TypeError(f"tokens are {tokens.dtype}; pass integer ids, such as tokens.long()")
        if tokens.dim() != 2:
            raise ValueError(
                f"tokens have shape {tuple(tokens.shape)}, but (B, S) fits; "
                "for one sequence use tokens[None]"
            )
        size = self.embedding.num_embeddings
        outside = (tokens < 0) | (tokens >= size)
        if outside.any():
            raise ValueError(
                f"token id {tokens[outside][0].item()} lies outside 0 ... {size - 1}; "
                "raise vocab_size or map unknown tokens to an id of their own"
            )
