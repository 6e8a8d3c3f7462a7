"""Chooses the module for Zstandard: Python's own from 3.14 on, before that the same module from a package."""

from __future__ import annotations

import sys

from crawlctl.pipeline.errors import ConfigError

try:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
except ImportError as err:  # Python itself can be compiled without it
    raise ConfigError(
        f"this Python ({sys.executable}) has no Zstandard, which the archive needs: {err}; "
        "take a Python with the module compression.zstd, which those of Linux distributions have"
    ) from err

__all__ = ["zstd"]
