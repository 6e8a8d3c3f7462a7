"""The kinds of failed requests in words: `too_slow` is for programs."""

from __future__ import annotations

from crawlctl.pipeline.http.exchange import ErrorKind

# What stands in tables, lists and displays, where the kind is not a word by itself.
_WORDS = {
    ErrorKind.DNS.value: "DNS",
    ErrorKind.TLS.value: "TLS",
    ErrorKind.TOO_SLOW.value: "too few bytes per second",
    ErrorKind.FORBIDDEN_ADDRESS.value: "a private address",
    ErrorKind.BAD_URL.value: "a bad URL",
    ErrorKind.INTERNAL.value: "an error of crawlctl",
}
_KINDS = frozenset(kind.value for kind in ErrorKind)


def kind_in_words(kind: str) -> str:
    """Return a kind of failure in a word or two, to stand after `with`."""
    return _WORDS.get(kind, kind.replace("_", " "))


def in_words(reason: str) -> str:
    """Return the recorded reason of a failure, such as `too_slow: …`, with its kind in words."""
    kind, colon, sentence = reason.partition(": ")
    return f"{kind_in_words(kind)}{colon}{sentence}" if kind in _KINDS else reason
