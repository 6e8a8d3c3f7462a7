"""The Python environment of the nodes: what crawlctl depends on, packed from what is installed here.

venv-pack would pack the whole virtual environment, test tools and all, refuse one with crawlctl installed
for development, and let `bin/python` point to where the interpreter lies on this machine. What tasks need is
less and is known exactly: the distributions crawlctl requires, by the lists of files pip keeps of them.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import sys
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.runners.shipping.environment_archive import LAYOUT, Interpreter, write_archive
from crawlctl.pipeline.runners.shipping.package_cache import cached_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

REQUIREMENT = re.compile(r"\s*([A-Za-z0-9._-]+)\s*(?:\[([^\]]*)\])?[^;]*(?:;(.*))?", re.DOTALL)
EXTRA = re.compile(r"""extra\s*==\s*["']([^"']+)["']""")
IN_A_VENV = "install crawlctl with pip in a virtual environment of its own and run it from there"


@dataclass(frozen=True)
class Requirement:
    """One line of what a distribution requires; `marker` is its condition, as it is written."""

    name: str
    extras: frozenset[str]
    marker: str


def environment_archive(scratch: Path) -> Path:
    """Return the archive of the environment, from the user's cache where nothing in it has changed."""
    parts = required_distributions()
    name = f"environment-{_digest(parts)}.tar.gz"
    return cached_file(name, scratch, lambda target: write_archive(target, parts, this_interpreter()))


def required_distributions(*, with_conditional: bool = True) -> list[Distribution]:
    """Return what crawlctl requires, directly and through others, sorted by name.

    What is required on a condition counts if it is installed. Without such, the rest is what any machine
    needs, of whatever version of Python.
    """
    own = installed("crawlctl")
    if own is None:
        raise ConfigError(f"crawlctl runs without being installed; {IN_A_VENV}")
    found: dict[str, Distribution] = {}
    _collect(own, frozenset(), found, with_conditional)
    return [found[name] for name in sorted(found)]


def this_interpreter() -> Interpreter:
    """Return what the packed environment asks of an interpreter."""
    return Interpreter(
        version=f"{sys.version_info.major}.{sys.version_info.minor}",
        path=os.path.realpath(sys.executable),
        system=" ".join((platform.system(), platform.machine())),
    )


def normal_name(name: str) -> str:
    """Return the name of a distribution as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def installed(name: str) -> Distribution | None:
    """Return an installed distribution: one of pip's before what a build has left in the current folder."""
    return max(distributions(name=name), key=lambda one: one.read_text("RECORD") is not None, default=None)


def _collect(
    parent: Distribution, extras: frozenset[str], found: dict[str, Distribution], with_conditional: bool
) -> None:
    for need in _requirements(parent):
        wanted = set(EXTRA.findall(need.marker))
        if wanted and not wanted & extras:
            continue
        is_conditional = bool(need.marker) and not wanted
        if is_conditional and not with_conditional:
            continue
        name = normal_name(need.name)
        if name in found and not need.extras:
            continue
        part = installed(need.name)
        if part is not None:
            found[name] = part
            _collect(part, need.extras, found, with_conditional)
        elif not need.marker:
            raise ConfigError(f"{need.name}, which crawlctl needs, is not installed; {IN_A_VENV}")


def _requirements(parent: Distribution) -> Iterator[Requirement]:
    for line in parent.requires or ():
        match = REQUIREMENT.match(line)
        if match is not None:
            extras = frozenset(filter(None, map(str.strip, (match[2] or "").split(","))))
            yield Requirement(match[1], extras, (match[3] or "").strip())


def _digest(parts: list[Distribution]) -> str:
    interpreter = this_interpreter()
    digest = hashlib.blake2b(f"{LAYOUT}\0{sys.version}\0{interpreter}".encode(), digest_size=16)
    for part in parts:
        record = part.read_text("RECORD")
        if record is None:
            raise ConfigError(f"{part.name} came without the list of its files; {IN_A_VENV}")
        # The list has a checksum of each file: another build of the same version counts as another.
        digest.update(f"{part.name}\0{part.version}\0{record}\0".encode())
    return digest.hexdigest()
