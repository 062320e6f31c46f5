"""The training loop of the book's small models."""

from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor, nn

from attnlab.arguments import check_positive

Batches = Sequence[tuple[Tensor, Tensor]]  # of (source, target)


def descend(
    parameters: Iterable[nn.Parameter],
    batches: Batches,
    loss_of: Callable[[Tensor, Tensor], Tensor],
    *,
    rate: float = 1e-2,
    clip: float = 1.0,
    total: int | None = None,
) -> list[float]:
    """Take one step for each batch (source, target), with AdamW and a one-cycle learning rate.

    The parameters are changed in place; the losses come back, one a batch. `rate` is the peak of
    the learning rate, `clip` the largest norm of a gradient; both are finite and above 0, or
    ValueError is raised. The same parameters and the same batches give the same result. Where the
    batches are the beginning of a longer training, `total` is the number of all its steps.
    """
    check_positive(rate=rate, clip=clip)
    parameters = list(parameters)
    optimiser = torch.optim.AdamW(parameters, lr=rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, rate, total_steps=total or len(batches), pct_start=0.1
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
