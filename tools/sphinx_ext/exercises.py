"""The pages of exercises: solutions only where they are asked for, launch buttons only here.

With the environment variable SOLUTIONS=1 (`make book SOLUTIONS=1`) each exercise's solution becomes
a page behind the exercises. Launch buttons need the address of the book's repository; without one
there are none.
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
    """Leave solutions out, or put them into the table of contents; drop buttons without address."""
    if solutions_wanted():
        add_solutions(config.external_site_map)
    else:
        config.exclude_patterns = [*config.exclude_patterns, SOLUTIONS.rstrip("/")]
    if not config.html_theme_options.get("repository_url"):
        config.html_theme_options.pop("launch_buttons", None)


def add_solutions(pages: Any) -> None:
    """Append the solution of each exercise to the list of pages that the exercise is in."""
    lists = [tree for page in list(pages.values()) for tree in page.subtrees]
    for tree in lists:
        for exercise in [item for item in tree.items if item.startswith(EXERCISES)]:
            solution = exercise.replace(EXERCISES, SOLUTIONS, 1)
            number = re.search(r"(\d+)_(\d+)_", solution)
            tree.items.append(FileItem(solution))
            pages[solution] = Document(solution, title=f"Solution {number[1]}.{number[2]}")


def keep_launch_buttons_here(
    _app: Sphinx, name: str, _template: str, context: dict[str, Any], _doctree: Any
) -> None:
    """Take the launch buttons off pages whose notebooks do not install what they need."""
    if not name.startswith(EXERCISES):
        buttons = context.get("header_buttons", [])
        context["header_buttons"] = [b for b in buttons if b.get("label") != "launch-buttons"]


def setup(app: Sphinx) -> dict[str, bool]:
    """Run after the table of contents is read, and after the theme made its buttons."""
    app.connect("config-inited", choose_pages, priority=950)
    app.connect("html-page-context", keep_launch_buttons_here, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
