"""Count the memory that tensors hold, by watching every operation that PyTorch runs."""

import weakref

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class PeakMemory(TorchDispatchMode):
    """While active, track the bytes of all tensors that were made since it began.

    The count is exact and the same in every run. It sees the backward pass and what autograd keeps
    for it, counts memory that several tensors share once, and works on the meta device, where
    nothing is allocated at all. It does not see the scratch memory inside one operation.

    Attributes
    ----------
    peak : int
        The most bytes that were held at once, without the tensors that were there before.

    Examples
    --------
    >>> with PeakMemory() as memory:
    ...     total = (torch.ones(256, 256) + 1).sum()
    >>> memory.peak  # two matrices of 256 KiB
    524288
    """

    def __init__(self) -> None:
        super().__init__()
        self.peak = 0
        self._held: dict[int, weakref.finalize] = {}
        self._bytes = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        """Run one operation, then add the memory that is new."""
        results = function(*args, **kwargs or {})
        known = {storage._cdata for storage in _storages((args, kwargs))} | self._held.keys()
        for storage in _storages(results):
            key, size = storage._cdata, storage.nbytes()
            if key not in known:
                self._bytes += size
                self._held[key] = weakref.finalize(storage, self._release, key, size)
                known.add(key)
        self.peak = max(self.peak, self._bytes)
        return results

    def _release(self, key: int, size: int) -> None:
        """Subtract memory at the moment it becomes free."""
        self._bytes -= size
        del self._held[key]


def _storages(tree: object) -> list[torch.UntypedStorage]:
    """List the memory behind all tensors in nested arguments or results."""
    return [x.untyped_storage() for x in tree_leaves(tree) if isinstance(x, torch.Tensor)]
