"""The comparison of `make bench`, on lengths that take no time."""

import json

import bench
import pytest
import torch
from bench import Case


@pytest.fixture(autouse=True)
def _few_rounds_and_the_threads_as_before(monkeypatch):
    monkeypatch.setattr(bench, "ROUNDS", 3)
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize("causal", [False, True])
def test_all_contestants_compute_the_same(causal):
    case = Case(13, causal, False)
    functions = [partial.args[0] for partial in bench.contestants(case, "cpu").values()]
    ours, naive, sdpa = (function(*bench.make_inputs(case, "cpu")) for function in functions)
    torch.testing.assert_close(ours, sdpa)
    torch.testing.assert_close(naive, sdpa)


def test_table_and_json_hold_every_case(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(bench, "BUILD", tmp_path / "_build")
    bench.main(["--sizes", "16,32"])
    record = json.loads((tmp_path / "_build" / "bench.json").read_text())
    cases = [(row["n"], row["causal"], row["backward"]) for row in record["rows"]]
    assert len(cases) == len(set(cases)) == 8
    for row in record["rows"]:
        assert row["seconds"].keys() == row["peak_bytes"].keys() == {"ours", "naive", "SDPA"}
        assert row["ours_to"].keys() == {"naive", "SDPA"}
    table = capsys.readouterr().out
    assert sum("forward" in line for line in table.splitlines()) == 8


def test_what_does_not_fit_into_memory_gets_no_time_but_its_bytes(monkeypatch):
    case = Case(256, False, False)
    n_by_n = 2 * 4 * bench.H * case.n**2
    monkeypatch.setattr(bench, "available_memory", lambda: n_by_n / bench.MEMORY_SHARE - 1)
    row = bench.bench(case)
    assert row["peak_bytes"]["naive"] == n_by_n
    assert row["seconds"].keys() == {"ours", "SDPA"}
    assert row["ours_to"].keys() == {"SDPA"}
    assert bench.line(case, row).split()[4] == "-"


def test_verdicts_find_the_worst_ratio_and_the_exponents():
    rows = [
        {"n": n, "causal": False, "backward": False, "ours_to": {"naive": ratio, "SDPA": 1.1}}
        for n, ratio in ((1024, 0.9), (2048, 0.4), (4096, 0.6))
    ]
    for row in rows:
        row["peak_bytes"] = {"ours": row["n"], "naive": row["n"] ** 2, "SDPA": row["n"]}
    assert bench.verdicts(rows, bench.exponents(rows)) == [
        "MISSED full forward: at most 0.5 of naive's time, 0.60 at n = 4096",
        "met    full and causal forward: at most 1.5 of SDPA's time, 1.10 at n = 4096",
        "met    memory exponent of ours within 0 to 1.1: 1.00 to 1.00",
        "met    memory exponent of naive within 1.9 to 2.1: 2.00 to 2.00",
    ]
