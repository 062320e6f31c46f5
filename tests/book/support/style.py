"""The house style of chapter notebooks: each check lists what breaks one rule."""

import ast
import re
from collections.abc import Iterator

from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode
from tidy import is_checked

MAX_LINES = 15
NETWORK = {"aiohttp", "ftplib", "http", "httpx", "requests", "socket", "urllib", "urllib3"}
FENCE = re.compile(r"^(`{3,}|~{3,}|:{3,}).*?^\1", re.M | re.S)
HEADING = re.compile(r"^(#{1,6})\s+(.+?)\s*$", re.M)
# A displayed equation: a block between $$, or a math directive, or an amsmath environment.
DISPLAYED = re.compile(r"\$\$.+?\$\$[ \t]*(\([\w-]+\))?", re.S)
OTHER_MATH = re.compile(r"^(?:`{3,}|:{3,})\{math\}|^\\begin\{", re.M)
IMAGE = re.compile(r"!\[([^\]]*)\]\(")


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """Give the code cells."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def texts(notebook: NotebookNode) -> list[str]:
    """Give the text of each Markdown cell."""
    return [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]


def nodes(cell: NotebookNode) -> Iterator[ast.AST]:
    """Walk a cell's syntax tree, with IPython's own syntax turned into calls."""
    return ast.walk(ast.parse(TransformerManager().transform_cell(cell.source)))


def headings(notebook: NotebookNode) -> list[tuple[int, str]]:
    """Give level and text of each heading; a # within a block of code is none."""
    found = [HEADING.findall(FENCE.sub("", text)) for text in texts(notebook)]
    return [(len(marks), title) for page in found for marks, title in page]


def late_imports(notebook: NotebookNode) -> list[str]:
    """List imports behind the first code cell."""
    return [
        f"{cell.id}: import in line {node.lineno}"
        for cell in code_cells(notebook)[1:]
        for node in nodes(cell)
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]


def long_cells(notebook: NotebookNode) -> list[str]:
    """List cells with too many lines."""
    lines = {cell.id: len(cell.source.splitlines()) for cell in code_cells(notebook)}
    return [f"{name}: {count} lines" for name, count in lines.items() if count > MAX_LINES]


def definitions(notebook: NotebookNode) -> list[str]:
    """List functions and classes, also those that are named lambdas."""
    found = []
    for cell in code_cells(notebook):
        for node in nodes(cell):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                found.append(f"{cell.id}: defines {node.name}")
            elif isinstance(getattr(node, "value", None), ast.Lambda):
                found.append(f"{cell.id}: names a lambda")
    return found


def shell_commands(notebook: NotebookNode) -> list[str]:
    """List lines that leave Python or install something."""
    pattern = re.compile(r"^\s*(?:!|%%?(?:pip|conda|sh|bash|system|sx)\b)", re.M)
    return [
        f"{cell.id}: {match[0].strip()}"
        for cell in code_cells(notebook)
        for match in pattern.finditer(cell.source)
    ]


def network_use(notebook: NotebookNode) -> list[str]:
    """List imports of modules that talk to other hosts."""
    found = []
    for cell in code_cells(notebook):
        for node in nodes(cell):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            used = {name.split(".")[0] for name in names} & NETWORK
            found.extend(f"{cell.id}: {name}" for name in sorted(used))
    return found


def typed_numbers(notebook: NotebookNode) -> list[str]:
    """List headings that begin with a number; the build numbers them."""
    return [title for _, title in headings(notebook) if re.match(r"\d+(\.\d+)*[.:)]?\s", title)]


def misplaced_titles(notebook: NotebookNode) -> list[str]:
    """Complain unless exactly one title stands, and first."""
    titles = [title for level, title in headings(notebook) if level == 1]
    first = notebook.cells[0].source if notebook.cells else ""
    complaints = [] if len(titles) == 1 else [f"{len(titles)} titles: {titles}"]
    return complaints + ([] if first.startswith("# ") else ["the first line is no title"])


def outputs_to_compare_missing(notebook: NotebookNode) -> list[str]:
    """List cells whose output the tests should compare, and which have none."""
    return [cell.id for cell in code_cells(notebook) if is_checked(cell) and not cell.outputs]


def unlabelled_equations(notebook: NotebookNode) -> list[str]:
    """List displayed equations that nobody can refer to."""
    found = []
    for text in texts(notebook):
        found += [match[0][:60] for match in DISPLAYED.finditer(text) if not match[1]]
        found += [match[0] for match in OTHER_MATH.finditer(DISPLAYED.sub("", text))]
    return found


def images_without_text(notebook: NotebookNode) -> list[str]:
    """List Markdown images with nothing between the brackets."""
    return [
        match[0]
        for text in texts(notebook)
        for match in IMAGE.finditer(text)
        if not match[1].strip()
    ]


RULES = (
    late_imports,
    long_cells,
    definitions,
    shell_commands,
    network_use,
    typed_numbers,
    misplaced_titles,
    outputs_to_compare_missing,
    unlabelled_equations,
    images_without_text,
)
