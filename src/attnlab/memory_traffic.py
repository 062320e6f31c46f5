"""Count the bytes that an algorithm moves between a small fast memory and a large slow one."""

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from attnlab.arguments import check_counts

# They fill memory and look at their first operand's shape alone.
OVERWRITING = {"copy_", "fill_", "zero_", "zeros_like", "ones_like", "full_like", "new_full"}
ALLOCATING = {"empty", "empty_like", "new_empty"}


class Traffic(TorchDispatchMode):
    """While active, count what every operation reads from slow memory and writes to it.

    The model of a GPU: a tensor whose memory is larger than the chip's cannot stay there, so each
    operation fetches the elements that it reads and sends back the ones that it writes. A slice
    moves only its own elements. What fits stays on the chip and costs nothing.

    Parameters
    ----------
    on_chip : int, bytes of the largest memory of a tensor that stays on the chip

    Attributes
    ----------
    read, written : int, bytes that crossed the border so far
    """

    def __init__(self, on_chip: int) -> None:
        super().__init__()
        check_counts(on_chip=on_chip)
        self.on_chip = on_chip
        self.read = self.written = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        """Run one operation, then count its operands and results."""
        kwargs = kwargs or {}
        results = function(*args, **kwargs)
        name = function.overloadpacket.__name__
        used = args[1:] if name in OVERWRITING else args
        operands = _tensors((used, {**kwargs, "out": None}))
        outputs = _tensors(results)
        given = {x.untyped_storage()._cdata for x in _tensors((args, kwargs))}
        is_view = not function._schema.is_mutable and all(
            x.untyped_storage()._cdata in given for x in outputs
        )
        if not is_view and name not in ALLOCATING:
            self.read += sum(map(self._crossing, operands))
            self.written += sum(map(self._crossing, outputs))
        return results

    def _crossing(self, x: Tensor) -> int:
        """Give the bytes of a tensor that must be moved for it to be used."""
        return x.numel() * x.element_size() if x.untyped_storage().nbytes() > self.on_chip else 0


def _tensors(tree: object) -> list[Tensor]:
    return [x for x in tree_leaves(tree) if isinstance(x, Tensor)]
