"""Time the model in the page as its reader meets it: part of ``make bench-pages``.

Section 1.6's page is opened in Chromium, the model is loaded, and sentences are typed. A sentence's
time is that from the key press until its words and all 72 maps are painted; the best of some rounds
counts, since a busy machine only adds to it. The longest task, in processor time, is that of the
page, not of the worker: as long as it lasts no key is answered. The memory is that of the tab's
process (Linux only).
"""

import argparse
import json
import sys
import threading
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path

from bench_pages import HTML, longest, start_browser
from page_weight import GzipHandler
from playwright.sync_api import Browser, Page, sync_playwright

PAGE = "chapters/1_06_multi_head.html"
WATCH = Path(__file__).with_name("bench_live.js").read_text(encoding="utf-8")
TEXT = "the old man who sold the boat said that his brother would never sail it "
# What may be at most: megabytes loaded and kept in memory, milliseconds.
BARS = {"loaded, MB": 12.5, "16 words, ms": 300, "64 pieces, ms": 1500}
BARS |= {"longest task, ms": 50, "memory, MB": 250}


def sentence(words: int, last: str) -> str:
    """Make a sentence of so many words that ends with this one."""
    return " ".join([*(5 * TEXT).split()[: words - 1], last])


def load(page: Page) -> float:
    """Load the model; give the megabytes that came."""
    page.get_by_role("button", name="Load the model").click()
    page.get_by_role("button", name="The model is loaded").wait_for(timeout=120_000)
    bytes_of = "performance.getEntriesByType('resource').filter((r) => r.name.includes('/model/'))"
    return page.evaluate(f"{bytes_of}.reduce((sum, r) => sum + r.transferSize, 0)") / 1e6


def times(page: Page, words: int, rounds: int) -> float:
    """Give the least milliseconds from a key press to so many words on the page."""
    lasts = ("anyway", "today", "home", "again", "alone", "before", "there", "soon")[: rounds + 1]
    took = [
        page.evaluate("([t, n]) => live.type(t, n)", [sentence(words, last), words + 2])
        for last in lasts
    ]
    return min(took[1:])  # the first one may fetch words


def memory(browser: Browser) -> float:
    """Give the megabytes of the largest process of a page."""
    found = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    pids = [process["id"] for process in found if process["type"] == "renderer"]
    texts = [Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii") for pid in pids]
    lines = [line.split() for text in texts for line in text.splitlines()]
    return max(int(line[1]) for line in lines if line[0] == "Pss:") / 1000


def measure(browser: Browser, address: str, rounds: int) -> dict[str, float]:
    """Measure everything in one page."""
    page = browser.new_page()
    page.add_init_script(WATCH)
    page.goto(address, wait_until="load")
    page.locator(".attn-wall").wait_for()
    page.wait_for_timeout(2000)
    found = {"loaded, MB": load(page)}
    found["16 words, ms"] = times(page, 16, rounds)
    found["64 pieces, ms"] = times(page, 62, rounds)
    browser.start_tracing(page=page, categories=["toplevel", "devtools.timeline"])
    times(page, 62, rounds)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    found["longest task, ms"] = longest(events, {event["pid"] for event in events})
    found["memory, MB"] = memory(browser)
    return found


def row(name: str, value: float) -> str:
    """Write one line of the table: what was measured, its bar, and the share of it."""
    share = value / BARS[name]
    wrong = "  MISSED" if share > 1 else ""
    return f"{name:18} {value:7.1f} of {BARS[name]:6.1f}: {share:5.2f}{wrong}"


def main(arguments: list[str] | None = None) -> int:
    """Print what was measured beside its bars; a missed bar is an error."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", type=Path, default=HTML)
    parser.add_argument("--page", default=PAGE)
    options = parser.parse_args(arguments)
    handler = partial(GzipHandler, directory=options.folder)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as playwright:
        browser = start_browser(playwright)
        address = f"http://127.0.0.1:{server.server_port}/{options.page}"
        found = measure(browser, address, options.rounds)
        browser.close()
    server.shutdown()
    print(*(row(name, value) for name, value in found.items()), sep="\n")
    return int(any(value > BARS[name] for name, value in found.items()))


if __name__ == "__main__":
    sys.exit(main())
