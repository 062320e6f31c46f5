"""Curves of GPUs: a machine's own record takes the place of what papers published."""

import json

import pytest
from files import ROOT
from matplotlib import pyplot as plt

from attnlab.gpu_curves import draw, panels_of, read_curves, roofline, useful_flops
from attnlab.measurement_records import write_record

DATA = ROOT / "chapters" / "data"
PUBLISHED = "published_flash.json"
NAMES = ("flash_*.json", PUBLISHED)


def make_record(device="Made up"):
    """Make what `make profile-gpu` writes: naive attention is out of memory at 1024."""
    rows = [
        {"variant": variant, "dtype": dtype, "backward": backward, "n": n}
        | {"seconds": None if lost else n * 1e-6, "peak_bytes": None if lost else n * 2**20}
        | {"out_of_memory": lost}
        for variant in ("naive", "triton", "SDPA MATH")
        for dtype in ("bfloat16", "float32")
        for backward in (False, True)
        for n in (512, 1024)
        for lost in [variant == "naive" and n == 1024]
    ]
    setting = {"B": 2, "H": 3, "d": 64, "causal": False}
    versions = {"torch": "9.9"}
    record = {"device": device, "date": "2026-01-01", "versions": versions, "setting": setting}
    return record | {"rows": rows, "left_out": []}


def test_each_published_series_names_its_paper_and_the_place_where_it_was_read():
    bibliography = (ROOT / "references.bib").read_text(encoding="utf-8")
    entries = json.loads((DATA / PUBLISHED).read_text(encoding="utf-8"))
    assert len(entries) == 6
    for entry in entries:
        assert f"{{{entry['source']}," in bibliography
        assert entry["paper"].split(", ")[1].lower() in entry["where"].lower()
        lengths = [[n for n, _ in points] for points in entry["series"].values()]
        assert lengths == [sorted(set(lengths[0]))] * len(lengths)


def test_published_numbers_are_those_that_the_papers_texts_repeat():
    a100_64, a100_128, h100_64, h100_128, forward, backward = (
        panel.series for panel in read_curves(DATA, *NAMES).panels
    )
    assert max(value for _, value in a100_128["FlashAttention-2"]) / 312 == pytest.approx(
        0.65, 0.01
    )
    faster = [
        b / a
        for panel in (h100_64, h100_128)
        for (_, a), (_, b) in zip(panel["FlashAttention-2"], panel["FlashAttention-3"], strict=True)
    ]
    assert min(faster) > 1.15  # the abstract has 1.5 to 2.0 times: the figure's bars are lower
    assert max(faster) < 1.8
    at = {"naive": 2**14, "Rabe & Staats": 2**14}  # the abstract: 59 and 32 times less at 16384
    for panel, times in ((forward, 59), (backward, 32)):
        naive, lean = (dict(panel[name])[n] for name, n in at.items())
        assert naive / lean == pytest.approx(times, abs=1.3)
    assert dict(a100_64["naive"])[16384] is None


def test_without_a_record_the_curves_are_published_and_say_so():
    curves = read_curves(DATA, *NAMES)
    assert curves.published
    assert "Published, not measured here" in curves.caption
    assert "Dao (2024), figure 4(a) and figure 4(b); Shah" in curves.caption


def test_with_a_record_the_curves_are_its_own(tmp_path):
    (tmp_path / PUBLISHED).write_text((DATA / PUBLISHED).read_text(encoding="utf-8"))
    write_record(tmp_path / "flash_made_up.json", make_record())
    curves = read_curves(tmp_path, *NAMES)
    assert not curves.published
    assert "Made up, 2026-01-01, torch 9.9" in curves.caption
    assert "Published" not in curves.caption
    assert [panel.unit for panel in curves.panels] == ["TFLOP/s", "MiB"] * 2
    for panel in curves.panels:
        assert panel.title.startswith("Made up")
        assert list(panel.series) == ["naive", "triton"]
        assert panel.series["naive"][1] == (1024, None)
    speed, memory = curves.panels[2:]
    assert memory.series["triton"] == [(512, 512), (1024, 1024)]
    per_second = 3.5 * 4 * 2 * 3 * 512**2 * 64 / (512e-6 * 1e12)
    assert speed.series["triton"][0] == (512, pytest.approx(per_second))


def test_records_of_two_machines_are_both_drawn(tmp_path):
    for name in ("a", "b"):
        write_record(tmp_path / f"flash_{name}.json", make_record(name))
    titles = [panel.title[0] for panel in read_curves(tmp_path, *NAMES).panels]
    assert titles == ["a"] * 4 + ["b"] * 4


@pytest.mark.parametrize("number", range(6))
def test_a_panel_shows_each_series_and_marks_where_memory_ran_out(number):
    panel = read_curves(DATA, *NAMES).panels[number]
    (ax,) = draw(panel).axes
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(panel.series)
    crosses = [line for line in ax.lines if line.get_marker() == "x"]
    assert len(crosses) == 1
    assert crosses[0].get_xdata() == [16384 if number < 4 else 65536]
    plt.close("all")


def test_a_series_that_never_ran_is_drawn_as_its_cross_alone():
    record = make_record()
    for row in record["rows"]:
        if row["variant"] == "naive":
            row.update(seconds=None, peak_bytes=None, out_of_memory=True)
    (ax,) = draw(next(panels_of(record))).axes
    assert sum(line.get_marker() == "x" for line in ax.lines) == 1
    plt.close("all")


def test_operations_are_counted_as_in_the_papers():
    assert useful_flops(1, 2, 16, 8, backward=False) == 4 * 16**2 * 8 * 2
    assert useful_flops(1, 2, 16, 8, backward=True) == 3.5 * 4 * 16**2 * 8 * 2


def test_a_roof_rises_to_its_ridge_and_no_further():
    fig = roofline({"chip": (300, 2)}, {"naive": 32}, [(32, 50, "chip")])
    (ax,) = fig.axes
    x, y = ax.lines[0].get_data()
    assert y[x < 150] == pytest.approx(2 * x[x < 150])
    assert set(y[x > 150]) == {300}
    assert "chip: ridge at 150" in {text.get_text() for text in ax.texts}
    plt.close("all")
