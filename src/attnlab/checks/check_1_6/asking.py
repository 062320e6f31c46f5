"""Calls what the student wrote in exercise 1.6, and explains what it raises."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from attnlab.checks._diagnose import ask, read_array, require_unchanged
from attnlab.checks.check_1_6.cases import NAMES, Case
from attnlab.checks.check_1_6.mistakes import MISTAKES
from nbmark.graded import CheckFailed, NotAttempted, require

# Words of PyTorch's errors, and what they come of.
RAISED = {
    "view size is not compatible": "view_after_transpose",
    "before Module.__init__() call": "init_missing",
}


def tensor(array: np.ndarray) -> torch.Tensor:
    """Give a float32 tensor of its own."""
    return torch.tensor(array, dtype=torch.float32)


def ask_for(name: str, function: Callable, array: np.ndarray, *more: Any) -> np.ndarray:
    """Call a function of one tensor and more; give the array that it returns."""
    require(**{name: function})
    given, case = tensor(array), f"x of shape {array.shape}"
    case += f", n_heads = {more[0]}" if more else ""
    with explained(), torch.no_grad():
        result = ask(function, given, *more, case=case)
    require_unchanged("x", array, given)
    return read_array(f"{name}(x)", result)


def ask_for_weights(
    function: Callable, Q: np.ndarray, K: np.ndarray, mask: np.ndarray | None = None
) -> np.ndarray:
    """Call the student's attention_weights; give (B, H, S_q, S_k) weights."""
    require(attention_weights=function)
    given = {"Q": tensor(Q), "K": tensor(K)}
    before = {"Q": Q, "K": K}
    if mask is not None:
        given["mask"], before["mask"] = torch.from_numpy(mask.copy()), mask
    case = f"Q of shape {Q.shape}, K of shape {K.shape}"
    case += "" if mask is None else f", mask of shape {mask.shape}"
    try:
        with explained(), torch.no_grad():
            result = ask(function, *given.values(), case=case)
    except CheckFailed as failed:
        if failed.error is not None:
            cause = _why_weights_failed(function, Q, K, mask)
            shape = None if mask is None else mask.shape
            MISTAKES.fail_if(cause, cause, _said(failed), shape=shape)
        raise
    several = isinstance(result, tuple)
    MISTAKES.fail_if(several, "returns_several", number=len(result) if several else 1)
    for name, array in before.items():
        require_unchanged(name, array, given[name])
    return read_array("attention_weights(Q, K)", result)


def _why_weights_failed(
    function: Callable, Q: np.ndarray, K: np.ndarray, mask: np.ndarray | None
) -> str | None:
    """Find why a call raised: by other calls, which a mistake lets pass."""
    if mask is not None:
        full = np.broadcast_to(mask, (*Q.shape[:3], K.shape[2])).copy()
        return "mask_not_broadcast" if _works(function, Q, K, full) else None
    if _works(function, Q, K, np.ones((*Q.shape[:3], K.shape[2]), bool)):
        return "mask_none"
    cube = np.ones((5, 5, 5, 3))  # where an axis that a sum has lost is not missed
    if _works(function, cube, cube):
        return None
    square = np.ones((K.shape[-1],) * 4)  # K as it stands, or turned around, fits it
    return "keys_not_transposed" if _works(function, square, square) else None


def _works(function: Callable, Q: np.ndarray, K: np.ndarray, *mask: np.ndarray) -> bool:
    try:
        ask(function, tensor(Q), tensor(K), *map(torch.from_numpy, mask))
    except CheckFailed:
        return False
    return True


class explained:  # noqa: N801 - used like a function
    """Turn an error of PyTorch whose words are known into a failure of the table."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, failed: Any, trace: Any) -> None:
        if isinstance(failed, CheckFailed) and failed.error is not None:
            for words, cause in RAISED.items():
                if words in str(failed.error):
                    raise MISTAKES.failure(cause, failed.example) from None


def _said(failed: CheckFailed) -> str:
    """Give what Python said, and the student's line, as an example."""
    said = f"{type(failed.error).__name__}: {failed.error}"[:160]
    return f"{failed.example}\n    {said}".strip("\n")


def build(module: type, *args: Any, **kwargs: Any) -> torch.nn.Module:
    """Make a module of the student's class, and see that it is one."""
    require(MultiHeadAttention=module)
    words = ", ".join([*map(str, args), *(f"{name}={value}" for name, value in kwargs.items())])
    with explained():
        made = ask(module, *args, case=f"MultiHeadAttention({words})", **kwargs)
    kind = type(made).__name__
    MISTAKES.fail_if(not isinstance(made, torch.nn.Module), "no_module", kind=kind)
    return made


def require_layers(made: torch.nn.Module, width: int) -> None:
    """Fail unless the four projections are there, as linear layers of this width."""
    missing = [name for name in NAMES if not hasattr(made, name)]
    MISTAKES.fail_if(missing, "layer_missing", names=" and ".join(missing))
    for name in NAMES:
        layer = getattr(made, name)
        shapes = [getattr(getattr(layer, part, None), "shape", None) for part in ("weight", "bias")]
        right = [(width, width), (width,)]
        fits = [tuple(shape or ()) for shape in shapes] == right
        MISTAKES.fail_if(not fits, "layer_shape", name=name, given=" ".join(repr(layer).split()))


def loaded(module: type, case: Case, dropout: float = 0.0) -> torch.nn.Module:
    """Make a module with the weights of a case."""
    made = build(module, case.width, case.H, dropout)
    for name in NAMES:  # a bias that is missing costs the check of the layers
        layer = getattr(made, name, None)
        if isinstance(layer, torch.nn.Linear) and layer.bias is None:
            layer.bias = torch.nn.Parameter(torch.zeros(len(layer.weight)))
    require_layers(made, case.width)
    return case.load(made)


class Forward:
    """A module's forward, which errors and cases call `module`."""

    __name__ = "module"

    def __init__(self, made: torch.nn.Module) -> None:
        self.made, self.__code__ = made, getattr(made.forward, "__code__", None)

    def __call__(self, *given: torch.Tensor) -> Any:
        """Call it without the hooks that a student may have left."""
        return self.made.forward(*given)


def run(made: torch.nn.Module, case: Case) -> tuple[torch.Tensor, torch.Tensor]:
    """Call a module; give output and weights as the tensors that they are."""
    given = case.tensors()
    with explained():
        try:
            result = ask(Forward(made), *given, case=str(case))
        except NotAttempted:
            raise
        except CheckFailed as failed:
            _explain_call(made, case, failed)
            raise
    kind = f"one {type(result).__name__}"
    if isinstance(result, tuple | list):
        kind = f"{len(result)} of them"
    pair = isinstance(result, tuple | list) and len(result) == 2
    MISTAKES.fail_if(not pair, "forward_returns", what=kind)
    for name, before, after in zip(case.inputs, case.inputs.values(), given, strict=False):
        require_unchanged(name, before, after)
    return tuple(result)


def _explain_call(made: torch.nn.Module, case: Case, failed: CheckFailed) -> None:
    """Say that the mask may be None where a full one helps."""
    if failed.error is not None and case.mask is None:
        try:
            ask(Forward(made), *case.tensors(), torch.ones(case.weights.shape, dtype=torch.bool))
        except CheckFailed:
            return
        raise MISTAKES.failure("mask_none", _said(failed))
