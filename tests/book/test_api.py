"""The pages of docstrings, and how listings lead there."""

import subprocess
import sys

import pytest
from bs4 import BeautifulSoup
from files import ROOT
from paper import bound_pages

CONF = f"""\
import sys
sys.path[:0] = [{str(ROOT / "tools" / "sphinx_ext")!r}]
extensions = ["myst_parser", "source_code", "api"]
"""
INDEX = """\
# Start

```{source} attnlab.masks.make_causal_mask
```

```{source} attnlab.recurrent.Decoder._feed_context
```

```{source} attnlab.cost.multihead_flops
```

```{toctree}
api
```
"""
API = """\
# Code

```{eval-rst}
.. automodule:: attnlab.masks
   :members:

.. automodule:: attnlab.recurrent
   :members:

.. automodule:: attnlab.translator
   :members:
```
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build two pages; a warning is an error, as in the book."""
    folder = tmp_path_factory.mktemp("api")
    for name, text in {"conf.py": CONF, "index.md": INDEX, "api.md": API}.items():
        folder.joinpath(name).write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-W", "-n", "-q", str(folder), str(folder / "html")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {
        name: BeautifulSoup((folder / "html" / f"{name}.html").read_text("utf-8"), "html.parser")
        for name in ("index", "api")
    }


def test_a_listing_leads_to_its_docstring_or_to_what_holds_it_or_nowhere(site):
    links = {a.text: a["href"] for a in site["index"].select(".code-block-caption a.reference")}
    assert links == {
        "attnlab.masks.make_causal_mask": "api.html#attnlab.masks.make_causal_mask",
        "attnlab.recurrent.Decoder._feed_context": "api.html#attnlab.recurrent.Decoder",
    }
    assert "attnlab.cost.multihead_flops" in site["index"].get_text()
    for href in links.values():
        assert site["api"].find(id=href.partition("#")[2])


def test_docstrings_keep_their_shapes_and_say_each_field_once(site):
    entry = site["api"].find(id="attnlab.translator.Maps").parent
    assert "Tensor" in entry.get_text()
    assert "Alias for field" not in site["api"].get_text()


def test_docstrings_are_on_the_site_and_not_on_paper():
    pages = bound_pages(ROOT / "_toc.yml")
    assert "cheat_sheet" in pages
    assert not {"index", "api", "api/attention"} & set(pages)
