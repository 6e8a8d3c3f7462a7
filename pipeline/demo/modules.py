"""Lists the modules of the standard library that become pages: public, and harmless to import."""

from __future__ import annotations

import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from importlib.machinery import ModuleSpec

LEFT_OUT = frozenset(
    {
        # open a browser, print a poem, or change the terminal when imported
        *("antigravity", "this", "readline", "rlcompleter"),
        # need a screen
        *("idlelib", "tkinter", "turtle", "turtledemo"),
        # tests, at the top and inside other packages
        *("test", "tests"),
        # setuptools replaces the first module by its own; the second warns, and was removed in Python 3.13
        *("distutils", "lib2to3"),
        # a hundred tables without documentation
        "encodings",
        # examples of how to write a module in C
        *("xxlimited", "xxlimited_35", "xxsubtype"),
    }
)
NOT_FROM_A_FILE = ("built-in", "frozen")
ADDED_PACKAGES = "site-packages"


def module_names() -> Iterator[str]:
    """Yield the names in a fixed order, a package before its modules, without importing any."""
    for name in sorted(sys.stdlib_module_names):
        spec = find_spec(name) if is_wanted(name) else None
        if spec is not None and _is_standard(spec):
            yield name
            yield from _names_below(name, spec.submodule_search_locations or ())


def is_wanted(name: str) -> bool:
    """Return whether a module may become a page, by the last part of its name; private modules may not."""
    return not name.startswith("_") and name not in LEFT_OUT


def _names_below(package: str, folders: Iterable[str]) -> Iterator[str]:
    for module in iter_modules(folders):
        if is_wanted(module.name):
            name = f"{package}.{module.name}"
            yield name
            if module.ispkg:
                yield from _names_below(name, [str(Path(folder, module.name)) for folder in folders])


def _is_standard(spec: ModuleSpec) -> bool:
    """Return whether a module is that of the standard library, not a replacement from an added package."""
    if spec.origin is None or spec.origin in NOT_FROM_A_FILE:
        return True
    roots = (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"))
    path = Path(spec.origin)
    return ADDED_PACKAGES not in path.parts and any(path.is_relative_to(root) for root in roots)
