"""What the tests of attnlab share: one seed, and property tests that repeat themselves."""

import pytest
import torch
from hypothesis import settings

settings.register_profile(
    "repeatable", derandomize=True, database=None, deadline=None, max_examples=25
)
settings.load_profile("repeatable")


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(0)
