"""The causes of failures in words, and what the user can do about each."""

from __future__ import annotations

from typing import NamedTuple

from crawlctl.pipeline.http.exchange import ErrorKind
from crawlctl.pipeline.politeness.failure_kinds import ROBOTS

AGAIN = "type `crawlctl run` again"


class Cause(NamedTuple):
    """A kind of failure in words, and what to do about it."""

    words: str
    remedy: str


DISALLOWED = "disallowed"  # robots.txt was read, and forbids the page
WAITING = "waiting"  # the round ended before the turn of the page came

_SLOW = Cause(
    "the host did not answer in time",
    f"{AGAIN} later, or allow more time, such as --set fetch.timeout=2min --set fetch.min_speed_span=1min",
)
_CAUSES = {
    ErrorKind.DNS.value: Cause(
        "the name of the host could not be looked up (DNS)",
        f"check the name, and that this machine is online; then {AGAIN}",
    ),
    ErrorKind.REFUSED.value: Cause(
        "no connection to the host could be made",
        f"check that a web server runs at this name and port, and that this machine is online; then {AGAIN}",
    ),
    ErrorKind.PROXY.value: Cause(
        "the proxy could not be used",
        f"check the value of fetch.proxy (`crawlctl config` shows it) and that the proxy runs; then {AGAIN}",
    ),
    ErrorKind.TLS.value: Cause(
        "the TLS connection to the host failed",
        "if the host is yours, name its certificate authority with --set fetch.ca_file=FILE, or trust it "
        "unchecked with --set fetch.tls_verify=false",
    ),
    ErrorKind.TIMEOUT.value: _SLOW,
    ErrorKind.TOO_SLOW.value: _SLOW,
    ErrorKind.STALLED.value: _SLOW,
    ErrorKind.RESET.value: Cause("the host closed the connection too early", f"{AGAIN} later"),
    ErrorKind.FORBIDDEN_ADDRESS.value: Cause(
        "the address of the host is private",
        "to crawl it, allow it: add --set 'fetch.allowed_networks=[{address}]' to the same command",
    ),
    ROBOTS: Cause(
        "robots.txt could not be read, so nothing of the host may be fetched",
        f"{AGAIN} then, or shorten politeness.robots_retry",
    ),
    DISALLOWED: Cause(
        "robots.txt forbids it", "`crawlctl explain URL` shows the line that does; add seeds that it allows"
    ),
    WAITING: Cause(
        "the round ended before any page had arrived completely",
        f"{AGAIN}; --time DURATION gives a round more time",
    ),
}


def cause_of(kind: str) -> Cause:
    """Return a kind of failure (failure_kinds.py) in words, and what to do about it."""
    found = _CAUSES.get(kind)
    if found is not None:
        return found
    if kind.startswith("status "):
        return Cause(f"the host answered with {kind}", f"{AGAIN} later")
    return Cause("the host or its pages failed", "`crawlctl explain URL` says why")


def remedy_of(kind: str, reason: str) -> str:
    """Return what to do about a failure; the reason of a private address begins with the address."""
    address = reason.partition(": ")[2].partition(" ")[0]
    return cause_of(kind).remedy.replace("{address}", address)
