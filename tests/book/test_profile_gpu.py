"""The sweep of `make profile-gpu`, on a CPU and with lengths that take no time."""

import math

import profile_gpu
import pytest
import torch

from attnlab.measurement_records import read_records

SMALL = ["--device", "cpu", "--sizes", "32,64", "--repeats", "1"]


def test_without_a_gpu_it_says_so_in_one_line_and_writes_nothing(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert profile_gpu.main(["--out", str(tmp_path)]) == 1
    assert capsys.readouterr().err == "profile-gpu needs a CUDA GPU and PyTorch sees none here.\n"
    assert list(tmp_path.iterdir()) == []


def test_record_holds_every_case_and_its_provenance(tmp_path, capsys):
    assert profile_gpu.main([*SMALL, "--out", str(tmp_path)]) == 0
    (record,) = read_records(tmp_path, "flash_cpu_*.json")
    assert record["device"].startswith("CPU")
    assert record["versions"]["torch"] == torch.__version__
    assert {"date", "commit", "setting"} <= record.keys()
    keys = [(r["variant"], r["dtype"], r["backward"], r["n"]) for r in record["rows"]]
    assert len(keys) == len(set(keys))
    for name in ("naive", "flash", "SDPA MATH", "SDPA FLASH_ATTENTION"):
        assert sum(key[0] == name for key in keys) == 8
    assert all(r["seconds"] > 0 and r["peak_bytes"] > 0 for r in record["rows"])
    assert "left out: variant SDPA CUDNN_ATTENTION, dtype bfloat16: " in capsys.readouterr().out


def test_variant_that_cannot_run_or_is_wrong_is_left_out_with_the_reason(monkeypatch):
    def broken(*inputs):
        raise RuntimeError("no kernel image\nlong trace")

    wrong = {
        "broken": broken,
        "wrong forward": lambda Q, K, V: Q + K + V,
        "wrong backward": lambda Q, K, V: profile_gpu.naive(Q, K, 2 * V - V.detach()),
        "wrong shape": lambda Q, K, V: profile_gpu.naive(Q, K, V)[..., :7],
        "no number": lambda Q, K, V: profile_gpu.naive(Q, K, V) * math.nan,
    }
    monkeypatch.setattr(profile_gpu, "variants", lambda: wrong)
    rows, left_out = profile_gpu.sweep("cpu", [32], 1)
    assert rows == []
    reasons = [entry["why"] for entry in left_out if entry["dtype"] == "float32"]
    assert reasons[0] == "RuntimeError: no kernel image"
    assert reasons[1].startswith("its output differs from naive attention's by")
    assert reasons[2] == "its dV differs from naive attention's by 100%"
    assert reasons[3].startswith("RuntimeError: The size of tensor a")
    assert reasons[4:] == [
        "its output differs from naive attention's by nan%",
    ]
    assert len(left_out) == 10


def test_error_at_a_large_length_is_recorded_and_the_sweep_goes_on(monkeypatch, tmp_path, capsys):
    def limited(Q, K, V):
        if Q.shape[-2] == 32:
            raise RuntimeError("CUDA error: invalid argument\nlong trace")
        return profile_gpu.naive(Q, K, V)

    monkeypatch.setattr(profile_gpu, "variants", lambda: {"limited": limited})
    assert profile_gpu.main([*SMALL, "--out", str(tmp_path)]) == 0
    (record,) = read_records(tmp_path)
    assert [r["n"] for r in record["rows"]] == [64] * 4
    assert len(record["left_out"]) == 4
    assert record["left_out"][1] == {
        "variant": "limited",
        "dtype": "bfloat16",
        "backward": True,
        "n": 32,
        "why": "RuntimeError: CUDA error: invalid argument",
    }
    line = "left out: variant limited, dtype bfloat16, backward True, n 32: RuntimeError: CUDA err"
    assert line in capsys.readouterr().out


def test_out_of_memory_is_recorded_and_the_sweep_goes_on(monkeypatch, tmp_path):
    def greedy(Q, K, V):
        if Q.shape[-2] == 32:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return profile_gpu.naive(Q, K, V)

    monkeypatch.setattr(profile_gpu, "variants", lambda: {"greedy": greedy})
    assert profile_gpu.main([*SMALL, "--out", str(tmp_path)]) == 0
    (record,) = read_records(tmp_path)
    assert [r["out_of_memory"] for r in record["rows"]] == [True, False] * 4


def test_sweep_that_dies_writes_nothing(monkeypatch, tmp_path):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(profile_gpu, "sweep", interrupted)
    with pytest.raises(KeyboardInterrupt):
        profile_gpu.main([*SMALL, "--out", str(tmp_path)])
    assert list(tmp_path.iterdir()) == []
