"""The whole Transformer: an encoder that reads, a decoder that writes, and attention between them.

Both halves are built on the book's own multi-head attention. As in `attnlab.transformer`, each
sublayer normalises what it reads (pre-norm) and adds what it finds, and there is no dropout.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from attnlab.arguments import check_counts
from attnlab.masks import make_causal_mask
from attnlab.multihead import MultiHeadAttention
from attnlab.tasks import BOS, EOS, PAD
from attnlab.transformer import TransformerEncoder, sinusoidal_positions


class Maps(NamedTuple):
    """The weights of every attention of a translator, layer by layer and head by head.

    Attributes
    ----------
    encoder : Tensor, shape (L, B, H, T_x, T_x)
        The source reads itself.
    decoder : Tensor, shape (L, B, H, T_y, T_y)
        The translation reads what was written of it.
    cross : Tensor, shape (L, B, H, T_y, T_x)
        The translation reads the source.
    """

    encoder: Tensor
    decoder: Tensor
    cross: Tensor


class DecoderLayer(nn.Module):
    """Self-attention, cross-attention, then a small network on each position.

    The layer of Vaswani et al. (2017), sections 3.1 and 3.2.3, pre-norm as
    `attnlab.transformer.EncoderLayer` is.
    """

    def __init__(self, d_model: int, n_heads: int, d_ff: int, bias: bool = True) -> None:
        super().__init__()
        self.attend = MultiHeadAttention(d_model, n_heads, bias=bias)
        self.cross_attend = MultiHeadAttention(d_model, n_heads, bias=bias)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model)
        )
        self.attend_norm = nn.LayerNorm(d_model)
        self.cross_attend_norm = nn.LayerNorm(d_model)
        self.feed_forward_norm = nn.LayerNorm(d_model)

    def forward(
        self, y: Tensor, states: Tensor, mask: Tensor, source_mask: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Read what was written, then the source, then think alone.

        Parameters
        ----------
        y : Tensor, shape (B, T_y, d_model)
        states : Tensor, shape (B, T_x, d_model)
            What the encoder says of the source.
        mask : bool Tensor, broadcastable to (B, H, T_y, T_y)
            True where a position may attend to another.
        source_mask : bool Tensor, broadcastable to (B, H, T_y, T_x)
            True where a position may attend to a source word.

        Returns
        -------
        y : Tensor, shape (B, T_y, d_model)
        weights : Tensor, shape (B, H, T_y, T_y)
        cross_weights : Tensor, shape (B, H, T_y, T_x)
        """
        normed = self.attend_norm(y)
        read, weights = self.attend(normed, normed, normed, mask)
        y = y + read
        found, cross_weights = self.cross_attend(
            self.cross_attend_norm(y), states, states, source_mask
        )
        y = y + found
        return y + self.feed_forward(self.feed_forward_norm(y)), weights, cross_weights


class Translator(nn.Module):
    """Encoder and decoder in one, with the face of `attnlab.seq2seq.Seq2Seq`.

    The model of Vaswani et al. (2017), section 3, with as many layers on each side. `d_ff`, the
    hidden width of the feed-forward networks, is ``4 * d_model`` unless given; `bias` is that of
    the attentions' projections. A size that does not fit is refused as `TransformerEncoder` does.
    """

    def __init__(
        self,
        source_size: int,
        target_size: int,
        d_model: int,
        n_heads: int,
        n_layers: int,
        d_ff: int | None = None,
        bias: bool = True,
    ) -> None:
        super().__init__()
        check_counts(least=1, target_size=target_size)
        d_ff = 4 * d_model if d_ff is None else d_ff
        self.encoder = TransformerEncoder(source_size, d_model, n_heads, n_layers, d_ff, bias=bias)
        self.embedding = nn.Embedding(target_size, d_model)
        self.layers = nn.ModuleList(
            DecoderLayer(d_model, n_heads, d_ff, bias) for _ in range(n_layers)
        )
        self.norm = nn.LayerNorm(d_model)
        self.out = nn.Linear(d_model, target_size)

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Read the source.

        Parameters
        ----------
        source : int Tensor, shape (B, T_x)
            Padded with `PAD`.

        Returns
        -------
        states : Tensor, shape (B, T_x, d_model)
        source_mask : bool Tensor, shape (B, 1, 1, T_x)
            True on words, False on padding.
        weights : Tensor, shape (L, B, H, T_x, T_x)
        """
        source_mask = (source != PAD)[:, None, None, :]  # (B, 1, 1, T_x)
        states, weights = self.encoder(source, source_mask, return_weights=True)
        return states, source_mask, weights

    def decode(
        self, previous: Tensor, states: Tensor, source_mask: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Predict the word behind each word, which sees only those before it.

        Parameters
        ----------
        previous : int Tensor, shape (B, T_y)
            The target shifted right: `BOS`, then its words but the last.
        states, source_mask
            As `encode` returns them.

        Returns
        -------
        logits : Tensor, shape (B, T_y, target_size)
        weights : Tensor, shape (L, B, H, T_y, T_y)
        cross_weights : Tensor, shape (L, B, H, T_y, T_x)
        """
        y = self.embedding(previous)  # (B, T_y, d_model)
        y = y + sinusoidal_positions(*y.shape[1:], dtype=y.dtype, device=y.device)
        mask = make_causal_mask(previous.shape[1], previous.device)  # (1, 1, T_y, T_y)
        maps = []
        for layer in self.layers:
            y, *both = layer(y, states, mask, source_mask)
            maps.append(both)
        return self.out(self.norm(y)), *(
            torch.stack(weights) for weights in zip(*maps, strict=True)
        )

    def forward(self, source: Tensor, target: Tensor) -> tuple[Tensor, Maps]:
        """Predict each target word from the source and the *true* words before it.

        Parameters
        ----------
        source : int Tensor, shape (B, T_x)
        target : int Tensor, shape (B, T_y)

        Returns
        -------
        logits : Tensor, shape (B, T_y, target_size)
        maps : Maps
        """
        states, source_mask, weights = self.encode(source)
        logits, *rest = self.decode(shifted(target), states, source_mask)
        return logits, Maps(weights, *rest)


def shifted(target: Tensor) -> Tensor:
    """Put `BOS` before a target and drop its last word: what the decoder reads, (B, T_y)."""
    return functional.pad(target[:, :-1], (1, 0), value=BOS)


@torch.no_grad()
def translate(model: Translator, source: Tensor, max_len: int) -> Tensor:
    """Write the likeliest word, feed it back, and go on.

    Parameters
    ----------
    model : Translator
    source : int Tensor, shape (B, T_x)
    max_len : int
        Number of words to write, the end mark included.

    Returns
    -------
    words : int Tensor, shape (B, max_len)
        `PAD` behind the first `EOS`.
    """
    states, source_mask, _ = model.encode(source)
    words = torch.full((len(source), 1), BOS, device=source.device)
    for _ in range(max_len):
        logits, _, _ = model.decode(words, states, source_mask)
        words = torch.cat([words, logits[:, -1:].argmax(-1)], 1)  # (B, 1 + written)
    written = words[:, 1:]
    ended = (written == EOS).cumsum(1) - (written == EOS).int() > 0
    return written.masked_fill(ended, PAD)
