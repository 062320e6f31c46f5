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


@pytest.fixture
def _one_thread():
    """Small matrices: a second thread would only wait for the first."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
