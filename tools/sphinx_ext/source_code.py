"""The ``source`` directive: shows a function, class or method of ``src/`` without its docstring.

    ```{source} attnlab.multihead.MultiHeadAttention.forward
    ```

The page says in its own words what the docstring says, so the reader meets only code. A name that
does not exist is a warning, and so an error in this book's build. The name above the code leads to
the docstring (api.py).
"""

import ast
import textwrap
from pathlib import Path

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.util.docutils import SphinxDirective

SRC = Path(__file__).resolve().parents[2] / "src"
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def find_module(name: str) -> tuple[Path, list[str]]:
    """Split a dotted name into the module's file and the path of names inside it."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        path = SRC.joinpath(*parts[:count]).with_suffix(".py")
        if path.is_file():
            return path, parts[count:]
    raise LookupError(f"no module of src/ holds {name!r}")


def find_definition(tree: ast.Module, names: list[str], full_name: str) -> Definition:
    """Follow the names from the module down to one definition."""
    node: ast.Module | Definition = tree
    for name in names:
        found = [n for n in node.body if isinstance(n, Definition) and n.name == name]
        if not found:
            raise LookupError(f"{full_name!r}: there is no {name!r}")
        node = found[0]
    if isinstance(node, ast.Module):
        raise LookupError(f"{full_name!r} is a module; name a function, class or method in it")
    return node


def code_without_docstring(name: str) -> tuple[Path, str]:
    """Give the file of a dotted name and the source of what it names, docstrings left out."""
    path, names = find_module(name)
    text = path.read_text(encoding="utf-8")
    top = find_definition(ast.parse(text), names, name)
    start = min([top.lineno, *(d.lineno for d in top.decorator_list)])
    left_out: set[int] = set()
    for node in ast.walk(top):
        if isinstance(node, Definition) and ast.get_docstring(node) is not None:
            docstring = node.body[0]
            left_out.update(range(docstring.lineno, docstring.end_lineno + 1))
            if len(node.body) > 1:  # and the blank lines between it and the code
                left_out.update(range(docstring.end_lineno + 1, first_line(node.body[1])))
    lines = text.splitlines()
    kept = [lines[n - 1] for n in range(start, top.end_lineno + 1) if n not in left_out]
    return path, textwrap.dedent("\n".join(kept))


def first_line(node: ast.stmt) -> int:
    """Give the line where a statement starts, its decorators included."""
    return min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])


class SourceDirective(SphinxDirective):
    """Put the source of one dotted name on the page."""

    required_arguments = 1
    has_content = False

    def run(self) -> list[nodes.Node]:
        """Read the code; a wrong name becomes a warning at the directive's line."""
        name = self.arguments[0]
        try:
            path, code = code_without_docstring(name)
        except LookupError as error:
            return [self.state.document.reporter.warning(str(error), line=self.lineno)]
        self.env.note_dependency(str(path))
        block = nodes.literal_block(code, code, language="python")
        self.set_source_info(block)
        link = pending_xref(
            "",
            nodes.literal(text=name),
            refdomain="py",
            reftype="obj",
            reftarget=name,
            refdoc=self.env.docname,
            listing=True,
        )
        caption = nodes.caption(name, "", link)
        wrapper = nodes.container("", literal_block=True, classes=["literal-block-wrapper"])
        wrapper += caption
        wrapper += block
        return [wrapper]


def setup(app) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("source", SourceDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
