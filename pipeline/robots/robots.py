"""robots.txt by RFC 9309: what a host allows us, and the rule that says so.

We match by ourselves: of Google's 142 published expectations protego 0.7 misses 12 (lines it does not know
end a group, "Foo Bar" names no crawler), and urllib.robotparser knows neither stars nor the longest match.

A host that cannot answer has not allowed anything (§2.3.1.4), so a server error or no answer closes it until
it can; a host that answers that it has no such file has no rules.  429 is counted with the server errors: a
host that asks us to slow down has not said that it has no rules.

What is kept between rounds are the rules for our own crawler, not the file: mostly a tenth of it, and ready
to use.  They name the crawler they were read for, so a change of its name is noticed.

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

# Of all hosts of this process; a task sets its own limit.
INDEXES = IndexCache(16 << 20)
MAX_REDIRECTS = 5  # RFC 9309 §2.3.1.2; a file behind more of them counts as not there

_NO_STATEMENT = {304, 429}
_PATH = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*)?([^#]*)")


class Verdict(NamedTuple):
    """Whether a URL may be fetched; `rule` is the line of the file that decides, or why there is none."""

    allowed: bool
    rule: str
    line: int = 0


class Robots(msgspec.Struct, frozen=True, array_like=True):
    """What the robots.txt of a host means for the crawler `agent`.

    Tables written by older releases hold rules one by one; they are packed when they are first asked.
    """

    agent: str
    rules: bytes | tuple[Rule, ...] = b""
    crawl_delay: float | None = None
    sitemaps: tuple[str, ...] = ()
    note: str = "no rule of robots.txt matches"
    try_later: bool = False  # the file could not be had: nothing is allowed until it can

    @property
    def packed(self) -> bytes:
        """The rules as `pack_rules` packs them."""
        if isinstance(self.rules, bytes):
            return self.rules
        packed = pack_rules(self.rules)
        msgspec.structs.force_setattr(self, "rules", packed)
        return packed

    def listed(self) -> list[Rule]:
        """Return the rules one by one, in the order of their lines."""
        return INDEXES.get(self.packed).rules() if self.rules else []

    @classmethod
    def parse(cls, body: bytes, agent: str) -> Robots:
        """Return what a robots.txt means for the crawler with the product token `agent`."""
        told = read_lines(body, agent)
        return cls(agent, pack_rules(told.rules), told.crawl_delay, told.sitemaps)

    def verdict(self, url: str) -> Verdict:
        """Return whether a canonical URL may be fetched."""
        path = _path_of(url)
        if path == "/robots.txt":
            return Verdict(True, "robots.txt itself may always be read")
        if self.try_later:
            return Verdict(False, self.note)
        if not path.isascii():
            # Which octets are meant depends on an encoding we do not know.
            return Verdict(False, "the URL is not in canonical form")
        rules = self.rules
        if not rules:
            return Verdict(True, self.note)
        rule = INDEXES.get(rules if isinstance(rules, bytes) else self.packed).deciding(path)
        return Verdict(True, self.note) if rule is None else Verdict(rule.allow, str(rule), rule.line)


def robots_for_status(status: int | None, body: bytes, agent: str) -> Robots:
    """Return what the answer to a request for robots.txt means; the status is None where none came.

    A redirect that is left when `MAX_REDIRECTS` have been followed is passed as it is.
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
