"""Drives Firefox over WebDriver BiDi, its own protocol, with nothing between it and the test.

Playwright's Firefox is a build of its own, and Selenium needs a driver beside the browser; the
protocol itself is JSON over a WebSocket. A `Tab` notes all that goes wrong on its pages.
"""

import itertools
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import websocket

NAMES = ("firefox-esr", "firefox")
HOW_TO_GET_ONE = "no Firefox found: `apt-get install firefox-esr` or install Firefox"
PATIENCE = 60  # seconds; a busy machine takes its time
# A browser that talks to nobody but the test.
PREFERENCES = {
    "app.normandy.enabled": False,
    "app.update.disabledForTesting": True,
    "browser.safebrowsing.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.page": 0,
    "datareporting.policy.dataSubmissionEnabled": False,
    "extensions.update.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,",
    "toolkit.telemetry.server": "data:,",
}
# WebDriver's names of the keys that Playwright calls so; other keys are their own characters.
KEYS = {
    "ArrowLeft": "\ue012",
    "ArrowUp": "\ue013",
    "ArrowRight": "\ue014",
    "ArrowDown": "\ue015",
    "End": "\ue010",
    "Enter": "\ue007",
    "Escape": "\ue00c",
    "Home": "\ue011",
    "Space": " ",
    "Tab": "\ue004",
}
ABORTED = "NS_BINDING_ABORTED"  # the page itself needs a file no more
EVENTS = (
    "log.entryAdded",
    "network.beforeRequestSent",
    "network.responseCompleted",
    "network.fetchError",
)
# Resolves once the function says so; its answer is what it said.
UNTIL = """async (...given) => {
  const end = Date.now() + %d;
  const pause = () => new Promise((go) => setTimeout(go, 20));
  const done = %s;
  let said;
  while (!(said = await done(...given)) && Date.now() < end) await pause();
  return said;
}"""


class Firefox:
    """A running Firefox, and the line to it."""

    def __init__(self, address: str):
        self.socket = websocket.create_connection(
            f"{address}/session", timeout=PATIENCE, suppress_origin=True
        )
        self.numbers = itertools.count(1)
        self.tabs: dict[str, Tab] = {}
        self.command("session.new", capabilities={})

    def command(self, method: str, **parameters: Any) -> dict:
        """Send a command and give its result; events that come before it go to their tabs."""
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            said = json.loads(self.socket.recv())
            if said["type"] == "event":
                self.tell(said["method"], said["params"])
            elif said["id"] == number:
                assert said["type"] == "success", f"{method}: {said.get('message')}"
                return said["result"]

    def tell(self, event: str, about: dict) -> None:
        """Tell the tab that an event is about."""
        context = about.get("context") or about.get("source", {}).get("context")
        if context in self.tabs:
            self.tabs[context].note(event, about)

    def open(self, home: str, width: int = 1280, height: int = 800) -> "Tab":
        """Open a tab for the pages below `home`."""
        context = self.command("browsingContext.create", type="tab")["context"]
        self.tabs[context] = tab = Tab(self, context, home)
        self.command("session.subscribe", events=[*EVENTS], contexts=[context])
        viewport = {"width": width, "height": height}
        self.command("browsingContext.setViewport", context=context, viewport=viewport)
        return tab


@dataclass
class Tab:
    """A tab, what it asked of other hosts, and what its console said."""

    firefox: Firefox
    context: str
    home: str
    outside: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def note(self, event: str, about: dict) -> None:
        """Note a request that leaves the site, one that fails, and what the console says."""
        url = about.get("request", {}).get("url", "")
        if event == "log.entryAdded":
            if about["level"] in {"warn", "error"}:
                self.problems.append(f"{about['level']}: {about['text']}")
        elif event == "network.fetchError":
            if about["errorText"] != ABORTED:
                self.problems.append(f"failed: {url}: {about['errorText']}")
        elif event == "network.responseCompleted":
            if about["response"]["status"] >= 400:
                self.problems.append(f"{about['response']['status']}: {url}")
        elif not url.startswith((self.home, "data:", "blob:")):
            self.outside.append(url)

    def visit(self, page: str) -> None:
        """Open a page and wait until it has loaded."""
        address = {"url": self.home + page, "wait": "complete"}
        self.firefox.command("browsingContext.navigate", context=self.context, **address)

    def call(self, function: str, arguments: list[dict] | None = None) -> dict:
        """Call a function of JavaScript in the page, all in the protocol's own terms."""
        said = self.firefox.command(
            "script.callFunction",
            functionDeclaration=function,
            arguments=arguments or [],
            awaitPromise=True,
            target={"context": self.context},
        )
        assert said["type"] == "success", said.get("exceptionDetails", {}).get("text")
        return said["result"]

    def run(self, function: str, *given: Any) -> Any:
        """Call a function of JavaScript in the page; give what it, or its promise, gives."""
        whole = f"async (given) => JSON.stringify(await ({function})(...JSON.parse(given)) ?? null)"
        said = self.call(whole, [{"type": "string", "value": json.dumps(given)}])
        return json.loads(said["value"])

    def wait_for(self, function: str, *given: Any, seconds: float = PATIENCE / 2) -> Any:
        """Call a function of JavaScript until it gives something true."""
        said = self.run(UNTIL % (1000 * seconds, function), *given)
        assert said, f"never true within {seconds} s: {function} of {given}"
        return said

    def press(self, *keys: str) -> None:
        """Press keys one after the other on what has the focus."""
        codes = [KEYS.get(key, key) for key in keys]
        strokes = [{"type": t, "value": c} for c in codes for t in ("keyDown", "keyUp")]
        hand = {"type": "key", "id": "keyboard", "actions": strokes}
        self.firefox.command("input.performActions", context=self.context, actions=[hand])

    def focus(self, name: str, within: str = "body") -> None:
        """Give the focus to the control with this accessible name, below a selector's element.

        Firefox looks at every element there, so the smaller the part, the faster.
        """
        part = self.call(f"() => document.querySelector({within!r})")["sharedId"]
        found = self.firefox.command(
            "browsingContext.locateNodes",
            context=self.context,
            locator={"type": "accessibility", "value": {"name": name}},
            startNodes=[{"sharedId": part}],
        )["nodes"]
        tags = [{"sharedId": node["sharedId"]} for node in found]
        self.call("(...tags) => tags.find((t) => t.matches('input, select, button')).focus()", tags)

    def leave(self) -> None:
        """Close the tab; until then nothing may have gone wrong in it."""
        outside, problems = [*self.outside], [*self.problems]
        del self.firefox.tabs[self.context]
        self.firefox.command("browsingContext.close", context=self.context)
        assert outside == [], outside
        assert problems == [], problems


@contextmanager
def start_firefox(folder: Path) -> Iterator[Firefox]:
    """Start Firefox with a profile in `folder`; where there is none the test is skipped.

    Under CI it fails instead.
    """
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(HOW_TO_GET_ONE)
    lines = (f'user_pref("{name}", {json.dumps(to)});' for name, to in PREFERENCES.items())
    folder.joinpath("user.js").write_text("\n".join(lines), encoding="utf-8")
    command = [path, "--headless", "--no-remote", "--profile", str(folder)]
    log = folder / "log"
    with log.open("w") as out:
        process = subprocess.Popen(
            [*command, "--remote-debugging-port=0"],
            stdout=out,
            stderr=out,
            env=os.environ | {"HOME": str(folder)},
        )
    try:
        firefox = Firefox(address_in(log, process))
        yield firefox
        firefox.socket.close()
    finally:
        process.terminate()
        process.wait(PATIENCE)


def address_in(log: Path, process: subprocess.Popen) -> str:
    """Wait until Firefox says where it listens."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        if said := re.search(r"WebDriver BiDi listening on (ws://\S+)", log.read_text()):
            return said[1]
        time.sleep(0.1)
    pytest.fail(f"Firefox did not start:\n{log.read_text()[-2000:]}")
