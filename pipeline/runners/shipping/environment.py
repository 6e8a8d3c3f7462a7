"""Packs the Python environment of the nodes: all distributions that crawlctl requires.

The distributions are taken from this machine, but not by venv-pack: it would pack the whole virtual
environment with its test tools, refuse an environment with crawlctl installed for development, and let
`bin/python` point to the interpreter of this machine. The tasks need only the distributions that crawlctl
requires, and pip keeps a list of the files of each.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from importlib.metadata import Distribution, distributions
from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.runners.shipping.environment_archive import LAYOUT, Interpreter, write_archive
from crawlctl.pipeline.runners.shipping.package_cache import cached_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

IN_A_VENV = "install crawlctl with pip in a virtual environment of its own and run it from there"


def environment_archive(scratch: Path) -> Path:
    """Return the archive of the environment, from the user's cache if nothing in it has changed."""
    parts = required_distributions()
    name = f"environment-{_digest(parts)}.tar.gz"
    return cached_file(name, scratch, lambda target: write_archive(target, parts, this_interpreter()))


def required_distributions(*, with_conditional: bool = True) -> list[Distribution]:
    """Return the distributions that crawlctl requires, directly and through others, sorted by name.

    Conditions (markers) are evaluated for this interpreter. If conditional requirements are left out, the
    result is what every machine needs, with any version of Python.
    """
    own = installed("crawlctl")
    if own is None:
        raise ConfigError(f"crawlctl runs without being installed; {IN_A_VENV}")
    found: dict[str, Distribution] = {}
    _collect(own, frozenset(), found, with_conditional)
    return [found[name] for name in sorted(found)]


def direct_requirements(python: str) -> list[Requirement]:
    """Return what crawlctl itself requires with a version of Python such as 3.11, without its extras."""
    own = installed("crawlctl")
    there = {"python_version": python, "python_full_version": f"{python}.0", "extra": ""}
    needs = _requirements(own) if own is not None else ()
    return [need for need in needs if need.marker is None or need.marker.evaluate(there)]


def this_interpreter() -> Interpreter:
    """Return the interpreter that the packed environment needs on the nodes."""
    return Interpreter(
        version=f"{sys.version_info.major}.{sys.version_info.minor}",
        path=os.path.realpath(sys.executable),
        system=" ".join((platform.system(), platform.machine())),
    )


def installed(name: str) -> Distribution | None:
    """Return an installed distribution, by preference pip's, not a leftover of a build in this folder."""
    return max(distributions(name=name), key=lambda one: one.read_text("RECORD") is not None, default=None)


def _collect(
    parent: Distribution, extras: frozenset[str], found: dict[str, Distribution], with_conditional: bool
) -> None:
    """Add to `found` what a distribution requires with these extras."""
    for need in _requirements(parent):
        is_plain = need.marker is None or not need.marker.evaluate({"extra": ""})
        if not _applies(need, extras) or not (is_plain or with_conditional):
            continue
        name = canonicalize_name(need.name)
        if name in found and not need.extras:
            continue
        part = installed(need.name)
        if part is None:
            raise ConfigError(f"{need.name}, which crawlctl needs, is not installed; {IN_A_VENV}")
        found[name] = part
        _collect(part, frozenset(need.extras), found, with_conditional)


def _applies(need: Requirement, extras: frozenset[str]) -> bool:
    """Return whether a requirement holds on this machine, by itself or by one of the extras."""
    return need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in ("", *extras))


def _requirements(parent: Distribution) -> Iterator[Requirement]:
    for line in parent.requires or ():
        try:
            yield Requirement(line)
        except InvalidRequirement as err:
            raise ConfigError(
                f"{parent.name} requires {line!r}, which is not understood; install a newer {parent.name}"
            ) from err


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
