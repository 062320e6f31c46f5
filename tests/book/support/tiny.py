"""A book of two small notebooks, built by copies of the project's own tools and configuration."""

import os
import shutil
import signal
import subprocess
import sys
import time
from functools import cached_property
from pathlib import Path

import nbformat
import tidy
import vendor
from files import BUILD, ROOT
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

SHARED = ("_config.yml", "references.bib", "package.json", "package-lock.json", "requirements.lock")

TOC = """\
format: jb-book
root: index
parts:
  - numbered: 3
    chapters:
      - file: chapters/1_00_start
        sections:
          - file: chapters/1_02_numbers
          - file: chapters/1_04_widgets
"""

NUMBERS = [
    new_markdown_cell("# Numbers\n\n$$ a = b $$ (eq-first)\n\nSee {eq}`eq-first`.", id="title"),
    new_code_cell("from tinypkg.numbers import VALUE", id="imports"),
    new_code_cell('print("the value is", VALUE)', id="value"),
    new_markdown_cell("## Below\n\n### Deeper\n\n$$ c = d $$ (eq-second)", id="below"),
]

# A widget with a script of its own, which listens to its model.
COUNTER = """\
export default { render({ model, el }) {
  const add = (tag, name, onclick) => {
    const node = Object.assign(document.createElement(tag), { onclick, className: name });
    return el.appendChild(node);
  };
  const show = () => (counter.textContent = `count ${model.get("count")}`);
  const put = (value) => { model.set("count", value); model.save_changes(); show(); };
  const log = add("output", "counter-log");
  const note = (text) => (log.textContent += `${log.textContent && ", "}${text}`);
  const one = (_, value) => note(`change:count ${value}`);
  const counter = add("button", "counter", () => put(model.get("count") + 1));
  add("button", "same", () => put(model.get("count"))).textContent = "same";
  const stop = () => { model.off("change:count", one); model.off("change"); };
  add("button", "stop", stop).textContent = "stop";
  model.on("change:count", one);
  model.on("change", () => note("change"));
  show(); } };
"""
WIDGETS = [
    new_markdown_cell("# Widgets\n\nThe counter is $n$.", id="title"),
    new_code_cell("import anywidget\nimport traitlets", id="imports"),
    new_code_cell(
        f"class Counter(anywidget.AnyWidget):\n    _esm = {COUNTER!r}\n"
        "    count = traitlets.Int(7).tag(sync=True)\n\n"
        "Counter()",
        id="counter",
    ),
    # A measured value, which is another one in each run, and as it was committed.
    new_code_cell(
        'import time\nprint(f"took: ≈ {time.time_ns()} ns; over 0: True")',
        id="clock",
        metadata={"tags": ["nbval-check-output"]},
        outputs=[new_output("stream", text="took: ≈ 7 ns; over 0: True\n")],
    ),
]


class TinyBook:
    """The book's folder, with what tests do to it."""

    def __init__(self, root: Path):
        vendor.ensure()
        self.root = root
        self.html = root / "_build" / "html"
        ignore = shutil.ignore_patterns("__pycache__")
        for folder in ("tools", "_static"):
            shutil.copytree(ROOT / folder, root / folder, ignore=ignore)
        for name in SHARED:
            shutil.copy(ROOT / name, root)
        self.write("_toc.yml", TOC)
        self.write("index.md", "# Tiny\n\nA start.\n")
        self.write("chapters/1_00_start.md", "# Start\n")
        self.write("src/tinypkg/__init__.py", "")
        self.write("src/tinypkg/numbers.py", "VALUE = 1\n")
        self.write("src/tinypkg/unused.py", "VALUE = 1\n")
        self.write_notebook("chapters/1_02_numbers.ipynb", NUMBERS)
        self.write_notebook("chapters/1_04_widgets.ipynb", WIDGETS)
        root.joinpath("_build").mkdir()
        root.joinpath("_build", "vendor").symlink_to(BUILD / "vendor")
        shutil.copy(vendor.STAMP, root / "_build")

    @cached_property
    def first(self) -> tuple[int, str]:
        """Build for the first time; give exit status and output."""
        return self.build()

    def write(self, name: str, text: str) -> None:
        """Write a file, with its folders."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def write_notebook(self, name: str, cells: list) -> None:
        """Write a notebook of these cells."""
        notebook = new_notebook(cells=nbformat.from_dict(cells), metadata=tidy.METADATA)
        self.write(name, nbformat.writes(notebook))

    def environment(self, **others: str) -> dict[str, str]:
        """Give the environment in which the book's notebooks find the book's package."""
        return os.environ | {"PYTHONPATH": str(self.root / "src"), "SOLUTIONS": ""} | others

    def start(self, **environment: str) -> subprocess.Popen:
        """Start the build."""
        return subprocess.Popen(
            [sys.executable, "tools/build.py"],
            cwd=self.root,
            env=self.environment(**environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def build(self, **environment: str) -> tuple[int, str]:
        """Build, and give exit status and output."""
        with self.start(**environment) as process:
            output = process.stdout.read()
        return process.returncode, output

    def build_and_kill_at(self, words: str) -> None:
        """Start the build, and kill it with all its children once it says these words."""
        with self.start() as process:
            while words not in (line := process.stdout.readline()):
                assert line, "the build ended before it said so"
            os.killpg(process.pid, signal.SIGKILL)

    def build_and_press_ctrl_c_once(self, file: str) -> tuple[int, str]:
        """Start the build, and interrupt it once this file is there."""
        path = self.root / file
        with self.start() as process:
            while not path.exists():
                assert process.poll() is None, "the build ended before the file was there"
                time.sleep(0.1)
            process.send_signal(signal.SIGINT)
            output = process.stdout.read()
        return process.returncode, output

    def page(self, name: str) -> str:
        """Read a rendered page."""
        return (self.html / name).read_text(encoding="utf-8")
