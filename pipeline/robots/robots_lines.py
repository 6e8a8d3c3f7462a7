"""Reads the lines of a robots.txt: the rules, Crawl-delay and sitemaps for one crawler.

The lines are read as by RFC 9309 §2.2 and its reference, Google's parser. All groups that name a crawler are
merged. The group of `*` counts only if no group names the crawler. An unknown line neither ends a group nor
affects the lines behind it. Crawl-delay is an unknown line for the RFC; for us it holds for the crawlers of
its group. Bytes are not decoded, so no encoding can break the reading.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from crawlctl.pipeline.robots.patterns import Rule

MAX_ROBOTS_BYTES = 500 << 10  # the most bytes that are read; RFC 9309 §2.5 asks for no less
MAX_SITEMAPS = 100
MAX_SITEMAP_BYTES = 16 << 10  # bytes of all sitemap URLs together

_BOM = b"\xef\xbb\xbf"
_TOKEN = re.compile(rb"[A-Za-z0-9_-]*")
_SECONDS = re.compile(rb"(?=[.,]?\d)(\d{0,9})(?:[.,](\d{0,9}))?")  # 5, 2.5, .5, 5. and 1,5
_BEYOND_ASCII = re.compile(rb"[^\x20-\x7e]")
_USER_AGENT = {b"user-agent", b"useragent", b"user agent"}
_ALLOW = {b"allow"}
# Common misspellings, which Google's parser accepts too; their meaning is clear.
_DISALLOW = {b"disallow", b"dissallow", b"dissalow", b"disalow", b"diasllow", b"disallaw"}
_CRAWL_DELAY = {b"crawl-delay", b"crawldelay"}
_SITEMAP = {b"sitemap", b"site-map"}


class CrawlerRules(NamedTuple):
    """What a robots.txt says to one crawler."""

    rules: tuple[Rule, ...]
    crawl_delay: float | None
    sitemaps: tuple[str, ...]


class _Group:
    """The merged groups for one crawler, or for `*`."""

    def __init__(self) -> None:
        self.named = False
        self.open = False
        self.rules: list[Rule] = []
        self.crawl_delay: float | None = None


def read_lines(body: bytes, agent: str) -> CrawlerRules:
    """Return what a robots.txt says to the crawler with the product token `agent`."""
    reading = _Reading(agent)
    for number, line in enumerate(_lines(body), 1):
        reading.take(number, *_key_and_value(line))
    group = reading.own if reading.own.named else reading.others
    return CrawlerRules(tuple(group.rules), group.crawl_delay, tuple(reading.sitemaps))


class _Reading:
    """The state of the reader between two lines."""

    def __init__(self, agent: str) -> None:
        self._token = agent.lower().encode()
        self._naming = False  # whether the last known line was a User-agent line
        self.own = _Group()
        self.others = _Group()
        self.sitemaps: dict[str, None] = {}
        self._sitemap_bytes = 0

    def take(self, number: int, key: bytes, value: bytes) -> None:
        if key in _USER_AGENT:
            self._name(value)
        elif key in _ALLOW or key in _DISALLOW:
            self._rule(Rule(key in _ALLOW, _pattern(value), number))
        elif key in _CRAWL_DELAY:
            self._delay(value)
        elif key in _SITEMAP and value:
            self._sitemap(value)

    def _open_groups(self) -> list[_Group]:
        return [group for group in (self.own, self.others) if group.open]

    def _name(self, value: bytes) -> None:
        if not self._naming:
            self.own.open = self.others.open = False
            self._naming = True
        if value.split(maxsplit=1)[:1] == [b"*"]:
            group = self.others
        elif self._token and _token(value).lower() == self._token:
            group = self.own
        else:
            return
        group.named = group.open = True

    def _rule(self, rule: Rule) -> None:
        self._naming = False
        # A rule without a pattern forbids nothing, but it ends the list of User-agent lines.
        if rule.pattern:
            for group in self._open_groups():
                group.rules.append(rule)

    def _sitemap(self, value: bytes) -> None:
        total = self._sitemap_bytes + len(value)
        if total <= MAX_SITEMAP_BYTES and len(self.sitemaps) < MAX_SITEMAPS:
            self.sitemaps[value.decode(errors="replace")] = None
            self._sitemap_bytes = total

    def _delay(self, value: bytes) -> None:
        match = _SECONDS.match(value)
        if match:
            seconds = float(b"%b.%b" % (match[1] or b"0", match[2] or b"0"))
            for group in self._open_groups():
                group.crawl_delay = max(seconds, group.crawl_delay or 0.0)


def _lines(body: bytes) -> list[bytes]:
    whole = len(body) <= MAX_ROBOTS_BYTES
    lines = body[:MAX_ROBOTS_BYTES].removeprefix(_BOM).splitlines()
    # The last line may be cut, which changes its meaning: "Allow: /public" could become "Allow: /".
    return lines if whole else lines[:-1]


def _key_and_value(line: bytes) -> tuple[bytes, bytes]:
    line = line.partition(b"#")[0]
    key, colon, value = line.partition(b":")
    if not colon and len(words := line.split()) == 2:
        key, value = words
    return key.strip().lower(), value.strip()


def _token(value: bytes) -> bytes:
    match = _TOKEN.match(value)
    return match[0] if match else b""


def _pattern(value: bytes) -> str:
    text = _BEYOND_ASCII.sub(lambda match: b"%%%02X" % match[0][0], value).decode("ascii")
    # "Disallow: private" is not valid, but it can only mean /private.
    return text if not text or text[0] in "/*" else f"/{text}"
