"""Measure every page as a phone on a slow line gets it: ``make bench-pages``.

Each page is opened in Chromium on a line of 1.6 Mbit/s with 150 ms of delay, by a processor four
times slower than this one, and left alone until nothing more is loaded. The weight is the same each
time; of the times the best of some rounds counts, since a busy machine only adds to them. A task's
length is four times the processor time that it took here, which a busy machine does not change.
"""

import argparse
import json
import os
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path

from files import BUILD, ROOT
from page_weight import QUIET, GzipHandler, Weight, limit, pages, weigh
from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

HTML = BUILD / "html"
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
LINE = {"offline": False, "latency": 150, "downloadThroughput": 2e5, "uploadThroughput": 9.6e4}
SLOWER = 4
WATCH = Path(__file__).with_name("bench_pages.js").read_text(encoding="utf-8")
# What may be at most: seconds until the first equation and the first figure, the sum of shifts of
# the layout, milliseconds of the longest task.
BARS = {"equation": 2.0, "figure": 2.0, "shift": 0.05, "task": 200.0}
HEIGHTS_FILE = ROOT / "tools" / "sphinx_ext" / "figure_heights.json"
HEIGHTS = """[...document.querySelectorAll(".figure-mount")].map((place) =>
  [place.dataset.module, place.querySelector(".attn-live").getBoundingClientRect().height])"""
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def start_browser(playwright) -> Browser:
    """Start the system's Chromium, or the one that Playwright installed."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    root_user = hasattr(os, "geteuid") and os.geteuid() == 0
    return playwright.chromium.launch(
        executable_path=path, args=["--disable-gpu", *(["--no-sandbox"] if root_user else [])]
    )


def slow_down(session: CDPSession, times: int) -> None:
    """Give the page a slow line, and a processor that is so many times slower."""
    session.send("Network.enable")
    session.send("Network.emulateNetworkConditions", LINE)
    session.send("Emulation.setCPUThrottlingRate", {"rate": times})


@contextmanager
def slow_page(browser: Browser, times: int = SLOWER) -> Iterator[Page]:
    """Give a page of a phone on a slow line that watches itself."""
    context = browser.new_context(**PHONE)
    page = context.new_page()
    slow_down(context.new_cdp_session(page), times)
    page.add_init_script(WATCH)
    yield page
    context.close()


def open_slowly(browser: Browser, address: str) -> dict[str, float | None]:
    """Open a page, and give what its own watch saw."""
    with slow_page(browser) as page:
        page.goto(address, wait_until="load")
        page.wait_for_function("watch.settled()", timeout=60_000)
        return page.evaluate("watch.seen")


def longest_task(browser: Browser, address: str) -> float:
    """Give the milliseconds that the longest task of opening a page takes a slower processor."""
    with slow_page(browser, times=1) as page:
        browser.start_tracing(page=page, categories=["toplevel", "devtools.timeline"])
        page.goto(address, wait_until="load")
        page.wait_for_function("watch.settled()", timeout=60_000)
        events = json.loads(browser.stop_tracing())["traceEvents"]
    here = {e["pid"] for e in events if e["name"] == "EvaluateScript" and address in str(e["args"])}
    return SLOWER * longest(events, here)


def longest(events: list[dict], here: set[int]) -> float:
    """Give the milliseconds of processor time of the longest task of these pages' own threads."""
    main = {
        (e["pid"], e["tid"])
        for e in events
        if e["name"] == "thread_name" and e["args"]["name"] == "CrRendererMain" and e["pid"] in here
    }
    tasks = [e for e in events if "RunTask" in e["name"] and (e["pid"], e["tid"]) in main]
    return max(task.get("tdur", 0) for task in tasks) / 1000


def measure_heights(browser: Browser, home: str) -> None:
    """Write how high each figure is, on a desktop and on a phone, for the pages to reserve."""
    found: dict[str, list[int]] = {}
    for width in (1280, 390):
        for page in pages(ROOT):
            opened = browser.new_page(viewport={"width": width, "height": 900})
            opened.goto(home + page, wait_until="load")
            opened.evaluate(QUIET)
            for name, height in opened.evaluate(HEIGHTS):
                found.setdefault(name, []).append(round(height))
            opened.close()
    lines = [f'  "{name}": {found[name]}' for name in sorted(found)]
    HEIGHTS_FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def best(rounds: list[dict]) -> dict[str, float | None]:
    """Take the best of each quantity; None where the page has no such thing."""
    return {
        name: min((r[name] for r in rounds), default=None) if rounds[0][name] is not None else None
        for name in rounds[0]
    }


def missed(page: str, weight: Weight, seen: dict[str, float | None]) -> list[str]:
    """Name the bars that a page misses."""
    found = [name for name, most in BARS.items() if seen[name] is not None and seen[name] > most]
    return (["weight"] if weight.total > limit(page, weight) else []) + found


def row(page: str, weight: Weight, seen: dict[str, float | None], bars: list[str]) -> str:
    """Write one line of the table."""
    times = [f"{seen[n]:8.2f}" if seen[n] is not None else f"{'-':>8}" for n in BARS]
    most = f"{weight.total / 1000:6.0f} of {limit(page, weight) / 1000:3.0f}"
    return f"{page:46} {most} {''.join(times)}  {'MISSED: ' + ', '.join(bars) if bars else ''}"


def measure(browser: Browser, home: str, chosen: list[str], rounds: int) -> int:
    """Print the table, and count the pages that miss a bar."""
    wrong = 0
    print(f"{'page':46} {'kB gzip':>13} {'eq. s':>8}{'fig. s':>8}{'shift':>8}{'task ms':>8}")
    for page in chosen:
        weight = weigh(browser, HTML, home, page)
        seen = best([open_slowly(browser, home + page) for _ in range(rounds)])
        seen["task"] = min(longest_task(browser, home + page) for _ in range(rounds))
        bars = missed(page, weight, seen)
        wrong += bool(bars)
        print(row(page, weight, seen, bars), flush=True)
    print(f"{wrong} pages miss a bar." if wrong else "Every page meets every bar.")
    return wrong


def main(arguments: list[str] | None = None) -> int:
    """Measure the pages; a missed bar is an error."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", help="such as chapters/1_03_scaled_dot_product.html")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--heights", action="store_true", help="only note the figures' heights")
    options = parser.parse_args(arguments)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(GzipHandler, directory=HTML))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    home, wrong = f"http://127.0.0.1:{server.server_port}/", 0
    with sync_playwright() as playwright:
        browser = start_browser(playwright)
        if options.heights:
            measure_heights(browser, home)
        else:
            wrong = measure(browser, home, options.pages or pages(ROOT), options.rounds)
        browser.close()
    server.shutdown()
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
