"""Launch buttons, where the address of the book's repository is known; nowhere else.

The address is `repository.url` of _config.yml, or else the environment variable BOOK_REPOSITORY, or
else the remote `origin` of git, if that is on a host that the services know. Every notebook gets
Binder and Codespaces, which install the book first (.binder/, .devcontainer/). Colab installs
nothing, so it stands beside the exercises alone, whose first cell installs the book if
_config.yml says from where (tools/release.py).
"""

import os
import re
import subprocess
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

# As `git remote` or a person writes it: with a user or a token before the host, or in scp's way.
KNOWN = re.compile(
    r"(?:(?:https?|ssh|git)://)?(?:[^@/]+@)?(github\.com|gitlab\.com)[/:]"
    r"([\w.-]+)/([\w.-]+?)(?:\.git)?/?"
)


def public_address(text: str) -> str | None:
    """Give the address as a browser takes it, without a user's name; None for any other place."""
    match = KNOWN.fullmatch(text.strip())
    return match and f"https://{match[1]}/{match[2]}/{match[3]}"


def found_address(folder: str) -> str | None:
    """Look for the address in the environment, then in git."""
    if named := os.environ.get("BOOK_REPOSITORY"):
        return public_address(named)
    git = ["git", "-C", folder, "config", "--get", "remote.origin.url"]
    try:
        done = subprocess.run(git, capture_output=True, text=True, check=False)
    except OSError:  # no git
        return None
    return public_address(done.stdout)


def choose_address(app: Sphinx, config: Config) -> None:
    """Tell the theme the address, or leave the buttons out."""
    options = config.html_theme_options
    app.book_installs_itself = bool(options.get("repository_url"))
    options["repository_url"] = options.get("repository_url") or found_address(str(app.srcdir))
    if not options["repository_url"]:
        del options["repository_url"]
        options.pop("launch_buttons", None)


def codespaces(address: str) -> dict[str, str]:
    """Give the button for Codespaces."""
    return {
        "type": "link",
        "text": "Codespaces",
        "tooltip": "Launch on Codespaces",
        "icon": "fas fa-code",
        "url": address.replace("https://github.com/", "https://codespaces.new/"),
    }


def choose_buttons(
    app: Sphinx, page: str, _template: str, context: dict[str, Any], _doctree: Any
) -> None:
    """Add Codespaces to the theme's buttons, and take Colab where the notebook could not run."""
    address = app.config.html_theme_options.get("repository_url", "")
    installs = app.book_installs_itself and page.startswith("exercises/")
    for group in context.get("header_buttons", []):
        if group.get("label") == "launch-buttons":
            buttons = [b for b in group["buttons"] if installs or b["text"] != "Colab"]
            on_github = address.startswith("https://github.com/")
            group["buttons"] = buttons + ([codespaces(address)] if on_github else [])


def setup(app: Sphinx) -> dict[str, bool]:
    """Run after the configuration is read, and after the theme made its buttons."""
    app.connect("config-inited", choose_address, priority=940)
    app.connect("html-page-context", choose_buttons, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
