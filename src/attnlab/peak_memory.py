"""Count the memory that tensors hold, by watching every operation that PyTorch runs."""

import weakref

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

# How a sparse tensor gives the dense ones that hold its memory.
PARTS = {
    torch.sparse_coo: (Tensor._indices, Tensor._values),
    torch.sparse_csr: (Tensor.crow_indices, Tensor.col_indices, Tensor.values),
    torch.sparse_bsr: (Tensor.crow_indices, Tensor.col_indices, Tensor.values),
    torch.sparse_csc: (Tensor.ccol_indices, Tensor.row_indices, Tensor.values),
    torch.sparse_bsc: (Tensor.ccol_indices, Tensor.row_indices, Tensor.values),
}


class PeakMemory(TorchDispatchMode):
    """While active, track the bytes of all tensors that were made since it began, or have grown.

    The count is exact and the same in every run. It sees the backward pass and what autograd keeps
    for it, counts memory that several tensors share once, and works on the meta device, where
    nothing is allocated at all. It does not see the scratch memory inside one operation, memory
    that a tensor borrows from NumPy, nor what a storage's own ``resize_`` changes.

    Attributes
    ----------
    peak : int, the most bytes that were held at once, without what was there before

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
        self._held: dict[int, int] = {}  # the bytes counted for each storage
        self._bytes = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        """Run one operation, then add the memory that is new: whole tensors, or what has grown."""
        given = _storages((args, kwargs))
        if function is torch.ops.aten.lift_fresh.default:  # torch.tensor(...) made its argument
            given = [storage for storage in given if not storage.resizable()]  # NumPy's
        known = self._held | {storage._cdata: storage.nbytes() for storage in given}
        results = function(*args, **kwargs or {})
        for storage in _storages((args, kwargs, results)):
            key, size = storage._cdata, storage.nbytes()
            grown = size - known.get(key, 0)
            if grown:
                self._count(storage, grown)
                known[key] = size
        self.peak = max(self.peak, self._bytes)
        return results

    def _count(self, storage: torch.UntypedStorage, grown: int) -> None:
        """Add memory, until the moment it becomes free."""
        key = storage._cdata
        if key not in self._held:
            weakref.finalize(storage, self._release, key)
        self._held[key] = self._held.get(key, 0) + grown
        self._bytes += grown

    def _release(self, key: int) -> None:
        """Subtract memory that became free."""
        self._bytes -= self._held.pop(key)


def _storages(tree: object) -> list[torch.UntypedStorage]:
    """List the memory behind all tensors in nested arguments or results."""
    tensors = (x for x in tree_leaves(tree) if isinstance(x, Tensor))
    return [
        dense.untyped_storage()
        for x in tensors
        for dense in ([part(x) for part in PARTS[x.layout]] if x.layout in PARTS else [x])
    ]
