"""Renders modules as HTML with pydoc, the same way every time.

Call it only in a separate process: it imports every module of the standard library, and values in them that
show the process, such as its environment, end up on the pages.
"""

from __future__ import annotations

import html
import inspect
import pydoc
import re
import sysconfig
import warnings
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType

# <object object at 0x7fd1f2ac4170>, <PyDLL 'None', handle 7fd1f3c5a2e0 …>
ADDRESS = re.compile(r"\b(at|handle)( |&nbsp;)(?:0x)?[0-9a-f]{8,}\b")
# A link to a file of this machine or to another module; groups: scheme or module, attributes, text.
LINK = re.compile(r'<a href="(file:|[\w.]+(?=\.html["#]))([^>]*)>(.*?)</a>', re.DOTALL)


@dataclass(frozen=True)
class Rendered:
    """A module as pydoc renders it; its links to other modules are like `json.decoder.html#JSONDecoder`."""

    summary: str
    html: str
    modified: int  # when its source was installed, in seconds since 1970


def render(names: Iterable[str]) -> dict[str, Rendered]:
    """Return the modules that this machine can import, by name."""
    modules = {name: module for name in names if (module := _import(name)) is not None}
    pages = {}
    # Where an object has no docstring, pydoc looks for a comment and parses the whole file for it each time.
    # That would take longer than all the rest.
    with patch.object(inspect, "getcomments", lambda _object: None):
        for name, module in modules.items():
            with suppress(Exception):  # pydoc may fail on a module of some system; the others are enough
                pages[name] = _rendered(name, module)
    return pages


def _import(name: str) -> ModuleType | None:
    """Return the module, or None if it is for another system or needs a library that is not installed."""
    with warnings.catch_warnings(), redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        warnings.simplefilter("ignore")  # many are deprecated
        with suppress(Exception):
            return import_module(name)
    return None


def _rendered(name: str, module: ModuleType) -> Rendered:
    document = pydoc.HTMLDoc()
    summary = pydoc.splitdoc(pydoc.getdoc(module))[0]
    title = html.escape(f"{name}: {summary}" if summary else name)
    page = document.page(title, document.document(module, name))
    page = page.replace(sysconfig.get_path("stdlib"), "Lib")
    return Rendered(summary, ADDRESS.sub(r"\1\2an-address", page), _modified(module))


def _modified(module: ModuleType) -> int:
    """Return when the source was installed; a built-in module has the time of pydoc."""
    return int(Path(getattr(module, "__file__", None) or pydoc.__file__).stat().st_mtime)
