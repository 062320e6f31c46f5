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


# Weights of 6 x 12 heads on three tokens, in thousandths: each row of head h a turn further.
THREE = [[[[600, 300, 100]] * 3, [[100, 600, 300]] * 3, [[300, 100, 600]] * 3] * 4] * 6

# A sentence that a reader typed, and the cosines of its words after each of seven layers.
OWN = {"text": "hm", "pieces": "[CLS] hm [SEP]", "left": 0, "maps": THREE}
OWN |= {"alike": [[[100, 30 + 7 * i, -9], [30 + 7 * i, 100, 60], [-9, 60, 100]] for i in range(7)]}

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
        figures.FlashStepper,
        "chapters/1_10_flash_attention",
        states=(
            {"step": 0},
            {"step": 3},
            {"block_q": 1, "causal": True, "step": 5},
            {"block_q": 2, "causal": True, "step": 99},
            {"block_q": 4, "causal": True, "step": 2},
            {"block_q": 1, "step": 31},
        ),
        moves=(
            Move("Next", "Enter", {"step": 2}),
            Move("Back", "Space", {"step": 1}),
            Move("Last", "Enter", {"step": 16}),
            Move("First", "Enter", {"step": 0}),
            Move("Causal mask", "Space", {"causal": True}),
            Move("Last", "Enter", {"step": 10}),
            Move("Queries in a block", "ArrowDown", {"block_q": 4}),
        ),
    ),
    Entry(
        figures.MemoryCalculator,
        "chapters/1_09_complexity",
        states=(
            {},
            {"n": 512, "heads": 1, "d_k": 32, "dtype": "bfloat16"},
            {"n": 2**17, "training": True},
            {"gpus": [("tiny", 0.0, True), ("small", 0.0005, False)], "n": 512},
            {"n": 8192, "dtype": "float32"},
            {
                "n": 2**20,
                "batch": 128,
                "heads": 128,
                "d_k": 128,
                "dtype": "float32",
                "training": True,
            },
        ),
        moves=(
            Move("Length n", "ArrowRight", {"n": 65536}),
            Move("Length n", "End", {"n": 2**20}),
            Move("Batch", "ArrowRight", {"batch": 2}),
            Move("Heads", "Home", {"heads": 1}),
            Move("Width of a head", "ArrowDown", {"d_k": 128}),
            Move("Numbers", "ArrowUp", {"dtype": "float32"}),
            Move("With the backward pass", "Space", {"training": True}),
            Move(
                "70B model, 8k",
                "Enter",
                {"n": 8192, "batch": 1, "heads": 64, "d_k": 128, "dtype": "bfloat16"},
            ),
        ),
    ),
    Entry(
        figures.SplitAndMerge,
        "chapters/1_06_multi_head",
        states=(
            {},
            {"h": 1, "S": 2, "bias": False},
            {"d_model": 24, "h": 6},
            {"d_model": 48, "h": 12, "S": 6},
        ),
        moves=(
            Move("Width d_model", "End", {"d_model": 48}),
            Move("Length S", "ArrowRight", {"S": 6}),
            Move("Heads h", "End", {"h": 12}),
            Move("Heads h", "ArrowLeft", {"h": 6}),
            Move("Biases", "Space", {"bias": False}),
        ),
    ),
    Entry(
        figures.HeadsOverview,
        "chapters/1_06_multi_head",
        states=(
            {},
            {"score": "[SEP]", "token": 11},
            {"score": "previous token", "layer": 1, "head": 3, "token": 0},
            {"score": "next token", "layer": 2, "head": 9, "sentence": 2},
            {"score": "itself", "sentence": 8, "own": OWN},
            {"score": "uniformity", "layer": 6, "head": 12, "sentence": 1, "token": 99},
            {"view": "heads like it", "sentence": 4},
            {"view": "heads like it", "sentence": 8, "own": OWN},
            {"view": "word vectors", "sentence": 5, "token": 5},
            {"view": "word vectors", "sentence": 8, "own": OWN, "after": 0},
            {"view": "heads switched off", "layer": 6, "head": 1},
            {"off": "1-3 2-9 5-6", "score": "previous token"},
            {"view": "heads switched off", "off": "4-2 9-9 1-3", "sentence": 6, "token": 2},
        ),
        moves=(
            Move("2, 9: 27", "Enter", {"layer": 2, "head": 9}),
            Move("[CLS], [CLS]", "ArrowDown", {"token": 1}),
            Move("take", "ArrowLeft", {"token": 5}),
            Move("Colour by", "End", {"score": "uniformity"}),
            Move("Sentence", "ArrowDown", {"sentence": 1}),
            Move("Show", "ArrowDown", {"view": "heads like it"}),
            Move("Show", "ArrowDown", {"view": "word vectors"}),
            Move("Layers passed", "Home", {"after": 0}),
            Move("Show", "End", {"view": "heads switched off"}),
        ),
    ),
    Entry(
        figures.LiveSentence,
        "index",
        states=(
            {},
            {"head": "1-3", "token": 99},
            {"sentence": 1},
            {"sentence": 2, "own": OWN, "head": "2-9", "token": 2},
        ),
        moves=(
            Move("it", "ArrowLeft", {"token": 8}),
            Move("Sentence", "ArrowDown", {"sentence": 1}),
            Move("Head", "ArrowDown", {"head": "1-3"}),
        ),
    ),
    Entry(
        figures.AlignmentExplorer,
        "chapters/1_02_additive_attention",
        states=({}, {"word": 1}, {"word": 99}, {"sentence": 1, "word": 5}),
        moves=(
            Move("Next word", "Enter", {"word": 4}),
            Move("Previous word", "Space", {"word": 3}),
            Move("Word that comes next", "Home", {"word": 1}),
            Move("Sentence", "ArrowDown", {"sentence": 1}),
        ),
    ),
    Entry(
        figures.Bottleneck,
        "chapters/1_01_motivation",
        states=({}, {"length": 5}, {"length": 35, "numbers": 32}, {"length": 50, "numbers": 256}),
        moves=(
            Move("Symbols in the string", "ArrowRight", {"length": 25}),
            Move("Symbols in the string", "End", {"length": 50}),
            Move("Numbers in the vector", "ArrowRight", {"numbers": 256}),
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
            {"v_from": "target", "target": 7},
            {"source": 2, "target": 8},
            {"q_from": "source", "source": 6, "target": 8},
        ),
        moves=(
            Move("Queries from", "ArrowUp", {"q_from": "source"}),
            Move("Causal mask (self only)", "Space", {"causal": True}),
            Move("Keys from", "ArrowDown", {"k_from": "target"}),
            Move("Values from", "ArrowDown", {"v_from": "target"}),
            Move("Queries from", "ArrowDown", {"q_from": "target"}),
            Move("Target length", "End", {"target": 8}),
            Move("Source length", "ArrowLeft", {"source": 6}),
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
            {"preset": "sliding window", "flipped": [(0, 0), (2, 7), (3, 5)], "size": 7},
            {"preset": "off by one", "filling": "score 0", "size": 8},
        ),
        moves=(
            Move("start, start", "Space", {"flipped": [(0, 0)]}),
            Move("had, the", "Enter", {"flipped": [(0, 0), (2, 4)]}),
            Move("start, start", "Space", {"flipped": [(2, 4)]}),
            Move("Filling", "ArrowDown", {"filling": "score 0"}),
            Move("Filling", "ArrowDown", {"filling": "weight 0, rows divided"}),
            Move("Mask", "ArrowDown", {"preset": "padding in front", "flipped": []}),
            Move("Mask", "End", {"preset": "inverted"}),
            Move("Positions", "End", {"size": 8}),
        ),
    ),
)
