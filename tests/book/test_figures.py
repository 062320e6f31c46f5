"""The figures in the rendered book, where no kernel runs."""

import json
import re
from urllib.parse import urlsplit

import pytest
from bs4 import BeautifulSoup
from figure_table import TABLE
from living import expect_said, living, press, traits_on
from playwright.sync_api import Locator, expect
from visits import visit

from attnlab.figures import (
    AlignmentExplorer,
    AttentionByHand,
    FlashStepper,
    HeadsOverview,
    MaskPainter,
    MemoryCalculator,
    SplitAndMerge,
)

EVERY = pytest.mark.parametrize("entry", TABLE, ids=lambda entry: entry.name)
DESKTOP = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
# Notes how long each frame's work takes, the layout that it causes included.
STOPWATCH = """() => {
  window.frames_took = [];
  const request = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (work) => request((time) => {
    const start = performance.now();
    work(time);
    document.body.offsetHeight;
    window.frames_took.push(performance.now() - start);
  });
}"""
# The grounds between a figure and the page.
GROUNDS = """(tag) => {
  const found = [];
  for (let e = tag.parentElement; e.localName !== "article"; e = e.parentElement)
    found.push(getComputedStyle(e).backgroundColor);
  return found;
}"""
# Notes each text that follows.
LISTEN = """(tag) => {
  window.heard = [];
  new MutationObserver(() => window.heard.push(tag.textContent)).observe(tag, { childList: true });
}"""
# Goes on so many steps; gives the height and the words after each.
PLAY = """async (root, steps) => {
  const next = [...root.querySelectorAll("button")].find((tag) => tag.textContent === "Next");
  const frame = () => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)));
  const seen = [];
  for (let step = 0; step < steps; step++) {
    next.click();
    await frame();
    seen.push([root.offsetHeight, root.querySelector(".attn-said").textContent]);
  }
  return seen;
}"""
CONTROLS = ":is(input, select, button):not([tabindex='-1'], :disabled)"


@pytest.fixture
def home(book, serve):
    """Give the address of the book."""
    return serve(book)


@pytest.fixture
def open_page(browser, home):
    """Give a function that opens a figure's page; nothing may go wrong on it."""
    opened = []

    def start(entry, **options):
        opened.append(visit(browser, home, f"{entry.page}.html", **options))
        return opened[-1].page

    yield start
    for seen in opened:
        seen.leave()


class Shown:
    """A figure on its page, which several tests look at one after the other."""

    def __init__(self, page, entry):
        self.page, self.entry = page, entry
        self.root, self.traits = living(page, entry), traits_on(page, entry)
        self.place = page.locator(f".figure-mount[data-module='{entry.name}']")

    def says_what_python_says(self):
        """Wait until the text of the figure is that of its traits; give it."""
        said = self.entry.figure(**self.traits).describe()
        expect_said(self.root, said)
        return said

    def has_the_room_that_is_kept_for_it(self):
        """Tell whether nothing below moved when it came to life."""
        kept = self.place.evaluate("(tag) => parseFloat(getComputedStyle(tag).minHeight)")
        return kept == pytest.approx(self.root.bounding_box()["height"], abs=30)


@pytest.fixture(scope="module", params=TABLE, ids=lambda entry: entry.name)
def shown(request, browser, book, serve):
    """Open the page of each figure once; nothing may go wrong on it."""
    seen = visit(browser, serve(book), f"{request.param.page}.html", **DESKTOP)
    yield Shown(seen.page, request.param)
    seen.leave()


@pytest.fixture(scope="module", params=TABLE, ids=lambda entry: entry.name)
def on_a_phone(request, browser, book, serve):
    """Open the page of each figure on a phone."""
    seen = visit(browser, serve(book), f"{request.param.page}.html", **PHONE)
    yield Shown(seen.page, request.param)
    seen.leave()


# These keep to this order: the last ones change the figure.


def test_the_place_of_the_figure_is_as_high_as_the_figure(shown):
    assert shown.has_the_room_that_is_kept_for_it()


def test_the_page_loads_the_module_once_and_no_widget_manager(shown):
    asked = shown.page.evaluate("performance.getEntriesByType('resource').map((r) => r.name)")
    scripts = [urlsplit(name).path for name in asked if ".js" in name]
    assert [path.endswith(f"/figures/{shown.entry.name}.js") for path in scripts].count(True) == 1
    assert not [path for path in scripts if re.search("require|embed|manager|anywidget", path)]


def test_on_the_screen_stands_the_figure_on_the_page_itself_and_on_paper_the_picture(shown):
    page, root = shown.page, shown.root
    picture = page.locator(".attn-still", has_text=shown.says_what_python_says())
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
    assert (root.is_visible(), picture.is_visible()) == (True, False)
    assert set(root.evaluate(GROUNDS)) == {"rgba(0, 0, 0, 0)"}
    page.emulate_media(media="print")
    assert (root.is_visible(), picture.is_visible()) == (False, True)
    page.emulate_media(media="screen", color_scheme="light")


def test_each_control_changes_the_numbers_to_those_of_attnlab_in_one_frame(shown, record_property):
    page, entry = shown.page, shown.entry
    shown.says_what_python_says()
    page.evaluate(STOPWATCH)
    for move in entry.moves:
        press(shown.root, move)
        shown.traits |= move.changes
        shown.says_what_python_says()
    took = page.evaluate("window.frames_took")
    record_property("slowest_update_ms", max(took))
    print(f"{entry.name}: slowest update {max(took):.1f} ms")
    assert len(took) == len(entry.moves)


def test_the_tab_key_reaches_every_control_and_shows_where_it_is(shown):
    shown.root.evaluate("(root) => { root.tabIndex = -1; root.focus(); }")
    for control in shown.root.locator(CONTROLS).all():
        shown.page.keyboard.press("Tab")
        assert control.evaluate(
            "(tag) => tag === document.activeElement && getComputedStyle(tag).outlineStyle"
        ) not in (False, "none")


def test_the_place_of_the_figure_is_as_high_as_the_figure_on_a_phone(on_a_phone):
    assert on_a_phone.has_the_room_that_is_kept_for_it()


def test_a_finger_moves_it_and_it_fits_on_a_phone(on_a_phone):
    page, root = on_a_phone.page, on_a_phone.root
    before = root.locator(".attn-said").text_content()
    controls = root.locator(CONTROLS.replace(", :disabled", ""))
    # A tap may enable another control, or draw it anew.
    for control in filter(Locator.is_enabled, map(controls.nth, range(controls.count()))):
        control.scroll_into_view_if_needed()
        box = control.bounding_box()
        assert box["height"] >= 15
        control.tap(position={"x": box["width"] * 0.9, "y": box["height"] / 2})
        page.evaluate("new Promise(requestAnimationFrame)")
    for word in root.locator(".attn-words button").all()[-1:]:  # one of a group with one tab stop
        word.tap()
    expect(root.locator(".attn-said")).not_to_have_text(before)
    wide = "(tag) => [tag, ...tag.querySelectorAll('*')].filter("
    wide += "(e) => e.getBoundingClientRect().right > innerWidth).length"
    assert root.evaluate(wide) == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@EVERY
def test_without_javascript_the_picture_is_there(book, entry):
    html = BeautifulSoup(book.joinpath(f"{entry.page}.html").read_text("utf-8"), "html.parser")
    place = html.select_one(f".figure-mount[data-module='{entry.name}'] > script")
    said = entry.figure(**json.loads(place.string)).describe()
    assert [still for still in html.select(".attn-still") if said in still.get_text()]


def test_without_javascript_the_picture_is_to_be_seen(browser, home):
    entry = TABLE[0]
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(f"{home}{entry.page}.html")
    said = entry.figure(**traits_on(page, entry)).describe()
    assert page.locator(".attn-still", has_text=said).is_visible()
    page.context.close()


def test_where_a_figure_fails_its_picture_stands(browser, serve, book):
    entry = TABLE[0]
    context = browser.new_context()
    bad = f"window.figureModules = {{ {entry.name}: {{ esm: 'throw 1', css: '' }} }};"
    context.route(f"**/{entry.name}.js*", lambda route: route.fulfill(body=bad))
    page = context.new_page()
    page.goto(f"{serve(book)}{entry.page}.html")
    said = entry.figure().describe()
    page.locator(".attn-still", has_text=said).wait_for(timeout=20_000)
    assert page.locator(f".figure-mount[data-module='{entry.name}']").count() == 0
    context.close()


def open_figure(open_page, figure, **options):
    """Open a figure's page; give the figure, and the traits that the page made it with."""
    entry = next(entry for entry in TABLE if entry.figure is figure)
    page = open_page(entry, **options)
    return living(page, entry), traits_on(page, entry)


@pytest.mark.parametrize(
    ("figure", "control"),
    [
        (AlignmentExplorer, "Word that comes next"),
        (MemoryCalculator, "Length n"),
        (SplitAndMerge, "Heads h"),
        (SplitAndMerge, "Length S"),
    ],
)
def test_a_figure_keeps_its_height_when_a_control_goes_back(open_page, figure, control):
    root, _ = open_figure(open_page, figure, **PHONE)
    heights = []
    for key in ("End", "Home"):
        before = root.locator(".attn-said").text_content()
        root.get_by_label(control, exact=True).press(key)
        expect(root.locator(".attn-said")).not_to_have_text(before)
        heights.append(root.bounding_box()["height"])
    assert heights[0] == pytest.approx(heights[1], abs=1)


def test_a_copied_link_opens_the_figure_as_it_was(open_page, home):
    root, _ = open_figure(open_page, MemoryCalculator)
    root.get_by_role("button", name="70B model, 128k", exact=True).click()
    root.get_by_label("With the backward pass", exact=True).check()
    moved = MemoryCalculator(n=131072, heads=64, d_k=128, training=True)
    expect_said(root, moved.describe())
    root.page.wait_for_function("location.hash.startsWith('#MemoryCalculator:')")
    other = root.page.context.new_page()
    other.goto(root.page.url)
    expect_said(other.locator(f'.attn-live[aria-label="{moved.title}"]'), moved.describe())


def test_a_link_that_was_cut_or_holds_another_kind_of_value_changes_nothing(browser, home):
    for state in ("{", '{"n":"many","gpus":3,"unknown":1}', "[1]", "null"):
        page = browser.new_page()
        page.goto(f"{home}chapters/1_09_complexity.html#MemoryCalculator:{state}")
        root = page.locator(f'.attn-live[aria-label="{MemoryCalculator().title}"]')
        expect_said(root, MemoryCalculator().describe())
        page.close()


def test_the_cell_under_the_pointer_is_explained(open_page):
    root, _ = open_figure(open_page, AttentionByHand)
    root.get_by_role("button", name="q₂, k₁: 1", exact=True).hover()
    expect_said(root, AttentionByHand(step="scores", row=2, column=1).describe())


def test_what_is_no_number_is_put_back_on_leaving_the_field(open_page):
    root, _ = open_figure(open_page, AttentionByHand)
    field = root.get_by_label("Q, row 1, column 2", exact=True)
    for text in ("", "1.5", "99"):
        field.fill(text)
        field.blur()
        expect(field).to_have_value("2")
    expect_said(root, AttentionByHand().describe())


def test_a_stroke_of_the_pointer_paints_the_cells_that_it_crosses(open_page):
    root, _ = open_figure(open_page, MaskPainter)
    names = [f"she, {word}" for word in MaskPainter().words[:6]]
    cells = [root.get_by_role("button", name=name, exact=True) for name in names]
    cells[1].scroll_into_view_if_needed()
    flipped = []
    for path in ([2, 3, 4], [4, 3], [5]):  # two strokes and a click
        boxes = [cells[j].bounding_box() for j in path]
        root.page.mouse.move(boxes[0]["x"] + 5, boxes[0]["y"] + 5)
        root.page.mouse.down()
        for box in boxes:
            root.page.mouse.move(box["x"] + 5, box["y"] + 5, steps=4)
        root.page.mouse.up()
        root.page.wait_for_timeout(50)
        flipped = sorted({(1, j) for j in path} ^ set(flipped))
        expect_said(root, MaskPainter(flipped=flipped).describe())


def test_flash_plays_by_itself_until_it_is_stopped(open_page):
    root, _ = open_figure(open_page, FlashStepper)
    said = root.locator(".attn-said")
    said.evaluate(LISTEN)
    root.get_by_role("button", name="Play").click()
    root.page.wait_for_function("window.heard.length > 1")
    assert root.page.evaluate("window.heard.slice(0, 2)") == [
        FlashStepper(step=step).describe() for step in (2, 3)
    ]
    root.get_by_role("button", name="First").click()
    expect_said(root, FlashStepper(step=0).describe())
    expect(root.get_by_role("button", name="Play")).to_be_visible()


def test_flash_keeps_its_height_on_a_phone_while_it_plays(open_page):
    root, _ = open_figure(open_page, FlashStepper, **PHONE)
    for block in "124":
        root.get_by_role("combobox").select_option(block)
        root.get_by_role("button", name="First").click()
        expect_said(root, FlashStepper(step=0, block_q=int(block)).describe())
        steps = range(1, FlashStepper(block_q=int(block)).compute()["total"] + 1)
        heights, said = zip(*root.evaluate(PLAY, len(steps)), strict=True)
        assert list(said) == [FlashStepper(step=s, block_q=int(block)).describe() for s in steps]
        assert max(heights) - min(heights) < 10  # a line of text has 20


def test_nothing_plays_where_less_motion_is_wanted(open_page):
    root, _ = open_figure(open_page, FlashStepper, reduced_motion="reduce")
    assert root.get_by_role("button", name="Next").is_visible()
    assert root.get_by_role("button", name="Play").count() == 0


def test_the_token_under_the_pointer_says_what_it_reads(open_page):
    root, traits = open_figure(open_page, HeadsOverview)
    root.get_by_role("button", name="driver, road", exact=True).hover()
    expect_said(root, HeadsOverview(**traits | {"token": 5}).describe())


def test_the_last_word_of_each_translation_is_the_end_of_the_slider(open_page):
    root, traits = open_figure(open_page, AlignmentExplorer)
    for sentence, target in enumerate(traits["targets"]):
        words = len(target.split())
        root.get_by_role("combobox").select_option(index=sentence)
        expect(root.get_by_role("slider")).to_have_attribute("max", str(words))
        root.get_by_role("slider").press("End")
        traits |= {"sentence": sentence, "word": words}
        expect_said(root, AlignmentExplorer(**traits).describe())
