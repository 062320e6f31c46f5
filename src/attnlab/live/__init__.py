"""MiniLM small enough for a page: int8 weights in shards, and the program that reads them.

`write` makes the files while the book is built, from the package of requirements-model.txt; they
are never committed. Each is there twice: as its bytes, and as a plain script that hands them over
in base64, since a browser lets a page on disk load scripts and nothing else. tokenizer.js cuts a
text into word pieces, encoder.js computes, compare.js compares vectors, and all run in a worker;
loader.js starts it and fetches what it asks for.
`read` is the Python twin of the reader in encoder.js, so that tests compare the same weights.

A matrix is stored as int8, row by row, with one float16 scale for each 64 numbers of a row; a
vector as float32; all little-endian. A file is a list of matrices, numbers before scales, and then
of vectors, in the order of `MATRICES` and `VECTORS`. The table of words comes in parts of 512.
Characters younger than the tokenizer's Unicode, such as new scripts, may be cut otherwise in a
browser; everything else is cut alike.
"""

import base64
import json
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from attnlab import minilm

HERE = Path(__file__).parent
FOLDER = "model/int8-64"  # below the site's root; a new format gets a new name, for old caches
BLOCK = 64  # numbers that share a scale
PART = 512  # words in a part of the table
MOST = 64  # word pieces, [CLS] and [SEP] included
LAYERS = 6
# What a page loads before its first text: all but the table of words, and of that the parts that
# hold the markers and the commonest words.
FIRST = ("vocabulary", "places", *(f"layer-{i}" for i in range(LAYERS)))
FIRST += ("words-0", "words-1", "words-3", "words-4")
MEGABYTES = 12
MATRICES = ("attend.W_q", "attend.W_k", "attend.W_v", "attend.W_o", "widen", "narrow")
VECTORS = (
    *(f"{name}.bias" for name in MATRICES),
    *("norm_attend.weight", "norm_attend.bias", "norm_narrow.weight", "norm_narrow.bias"),
)
PROGRAM = ("tokenizer", "encoder", "compare", "worker")


def quantise(matrix: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Round a matrix (rows, columns) to int8, and give the float16 scales (rows, columns / 64)."""
    blocks = matrix.unflatten(-1, (-1, BLOCK)).double()  # (rows, columns / 64, 64)
    scales = (blocks.abs().amax(-1) / 127).half()
    whole = (blocks / scales.double().clamp(min=1e-12)[..., None]).round().clamp(-127, 127)
    return whole.flatten(-2).numpy().astype(np.int8), scales.numpy()


def restore(whole: np.ndarray, scales: np.ndarray) -> Tensor:
    """Multiply int8 numbers with their scales: float32, exactly."""
    blocks = (
        torch.tensor(whole).unflatten(-1, (-1, BLOCK)) * torch.tensor(scales).float()[..., None]
    )
    return blocks.flatten(-2)


def pack(matrices: list[Tensor], vectors: list[Tensor]) -> bytes:
    """Write matrices and vectors as the module's text says."""
    parts = []
    for matrix in matrices:
        whole, scales = quantise(matrix)
        parts += [whole.tobytes(), scales.astype("<f2").tobytes()]
    return b"".join([*parts, *(v.numpy().astype("<f4").tobytes() for v in vectors)])


def unpack(data: bytes, matrices: list[Tensor], vectors: list[Tensor]) -> None:
    """Fill tensors of the right shapes from what `pack` wrote; ValueError if bytes are left."""
    at = 0

    def take(count: int, kind: str) -> np.ndarray:
        nonlocal at
        found = np.frombuffer(data, kind, count, at)
        at += found.nbytes
        return found

    for matrix in matrices:
        whole = take(matrix.numel(), "i1").reshape(matrix.shape)
        scales = take(matrix.numel() // BLOCK, "<f2").reshape(len(matrix), -1)
        matrix.copy_(restore(whole, scales))
    for vector in vectors:
        vector.copy_(torch.tensor(take(vector.numel(), "<f4")))
    if at != len(data):
        raise ValueError(f"the file has {len(data)} bytes, but {at} are its tensors")


def tensors(model: minilm.MiniLM) -> dict[str, tuple[list[Tensor], list[Tensor]]]:
    """Name each file, and give the matrices and vectors that it holds (views into the model)."""
    state = model.state_dict()
    files = {}
    for i in range(LAYERS):
        matrices = [state[f"layers.{i}.{name}.weight"] for name in MATRICES]
        files[f"layer-{i}"] = matrices, [state[f"layers.{i}.{name}"] for name in VECTORS]
    first = [state["segment.weight"][0], state["norm.weight"], state["norm.bias"]]
    files["places"] = [state["position.weight"][:MOST]], first
    for i, words in enumerate(state["word.weight"].split(PART)):
        files[f"words-{i}"] = [words], []
    return files


def shards(model: minilm.MiniLM) -> dict[str, bytes]:
    """Give every file's bytes by its name; the same model gives the same bytes."""
    words = minilm.vocabulary()
    files = {"vocabulary": "\n".join(words).encode()}
    return files | {name: pack(*parts) for name, parts in tensors(model).items()}


def read(files: dict[str, bytes]) -> minilm.MiniLM:
    """Make the model of these files: the weights that the page computes with.

    Positions from 64 on are zero.
    """
    model = minilm.MiniLM()
    with torch.no_grad():
        model.position.weight.zero_()
        for name, parts in tensors(model).items():
            unpack(files[name], *parts)
    return model


def program() -> str:
    """Join the worker's scripts."""
    return "".join(HERE.joinpath(f"{name}.js").read_text("utf-8") for name in PROGRAM)


def write(folder: Path) -> None:
    """Write the shards, as bytes and as scripts, and start.js, which loads them."""
    folder.mkdir(parents=True, exist_ok=True)
    files = shards(minilm.load_model())
    for name, data in files.items():
        folder.joinpath(f"{name}.bin").write_bytes(data)
        text = f'attnlabShard("{name}","{base64.b64encode(data).decode()}");\n'
        folder.joinpath(f"{name}.js").write_text(text, encoding="ascii")
    start = HERE.joinpath("loader.js").read_text("utf-8")
    start = start.replace('"SIZES"', json.dumps({name: len(files[name]) for name in FIRST}))
    start = start.replace('"PROGRAM"', json.dumps(program(), ensure_ascii=False))
    folder.joinpath("start.js").write_text(start, encoding="utf-8")
