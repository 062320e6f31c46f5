"""Multi-head attention as one module, and its parameter count.

The book's equations, all in section 1.6: eq-head and eq-multi-head are `MultiHeadAttention`, and
eq-multi-head-parameters is `count_parameters`.

``python -m attnlab.multihead`` runs the verification of section 1.8.
"""

import torch
from torch import Tensor, nn

from attnlab.arguments import check_probability, check_whole
from attnlab.attention import attention_weights
from attnlab.masks import make_causal_mask


def head_width(d_model: int, n_heads: int) -> int:
    """Give d_k, the width of one of H heads; raise ValueError if `n_heads` does not divide."""
    check_whole(d_model=d_model, n_heads=n_heads)
    if d_model < 1 or n_heads < 1:
        raise ValueError(f"d_model={d_model} and n_heads={n_heads} must both be at least 1")
    if d_model % n_heads:
        divisors = [h for h in range(1, d_model + 1) if d_model % h == 0]
        nearest = min(divisors, key=lambda h: abs(h - n_heads))
        raise ValueError(
            f"d_model={d_model} does not split into n_heads={n_heads} heads of equal width; "
            f"the nearest number of heads that fits is {nearest}"
        )
    return d_model // n_heads


class MultiHeadAttention(nn.Module):
    r"""H attention functions side by side, each on its own d_k-wide slice of the model width.

    The three input projections of all heads are stored as one d_model x d_model matrix each: rows
    ``i * d_k`` to ``(i + 1) * d_k`` of ``W_q.weight`` belong to head ``i``. See
    Vaswani et al. (2017), "Attention Is All You Need", section 3.2.2.

    Parameters
    ----------
    d_model, n_heads : int
        Width of the tokens' vectors, and number of heads H, which must divide it.
    dropout : float, optional, probability of dropping an attention weight while training
    bias : bool, optional, whether the four projections have a bias

    Attributes
    ----------
    W_q, W_k, W_v, W_o : nn.Linear, the paper's :math:`W^Q, W^K, W^V` of all heads, and :math:`W^O`
    d_k : int, the width of one head, ``d_model / n_heads``, which is d_v too

    Raises
    ------
    TypeError, ValueError
        If a size is no whole number; if `n_heads` does not divide `d_model`, or `dropout` is no
        probability.
    """

    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0, bias: bool = True) -> None:
        super().__init__()
        check_probability(dropout=dropout)
        self.d_k = head_width(d_model, n_heads)
        self.d_model = d_model
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def split_heads(self, x: Tensor) -> Tensor:
        """Cut the width into heads: (B, S, d_model) to (B, H, S, d_k)."""
        x = x.unflatten(-1, (self.n_heads, -1))  # (B, S, H, d_k)
        return x.transpose(1, 2)  # (B, H, S, d_k)

    def merge_heads(self, x: Tensor) -> Tensor:
        """Put the heads side by side again: (B, H, S, d_k) to (B, S, d_model)."""
        x = x.transpose(1, 2)  # (B, S, H, d_k)
        return x.flatten(-2)  # (B, S, d_model)

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Let each query position gather from the values, once per head.

        Parameters
        ----------
        query : Tensor, shape (B, S_q, d_model), the sequence that asks
        key, value : Tensor, shape (B, S_k, d_model), the sequence that is asked, or `query` again
        mask : bool Tensor, broadcastable to (B, H, S_q, S_k), optional, True = may attend

        Returns
        -------
        output : Tensor, shape (B, S_q, d_model)
        weights : Tensor, shape (B, H, S_q, S_k)
            The probabilities *before* dropout: each row sums to 1, in training too, or to 0
            where it is fully masked.

        Raises
        ------
        TypeError, ValueError
            If `mask` is not boolean; if it does not fit, an input is not (B, S, d_model), or the
            three differ in B or keys and values in S.
        """
        self._check(query, key, value)
        Q = self.split_heads(self.W_q(query))  # (B, H, S_q, d_k)
        K = self.split_heads(self.W_k(key))  # (B, H, S_k, d_k)
        V = self.split_heads(self.W_v(value))  # (B, H, S_k, d_k)
        weights = attention_weights(Q, K, mask)  # (B, H, S_q, S_k)
        context = self.dropout(weights) @ V  # (B, H, S_q, d_k)
        return self.W_o(self.merge_heads(context)), weights  # (B, S_q, d_model), (B, H, S_q, S_k)

    def _check(self, query: Tensor, key: Tensor, value: Tensor) -> None:
        """Raise ValueError unless the shapes fit."""
        for name, x in (("query", query), ("key", key), ("value", value)):
            if x.dim() != 3 or x.shape[-1] != self.d_model:
                raise ValueError(
                    f"{name} has shape {tuple(x.shape)}, but (B, S, d_model={self.d_model}) fits"
                )
        if key.shape != value.shape or key.shape[0] != query.shape[0]:
            raise ValueError(
                f"query, key and value have shapes {tuple(query.shape)}, {tuple(key.shape)} and "
                f"{tuple(value.shape)}: they need the same B, and each key its own value"
            )


def count_parameters(d_model: int, n_heads: int, bias: bool = True) -> int:
    r"""Count what `MultiHeadAttention` learns, by the formula.

    It is :math:`H(2 d_{model} d_k + d_{model} d_v) + H d_v d_{model} = 4 d_{model}^2`, and
    :math:`4 d_{model}` more with biases. H cancels, but must divide `d_model`: ValueError.
    """
    d_k = d_v = head_width(d_model, n_heads)
    projections = n_heads * (2 * d_model * d_k + d_model * d_v)
    output = n_heads * d_v * d_model
    return projections + output + (4 * d_model if bias else 0)


def verify() -> None:
    """Print the shapes and the largest weight above the diagonal (section 1.8)."""
    torch.manual_seed(42)
    batch, seq_len, d_model, n_heads = 2, 16, 256, 8
    mha = MultiHeadAttention(d_model, n_heads, dropout=0.1)
    x = torch.randn(batch, seq_len, d_model)
    output, weights = mha(x, x, x, mask=make_causal_mask(seq_len))
    print(f"output  : {tuple(output.shape)}")
    print(f"weights : {tuple(weights.shape)}")
    print(f"largest weight above the diagonal : {weights.triu(diagonal=1).max().item():.2e}")


if __name__ == "__main__":
    verify()
