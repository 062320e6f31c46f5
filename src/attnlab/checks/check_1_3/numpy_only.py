"""Which packages a function leans on, read from its compiled code."""

import dis
import sys
from collections.abc import Callable, Iterator
from types import CodeType, ModuleType
from typing import Any

from attnlab.checks.check_1_3.mistakes import MISTAKES

FRAMEWORKS = {"torch", "attnlab"}  # forbidden as text too, as in import_module("torch")


def require_numpy_only(function: Callable[..., Any]) -> None:
    """Fail with cause ``"not_numpy"`` where a function uses more than NumPy and Python.

    Its own helpers, from the same notebook or file, are followed; what is passed to it is not.
    """
    for package in _packages(function):
        if package in {"numpy", "IPython"} or package in sys.stdlib_module_names:
            continue
        raise MISTAKES.failure("not_numpy", seen=f"Your function uses {package}.")


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
        code = getattr(item, "__code__", None)
        if isinstance(item, ModuleType):
            yield _root(item.__name__)
        elif code is not None and getattr(item, "__globals__", None) is own:
            waiting += _values_held_by(item)
            for inner in _all_code(code):
                yield from _imports_in(inner)
                waiting += [own[name] for name in _globals_in(inner) if name in own]
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


def _values_held_by(function: Any) -> list[Any]:
    """Give default values and what a closure holds."""
    held = [cell.cell_contents for cell in function.__closure__ or ()]
    held += [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    return held


def _all_code(code: CodeType) -> Iterator[CodeType]:
    """Give a function's code and that of every function inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _all_code(constant)


def _imports_in(code: CodeType) -> Iterator[str]:
    """Give the packages that code imports, by statement or by a name in quotes."""
    for instruction in dis.get_instructions(code):
        if instruction.opname == "IMPORT_NAME":
            yield _root(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, str) and _root(constant) in FRAMEWORKS:
            yield _root(constant)


def _globals_in(code: CodeType) -> set[str]:
    """Give the names that code looks up outside of itself."""
    looked_up = ("LOAD_GLOBAL", "LOAD_NAME")
    return {i.argval for i in dis.get_instructions(code) if i.opname in looked_up}


def _root(name: str) -> str:
    return name.partition(".")[0]
