"""What says that it is a module and is none is refused, and dropout is drawn by whoever judges."""

import pytest
import torch
from torch import nn

from attnlab.serving_modules import Written, describe, restore


class Noisy(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = self.second = nn.Linear(width, width)
        self.free = nn.Parameter(torch.zeros(3))

    def forward(self, x):
        return nn.functional.dropout(self.first(x), 0.5, self.training), "told"


def served(kind, *args):
    """Make a module by way of what is told of its class, with both sides in one process."""
    offered = []

    def offer(function):
        offered.append(function)
        return len(offered) - 1

    made = restore(describe(kind, offer), lambda number: Reached(offered[number]))(*args)
    return restore(describe(made, offer), lambda number: Reached(offered[number]))


class Reached:
    def __init__(self, function):
        self.function = function

    def __call__(self, *given):
        return self.function(*given)


def test_layers_are_here_and_what_they_compute_comes_from_there():
    made = served(Noisy, 4).eval()
    with torch.no_grad():
        made.first.weight.copy_(torch.eye(4) * 2)
        made.first.bias.zero_()
    output, word = made(torch.ones(1, 4))
    assert made.first is made.second
    assert word == "told"
    assert output.tolist() == [[2.0] * 4]
    assert sum(p.numel() for p in made.parameters()) == 4 * 4 + 4 + 3
    output.sum().backward()
    assert made.first.weight.grad.tolist() == [[1.0] * 4] * 4


def test_dropout_is_another_at_each_call_and_follows_the_judge_s_seed():
    made, x = served(Noisy, 64), torch.ones(8, 64)
    torch.manual_seed(0)
    one, other = made(x)[0], made(x)[0]
    torch.manual_seed(0)
    again = made(x)[0]
    assert not torch.equal(one, other)
    assert torch.equal(one, again)


GOOD = {
    "layers": {"W": nn.Linear(2, 2)},
    "first": {"W": "W"},
    "registered": ["W"],
    "odd": {},
    "others": 0,
    "training": True,
    "call": 0,
    "gradients": 1,
}


@pytest.mark.parametrize(
    "change",
    [
        {"layers": {"forward": nn.Linear(2, 2)}, "first": {"forward": "forward"}},
        {"layers": {"a b": nn.Linear(2, 2)}, "first": {"a b": "a b"}},
        {"layers": {"W": 3}},
        {"odd": {"_parameters": ""}},
        {"others": -1},
        {"others": 1 << 40},
    ],
    ids=str,
)
def test_what_is_no_module_is_refused(change):
    assert Written(GOOD, lambda number: None).W.in_features == 2
    with pytest.raises(ValueError, match=r"a layer called|no linear layer|no number of parameters"):
        Written(GOOD | change, lambda number: None)
