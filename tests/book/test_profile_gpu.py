"""The sweep of `make profile-gpu`, on a CPU and with lengths that take no time."""

import profile_gpu
import pytest
import torch

from attnlab.records import read_records

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
    assert "left out: SDPA CUDNN_ATTENTION" in capsys.readouterr().out


def test_variant_that_cannot_run_or_is_wrong_is_left_out_with_the_reason(monkeypatch):
    def broken(*inputs):
        raise RuntimeError("no kernel image\nlong trace")

    wrong = {"broken": broken, "wrong": lambda Q, K, V: Q + K + V}
    monkeypatch.setattr(profile_gpu, "variants", lambda: wrong)
    rows, left_out = profile_gpu.sweep("cpu", [32], 1)
    assert rows == []
    assert left_out[0]["why"] == "RuntimeError: no kernel image"
    assert left_out[2]["why"].startswith("differs from naive attention by")


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
