"""Opens a page in the browser and notes all that goes wrong on it."""

from dataclasses import dataclass, field

# Resolves once fonts are there and results of a search shown.
SETTLED = """async () => {
  const end = Date.now() + 20_000;
  const pause = (time) => new Promise((go) => setTimeout(go, time));
  const until = async (done) => { while (!done() && Date.now() < end) await pause(20); };
  const is_there = (selector) => document.querySelector(selector) !== null;
  if (location.search) await until(() => is_there("#search-results li"));
  await document.fonts.ready;
}"""


# What of a page is as it should be, or not.
FACTS = """() => ({
    formulas: document.querySelectorAll("article .math").length,
    typeset: document.querySelectorAll("article .math .katex-html").length,
    spoken: document.querySelectorAll("article .math math").length,
    wrong: document.querySelectorAll(".katex-error").length,
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
})"""


@dataclass
class Visit:
    """An open page, what it asked of other hosts, and what its console said."""

    page: object
    home: str
    asked: set[str] = field(default_factory=set)
    outside: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def listen(self) -> None:
        """Note requests to other hosts, failed ones, and complaints of scripts."""
        self.page.on("request", self.note_request)
        self.page.on("requestfailed", lambda r: self.problems.append(f"failed: {r.url}"))
        self.page.on("response", self.note_response)
        self.page.on("console", self.note_message)
        self.page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))

    def note_request(self, request) -> None:
        """Note a request, and whether it leaves the site."""
        self.asked.add(request.url)
        if not request.url.startswith((self.home, "data:", "blob:")):
            self.outside.append(request.url)

    def note_response(self, response) -> None:
        """Note a missing file."""
        if response.status >= 400:
            self.problems.append(f"{response.status}: {response.url}")

    def note_message(self, message) -> None:
        """Note an error or a warning of the console."""
        if message.type in ("error", "warning"):
            self.problems.append(f"{message.type}: {message.text}")

    def look(self) -> None:
        """Every formula must be there, for eyes and for ears, and nothing wider than the screen."""
        facts = self.page.evaluate(FACTS)
        assert facts["wrong"] == 0
        assert facts["typeset"] == facts["spoken"] == facts["formulas"]
        assert facts["overflow"] <= 0

    def leave(self) -> None:
        """Close the page; until then nothing may have gone wrong on it."""
        outside, problems = [*self.outside], [*self.problems]  # closing breaks off what still loads
        self.page.context.close()
        assert outside == [], outside
        assert problems == [], problems


def visit(browser, home: str, page: str, **options) -> Visit:
    """Open a page below `home` and wait until nothing on it changes any more."""
    opened = Visit(browser.new_context(**options).new_page(), home)
    opened.listen()
    opened.page.goto(home + page, wait_until="load")
    opened.page.evaluate(SETTLED)
    return opened
