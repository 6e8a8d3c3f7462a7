"""The kinds of failures in words for people; names such as `too_slow` are for programs."""

from __future__ import annotations

import re

from crawlctl.pipeline.http.exchange import ErrorKind
from crawlctl.pipeline.politeness.failure_kinds import ROBOTS

# The words for kinds whose names are no plain words, for tables, lists and displays.
_WORDS = {
    ErrorKind.DNS.value: "DNS",
    ErrorKind.TLS.value: "TLS",
    ErrorKind.TOO_SLOW.value: "too few bytes per second",
    ErrorKind.FORBIDDEN_ADDRESS.value: "a private address",
    ErrorKind.BAD_URL.value: "a bad URL",
    ErrorKind.INTERNAL.value: "an error of crawlctl",
    ROBOTS: "robots.txt",
}
# A reason may contain another reason: the round ended …; the last request had failed (tls: …).
_BEGIN = r"(?P<begin>^|; the last request had failed \()"
_KIND = re.compile(rf"{_BEGIN}(?P<kind>{'|'.join(kind.value for kind in ErrorKind)})(?=: |\)?$)")
_NAMED_BY_SENTENCE = re.compile(rf"{_BEGIN}{ROBOTS}: (?=robots\.txt )")


def kind_in_words(kind: str) -> str:
    """Return a kind of failure in one or two words that fit behind the word `with`."""
    return _WORDS.get(kind, kind.replace("_", " "))


def in_words(reason: str) -> str:
    """Return the recorded reason of a failure, such as `too_slow: …`, with its kind in words."""
    told = _KIND.sub(lambda found: found["begin"] + kind_in_words(found["kind"]), reason)
    return _NAMED_BY_SENTENCE.sub(r"\g<begin>", told)
