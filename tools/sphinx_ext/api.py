"""The pages of the API: what autodoc and napoleon read in the docstrings, under the book's names.

A listing links to what it shows (source_code.py). What has no entry of its own there, such as a
method whose name begins with an underscore, leads to the class or module that holds it.
"""

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.nodes import make_refnode

SETTINGS = {
    "autodoc_member_order": "bysource",
    "autodoc_preserve_defaults": True,  # an object's address would differ in each build
    "autodoc_typehints": "none",  # the docstrings give types, and shapes with them
    "autodoc_class_signature": "mixed",
    "napoleon_google_docstring": False,
    "napoleon_use_param": False,
    "napoleon_use_rtype": False,
    "napoleon_use_ivar": True,
    "default_role": "literal",
}


def find_holder(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, words: nodes.Node
) -> nodes.Node | None:
    """Lead a listing's link to the nearest holder with an entry; without one it is bare words.

    What a docstring says of a field's type is a phrase, and leads nowhere.
    """
    if not node.get("listing"):
        return words if node.get("reftype") == "class" else None
    objects, name = env.domains["py"].objects, node["reftarget"]
    while name and name not in objects:
        name = name.rpartition(".")[0]
    if not name:
        return words
    found = objects[name]
    return make_refnode(app.builder, node["refdoc"], found.docname, found.node_id, words, name)


def skip_fields(_app: Sphinx, _what: str, _name: str, member, _skip: bool, _options) -> bool | None:
    """Leave out a named tuple's fields, of which the docstring of the tuple speaks."""
    return True if "Alias for field number" in (getattr(member, "__doc__", "") or "") else None


def settle(_app: Sphinx, config) -> None:
    """Set what the docstrings need."""
    for name, value in SETTINGS.items():
        setattr(config, name, value)


def setup(app: Sphinx) -> dict[str, bool]:
    """Set up both extensions."""
    app.setup_extension("sphinx.ext.autodoc")
    app.setup_extension("sphinx.ext.napoleon")
    app.connect("config-inited", settle, priority=100)
    app.add_css_file("api.css")
    app.connect("autodoc-skip-member", skip_fields)
    app.connect("missing-reference", find_holder)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
