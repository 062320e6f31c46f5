"""The model that HeadsOverview loads when asked, in a page of its own."""

import json
import shutil
from types import SimpleNamespace

import pytest
from docutils.utils import new_document
from files import ROOT
from living import PATIENCE
from playwright.sync_api import expect

from attnlab import live, minilm
from attnlab.figures import HeadsOverview

SENTENCE = "The Naïve dog barked, then it slept!"
LONG = "word " * 90
PAGE = """<!doctype html><html lang="en" data-content_root="./"><title>A figure</title>
<div class="figure-mount" data-module="HeadsOverview"><script type="application/json">{}</script>
</div><script>window.figureModules = {{ HeadsOverview: {} }};</script>
<script src="figure_host.js"></script></html>"""


# A file from disk that the browser remembers cannot be exchanged.
SERVED = pytest.mark.parametrize("page", ["server"], indirect=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write a page with the figure alone, and the model beside it."""
    folder, figure = tmp_path_factory.mktemp("page"), HeadsOverview()
    module = json.dumps({"esm": figure._esm, "css": figure._css}).replace("</", "<\\/")
    state = json.dumps(figure.state() | {"title": figure.title}).replace("<", "\\u003c")
    folder.joinpath("index.html").write_text(PAGE.format(state, module), encoding="utf-8")
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

    for name, written in (("Bottleneck", False), ("HeadsOverview", True)):
        doctree = new_document("page")
        doctree += Mount(state={"_anywidget_id": f"attnlab.figures.some.{name}"})
        write_model(SimpleNamespace(outdir=tmp_path), "page", "", {}, doctree)
        assert tmp_path.joinpath(live.FOLDER, "start.js").is_file() == written
    write_model(SimpleNamespace(outdir=tmp_path), "search", "", {}, None)


def load(page):
    page.get_by_role("button", name=f"Load the model, {live.MEGABYTES} MB").click()
    page.get_by_role("button", name="The model is loaded").wait_for(timeout=PATIENCE)


def pieces(page):
    return page.locator(".attn-bars th").all_text_contents()


def test_a_sentence_of_ones_own_is_read_once_the_model_is_asked_for(page):
    assert page.asked == []
    load(page)
    field = page.get_by_label("Your own sentence")
    expect(field).to_be_focused()
    field.fill(SENTENCE)
    wanted = minilm.tokenize_text(SENTENCE)
    page.wait_for_function("document.querySelectorAll('.attn-bars tr')[1]?.innerText[0] === 't'")
    expect(page.locator(".attn-bars tr")).to_have_count(len(wanted.pieces[0]))
    assert pieces(page) == wanted.pieces[0]
    model = live.read(live.shards(minilm.load_model()))
    _, weights = model(wanted.ids)
    most = weights[3, 0, 1, 6].max().item()  # head 4-2, the token that the figure begins with
    expect(page.locator(".attn-said")).to_contain_text(f"with weight {most:.3f}")
    assert len(page.asked) == len(set(page.asked))


def test_more_pieces_than_fit_are_left_out_and_counted(page):
    load(page)
    page.get_by_label("Your own sentence").fill(LONG)
    expect(page.get_by_role("status")).to_have_text(
        "Only 62 word pieces are read: 28 are left out.", timeout=PATIENCE
    )
    expect(page.locator(".attn-bars tr")).to_have_count(live.MOST)
    slider = page.get_by_label("Word that reads")
    slider.press("End")
    expect(slider).to_have_attribute("aria-valuetext", "[SEP]")


@SERVED
@pytest.mark.parametrize("body", [None, "", "attnlabShard('layer-3', 'AAAA');"])
def test_a_missing_or_broken_file_is_said_and_the_list_still_works(page, body):
    def answer(route):
        route.abort() if body is None else route.fulfill(body=body, content_type="text/javascript")

    page.route("**/layer-3.js", answer)
    page.get_by_role("button", name="Load the model").click()
    status = page.get_by_role("status")
    expect(status).to_contain_text("The model cannot be read", timeout=PATIENCE)
    expect(page.get_by_label("Your own sentence")).to_be_disabled()
    page.get_by_label("Sentence", exact=True).select_option(index=5)
    expect(page.locator(".attn-bars tr")).to_have_count(11)
    page.unroute("**/layer-3.js")
    load(page)


@SERVED
def test_loading_can_be_cancelled_and_taken_up_again(page):
    held = []
    page.route("**/layer-0.js", lambda route: held.append(route))
    with page.expect_request("**/layer-0.js"):
        page.get_by_role("button", name="Load the model").click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("status")).to_contain_text("Stopped")
    held[0].continue_()
    load(page)
    assert len([url for url in page.asked if "layer-0" in url]) == 1
