"""Cuts a style sheet down to the rules that some page of the site can need.

A rule goes if each of its selectors names a class that stands neither in a page nor in a script.
What is in brackets does not count, since `:not(.x)` needs no x. Comments go, but for licences.
"""

import re
from pathlib import Path

import tinycss2

BRACKETS = re.compile(r"\((?:[^()]|\([^()]*\))*\)|\[[^\]]*\]")
CLASS = re.compile(r"\.(-?[A-Za-z_][\w-]*)")
# Bootstrap puts some of its classes' names together, all of which begin so.
PUT_TOGETHER = "bs-"


def words_of(site: Path) -> set[str]:
    """Collect all that may be the name of a class, in the pages and scripts of a site."""
    words: set[str] = set()
    for path in [*site.rglob("*.html"), *site.rglob("*.js")]:
        if path.name not in {"fontawesome.js", "searchindex.js"}:  # which no page uses for that
            words.update(re.findall(r"[\w-]+", path.read_text(encoding="utf-8")))
    return words


def can_match(selector: str, words: set[str]) -> bool:
    """Tell whether all classes that a selector needs are there."""
    names = CLASS.findall(BRACKETS.sub("", selector))
    return all(name in words or name.startswith(PUT_TOGETHER) for name in names)


def selectors(prelude: list) -> list[str]:
    """Split what stands before a rule's declarations at its commas."""
    parts: list[list] = [[]]
    for token in prelude:
        if token == ",":
            parts.append([])
        else:
            parts[-1].append(token)
    return [tinycss2.serialize(part).strip() for part in parts]


def cut_rule(rule, words: set[str]) -> str:
    """Give what is left of a rule."""
    if rule.type == "qualified-rule":
        kept = [part for part in selectors(rule.prelude) if can_match(part, words)]
        return f"{','.join(kept)}{{{tinycss2.serialize(rule.content)}}}" if kept else ""
    if rule.type == "at-rule" and rule.lower_at_keyword in {"media", "supports"}:
        within = cut(tinycss2.serialize(rule.content), words)
        head = f"@{rule.at_keyword}{tinycss2.serialize(rule.prelude)}"
        return f"{head}{{{within}}}" if within else ""
    if rule.type == "comment" and not rule.value.startswith("!"):
        return ""
    return rule.serialize()


def cut(css: str, words: set[str]) -> str:
    """Give what is left of a style sheet."""
    rules = tinycss2.parse_stylesheet(css, skip_whitespace=True)
    return "\n".join(filter(None, (cut_rule(rule, words) for rule in rules)))
