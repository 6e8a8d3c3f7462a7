"""The kinds of failures: the word or two before the colon in the reason of an outcome or of a host.

A reason is a kind and a sentence, such as `dns: Could not resolve host: example.invalid`. There are only few
kinds, whatever servers send, so failures can be counted by kind.
"""

from __future__ import annotations

import re

OTHER = "other errors"
ROBOTS = "robots"  # robots.txt could not be read, although the host has answered
_KIND = re.compile(r"status [45]\d\d\b|(?:status \d+: )?([a-z_]{1,30})(?::|$)")


def kind_of(reason: str) -> str:
    """Return the kind of a failure, such as `dns` or `status 503`."""
    found = _KIND.match(reason)
    return (found[1] or found[0]) if found else OTHER
