"""What the tests of the checks share: the answers beside them, and a quiet display."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # right_1_N and wrong_1_N


@pytest.fixture
def shown(monkeypatch):
    """Collect what passed checks put out."""
    outputs = []
    monkeypatch.setattr("nbmark.graded.display", lambda data, raw: outputs.append(data))
    return outputs
