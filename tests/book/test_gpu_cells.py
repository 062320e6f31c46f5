"""The GPU cells of section 1.10, run without a GPU: small tensors on the CPU, costs made up."""

import nbformat
import pytest
import torch
from files import ROOT
from torch.nn import functional

from attnlab import plotting, profiling
from attnlab.attention import scaled_dot_product_attention
from attnlab.measurement_records import write_record
from attnlab.profiling import Measurement

PATH = ROOT / "chapters" / "1_10_flash_attention.ipynb"
CELLS = {cell.id: cell.source for cell in nbformat.read(PATH, as_version=4).cells}
SHRINK = 64  # by which tensors are shorter than asked for


@pytest.fixture
def page(monkeypatch):
    """Give the names that the page defines before its GPU cells, on a machine that runs them."""
    randn = torch.randn

    def small_randn(B, H, n, d, device, dtype, requires_grad):
        assert (device, dtype) == ("cuda", torch.bfloat16)
        return randn(1, 1, n // SHRINK, d, requires_grad=requires_grad)

    monkeypatch.setattr(torch, "randn", small_randn)
    monkeypatch.setattr(profiling, "require_cuda", lambda *arguments, **named: None)
    monkeypatch.setattr(plotting, "use_book_style", lambda: None)
    names = {"functions": {"naive": lambda Q, K, V: scaled_dot_product_attention(Q, K, V)[0]}}
    exec(CELLS["imports"], names)
    return names


def cost(n, largest):
    """Make up what n costs; more than the largest does not fit. The smallest n is an outlier."""
    if n > largest:
        return Measurement(None, None, out_of_memory=True)
    return Measurement(n**2 * 1e-9, 10**9 if n < 1024 else 2**10 * n)


@pytest.mark.parametrize(("largest", "sizes_that_fit"), [(8192, 5), (2048, 3), (256, 0)])
def test_sweep_shows_what_fits_and_fits_exponents_where_it_can(
    page, monkeypatch, capsys, largest, sizes_that_fit
):
    seen = []

    def measure(fn, attention, *inputs):
        result = fn(attention, *inputs)  # a tensor, or the gradients
        forced = (
            not torch.backends.cuda.math_sdp_enabled() and torch.backends.cuda.flash_sdp_enabled()
        )
        seen.append((attention is functional.scaled_dot_product_attention, len(result), forced))
        return cost(inputs[0].shape[-2] * SHRINK, largest)

    monkeypatch.setattr(profiling, "measure", measure)
    exec(CELLS["gpu-sweep"], page)
    exec(CELLS["gpu-table"], page)
    gradients = {(flash, length) for flash, length, _ in seen}
    assert gradients == {(flash, length) for flash in (False, True) for length in (1, 3)}
    assert all(forced for *_, forced in seen)
    table = capsys.readouterr().out
    assert table.count(" MiB\n") == 4 * sizes_that_fit
    assert table.count("out of memory\n") == 4 * (5 - sizes_that_fit)
    few = table.count("too few sizes fit into memory for an exponent\n")
    assert few == (0 if sizes_that_fit == 5 else 8)
    assert table.count("peak_bytes: exponent 1.00 ± 0.00 over n >= 1024\n") == 4 - few // 2


def test_the_page_draws_the_recorded_sweep_in_place_of_the_published_one(
    page, monkeypatch, tmp_path
):
    published = PATH.parent / "data" / "published_flash.json"
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / published.name).write_text(published.read_text("utf-8"), "utf-8")
    monkeypatch.chdir(tmp_path)
    shown = []
    monkeypatch.setattr(
        plotting, "show", lambda *figs, alt, caption: shown.append((figs, alt, caption))
    )
    exec(CELLS["gpu-curves"], page)
    assert len(shown[0][0]) == 6
    assert "Published" in shown[0][2]
    cases = [(v, b, 2**k) for v in ("naive", "triton") for b in (0, 1) for k in range(9, 14)]
    rows = [
        {"variant": v, "dtype": "bfloat16", "backward": bool(b), "n": n}
        | cost(n, 2048 if v == "naive" else 8192)._asdict()
        for v, b, n in cases
    ]
    setting = {"B": 4, "H": 8, "d": 64, "causal": False}
    record = {"device": "Made up", "date": "2026-01-01", "versions": {}, "setting": setting}
    write_record(tmp_path / "data" / "flash_made_up.json", record | {"rows": rows})
    exec(CELLS["gpu-curves"], page)
    figures, alt, caption = shown[1]
    assert "Made up" in alt
    assert "Published" not in caption
    assert [figure.axes[0].get_ylabel() for figure in figures] == ["TFLOP/s", "MiB"] * 2
    for figure in figures:
        ax = figure.axes[0]
        assert ax.get_title().startswith("Made up")
        assert [text.get_text() for text in ax.get_legend().get_texts()] == ["naive", "triton"]
        assert [line.get_marker() for line in ax.lines].count("x") == 1
