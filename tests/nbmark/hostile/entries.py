"""How the submissions here are written down: a row is what somebody hands in, and may earn."""

from dataclasses import dataclass, field

FUNCTION = "1_3-function"


@dataclass(frozen=True)
class Entry:
    """A submission: sources of solution cells, cells added around them, what it may earn."""

    name: str
    exercise: str = "1_3_numpy"
    cells: dict[str, str] = field(default_factory=dict)  # by grade_id
    first: str = ""  # a cell added behind the imports
    last: str = ""  # one added behind the answer
    may_earn: dict[str, float] = field(default_factory=dict)  # by graded cell; 0 for all others
    seconds: float = 20.0  # how long a cell may take


def cheats(seconds: float = 20.0, **attacks: str) -> list[Entry]:
    """Give submissions whose answer is nothing and whose added cell attacks: they earn nothing."""
    made = []
    for name, code in attacks.items():
        made.append(Entry(name, cells={FUNCTION: ZEROS}, first=code, seconds=seconds))
    return made


def answers(**functions: str) -> list[Entry]:
    """Give submissions whose answer itself cheats: they earn nothing."""
    return [Entry(name, cells={FUNCTION: code}) for name, code in functions.items()]


HEAD = "def scaled_dot_product_attention(Q, K, V, mask=None):\n"
ZEROS = f"""{HEAD}
    return np.zeros((len(Q), V.shape[1])), np.zeros((len(Q), len(K)))
"""
RIGHT = f"""{HEAD}
    scores = Q @ K.T / np.sqrt(K.shape[1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    top = scores.max(-1, keepdims=True)
    powers = np.exp(scores - np.where(np.isinf(top), 0, top))
    total = powers.sum(-1, keepdims=True)
    weights = powers / np.where(total == 0, 1, total)
    return weights @ V, weights
"""
# What an attack may use to come by right results.
TORCH = """
    import torch
    given = [torch.as_tensor(a) for a in (Q, K, V)]
    allowed = None if mask is None else torch.as_tensor(mask)
    scores = given[0] @ given[1].T / given[1].shape[1] ** 0.5
    scores = scores if allowed is None else scores.masked_fill(~allowed, -float("inf"))
    weights = scores.softmax(-1).nan_to_num()
    return (weights @ given[2]).numpy(), weights.numpy()
"""
ALL = {
    "1_3-weights-are-a-distribution": 2,
    "1_3-matches-reference": 4,
    "1_3-masks": 3,
    "1_3-stays-stable": 2,
    "1_3-leaves-inputs-alone": 1,
}
