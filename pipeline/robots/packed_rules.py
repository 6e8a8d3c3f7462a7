"""Packs the rules of a robots.txt into few bytes, sorted for a search.

Half a megabyte of rules takes seven megabytes as Python objects, and a task may know the rules of thousands
of hosts. So the rules of a host are kept as one byte string, compressed if that saves space. They are sorted
before they are packed, so that a search only has to unpack them. rule_index.py unpacks the rules when a URL
is checked, and drops the unpacked rules that were not used for the longest time.

Rules that can never match, or that another rule always overrides, are left out. The number of patterns with
stars, and of their stars, is limited. Beyond the limit a Disallow is cut at its first star, and an Allow is
left out, so that more is forbidden than the site meant, but never less. (Of 4,231 real files the largest has
582 patterns with 1,144 stars.)
"""

from __future__ import annotations

from array import array
from collections import Counter
from typing import TYPE_CHECKING, cast

import msgspec
from isal import isal_zlib

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.robots.patterns import END, STAR, Rule, comparable_pattern, written
from crawlctl.pipeline.urls.whatwg import MAX_URL_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAX_STARRED = 2_000
MAX_STARS = 8_000
GRAM = 3  # characters

HOST_TABLE = "hosts"  # the table with the packed rules, for error messages

_IgzipError = cast("type[Exception]", isal_zlib.error)  # the type stub says that it is an instance
_LONGEST_PATH = 3 * MAX_URL_BYTES  # if each byte is written as an escape (%41)
_DEFLATED_FROM = 2048  # bytes; shorter ones are compressed better together, in their table
_DEFLATE = b"\x78"  # the first byte of zlib data; no msgpack array begins with it


class Columns(msgspec.Struct, frozen=True, array_like=True):
    """Rules in columns: prefixes, then whole paths (patterns that end in `$`), then patterns with stars.

    Texts are in comparable form and joined by line feeds. Prefixes and whole paths are sorted; patterns with
    stars are in the order in which they are tried. `allows`, `lines` and the keys of `spelt` number the rules
    through all three groups.
    """

    prefixes: str = ""
    parents: bytes = b""  # for each prefix: the number of the longest other prefix it begins with, or -1
    whole: str = ""
    starred: str = ""
    grams: str = ""  # for each pattern with stars: three characters that a path must contain, or empty
    allows: bytes = b""
    lines: bytes = b""
    spelt: dict[int, str] = {}  # patterns that the site wrote in another form


_NONE = msgspec.msgpack.encode(Columns())
_decode = msgspec.msgpack.Decoder(Columns).decode


def pack_rules(rules: Iterable[Rule]) -> bytes:
    """Return the rules in packed form; without rules an empty byte string."""
    gathered = _Gathered(rules)
    prefixes, whole = sorted(gathered.prefixes), sorted(gathered.whole)
    starred = sorted(
        gathered.starred, key=lambda pattern: (-len(pattern), not gathered.starred[pattern].allow)
    )
    kept = [gathered.prefixes[key] for key in prefixes]
    kept += [gathered.whole[key] for key in whole]
    kept += [gathered.starred[key] for key in starred]
    if not kept:
        return b""
    texts = (*prefixes, *(key + END for key in whole), *starred)
    columns = Columns(
        "\n".join(prefixes),
        array("i", _parents(prefixes)).tobytes(),
        "\n".join(whole),
        "\n".join(starred),
        "\n".join(_rarest_grams(starred)),
        bytes(rule.allow for rule in kept),
        array("I", (rule.line for rule in kept)).tobytes(),
        {
            number: rule.pattern
            for number, (rule, text) in enumerate(zip(kept, texts, strict=True))
            if rule.pattern != text and rule.pattern != written(text)
        },
    )
    packed = msgspec.msgpack.encode(columns)
    return packed if len(packed) < _DEFLATED_FROM else isal_zlib.compress(packed)


def unpack_rules(packed: bytes) -> Columns:
    """Return the rules that `pack_rules` has packed."""
    try:
        return _decode(isal_zlib.decompress(packed) if packed.startswith(_DEFLATE) else packed or _NONE)
    except (_IgzipError, msgspec.MsgspecError, UnicodeDecodeError) as err:
        raise CorruptFile(HOST_TABLE, 0, f"not the rules of a robots.txt ({err})") from err


class _Gathered:
    """Rules by group and comparable text; of two rules with the same text the Allow is kept."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.prefixes: dict[str, Rule] = {}
        self.whole: dict[str, Rule] = {}
        self.starred: dict[str, Rule] = {}
        self._stars = 0
        for rule in rules:
            self._add(rule, comparable_pattern(rule.pattern))
            # The index page and its folder are the same page, so an Allow for one holds for both.
            if rule.allow and "/index.htm" in rule.pattern:
                folder, _, rest = rule.pattern.rpartition("/index.htm")
                if "/" not in rest:
                    self._add(rule, comparable_pattern(f"{folder}/$"))

    def _add(self, rule: Rule, text: str) -> None:
        stars = text.count(STAR)
        if len(text) - stars - text.endswith(END) > _LONGEST_PATH:
            return
        if not stars:
            _keep(self.whole if text.endswith(END) else self.prefixes, text.removesuffix(END), rule)
        elif text in self.starred or self._has_room_for(stars):
            _keep(self.starred, text, rule)
        elif not rule.allow:
            _keep(self.prefixes, text[: text.index(STAR)] or "/", rule)

    def _has_room_for(self, stars: int) -> bool:
        if len(self.starred) >= MAX_STARRED or self._stars + stars > MAX_STARS:
            return False
        self._stars += stars
        return True


def _keep(rules: dict[str, Rule], key: str, rule: Rule) -> None:
    if key not in rules or (rule.allow and not rules[key].allow):
        rules[key] = rule


def _parents(prefixes: Sequence[str]) -> Iterable[int]:
    """Yield for each of the sorted prefixes the number of the longest other prefix it begins with, or -1."""
    opened: list[int] = []
    for number, prefix in enumerate(prefixes):
        while opened and not prefix.startswith(prefixes[opened[-1]]):
            opened.pop()
        yield opened[-1] if opened else -1
        opened.append(number)


def _rarest_grams(patterns: Sequence[str]) -> list[str]:
    """Return for each pattern the three characters that the fewest other patterns contain."""
    of_each = [_grams(pattern) for pattern in patterns]
    common = Counter(gram for grams in of_each for gram in grams)
    return [min(grams, key=lambda gram: (common[gram], gram), default="") for grams in of_each]


def _grams(pattern: str) -> set[str]:
    literals = pattern.removesuffix(END).split(STAR)
    return {literal[at : at + GRAM] for literal in literals for at in range(len(literal) - GRAM + 1)}
