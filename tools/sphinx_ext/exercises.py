"""The pages of exercises: solutions only where they are asked for.

With the environment variable SOLUTIONS=1 (`make book SOLUTIONS=1`) each exercise's solution becomes
a page behind the exercises.
"""

import os
import re
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx_external_toc.api import Document, FileItem

EXERCISES, SOLUTIONS = "exercises/", "solutions/"


def solutions_wanted() -> bool:
    """Tell whether this book is an instructor's."""
    return os.environ.get("SOLUTIONS", "") not in {"", "0"}


def choose_pages(_app: Sphinx, config: Config) -> None:
    """Leave solutions out, or put them into the table of contents."""
    if solutions_wanted():
        add_solutions(config.external_site_map)
    else:
        config.exclude_patterns = [*config.exclude_patterns, SOLUTIONS.rstrip("/")]


def add_solutions(pages: Any) -> None:
    """Append the solution of each exercise to the list of pages that the exercise is in."""
    lists = [tree for page in list(pages.values()) for tree in page.subtrees]
    for tree in lists:
        for exercise in [item for item in tree.items if item.startswith(EXERCISES)]:
            solution = exercise.replace(EXERCISES, SOLUTIONS, 1)
            number = re.search(r"(\d+)_(\d+)_", solution)
            tree.items.append(FileItem(solution))
            pages[solution] = Document(solution, title=f"Solution {number[1]}.{number[2]}")


def setup(app: Sphinx) -> dict[str, bool]:
    """Run after the table of contents is read."""
    app.connect("config-inited", choose_pages, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
