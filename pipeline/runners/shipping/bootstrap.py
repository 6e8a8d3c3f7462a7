"""The bootstrap script: installs the dependencies of crawlctl on the nodes of EMR.

The versions are the same as on this machine.

Hadoop gets the packed environment instead. The nodes of EMR run Amazon Linux, often on ARM, where libraries
compiled for a laptop do not load. But they can reach a package index, allow root, and live only for hours.
"""

from __future__ import annotations

import hashlib
from shlex import quote
from typing import TYPE_CHECKING

from crawlctl.pipeline.runners.shipping.environment import (
    conditional_requirements,
    installed,
    required_distributions,
)
from crawlctl.pipeline.runners.shipping.package_cache import cached_file

if TYPE_CHECKING:
    from pathlib import Path

    from packaging.requirements import Requirement

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
    """Return the dependencies with the versions of this machine.

    Conditions are evaluated for the Python of the nodes. With an older Python they need a package that is not
    installed here; it gets the bounds of setup.cfg, not a version. What other packages need on a condition is
    added by pip on the node.
    """
    always = [f"{part.name}=={part.version}" for part in required_distributions(with_conditional=False)]
    return always + [_pin(need) for need in conditional_requirements(VERSION)]


def _pin(need: Requirement) -> str:
    part = installed(need.name)
    return f"{need.name}{need.specifier}" if part is None else f"{part.name}=={part.version}"
