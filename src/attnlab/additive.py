"""Attention of a recurrent decoder over an encoder's states: Bahdanau's score and Luong's three.

All four score each encoder state against the decoder's state, turn the scores into weights and
mix the encoder states (`EncoderAttention`). They differ in the score alone.
"""

import torch
from torch import Tensor, nn

from attnlab.arguments import check_counts
from attnlab.attention import masked_softmax


class EncoderAttention(nn.Module):
    """Frame of additive and multiplicative attention; a subclass defines `keys` and `scores`."""

    def __init__(self, d_dec: int, d_enc: int) -> None:
        super().__init__()
        check_counts(least=1, d_dec=d_dec, d_enc=d_enc)
        self.d_dec = d_dec
        self.d_enc = d_enc

    def keys(self, encoder_states: Tensor) -> Tensor:
        """Compute what depends on the encoder alone: (B, T_x, d_enc) to (B, T_x, any width)."""
        raise NotImplementedError

    def scores(self, state: Tensor, keys: Tensor) -> Tensor:
        """Score every decoder state (B, T_y, d_dec) against every key: (B, T_y, T_x)."""
        raise NotImplementedError

    def forward(
        self,
        state: Tensor,
        encoder_states: Tensor,
        mask: Tensor | None = None,
        keys: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Mix the encoder states by how well they suit the decoder's state.

        Parameters
        ----------
        state : Tensor, shape (B, d_dec), or (B, T_y, d_dec) for T_y steps at once
        encoder_states : Tensor, shape (B, T_x, d_enc)
        mask : bool Tensor, shape (B, T_x) or (1, T_x), optional, True where a position may be read
        keys : Tensor, optional, what ``self.keys(encoder_states)`` gave, to compute it only once

        Returns
        -------
        context : Tensor, shape (B, d_enc) or (B, T_y, d_enc)
        weights : Tensor, shape (B, T_x) or (B, T_y, T_x); a row sums to 1, or to 0 if all is masked

        Raises
        ------
        TypeError, ValueError
            If `mask` is not boolean; if a shape does not fit.
        """
        self._check(state, encoder_states, mask)
        steps = state if state.dim() == 3 else state.unsqueeze(1)  # (B, T_y, d_dec)
        keys = self.keys(encoder_states) if keys is None else keys
        scores = self.scores(steps, keys)  # (B, T_y, T_x)
        weights = masked_softmax(scores, None if mask is None else mask.unsqueeze(-2))
        context = weights @ encoder_states  # (B, T_y, d_enc)
        if state.dim() == 3:
            return context, weights
        return context.squeeze(1), weights.squeeze(1)  # (B, d_enc), (B, T_x)

    def _check(self, state: Tensor, encoder_states: Tensor, mask: Tensor | None) -> None:
        """Raise ValueError unless the shapes fit."""
        if encoder_states.dim() != 3 or encoder_states.shape[-1] != self.d_enc:
            raise ValueError(
                f"encoder_states has shape {tuple(encoder_states.shape)}, "
                f"but (B, T_x, d_enc={self.d_enc}) fits"
            )
        B, T_x = encoder_states.shape[:2]
        if state.dim() not in (2, 3) or state.shape[0] != B or state.shape[-1] != self.d_dec:
            raise ValueError(
                f"state has shape {tuple(state.shape)}, but (B={B}, d_dec={self.d_dec}) "
                f"or (B={B}, T_y, d_dec={self.d_dec}) fits"
            )
        if mask is not None and mask.shape not in ((B, T_x), (1, T_x)):
            raise ValueError(
                f"the mask has shape {tuple(mask.shape)}, but (B={B}, T_x={T_x}) fits; "
                "of make_padding_mask(lengths, T_x) take [:, 0, 0]"
            )


class BahdanauAttention(EncoderAttention):
    r"""Additive attention: :math:`e_{tj} = v_a^\top \tanh(W_a s_{t-1} + U_a \bar h_j)`.

    Bahdanau et al. (2015), "Neural Machine Translation by Jointly Learning to Align and
    Translate", equations 5 and 6 and appendix A.1.2; equation eq-additive-score of the book.

    Parameters
    ----------
    d_dec, d_enc, d_attn : int
        Widths of a decoder state, of an encoder state and of the network's one hidden layer, whole
        numbers from 1 on: anything else raises TypeError or ValueError.
    """

    def __init__(self, d_dec: int, d_enc: int, d_attn: int) -> None:
        super().__init__(d_dec, d_enc)
        check_counts(least=1, d_attn=d_attn)
        self.W_a = nn.Linear(d_dec, d_attn, bias=False)
        self.U_a = nn.Linear(d_enc, d_attn, bias=False)
        self.v_a = nn.Linear(d_attn, 1, bias=False)

    def keys(self, encoder_states: Tensor) -> Tensor:
        r"""Compute :math:`U_a \bar h_j`."""
        return self.U_a(encoder_states)  # (B, T_x, d_attn)

    def scores(self, state: Tensor, keys: Tensor) -> Tensor:
        """Run the network on every pair."""
        query = self.W_a(state)  # (B, T_y, d_attn)
        hidden = torch.tanh(query.unsqueeze(2) + keys.unsqueeze(1))  # (B, T_y, T_x, d_attn)
        return self.v_a(hidden).squeeze(-1)  # (B, T_y, T_x)


class LuongAttention(EncoderAttention):
    r"""Luong's three scores of a decoder state :math:`s_t` and an encoder state :math:`\bar h_j`.

    They are :math:`s_t^\top \bar h_j` (dot), :math:`s_t^\top W_a \bar h_j` (general) and
    :math:`v_a^\top \tanh(W_a [s_t; \bar h_j])` (concat). See Luong et al. (2015),
    "Effective Approaches to Attention-based Neural Machine Translation", section 3.1; equations
    eq-luong-dot, eq-luong-general and eq-luong-concat of the book.

    Parameters
    ----------
    d_dec, d_enc : int, widths of a decoder and of an encoder state
    score : {"dot", "general", "concat"}, optional, the hidden layer of ``"concat"`` is `d_dec` wide

    Raises
    ------
    TypeError, ValueError
        If a width is no whole number; if it is below 1, or the score is ``"dot"`` for two widths.
    """

    def __init__(self, d_dec: int, d_enc: int, score: str = "dot") -> None:
        super().__init__(d_dec, d_enc)
        if score not in ("dot", "general", "concat"):
            raise ValueError(f"score is {score!r}; choose 'dot', 'general' or 'concat'")
        if score == "dot" and d_dec != d_enc:
            raise ValueError(
                f"a dot product needs states of one width, but d_dec={d_dec} and d_enc={d_enc}; "
                "use score='general', whose W_a maps one onto the other"
            )
        self.score = score
        if score == "general":
            self.W_a = nn.Linear(d_enc, d_dec, bias=False)
        if score == "concat":
            self.W_a = nn.Linear(d_dec + d_enc, d_dec, bias=False)
            self.v_a = nn.Linear(d_dec, 1, bias=False)

    def keys(self, encoder_states: Tensor) -> Tensor:
        """Compute the encoder's share of the score: (B, T_x, d_enc) to (B, T_x, d_dec)."""
        if self.score == "dot":
            return encoder_states
        if self.score == "general":
            return self.W_a(encoder_states)
        return encoder_states @ self.W_a.weight[:, self.d_dec :].T

    def scores(self, state: Tensor, keys: Tensor) -> Tensor:
        """Score every pair: one matrix product, except for "concat"."""
        if self.score != "concat":
            return state @ keys.transpose(1, 2)  # (B, T_y, T_x)
        query = state @ self.W_a.weight[:, : self.d_dec].T  # (B, T_y, d_dec)
        hidden = torch.tanh(query.unsqueeze(2) + keys.unsqueeze(1))  # (B, T_y, T_x, d_dec)
        return self.v_a(hidden).squeeze(-1)  # (B, T_y, T_x)
