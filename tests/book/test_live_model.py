"""The model that HeadsOverview loads when asked, in a page of its own."""

import json
import shutil
from types import SimpleNamespace
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe
from docutils.utils import new_document
from files import ROOT
from living import PATIENCE
from playwright.sync_api import expect

from attnlab import live, minilm
from attnlab.figures import HeadsOverview, LiveSentence
from attnlab.figures._reading import read_text

SENTENCE = "The Naïve dog barked, then it slept!"
LONG = "word " * 90
BROKEN = [None, b"", b"AAAA"]
PAGE = """<!doctype html><html lang="en" data-content_root="./"><meta charset="utf-8">
<title>A figure</title><main><h1>A figure</h1><div class="figure-mount" data-module="{0}">
<script type="application/json">{1}</script></div></main>
<script>window.figureModules = {{ {0}: {2} }};</script>
<script src="figure_host.js"></script></html>"""


# A file from disk that the browser remembers cannot be exchanged.
SERVED = pytest.mark.parametrize("page", ["server"], indirect=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write a page with each figure alone, and the model beside them."""
    folder = tmp_path_factory.mktemp("page")
    for name, figure in (("index", HeadsOverview()), ("sentence", LiveSentence())):
        module = json.dumps({"esm": figure._esm, "css": figure._css}).replace("</", "<\\/")
        state = json.dumps(figure.state() | {"title": figure.title}).replace("<", "\\u003c")
        page = PAGE.format(type(figure).__name__, state, module)
        folder.joinpath(f"{name}.html").write_text(page, encoding="utf-8")
    shutil.copy(ROOT / "tools/sphinx_ext/static/figure_host.js", folder)
    live.write(folder / live.FOLDER)
    return folder


@pytest.fixture(params=["server", "disk"])
def page(request, browser, folder, serve):
    """Open the page; `asked` of it are the files of the model that it asked for."""
    opened = browser.new_context().new_page()
    opened.asked, opened.errors = [], []
    opened.on("request", lambda r: opened.asked.append(r.url) if "/model/" in r.url else None)
    opened.on("pageerror", lambda error: opened.errors.append(str(error)))
    home = serve(folder) if request.param == "server" else f"{folder.as_uri()}/"
    opened.goto(f"{home}index.html")
    opened.locator(".attn-live").wait_for()
    yield opened
    opened.context.close()
    assert opened.errors == []


def test_the_model_is_written_with_the_page_that_has_the_figure_and_with_no_other(
    tmp_path, monkeypatch
):
    monkeypatch.syspath_prepend(ROOT / "tools/sphinx_ext")
    from figure_pages import Mount
    from live_model import write_model

    app, start = SimpleNamespace(outdir=tmp_path), tmp_path / live.FOLDER / "start.js"
    for name, written in (("Bottleneck", False), ("LiveSentence", True)):
        doctree = new_document("page")
        doctree += Mount(state={"_anywidget_id": f"attnlab.figures.some.{name}"})
        write_model(app, "page", "", {}, doctree)
        assert start.is_file() == written
    monkeypatch.setattr(live, "write", None)  # once is enough
    write_model(app, "page", "", {}, doctree)
    write_model(app, "search", "", {}, None)


def load(page):
    page.get_by_role("button", name=f"Load the model, {live.MEGABYTES} MB").click()
    page.get_by_role("button", name="The model is loaded").wait_for(timeout=PATIENCE)


def expect_words(page, text):
    """Wait until the figure shows a text's word pieces."""
    wanted = minilm.tokenize_text(text, live.MOST).pieces[0]
    expect(page.locator(".attn-words button")).to_have_text(wanted, timeout=PATIENCE)


def expect_said(page, text):
    expect(page.locator(".attn-said")).to_contain_text(text, timeout=PATIENCE)


def test_a_sentence_of_ones_own_is_read_once_the_model_is_asked_for(page):
    assert page.asked == []
    load(page)
    field = page.get_by_label("Your own sentence")
    expect(field).to_be_focused()
    field.fill(SENTENCE)
    expect_words(page, SENTENCE)
    model = live.read(live.shards(minilm.load_model()))
    _, weights = model(minilm.tokenize_text(SENTENCE).ids)
    most = weights[3, 0, 1, 6].max().item()  # head 4-2, the token that the figure begins with
    expect_said(page, f"with weight {most:.3f}")
    assert len(page.asked) == len(set(page.asked))
    kind = ".js" if page.url.startswith("file:") else ".bin"
    assert all(url.endswith((kind, "start.js")) for url in page.asked)


@SERVED
def test_words_are_compared_across_sentences_and_heads_switched_off(page):
    load(page)
    page.get_by_label("Your own sentence").fill("the river bank was steep")
    expect_words(page, "the river bank was steep")
    page.get_by_label("Show").select_option("word vectors")
    page.locator(".attn-words button").nth(3).click()
    river = read_text("the river bank was steep", HeadsOverview().sentences)
    figure = HeadsOverview(sentence=8, view="word vectors", token=3, own=river)
    expect_said(page, figure.describe())
    page.get_by_label("Sentence", exact=True).select_option(index=3)
    page.get_by_label("Show").select_option("heads switched off")
    page.get_by_role("button", name="The 20 highest off").click()
    expect_said(page, "Without 20 of 72 heads")
    page.get_by_role("button", name="As many at random").click()
    expect_said(page, "Without 20 of 72 heads")
    page.get_by_role("button", name="All on").click()
    page.get_by_role("button", name="Switch 4-2 off").click()
    figure = HeadsOverview(sentence=3, view="heads switched off", off="4-2")
    expect_said(page, f"has cosine {figure.left['sentence']:.3f} with the whole network’s")
    expect(page.locator(".attn-wall .attn-off")).to_have_count(1)
    assert Axe().run(page).response["violations"] == []


@SERVED
def test_a_link_brings_the_readers_sentence_which_is_read_once_the_model_is_there(page):
    state = quote(json.dumps({"asked": "we met at the bank", "sentence": 8, "layer": 99}))
    other = page.context.new_page()
    other.goto(f"{page.url}#HeadsOverview:{state}")
    expect(other.get_by_role("status")).to_contain_text("This link brings a sentence of its own")
    expect(other.get_by_label("Your own sentence")).to_have_value("we met at the bank")
    load(other)
    expect_words(other, "we met at the bank")
    expect_said(other, "In head 6-2")


@SERVED
def test_what_no_one_expects_to_be_typed_is_read_or_said(page):
    load(page)
    field, status = page.get_by_label("Your own sentence"), page.get_by_role("status")
    for text, said in (
        ("🙂 Привет 中文", "[UNK] stands for what the model does not know."),
        (LONG, "Only 62 word pieces are read: 28 are left out."),
        (
            "cat " * 600,
            "Only 2000 characters are read. Only 62 word pieces are read: 438 are left out.",
        ),
        ("a cat", ""),
    ):
        field.fill(text)
        expect_words(page, text[:2000])
        expect(status).to_have_text(said)
        page.wait_for_timeout(100)
    field.fill("  ")  # nothing to read: what was there stays
    expect_words(page, "a cat")
    field.fill("")
    page.keyboard.type("the dog that chased the cat was tired")  # as fast as a key can follow
    expect_words(page, "the dog that chased the cat was tired")
    field.press_sequentially(" and it slept")
    page.get_by_label("Sentence", exact=True).select_option(index=4)  # while it reads
    page.wait_for_timeout(1000)
    assert page.get_by_label("Sentence", exact=True).evaluate("(list) => list.selectedIndex") == 4


@SERVED
def test_the_landing_pages_sentence_lives_at_once_and_takes_any_words_once_the_model_is_there(page):
    page.goto(page.url.replace("index", "sentence"))
    figure = LiveSentence()
    expect_said(page, figure.describe())
    page.locator(".attn-words button").nth(5).hover()
    figure.token = 5
    expect_said(page, figure.describe())
    page.locator(".attn-words button").nth(5).press("ArrowRight")
    figure.token = 6
    expect_said(page, figure.describe())
    assert page.asked == []
    load(page)
    page.get_by_label("Your own sentence").fill(SENTENCE)
    expect_words(page, SENTENCE)
    assert Axe().run(page).response["violations"] == []


def test_more_pieces_than_fit_are_left_out_and_counted(page):
    load(page)
    page.get_by_label("Your own sentence").fill(LONG)
    expect(page.get_by_role("status")).to_have_text(
        "Only 62 word pieces are read: 28 are left out.", timeout=PATIENCE
    )
    expect(page.locator(".attn-bars tr")).to_have_count(live.MOST)
    page.locator(".attn-words button[tabindex='0']").press("End")
    expect_said(page, "“[SEP]” reads")


@SERVED
@pytest.mark.parametrize("body", BROKEN)
def test_a_missing_or_broken_file_is_said_and_the_list_still_works(page, body):
    page.route(
        "**/layer-3.bin", lambda r: r.abort() if body is None else r.fulfill(body=body, status=200)
    )
    page.get_by_role("button", name="Load the model").click()
    status = page.get_by_role("status")
    expect(status).to_contain_text("The model cannot be read", timeout=PATIENCE)
    expect(page.get_by_label("Your own sentence")).to_be_disabled()
    page.get_by_label("Sentence", exact=True).select_option(index=5)
    expect(page.locator(".attn-bars tr")).to_have_count(11)
    page.unroute("**/layer-3.bin")
    load(page)


@SERVED
def test_a_missing_part_of_the_table_of_words_is_said(page):
    load(page)
    page.route("**/words-40.bin", lambda route: route.abort())
    part = minilm.vocabulary()[40 * live.PART : 41 * live.PART]
    page.get_by_label("Your own sentence").fill(next(filter(str.isalpha, part)))
    expect(page.get_by_role("status")).to_contain_text("words-40.bin is missing", timeout=PATIENCE)
    page.unroute("**/words-40.bin")
    load(page)
    expect(page.locator(".attn-words button")).to_have_count(3)


@SERVED
def test_loading_can_be_cancelled_and_taken_up_again(page):
    held = []
    page.route("**/layer-0.bin", lambda route: held.append(route))
    with page.expect_request("**/layer-0.bin"):
        page.get_by_role("button", name="Load the model").click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("status")).to_contain_text("Stopped")
    page.unroute("**/layer-0.bin")
    load(page)
    asked = [url.rsplit("/", 1)[1] for url in page.asked]
    assert (asked.count("layer-0.bin"), asked.count("places.bin")) == (2, 1)


@SERVED
def test_a_second_visit_takes_the_files_from_the_browsers_cache(page, folder):
    load(page)
    other = page.context.new_page()
    other.goto(page.url)
    load(other)
    sizes = other.evaluate(
        "performance.getEntriesByType('resource').filter((r) => r.name.endsWith('.bin'))"
        ".map((r) => r.transferSize)"
    )
    assert sizes == [0] * len(live.FIRST)
