"""An encoder that labels every position of a sequence, with one label or several at once.

A label is an id of the encoder's own vocabulary. A linear layer reads K labels out of the state of
each position, so it is ``nn.Linear(d_model, K * vocab_size)``.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from attnlab.tasks import PAD
from attnlab.training import descend
from attnlab.transformer import TransformerEncoder


def label_scores(
    model: TransformerEncoder, readout: nn.Linear, source: Tensor, mask: Tensor | None = None
) -> Tensor:
    """Give each position a score for every label.

    Parameters
    ----------
    model : TransformerEncoder
    readout : nn.Linear, from d_model to K * vocab_size
    source : int Tensor, shape (B, S)
    mask : bool Tensor, broadcastable to (B, H, S, S), optional
        True where a position may attend to another.

    Returns
    -------
    scores : Tensor, shape (B, S, K, vocab_size)
        To be turned into probabilities by a softmax over the last axis.
    """
    scores = readout(model(source, mask))  # (B, S, K * vocab_size)
    return scores.unflatten(-1, (-1, model.embedding.num_embeddings))  # (B, S, K, vocab_size)


def train(
    model: TransformerEncoder,
    readout: nn.Linear,
    batches: Sequence[tuple[Tensor, Tensor]],
    mask: Tensor | None = None,
    *,
    rate: float = 1e-2,
    clip: float = 1.0,
) -> list[float]:
    """Train encoder and read-out on each batch once, and return the losses.

    Parameters
    ----------
    model, readout, mask
        As in `label_scores`; the first two are changed in place.
    batches : sequence of (source, target)
        Of shapes (B, S) and (B, S, K). `PAD` in the target is not counted.
    rate, clip : float, optional
        See `attnlab.training.descend`.

    Returns
    -------
    losses : list of float
        Cross-entropy in nats per label, one a batch.
    """

    def loss_of(source: Tensor, target: Tensor) -> Tensor:
        scores = label_scores(model, readout, source, mask)
        return functional.cross_entropy(scores.flatten(0, -2), target.flatten(), ignore_index=PAD)

    parameters = [*model.parameters(), *readout.parameters()]
    return descend(parameters, batches, loss_of, rate=rate, clip=clip)


@torch.no_grad()
def accuracy(
    model: TransformerEncoder,
    readout: nn.Linear,
    source: Tensor,
    target: Tensor,
    mask: Tensor | None = None,
) -> list[float]:
    """Give the share of right labels, for each of the K.

    Parameters
    ----------
    model, readout, mask
        As in `label_scores`.
    source : int Tensor, shape (B, S)
    target : int Tensor, shape (B, S, K)
        `PAD` is not counted.

    Returns
    -------
    shares : list of float, length K
    """
    right = label_scores(model, readout, source, mask).argmax(-1) == target  # (B, S, K)
    asked = target != PAD
    return ((right & asked).sum((0, 1)) / asked.sum((0, 1))).tolist()
