"""robots.txt by RFC 9309: whether a URL may be fetched, and the rule that decides.

This package has its own matcher: protego 0.7 fails 12 of Google's 142 published tests (unknown lines end a
group, "Foo Bar" names no crawler), and urllib.robotparser knows neither stars nor the longest match.

A host that cannot answer has allowed nothing (§2.3.1.4). So after a server error or without an answer nothing
is fetched until robots.txt can be read. A host that answers that the file does not exist has no rules. The
status 429 counts as a server error, because a host that asks us to slow down has not said that it has no
rules.

Between rounds only the rules for our crawler are kept, ready to use; they mostly have a tenth of the bytes of
the file. The name of the crawler is kept with them, so a changed name is noticed.

https://www.rfc-editor.org/rfc/rfc9309.html
"""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec

from crawlctl.pipeline.robots.packed_rules import pack_rules
from crawlctl.pipeline.robots.patterns import Rule
from crawlctl.pipeline.robots.robots_lines import read_lines
from crawlctl.pipeline.robots.rule_index import IndexCache

# The unpacked rules of all hosts in this process; a fetch task sets its own limit.
INDEXES = IndexCache(16 << 20)
MAX_REDIRECTS = 5  # RFC 9309 §2.3.1.2; a file behind more redirects counts as missing

_NO_STATEMENT = {304, 429}
_PATH = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*)?([^#]*)")


class Verdict(NamedTuple):
    """Whether a URL may be fetched; `rule` is the line of robots.txt that decides, or why there is none."""

    allowed: bool
    rule: str
    line: int = 0


class Robots(msgspec.Struct, frozen=True, array_like=True):
    """The rules, Crawl-delay and sitemaps in the robots.txt of a host, for the crawler `agent`.

    Tables of older releases contain unpacked rules; these are packed when they are first used.
    """

    agent: str
    rules: bytes | tuple[Rule, ...] = b""
    crawl_delay: float | None = None
    sitemaps: tuple[str, ...] = ()
    note: str = "no rule of robots.txt matches"
    try_later: bool = False  # the file could not be read: nothing is allowed until it can be read

    @property
    def packed(self) -> bytes:
        """The rules in packed form (packed_rules.py)."""
        if isinstance(self.rules, bytes):
            return self.rules
        packed = pack_rules(self.rules)
        msgspec.structs.force_setattr(self, "rules", packed)
        return packed

    def listed(self) -> list[Rule]:
        """Return all rules in the order of their lines."""
        return INDEXES.get(self.packed).rules() if self.rules else []

    @classmethod
    def parse(cls, body: bytes, agent: str) -> Robots:
        """Return the content of a robots.txt for the crawler with the product token `agent`."""
        found = read_lines(body, agent)
        return cls(agent, pack_rules(found.rules), found.crawl_delay, found.sitemaps)

    def verdict(self, url: str) -> Verdict:
        """Return whether a canonical URL may be fetched."""
        path = _path_of(url)
        if path == "/robots.txt":
            return Verdict(True, "robots.txt itself may always be read")
        if self.try_later:
            return Verdict(False, self.note)
        if not path.isascii():
            # Which bytes are meant depends on an encoding that we do not know.
            return Verdict(False, "the URL is not in canonical form")
        rules = self.rules
        if not rules:
            return Verdict(True, self.note)
        rule = INDEXES.get(rules if isinstance(rules, bytes) else self.packed).deciding(path)
        return Verdict(True, self.note) if rule is None else Verdict(rule.allow, str(rule), rule.line)


def robots_for_status(status: int | None, body: bytes, agent: str) -> Robots:
    """Return what the answer to a request for robots.txt means; `status` is None if there was no answer.

    The caller follows up to `MAX_REDIRECTS` redirects and then passes the status of the next one.
    """
    if status is not None and 200 <= status < 300:
        return Robots.parse(body, agent)
    if status is not None and 300 <= status < 500 and status not in _NO_STATEMENT:
        return Robots(agent, note=f"the host has no robots.txt (status {status})")
    answer = "did not answer" if status is None else f"answered with status {status}"
    note = f"robots.txt {answer}; nothing is fetched from the host until it can be read"
    return Robots(agent, note=note, try_later=True)


def _path_of(url: str) -> str:
    match = _PATH.match(url)
    path = match[1] if match else ""
    return path if path.startswith("/") else f"/{path}"
