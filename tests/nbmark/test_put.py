"""Writing a file as a whole."""

import pytest

from nbmark.files import put


def test_a_text_takes_the_place_of_another_and_leaves_nothing_beside_it(tmp_path):
    path = tmp_path / "a.txt"
    put(path, "old")
    put(path, "nêw\n", encoding="utf-16")
    assert path.read_bytes().decode("utf-16") == "nêw\n"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_what_interrupts_it_leaves_the_old_text_alone(tmp_path, monkeypatch, error):
    path = tmp_path / "a.txt"
    put(path, "old")

    def fail(*_):
        raise error

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(type(error)):
        put(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
