"""The exercises as a student meets them: in JupyterLab, by typing and running."""

import shutil

import nbformat
import pytest
from files import ROOT
from lab import CONNECTED, TIMEOUT, lab_server
from wrong_answers import WRONG_ANSWERS

from nbmark.notebook import is_graded, is_manual, is_solution, settings

STEMS = sorted(path.stem for path in (ROOT / "exercises").glob("*.ipynb"))
# Those of the source; of the others a browser fills in the solution, and no more.
FIVE = [stem for stem in STEMS if stem < "1_6"]
WAIT = TIMEOUT * 1000  # milliseconds


class Notebook:
    """An exercise, open in JupyterLab."""

    def __init__(self, page, stem: str):
        self.page, self.stem, self.has_run = page, stem, False
        self.cells = nbformat.read(ROOT / "exercises" / f"{stem}.ipynb", as_version=4).cells
        self.places = {cell.id: place for place, cell in enumerate(self.cells)}
        solution = nbformat.read(ROOT / "solutions" / f"{stem}.ipynb", as_version=4)
        self.answers = {cell.id: cell for cell in solution.cells if is_solution(cell)}
        self.graded = [cell for cell in self.cells if is_graded(cell) and not is_manual(cell)]
        self.points = sum(settings(cell)["points"] for cell in self.graded)

    def cell(self, name):
        """Find a cell on the page."""
        return self.page.locator(".jp-Notebook .jp-Cell").nth(self.places[name])

    def output(self, name):
        """Find what a cell shows."""
        return self.cell(name).locator(".jp-Cell-outputArea")

    def type_into(self, name, source):
        """Replace a cell's text as by pasting, which closes no brackets on its own."""
        cell = self.cell(name)
        if self.cells[self.places[name]].cell_type == "markdown":
            cell.locator(".jp-MarkdownOutput").dblclick()
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(source)

    def run(self, name):
        """Run a cell."""
        cell = self.cell(name)
        cell.locator(".jp-InputPrompt").click()
        self.page.keyboard.press("Control+Enter")

    def choose(self, entry):
        """Choose an entry of the menu "Run"."""
        self.page.get_by_role("menuitem", name="Run", exact=True).click()
        self.page.get_by_role("menuitem", name=entry, exact=True).click()

    def run_all(self):
        """Run all cells by the menu."""
        self.choose("Run All Cells")
        self.has_run = True

    def run_answers(self):
        """Run all cells, or those from the first answer on where those above it have run."""
        if self.has_run:
            first = min(self.answers, key=self.places.get)
            self.cell(first).locator(".jp-InputPrompt").click()
            self.choose("Run Selected Cell and All Below")
        else:
            self.run_all()

    def expect_output(self, name, words):
        """Wait until a cell shows these words."""
        self.output(name).get_by_text(words).first.wait_for(timeout=WAIT)

    def answer(self, name):
        """Give the solution of a cell without its markers."""
        lines = self.answers[name].source.splitlines()
        return "\n".join(line for line in lines if not line.strip().startswith("### "))

    def fill_in_all(self):
        """Type every solution."""
        for name in self.answers:
            self.type_into(name, self.answer(name))


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Start one JupyterLab on copies of all exercises."""
    folder = tmp_path_factory.mktemp("lab")
    root = folder / "root"
    shutil.copytree(ROOT / "exercises", root)
    with lab_server(root, folder) as address_and_token:
        yield address_and_token


@pytest.fixture(scope="module", params=STEMS)
def notebook(request, browser, lab):
    """Open one exercise, in a workspace of its own: else the tabs of others open with it."""
    (address, token), name = lab, request.param
    page = browser.new_context(viewport={"width": 1280, "height": 1000}).new_page()
    page.goto(f"{address}/lab/workspaces/{name}/tree/{name}.ipynb?token={token}")
    page.wait_for_function(CONNECTED, timeout=WAIT)
    yield Notebook(page, name)
    page.context.close()


@pytest.mark.parametrize("notebook", FIVE, indirect=True)
def test_untouched_it_runs_to_its_end_and_each_graded_cell_says_not_attempted_yet(notebook):
    notebook.run_all()
    for cell in reversed(notebook.graded):  # the last one shows that nothing stopped before
        notebook.expect_output(cell.id, "Not attempted yet")
        assert "Traceback" not in notebook.output(cell.id).inner_text()


def test_filled_in_and_run_it_shows_full_points(notebook):
    notebook.fill_in_all()
    notebook.run_answers()
    full = f"{notebook.points} of {notebook.points} points so far"
    notebook.expect_output(notebook.graded[-1].id, full)
    for cell in notebook.graded:
        notebook.expect_output(cell.id, "✓")


@pytest.mark.parametrize("notebook", FIVE, indirect=True)
def test_a_wrong_answer_is_told_its_cause_and_a_right_one_is_right_again(notebook):
    for wrong in WRONG_ANSWERS[notebook.stem]:
        right = notebook.answer(wrong.answer)
        assert wrong.part in right
        notebook.type_into(wrong.answer, right.replace(wrong.part, wrong.replacement))
        notebook.run(wrong.answer)
        notebook.run(wrong.graded)
        notebook.expect_output(wrong.graded, wrong.words)
        shown = notebook.output(wrong.graded).inner_text()
        assert "Traceback" not in shown
        assert "attnlab/" not in shown
        notebook.type_into(wrong.answer, right)
        notebook.run(wrong.answer)
        notebook.run(wrong.graded)
        notebook.expect_output(wrong.graded, "✓")


def test_every_exercise_of_the_source_has_wrong_answers_to_type():
    assert set(FIVE) == set(WRONG_ANSWERS)
    assert min(map(len, WRONG_ANSWERS.values())) >= 5
