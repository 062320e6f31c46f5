"""Lets the tests of the model in the page find their texts."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
