"""Fonts are cut once for all builds, and always to the same bytes."""

import vendor
from extension import extension

fonts = extension("fonts")


def test_a_font_is_cut_once_for_the_same_characters(tmp_path, monkeypatch):
    vendor.ensure()
    path = vendor.SITE / "vendor" / "katex" / "fonts" / "KaTeX_Main-Bold.woff2"
    monkeypatch.setattr(fonts, "CUT", tmp_path / "cut")
    first = fonts.cut(path, "abc")
    assert fonts.cut_anew(path, "abc", None) == first
    assert len(first) < path.stat().st_size / 4
    more = fonts.cut(path, "abcd")
    assert len(more) > len(first)
    monkeypatch.setattr(fonts, "cut_anew", None)
    assert [fonts.cut(path, "abc"), fonts.cut(path, "abcd")] == [first, more]
    assert len(list(tmp_path.joinpath("cut").iterdir())) == 2  # and nothing half-written
