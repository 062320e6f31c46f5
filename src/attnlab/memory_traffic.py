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

    The rule: a tensor whose memory is larger than that of one tile lives in slow memory, so each
    operation fetches the elements that it reads and sends back the ones that it writes. A slice
    moves only its own elements. A smaller tensor stays on the chip and costs nothing. The rule does
    not ask whether all that is small fits there at once: a chip needs room for a few tiles.

    `on_chip` are the bytes of the largest memory of a tensor that stays on the chip; `read` and
    `written` are those that crossed the border so far.
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


def naive_traffic(n: int, d_k: int) -> int:
    r"""Count the numbers that naive attention moves for one head: equation eq-traffic of the book.

    Scores and weights are written and read, Q is scaled by itself; :math:`d_v = d_k`, no mask.
    """
    check_counts(n=n, d_k=d_k)
    return 4 * n**2 + 6 * n * d_k


def flash_traffic(n: int, d_k: int, block_q: int) -> int:
    """Count those that Flash attention moves: equation eq-traffic, also Dao et al. 2022, theorem 2.

    K and V are read once for each block of queries; m and l are written; no mask. A last block that
    is shorter counts as one.
    """
    check_counts(n=n, d_k=d_k)
    check_counts(least=1, block_q=block_q)
    return 2 * n * d_k + 2 * n + -(-n // block_q) * 2 * n * d_k


def _tensors(tree: object) -> list[Tensor]:
    return [x for x in tree_leaves(tree) if isinstance(x, Tensor)]
