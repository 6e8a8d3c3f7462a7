"""The bootstrap script: installs the dependencies of crawlctl on the nodes of EMR.

The versions are the same as on this machine, where the Python of the nodes can use them.

Hadoop gets the packed environment instead. The nodes of EMR run Amazon Linux, often on ARM, where libraries
compiled for a laptop do not load. But they can reach a package index, allow root, and live only for hours.
"""

from __future__ import annotations

import hashlib
from shlex import quote
from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from crawlctl.pipeline.runners.shipping.environment import (
    direct_requirements,
    installed,
    required_distributions,
)
from crawlctl.pipeline.runners.shipping.package_cache import cached_file

if TYPE_CHECKING:
    from importlib.metadata import Distribution
    from pathlib import Path


VERSION = "3.11"  # EMR 7 has 3.9 and 3.11
PYTHON = f"python{VERSION}"
SCRIPT = """\
#!/bin/sh
# Written by `crawlctl package --for emr`: what the tasks of crawlctl need, in the versions it was tried with.
set -e
sudo dnf install -y {python}-pip
sudo {python} -m pip install --prefer-binary {pins}
"""


def bootstrap_script(scratch: Path) -> Path:
    """Return the script, named by its content."""
    content = SCRIPT.format(python=PYTHON, pins=" ".join(map(quote, pins()))).encode()
    name = f"bootstrap-{hashlib.blake2b(content, digest_size=16).hexdigest()}.sh"
    return cached_file(name, scratch, lambda target: target.write_bytes(content))


def pins() -> list[str]:
    """Return the dependencies with the versions of this machine, where the Python of the nodes can use them.

    The nodes may need a package that the Python of this machine does not need, and newer releases of a
    package may not run on the Python of the nodes. Such a package gets the bounds of setup.cfg, or no bounds
    if only other packages require it: pip on the node chooses the release, and adds conditional requirements.
    """
    direct = {canonicalize_name(need.name): need for need in direct_requirements(VERSION)}
    parts = [*required_distributions(with_conditional=False), *map(installed, direct)]
    usable = {canonicalize_name(part.name): part for part in parts if part and _runs_there(part)}
    pinned = [f"{part.name}=={part.version}" for _, part in sorted(usable.items())]
    return pinned + [f"{need.name}{need.specifier}" for name, need in direct.items() if name not in usable]


def _runs_there(part: Distribution) -> bool:
    """Return whether a distribution, in the version installed here, is meant for the Python of the nodes."""
    wanted = part.metadata.get_all("Requires-Python") or [""]
    return SpecifierSet(wanted[0]).contains(f"{VERSION}.0")
