"""The training loop of the book's small models."""

from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor, nn


def descend(
    parameters: Iterable[nn.Parameter],
    batches: Sequence[tuple[Tensor, Tensor]],
    loss_of: Callable[[Tensor, Tensor], Tensor],
    *,
    rate: float,
    clip: float,
) -> list[float]:
    """Take one step for each batch, with AdamW and a one-cycle learning rate.

    Nothing random happens here: the same parameters and the same batches give the same result.

    Parameters
    ----------
    parameters : iterable of nn.Parameter
        Changed in place.
    batches : sequence of (source, target)
    loss_of : callable
        Gives the loss of a batch, shape ().
    rate : float
        Peak of the learning rate.
    clip : float
        Largest norm of a gradient; longer ones are shortened to it.

    Returns
    -------
    losses : list of float
        One a batch.
    """
    parameters = list(parameters)
    optimiser = torch.optim.AdamW(parameters, lr=rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, rate, total_steps=len(batches), pct_start=0.1
    )
    losses = []
    for source, target in batches:
        loss = loss_of(source, target)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, clip)
        optimiser.step()
        schedule.step()
        losses.append(loss.item())
    return losses
