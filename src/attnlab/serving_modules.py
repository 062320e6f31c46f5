"""A module that a student wrote, from its class on, as a judge in another process uses it.

Its linear layers are here, and their numbers go there with each call; what it makes of its inputs
is computed there. So the judge sets the weights, and believes nothing but outputs.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

MOST_NUMBERS = 1 << 24  # of parameters that are in no linear layer

Offer = Callable[[Callable[..., Any]], int]
Remote = Callable[[int], Callable[..., Any]]


class Made:
    """A module that was made by a class which the other side called."""

    def __init__(self, module: nn.Module) -> None:
        self.module = module


def describe(thing: Any, offer: Offer) -> Mapping[str, Any] | None:
    """Say what a class of modules, or a module made by one, consists of; None for all else."""
    if isinstance(thing, type) and issubclass(thing, nn.Module):
        offered = {
            "make": offer(partial(_make, thing)),
            "exchange": offer(partial(exchange_parts, thing)),
        }
        return {"kind": "class", "name": thing.__name__} | offered
    if not isinstance(thing, Made):
        return None
    module, layers, odd = thing.module, {}, {}
    for name in sorted(set(dir(module)) - set(dir(nn.Module))):
        value = getattr(module, name, None)
        if type(value) is nn.Linear:
            layers[name] = value
        elif isinstance(value, nn.Module | Tensor):
            odd[name] = repr(value)[:200]
    return {
        "kind": "made",
        "layers": layers,
        "first": {n: _first(layers, layer) for n, layer in layers.items()},
        "registered": [n for n in layers if n in dict(_children(module))],
        "odd": odd,
        "others": sum(p.numel() for p in _others(module, layers)),
        "training": module.training,
        "call": offer(partial(_call, module, layers)),
        "gradients": offer(partial(_gradients, module, layers)),
    }


def _make(kind: type, *args: Any, **named: Any) -> Any:
    made = kind(*args, **named)
    return Made(made) if isinstance(made, nn.Module) else made


def _first(layers: Mapping[str, nn.Module], layer: nn.Module) -> str:
    """Give the first name of a layer that may have several."""
    return next(name for name, other in layers.items() if other is layer)


def _children(module: nn.Module) -> list[tuple[str, nn.Module | None]]:
    return [*module._modules.items()]  # a shared one by all its names


def _others(module: nn.Module, layers: Mapping[str, nn.Module]) -> list[nn.Parameter]:
    """Give the parameters that belong to no layer with a name."""
    known = {id(p) for layer in layers.values() for p in layer.parameters()}
    return [p for p in module.parameters() if id(p) not in known]


def _parameters(layers: Mapping[str, nn.Module]) -> list[nn.Parameter]:
    return list(dict.fromkeys(p for layer in layers.values() for p in layer.parameters()))


def _set_up(module: nn.Module, layers: Mapping[str, nn.Module], told: Mapping[str, Any]) -> None:
    """Take over the judge's numbers, mode and random state."""
    with torch.no_grad():
        for parameter, numbers in zip(_parameters(layers), told["numbers"], strict=True):
            parameter.copy_(numbers)
    module.train(told["training"])
    torch.manual_seed(told["seed"])


def _call(module: nn.Module, layers: Mapping[str, nn.Module], told: Any, *given: Any) -> Any:
    """Give what the module makes of its inputs, and which of that has gradients."""
    _set_up(module, layers, told)
    result = module.forward(*given)
    return result, [isinstance(each, Tensor) and each.requires_grad for each in _parts(result)]


def _gradients(
    module: nn.Module, layers: Mapping[str, nn.Module], told: Any, gradient: Tensor, *given: Any
) -> list[Tensor | None]:
    """Give the gradients of the layers' parameters."""
    _set_up(module, layers, told)
    with torch.enable_grad():
        result = _parts(module.forward(*given))[told["part"]]
    wanted = [
        p if p.requires_grad else torch.zeros((), requires_grad=True) for p in _parameters(layers)
    ]
    return list(torch.autograd.grad(result, wanted, gradient, allow_unused=True))


def _parts(result: Any) -> list[Any] | tuple[Any, ...]:
    return result if isinstance(result, tuple | list) else (result,)


class Odd:
    """Stands for what should be a linear layer and is something else."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


class Written(nn.Module):
    """A module whose layers are here and that computes in the other process."""

    def __init__(self, told: Mapping[str, Any], remote: Remote) -> None:
        super().__init__()
        layers = dict(told["layers"])
        for name in (*layers, *told["odd"]):
            if not name.isidentifier() or hasattr(self, name):
                raise ValueError(f"a layer called {name!r}")
        for name, text in told["odd"].items():
            object.__setattr__(self, name, Odd(str(text)))
        for name in layers:
            layer = layers[told["first"][name]]
            if not isinstance(layer, nn.Linear):
                raise ValueError("no linear layer")
            keep = setattr if name in told["registered"] else object.__setattr__
            keep(self, name, layer)
        if not 0 <= told["others"] <= MOST_NUMBERS:
            raise ValueError("no number of parameters")
        if told["others"]:
            self.register_parameter("others", nn.Parameter(torch.zeros(told["others"])))
        object.__setattr__(self, "_there", (remote(told["call"]), remote(told["gradients"])))
        object.__setattr__(self, "_layers", {n: layers[told["first"][n]] for n in layers})
        self.train(bool(told["training"]))

    def forward(self, *given: Any) -> Any:
        """Let the other process compute it, with the numbers that are here."""
        own = _parameters(self._layers)
        told = {"numbers": own, "training": self.training, "seed": int(torch.randint(1 << 31, ()))}
        result, needed = self._there[0](told, *given)
        parts = [
            _Elsewhere.apply(partial(self._gradients, told | {"part": i}, given), part, *own)
            if need and isinstance(part, Tensor)
            else part
            for i, (part, need) in enumerate(zip(_parts(result), needed, strict=True))
        ]
        return type(result)(parts) if isinstance(result, tuple | list) else parts[0]

    def _gradients(self, told: Any, given: tuple, gradient: Tensor) -> list[Tensor | None]:
        return self._there[1](told, gradient, *given)


class _Elsewhere(torch.autograd.Function):
    """Leads gradients of what the other process computed to the parameters that are here."""

    @staticmethod
    def forward(context: Any, gradients: Callable, value: Tensor, *_: Tensor) -> Tensor:
        """Give the value."""
        context.gradients = gradients
        return value.clone()

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        """Ask for the gradients of the parameters."""
        return None, None, *context.gradients(gradient)


def restore(told: Mapping[str, Any], remote: Remote) -> Any:
    """Make a class or a module of what `describe` says of it; ValueError if it is none."""
    if told["kind"] == "made":
        return Written(told, remote)
    made = remote(int(told["make"]))
    if str(told["name"]).isidentifier():
        made.__name__ = str(told["name"])[:60]
    made.exchange = remote(int(told["exchange"]))
    return made


# Right parts, which a class uses where a student's are wrong, as its check says.


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """Cut the width into heads."""
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)  # (B, H, S, d_k)


def attention_weights(Q: Tensor, K: Tensor, mask: Tensor | None = None) -> Tensor:
    """Give the softmax of the scaled scores, with zeros for a query that may read nothing."""
    scores = Q @ K.mT / Q.shape[-1] ** 0.5  # (B, H, S_q, S_k)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return scores.softmax(-1).nan_to_num(0.0)


def merge_heads(x: Tensor) -> Tensor:
    """Put the heads side by side."""
    return x.transpose(1, 2).flatten(-2)  # (B, S, d_model)


RIGHT = {
    "split_heads": split_heads,
    "attention_weights": attention_weights,
    "merge_heads": merge_heads,
}

_own: dict[str, Any] = {}  # the student's parts, while others are in their place


def exchange_parts(module: type, right: bool) -> None:
    """Put right parts in place of the student's, by their names, or the student's back."""
    names = getattr(getattr(module, "forward", None), "__globals__", {})
    if right:
        _own.update({name: names[name] for name in RIGHT if name in names})
        names.update({name: RIGHT[name] for name in _own})
    else:
        names.update(_own)
        _own.clear()
