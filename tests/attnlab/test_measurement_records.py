import os

import pytest

from attnlab.measurement_records import read_records, write_record


def test_records_come_back_in_the_order_of_their_names(tmp_path):
    write_record(tmp_path / "new" / "flash_b.json", {"device": "B", "rows": [1.5, None]})
    write_record(tmp_path / "new" / "flash_a.json", {"device": "Ä"})
    write_record(tmp_path / "new" / "other.json", {})
    records = read_records(tmp_path / "new", "flash_*.json")
    assert records == [{"device": "Ä"}, {"device": "B", "rows": [1.5, None]}]
    assert len(list((tmp_path / "new").iterdir())) == 3


def test_missing_folder_holds_no_record(tmp_path):
    assert read_records(tmp_path / "nowhere") == []


def test_write_that_fails_leaves_the_old_record_and_no_part(tmp_path, monkeypatch):
    path = tmp_path / "flash_a.json"
    write_record(path, {"old": True})
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_record(path, {"seconds": float("nan")})

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_record(path, {"new": True})
    assert read_records(tmp_path) == [{"old": True}]
    assert list(tmp_path.iterdir()) == [path]
