"""Finds a living figure on a page, moves its controls by keyboard, and waits for what it says."""

import json

from figure_table import Entry, Move
from playwright.sync_api import Locator, Page, expect

PATIENCE = 60_000  # ms; a busy machine with two cores takes its time


def living(page: Page, entry: Entry) -> Locator:
    """Wait until the figure lives, and give its element."""
    root = page.locator(f'.attn-live[aria-label="{entry.figure().title}"]')
    root.wait_for(timeout=PATIENCE)
    return root


def traits_on(page: Page, entry: Entry) -> dict:
    """Read from the page with which traits it made the figure."""
    place = page.locator(f".figure-mount[data-module='{entry.name}'] > script")
    state = json.loads(place.text_content())
    return {name: state[name] for name in entry.figure.own_traits()}


def press(root: Locator, move: Move) -> None:
    """Press the move's key on its control."""
    named = {"name": move.control, "exact": True}
    control = root.get_by_label(move.control, exact=True)
    for role in ("button", "combobox"):  # a list's label holds its options too
        control = control.or_(root.get_by_role(role, **named))
    control.press(move.key)


def expect_said(root: Locator, text: str) -> None:
    """Wait until the figure says this."""
    expect(root.locator(".attn-said")).to_have_text(text, timeout=PATIENCE)
