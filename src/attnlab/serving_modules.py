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
            "exchange": offer(partial(_exchange, thing)),
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


def _exchange(kind: type, right: bool) -> None:
    """Let the class use right parts in place of the student's, or no longer."""
    from attnlab.checks.check_1_6.follow import exchange_parts  # here: few classes need it

    exchange_parts(kind, right)


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
