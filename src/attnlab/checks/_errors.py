"""What an error in a student's code means, told from its line and the shapes that meet there."""

import linecache
import re
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any

Shape = tuple[int, ...]

ERRORS = {
    "keepdims_missing": """A row's sum or maximum has lost its axis: shape {a} meets {b}. Keep it
        with keepdims=True, axis=-1 (in PyTorch keepdim=True), so that each row meets its own.""",
    "star_for_matmul": """`*` multiplies place by place, and shapes {a} and {b} do not match for
        that. A matrix product is written with `@`.""",
    "not_transposed": """The matrix product of shapes {a} and {b} has two widths that differ, {m}
        and {n}. Transpose the second: both have the same last axis, so it is A @ B.T.""",
    "shapes_differ": """Shapes {a} and {b} do not fit together in this line. Print both shapes
        before it, and compare them with those of the formula.""",
    "mask_is_none": """The mask is None in this case, since it may be left out. Ask first: if mask
        is not None: ... and only then use it.""",
    "is_none": """Something in this line is None. A function without a return statement gives None,
        and so do print, sort and other functions that work in place. Or is an argument missing?""",
    "truth_of_array": """Python asks whether a whole array is true, and cannot tell. Write `if mask
        is not None:` for a mask, and & and | where `and` and `or` stand between arrays.""",
    "python_max": """Python's own max and min do not compare arrays or tensors place by place. Use
        torch.maximum or np.maximum for two of them, .max() or .amax() for one.""",
    "needs_detach": """This tensor carries gradients. Drop them first: .detach(), or put `with
        torch.no_grad():` around the call of the model.""",
    "mixes_libraries": """NumPy and PyTorch are mixed in this line. Stay with one, or change over:
        torch.as_tensor(array), np.asarray(tensor).""",
    "wrong_method": """{kind} has no `{name}`. PyTorch and NumPy call some things differently
        (dim and axis, keepdim and keepdims, permute and transpose): use those of {kind}.""",
    "signature": """The check calls your function with the arguments that the cell above was handed
        out with. Take these: {asked}.""",
    "unknown_name": """Python does not know the name `{name}` in this function. Is it spelled as
        where it is defined, has that cell been run, or is its import missing?""",
    "index_out_of_range": """An index goes beyond an axis. Take sizes from the shape of what the
        function is given: the checks use other sizes than the notebook.""",
    "hard_coded_size": """A size is written as a number and does not fit here. Take all sizes from
        the shape of what the function is given: the checks use other sizes than the notebook.""",
    "in_place": """A value is changed in place that PyTorch or NumPy must keep, or has another type.
        Write to a new one: x = x / y instead of x /= y.""",
    "pair_as_array": """A pair comes here, and this line takes it for one thing. Take it apart
        first, such as: output, weights = module(...).""",
    "max_gives_pair": """In PyTorch .max(dim) gives a pair, the largest values and their places.
        Use .amax(dim), which gives the values alone.""",
    "math_on_array": """The functions of Python's math take single numbers. Use those of NumPy or
        PyTorch for arrays: np.exp, torch.exp.""",
    "mean_of_truth": """PyTorch takes no mean of truth values. Turn them into numbers first:
        (a == b).float().""",
    "plain_number": """A plain number comes in this line, and numbers have no `{name}`. Use Python's
        own max, or functions such as math.log.""",
    "wrong_arguments": """What is called in this line takes other arguments: {said}. Ask help() of
        it what it takes.""",
    "empty_array": """An array is empty in this line, and has no largest number. Leave out the place
        before which there is nothing: begin with t = 1.""",
    "minus_for_not": """A minus does not turn truth values around. Write ~mask.""",
}
# What an error says, and its cause, where that is enough.
SAID = {
    r"'tuple'.* and |and '?tuple'?|'tuple' object has no attribute": "pair_as_array",
    r"numel\(\) == 0|zero-size array|empty (sequence|iterable)|iterable argument is empty": (
        "empty_array"
    ),
    r"return_types\.max": "max_gives_pair",
    r"(0-dimensional|size-1|one element|length-1).*(Python scalar|scalars)": "math_on_array",
    r"infer output dtype.*Bool": "mean_of_truth",
    r"[Bb]oolean negative|Negation, .* bool": "minus_for_not",
}
SHAPES = re.compile(r"\((?:\d+, ?)+\d*\)")  # (3) is a size


def explain_error(
    error: Exception, function: Callable, args: Sequence[Any]
) -> tuple[str, dict[str, Any]] | None:
    """Find the cause of an error and the facts that its sentence in `ERRORS` needs, or None."""
    said, (frame, line) = str(error), _where(error, function)
    for words, cause in SAID.items():
        if re.search(words, said, re.DOTALL):
            return cause, {}
    for explain in (_of_shapes, _of_none, _of_kinds, _of_names):
        if found := explain(said, line, frame, args):
            other = found[0] == "mask_is_none" and not _mask_is_missed(error, frame)
            return ("is_none", {}) if other else found
    return None


def _mask_is_missed(error: Exception, frame: FrameType | None) -> bool:
    """Tell whether None is missed in the student's line, or as the mask of what that line calls."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    inner = trace.tb_frame if trace is not None else None
    if inner is frame or inner is None:
        return True
    return any("mask" in name for name, value in inner.f_locals.items() if value is None)


def _of_shapes(said: str, line: str, frame: Any, args: Sequence[Any]) -> tuple | None:
    """Explain shapes that do not fit together."""
    if "reshape" in said or re.search(r"shape '?\[.*\]'? is invalid|view size", said):
        return "hard_coded_size", {}
    if not re.search(
        r"broadcast|matmul|must match the size|mat1|shapes.*not aligned|size of", said
    ):
        return None
    for a, b in _pairs(said, frame, line):
        facts = {"a": a, "b": b}
        is_product = re.search(r"matmul|mat1|not aligned|@", said) or "@" in line
        if is_product and min(len(a), len(b)) > 1:
            if a[-1] == b[-1] and a[-1] != b[-2]:
                return "not_transposed", facts | {"m": a[-1], "n": b[-2]}
        elif _is_reduced(a, b) or _is_reduced(b, a):
            return "keepdims_missing", facts
        elif "*" in line and min(len(a), len(b)) > 1 and a[-1] == b[-2]:
            return "star_for_matmul", facts
    pair = next(_pairs(said, frame, line), None)
    if pair is None:
        return None
    sizes = {size for arg in args for size in getattr(arg, "shape", ())}
    number = {int(n) for n in re.findall(r"(?<![\w.])\d+(?![\w.])", line)} - {0, 1, 2} - sizes
    if number & {size for shape in pair for size in shape}:
        return "hard_coded_size", {}
    return "shapes_differ", {"a": pair[0], "b": pair[1]}


def _is_reduced(a: Shape, b: Shape) -> bool:
    """Tell whether b is what a sum over an axis of a leaves."""
    return len(b) == len(a) - 1 >= 1 and any(a[:i] + a[i + 1 :] == b for i in range(len(a)))


def _pairs(said: str, frame: FrameType | None, line: str) -> Iterator[tuple[Shape, Shape]]:
    """Give the shapes that met: those of the message, else those of two names in the line."""
    shapes = [_read(text) for text in SHAPES.findall(said) if _read(text)]
    mats = [tuple(map(int, pair)) for pair in re.findall(r"(\d+)x(\d+)", said)]
    for found in (shapes, mats):
        if len(found) >= 2:
            yield found[0], found[1]
            return
    named = _shapes_in(line, frame)
    sizes = set(map(int, re.findall(r"\d+", said)))
    for i, a in enumerate(named):
        for b in named[i + 1 :]:
            if sizes & set(a) and sizes & set(b):
                yield a, b


def _read(text: str) -> Shape:
    return tuple(map(int, re.findall(r"\d+", text)))


def _shapes_in(line: str, frame: FrameType | None) -> list[Shape]:
    """Give the shapes of the arrays whose names stand in a line, also with .T and sums."""
    found: list[Shape] = []
    for name, rest in dict.fromkeys(re.findall(r"\b([A-Za-z_]\w*)\b((?:\.\w+)?)", line)):
        value = frame.f_locals.get(name) if frame else None
        shape = tuple(getattr(value, "shape", ()))
        if shape and rest in (".T", ".mT"):
            shape = (*shape[:-2], *shape[:-3:-1])
        if shape and rest in (".sum", ".max", ".amax", ".mean"):
            shape = shape[:-1]
        if shape:
            found.append(shape)
    return found


def _of_none(said: str, line: str, frame: Any, args: Sequence[Any]) -> tuple | None:
    """Explain a value that is None."""
    given = re.search(r"invalid combination of arguments - got \((.*?)\)", said)
    said = given[1] if given else said  # what would be right may be None, too
    if "None" not in said and not re.search(r"NoneType|ufunc 'invert'", said):
        return None
    empty = [name for name, value in (frame.f_locals if frame else {}).items() if value is None]
    is_mask = any("mask" in name.lower() for name in empty) or (
        len(empty) == 1 and None in [a for a in args if a is None]
    )
    return ("mask_is_none", {}) if is_mask or "mask" in line else ("is_none", {})


def _of_kinds(said: str, line: str, frame: Any, args: Sequence[Any]) -> tuple | None:
    """Explain what arrays and tensors cannot do."""
    own_max = re.search(r"(?<![\w.])(?:max|min|sorted)\(", line)
    if "ambiguous" in said or "truth value" in said:
        return ("python_max" if own_max else "truth_of_array"), {}
    if ("not iterable" in said and own_max) or ("0-d tensor" in said and own_max):
        return "python_max", {}
    if "requires grad" in said:
        if "in-place" in said or "leaf" in said:
            return "in_place", {}
        return "needs_detach", {}
    if "cast ufunc" in said or "can't be cast" in said or "read-only" in said or "in-place" in said:
        return "in_place", {}
    both = re.search(r"[Tt]ensor", said) and re.search(r"ndarray|numpy", said)
    if both or re.search(r"must be Tensor, not (numpy|list)", said):
        return "mixes_libraries", {}
    if found := re.match(r"'?(?:module )?'?(.+?)'? (?:object )?has no attribute '(\w+)'", said):
        kind = found[1].rpartition(".")[2]
        if kind in ("float", "int"):
            return "plain_number", {"name": found[2]}
        if kind in ("ndarray", "Tensor", "numpy", "torch", "list"):
            return "wrong_method", {"kind": kind, "name": found[2]}
    return None


def _of_names(said: str, line: str, frame: Any, args: Sequence[Any]) -> tuple | None:
    """Explain names, indices and arguments."""
    if found := re.match(r"name '(\w+)' is not defined", said):
        return "unknown_name", {"name": found[1]}
    if re.search(r"index \S+ is out of bounds|out of range|too many indices", said):
        return "index_out_of_range", {}
    if re.search(r"positional argument|unexpected keyword argument", said):
        return ("signature", {}) if frame is None else ("wrong_arguments", {"said": said})
    return None


def _where(error: Exception, function: Callable) -> tuple[FrameType | None, str]:
    """Give the innermost frame of the student's code and its line; None if it was not entered."""
    file, frame, line, trace = _file(function), None, "", error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            frame, line = trace.tb_frame, linecache.getline(file, trace.tb_lineno).strip()
        trace = trace.tb_next
    return frame, line


def _file(function: Callable) -> str | None:
    return getattr(getattr(function, "__code__", None), "co_filename", None)
