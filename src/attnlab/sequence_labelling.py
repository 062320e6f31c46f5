"""An encoder that labels every position of a sequence, with one label or several at once.

A label is an id of the encoder's own vocabulary. A linear layer, the `readout`, reads K labels out
of the state of each position, so it is ``nn.Linear(d_model, K * vocab_size)``. Sources have shape
(B, S), targets (B, S, K), where `PAD` is not counted; a mask, broadcastable to (B, H, S, S), is
True where a position may attend to another.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from attnlab.tasks import PAD
from attnlab.training import Batches, descend
from attnlab.transformer import TransformerEncoder


def label_scores(
    model: TransformerEncoder, readout: nn.Linear, source: Tensor, mask: Tensor | None = None
) -> Tensor:
    """Give each position a score for every label: (B, S, K, vocab_size), not yet a softmax."""
    scores = readout(model(source, mask))  # (B, S, K * vocab_size)
    return scores.unflatten(-1, (-1, model.embedding.num_embeddings))  # (B, S, K, vocab_size)


def train(
    model: TransformerEncoder,
    readout: nn.Linear,
    batches: Batches,
    mask: Tensor | None = None,
    **options: float,
) -> list[float]:
    """Train encoder and read-out, in place, on each batch (source, target) once.

    Options are `rate` and `clip` of `attnlab.training.descend`. The losses come back: cross-entropy
    in nats per label, one a batch.
    """

    def loss_of(source: Tensor, target: Tensor) -> Tensor:
        scores = label_scores(model, readout, source, mask)
        return functional.cross_entropy(scores.flatten(0, -2), target.flatten(), ignore_index=PAD)

    parameters = [*model.parameters(), *readout.parameters()]
    return descend(parameters, batches, loss_of, **options)


@torch.no_grad()
def accuracy(
    model: TransformerEncoder,
    readout: nn.Linear,
    source: Tensor,
    target: Tensor,
    mask: Tensor | None = None,
) -> list[float]:
    """Give the share of right labels, for each of the K."""
    right = label_scores(model, readout, source, mask).argmax(-1) == target  # (B, S, K)
    asked = target != PAD
    return ((right & asked).sum((0, 1)) / asked.sum((0, 1))).tolist()
