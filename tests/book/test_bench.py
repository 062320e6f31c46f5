"""The comparison of `make bench`, on lengths that take no time."""

import json
import sys
from datetime import date

import bench
import provenance
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
    assert bench.main(["--sizes", "16,32"]) == 0
    record = json.loads((tmp_path / "_build" / "bench.json").read_text())
    cases = [(row["n"], row["causal"], row["backward"]) for row in record["rows"]]
    assert len(cases) == len(set(cases)) == 8
    assert record["device"] == f"CPU {provenance.cpu_model()}"
    assert date.fromisoformat(record["date"])
    assert record["setting"]["threads"] == 1
    for row in record["rows"]:
        assert row["seconds"].keys() == row["peak_bytes"].keys() == {"ours", "naive", "SDPA"}
        assert row["ours_to"].keys() == {"naive", "SDPA"}
    table = capsys.readouterr().out.splitlines()[2:-1]
    assert [len(line.split()) for line in table] == [11] * 8


def test_on_a_terminal_nothing_stands_beside_a_row(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(bench, "BUILD", tmp_path)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    bench.main(["--sizes", "16"])
    table = capsys.readouterr().out.splitlines()[2:-1]
    assert [line.split()[0] for line in table] == ["16"] * 4
    assert [len(line.split()) for line in table] == [11] * 4


def test_what_does_not_fit_into_memory_gets_no_time_but_its_bytes(monkeypatch):
    case = Case(256, False, False)
    n_by_n = 2 * 4 * bench.H * case.n**2
    monkeypatch.setattr(bench, "available_memory", lambda: n_by_n / bench.MEMORY_SHARE - 1)
    row = bench.bench(case)
    assert row["peak_bytes"]["naive"] == n_by_n
    assert row["seconds"].keys() == {"ours", "SDPA"}
    assert row["ours_to"].keys() == {"SDPA"}
    assert bench.numbers(row).split()[1] == "-"


def rows_of(ratios, backward=False):
    """Give rows of the full mask whose ratios to naive are these; None was not measured."""
    return [
        {
            "n": n,
            "causal": False,
            "backward": backward,
            "ours_to": {"SDPA": 1.1} | ({} if ratio is None else {"naive": ratio}),
            "peak_bytes": {"ours": n, "naive": n**2, "SDPA": n},
        }
        for n, ratio in ratios.items()
    ]


def test_verdicts_find_the_worst_ratio_and_the_exponents():
    rows = rows_of({1024: 0.9, 2048: 0.4, 4096: 0.6})
    assert bench.verdicts(rows, bench.exponents(rows)) == [
        "MISSED full forward: at most 0.5 of naive's time, 0.60 at n = 4096",
        "met    full and causal forward: at most 1.5 of SDPA's time, 1.10 at n = 4096",
        "met    memory exponent of ours within 0 to 1.1: 1.00 to 1.00",
        "met    memory exponent of naive within 1.9 to 2.1: 2.00 to 2.00",
    ]


@pytest.mark.parametrize(
    ("ratios", "line"),
    [
        ({2048: 0.4, 8192: None}, "open  {}, 0.40 at n = 2048, too little memory at n = 8192"),
        ({2048: 0.6, 8192: None}, "MISSED{}, 0.60 at n = 2048, too little memory at n = 8192"),
        ({4096: None}, "open  {}, too little memory at n = 4096"),
    ],
)
def test_bar_is_not_met_where_another_was_skipped_for_its_memory(ratios, line):
    expected = line.format(" full forward: at most 0.5 of naive's time")
    assert bench.verdicts(rows_of(ratios), [])[0] == expected


@pytest.mark.parametrize(("ratio", "code"), [(0.4, 0), (0.6, 1), (None, 0)])
def test_missed_bar_is_an_error_and_an_open_one_is_none(monkeypatch, tmp_path, ratio, code):
    monkeypatch.setattr(bench, "BUILD", tmp_path)
    (row,) = rows_of({2048: ratio})
    monkeypatch.setattr(bench, "bench", lambda case: row | case._asdict() | {"seconds": {}})
    monkeypatch.setattr(bench, "LIMITS", bench.LIMITS[:1])
    assert bench.main(["--sizes", "2048"]) == code


def test_help_names_the_exit_code(capsys):
    with pytest.raises(SystemExit):
        bench.main(["--help"])
    assert "exit code 1, if a bar is missed" in " ".join(capsys.readouterr().out.split())
