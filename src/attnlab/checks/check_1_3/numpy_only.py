"""Which packages a function leans on, read from its compiled code."""

import dis
import sys
from collections.abc import Callable, Iterator
from types import CodeType, ModuleType
from typing import Any

from attnlab.checks.check_1_3.mistakes import MISTAKES

FRAMEWORKS = {"torch", "attnlab"}  # forbidden as text of an import too: import_module("torch")


def require_numpy_only(function: Callable[..., Any]) -> None:
    """Fail with cause ``"not_numpy"`` where a function uses more than NumPy and Python.

    Its own helpers, from the same notebook or file, are followed; what is passed to it is not.
    """
    for package in _packages(function):
        fine = package in {"numpy", "IPython"} or package in sys.stdlib_module_names
        MISTAKES.fail_if(not fine, "not_numpy", seen=f"Your function uses {package}.")


def _packages(function: Callable[..., Any]) -> Iterator[str]:
    """Give the top-level packages of all that a function refers to."""
    home = _unwrapped(function)
    own = getattr(home, "__globals__", {})
    if _root(own.get("__name__", "")) in FRAMEWORKS:
        yield _root(own["__name__"])
    waiting, seen = [home], set()
    while waiting:
        item = _unwrapped(waiting.pop())
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, ModuleType):
            yield _root(item.__name__)
        elif hasattr(item, "__code__") and getattr(item, "__globals__", None) is own:
            waiting += [cell.cell_contents for cell in item.__closure__ or ()]
            waiting += [*(item.__defaults__ or ()), *(item.__kwdefaults__ or {}).values()]
            for kind, name in _names_in(item.__code__):
                if kind == "import":
                    yield _root(name)
                elif name in own:
                    waiting.append(own[name])
        elif isinstance(item, type) and item.__module__ == own.get("__name__"):
            waiting += vars(item).values()
        elif type(item).__module__ == own.get("__name__"):
            waiting.append(type(item))
        else:
            package = _root(getattr(item, "__module__", None) or type(item).__module__)
            if package in sys.modules:  # what namedtuple generates has a module that is none
                yield package


def _unwrapped(item: Any) -> Any:
    """Look through decorators, partial, bound methods and objects that can be called."""
    for name in ("__wrapped__", "__func__", "func", "pyfunc"):
        if name in dir(item) and not isinstance(item, ModuleType | type):
            return _unwrapped(getattr(item, name))
    call = getattr(type(item), "__call__", None)  # noqa: B004 - the method, not whether it is there
    return call if hasattr(call, "__code__") and not isinstance(item, type) else item


def _names_in(code: CodeType) -> Iterator[tuple[str, str]]:
    """Give what code, with every function inside it, imports and looks up outside of itself."""
    for instruction in dis.get_instructions(code):
        if instruction.opname == "IMPORT_NAME":
            yield "import", instruction.argval
        elif instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield "global", instruction.argval
    imports = {"import_module", "__import__", "modules", "exec", "eval"} & {*code.co_names}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)
        elif isinstance(constant, str) and imports and _root(constant) in FRAMEWORKS:
            yield "import", constant


def _root(name: str) -> str:
    return name.partition(".")[0]
