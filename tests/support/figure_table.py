"""The figures, one entry each: what the tests of all figures go through."""

from dataclasses import dataclass
from pathlib import Path

from attnlab import figures
from attnlab.figures._base import Figure

FOLDER = Path(figures.__file__).parent


@dataclass(frozen=True)
class Move:
    """A key pressed on a control, and the traits that change by it."""

    control: str  # its accessible name: the label, or a button's text
    key: str  # as Playwright names it
    changes: dict


@dataclass(frozen=True)
class Entry:
    """A figure, the page it stands on, states for the mathematics, and a move of each control.

    The moves follow one another from the initial state. The last of the states is the largest.
    """

    figure: type[Figure]
    page: str
    states: tuple[dict, ...]
    moves: tuple[Move, ...]

    @property
    def name(self) -> str:
        """Give the class's name."""
        return self.figure.__name__


TABLE = (
    Entry(
        figures.ScaleAndSoftmax,
        "chapters/1_03_scaled_dot_product",
        states=({}, {"d_k": 1}, {"d_k": 2, "scaled": True}, {"d_k": 1024}),
        moves=(
            Move("Key width d_k", "ArrowRight", {"d_k": 128}),
            Move("Key width d_k", "End", {"d_k": 1024}),
            Move("Divide the scores by √d_k in the picture", "Space", {"scaled": True}),
        ),
    ),
    Entry(
        figures.AttentionByHand,
        "chapters/1_03_scaled_dot_product",
        states=(
            {},
            {"step": "scores", "row": 2, "column": 2},
            {"step": "scaled", "causal": True},
            {"step": "scaled", "scale": False, "row": 2},
            {"causal": True},
            {"step": "output", "V": [[-1, 0], [1, 0]]},
            {"Q": [[9] * 3, [-9] * 3], "K": [[9] * 3] * 2, "scale": False, "row": 2},
        ),
        moves=(
            Move("Q, row 1, column 2", "ArrowDown", {"Q": [[1, 1, 0], [2, 0, -1]]}),
            Move("K, row 2, column 3", "ArrowUp", {"K": [[1, 0, 1], [0, 2, 2]]}),
            Move("V, row 1, column 1", "ArrowUp", {"V": [[5, 0], [1, 3]]}),
            Move("Divide the scores by √d_k", "Space", {"scale": False}),
            Move("Causal mask", "Space", {"causal": True}),
            Move("q₁, k₂: −∞", "Space", {"step": "scaled"}),
            Move("o₁, 1: 5.00", "Space", {"step": "output", "column": 1}),
        ),
    ),
    Entry(
        figures.SelfOrCross,
        "chapters/1_04_self_and_cross",
        states=(
            {},
            {"q_from": "source", "causal": True},
            {"k_from": "target", "v_from": "target", "causal": True},
            {"q_from": "source", "k_from": "target", "v_from": "target"},
            {"v_from": "target"},
            {"v_from": "target", "target": 5},
            {"source": 2, "target": 8},
            {"q_from": "source", "source": 8, "target": 8},
        ),
        moves=(
            Move("Queries from", "ArrowUp", {"q_from": "source"}),
            Move("Causal mask (self only)", "Space", {"causal": True}),
            Move("Keys from", "ArrowDown", {"k_from": "target"}),
            Move("Values from", "ArrowDown", {"v_from": "target"}),
            Move("Queries from", "ArrowDown", {"q_from": "target"}),
            Move("Target length", "End", {"target": 8}),
            Move("Source length", "ArrowRight", {"source": 6}),
        ),
    ),
    Entry(
        figures.MaskPainter,
        "chapters/1_05_causal_mask",
        states=(
            {},
            {"preset": "full"},
            {"preset": "padding in front", "filling": "score 0", "size": 7},
            {"preset": "causal and padding"},
            {"preset": "causal and padding", "filling": "score 0"},
            {"preset": "inverted", "filling": "weight 0, rows divided"},
            {"preset": "sliding window", "flipped": [(0, 0), (2, 9), (3, 5)], "size": 9},
            {"preset": "off by one", "filling": "score 0", "size": 10},
        ),
        moves=(
            Move("0, 0", "Space", {"flipped": [(0, 0)]}),
            Move("2, 4", "Enter", {"flipped": [(0, 0), (2, 4)]}),
            Move("0, 0", "Space", {"flipped": [(2, 4)]}),
            Move("Filling", "ArrowDown", {"filling": "score 0"}),
            Move("Filling", "ArrowDown", {"filling": "weight 0, rows divided"}),
            Move("Mask", "ArrowDown", {"preset": "padding in front", "flipped": []}),
            Move("Mask", "End", {"preset": "inverted"}),
            Move("Positions", "End", {"size": 10}),
        ),
    ),
)
