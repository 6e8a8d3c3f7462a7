"""The rules for names of files in a store.

crawlctl makes all names itself (state/layout.py) and never out of URLs. So few characters are allowed, on
purpose: a name then means the same file on ext4, APFS, HDFS and every S3 server. Some of these silently turn
"a//b" or "a/./b" into another name. Segments that begin with a dot are reserved for temporary files.
"""

from __future__ import annotations

import re

LONGEST_SEGMENT = 255  # bytes: NAME_MAX of every common file system
LONGEST_NAME = 700  # bytes: S3 allows 1024 for the prefix of the store and the name together

_SEGMENT = rf"[A-Za-z0-9_][A-Za-z0-9._=-]{{0,{LONGEST_SEGMENT - 1}}}"
_NAME = re.compile(rf"{_SEGMENT}(?:/{_SEGMENT})*")
_PREFIX = re.compile(rf"(?:{_SEGMENT}/)*(?:{_SEGMENT})?")


def is_name(text: str) -> bool:
    """Tell whether a string may name a file."""
    return len(text) <= LONGEST_NAME and _NAME.fullmatch(text) is not None


def check_name(text: str) -> str:
    """Return the name, or raise ValueError when no file can have it."""
    if not is_name(text):
        raise ValueError(
            f"{text[:80]!r} cannot name a file of a store; use letters, digits and ._=- in segments of "
            f"1 to {LONGEST_SEGMENT} characters that do not begin with a dot, separated by single slashes"
        )
    return text


def check_prefix(text: str) -> str:
    """Return the prefix, or raise ValueError when no valid name begins with it."""
    if len(text) > LONGEST_NAME or _PREFIX.fullmatch(text) is None:
        raise ValueError(f"no file of a store has a name that begins with {text[:80]!r}; see check_name")
    return text
