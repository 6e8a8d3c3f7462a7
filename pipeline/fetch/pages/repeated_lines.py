"""Finds the lines that many pages of a host begin or end with, and leaves them out of later documents.

A page alone cannot show that its first lines are a menu if they are marked up like its content, as in old
table layouts. The pages of its host can: the same lines stand on most of them. Only the run of known lines at
the beginning of a text and the run at its end are left out. A repeated line between other lines, such as
"Parameters", is content.

A task counts the first and last lines of the pages of each host, and saves the repeated ones with the state
of the host. Only later rounds leave them out: a document then depends on what earlier rounds have found, and
not on the order in which the pages of its own round arrive. (A task that was stopped and begins again also
knows the lines that its first attempt has saved.) The signature and the sketch of a page come from its whole
text, so a page does not count as changed because more lines are known.

The counts of all hosts share one limit of lines. A host of many pages gives back the lines that only few of
its pages have.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING
from zlib import crc32

from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from crawlctl.pipeline.index.segment.stored_documents import Document
    from crawlctl.pipeline.politeness.host_state import HostState
    from crawlctl.pipeline.text.documents.page import PageDetails

MAX_REPEATED = 256  # lines that are kept of a host
_EDGE = 40  # lines at the beginning, and as many at the end of a page
_MAX_COUNTED = 4096  # lines that are counted of a host; later ones can hardly stand on half of its pages
_MAX_LINES = 200_000  # that are counted in a task and round, some 20 MB
_KNOWN_HOSTS = 256  # whose known lines are kept ready, some 4 MB
_MANY_PAGES = 16  # of a host: rare lines are dropped here, and each time when the number has doubled
_RARE = 1 / 8  # of the pages of a host so far
_FEWEST_PAGES = 8  # pages of a host from which anything can be learned
_SHARE = 0.5  # of the pages of a host in this round that a repeated line stands on
_ENOUGH = 140  # characters that must be left of a text


def line_hash(line: str) -> int:
    """Return the 32-bit hash by which a line is known."""
    return crc32(line.encode("utf-8", "surrogatepass"))


class RepeatedLines:
    """The repeated lines of the hosts of a task: the known ones, and the counts of this round."""

    def __init__(self, states: Mapping[str, HostState] | None = None) -> None:
        self.counted = 0  # lines, of all hosts
        self._states = states or {}
        self._known = lru_cache(_KNOWN_HOSTS)(self._find_known)
        self._counts: dict[str, Counter[int]] = {}
        self._pages: Counter[str] = Counter()

    def count(self, host: str, text: str) -> None:
        """Count the first and last lines of a page that is new in this round."""
        if host not in self._counts and self.counted >= _MAX_LINES:
            return
        self._pages[host] += 1
        counts = self._counts.setdefault(host, Counter())
        before = len(counts)
        lines = text.split("\n")
        hashes = {line_hash(line) for line in (*lines[:_EDGE], *lines[-_EDGE:])}
        has_room = before < _MAX_COUNTED and self.counted + len(hashes) <= _MAX_LINES
        # Known lines are always counted: a known line without a count would be forgotten.
        counts.update(hashes if has_room else hashes & (counts.keys() | self._known(host)))
        self._drop_rare(host)
        self.counted += len(counts) - before

    def _drop_rare(self, host: str) -> None:
        pages, counts = self._pages[host], self._counts[host]
        if pages >= _MANY_PAGES and pages.bit_count() == 1:
            known = self._known(host)
            rare = [line for line, number in counts.items() if number < pages * _RARE and line not in known]
            for line in rare:
                del counts[line]

    def _find_known(self, host: str) -> frozenset[int]:
        state = self._states.get(host)
        return frozenset(state.repeated) if state else frozenset()

    def without(self, host: str, document: Document) -> Document:
        """Return a document without the lines at its edges that earlier rounds know from other pages."""
        known = self._known(host)
        if not known or not document.text:
            return document
        lines = document.text.split("\n")
        first, last = _edges(lines, known)
        text = "\n".join(lines[first:last])
        if len(text) < _ENOUGH or (first, last) == (0, len(lines)):
            return document
        gone = {*lines[:first], *lines[last:]}
        return replace(
            document,
            text=text,
            headings=tuple([heading for heading in document.headings if heading not in gone]),
            details=_moved(document.details, sum(len(line) + 1 for line in lines[:first]), len(text)),
        )

    def remembered(self, host: str, state: HostState) -> HostState:
        """Return the state of a host with its repeated lines, for the next rounds."""
        known = self._known(host)
        pages = self._pages[host]
        if pages < _FEWEST_PAGES:
            return replace(state, repeated=tuple(sorted(known)))
        counts = self._counts[host]
        often = [(-number, line) for line, number in counts.items() if number >= pages * _SHARE]
        kept = {line for line in known if counts[line]} | {line for _, line in sorted(often)[:MAX_REPEATED]}
        return replace(state, repeated=tuple(sorted(kept)[:MAX_REPEATED]))


def _edges(lines: list[str], known: Iterable[int]) -> tuple[int, int]:
    """Return where the lines begin and end that are not in the runs of known lines at the edges."""
    first, last = 0, len(lines)
    while first < last and line_hash(lines[first]) in known:
        first += 1
    while last > first and line_hash(lines[last - 1]) in known:
        last -= 1
    return first, last


def _moved(details: PageDetails, cut: int, length: int) -> PageDetails:
    """Return the details of a page whose text has lost `cut` characters at its beginning."""
    sections = [
        replace(section, offset=section.offset - cut)
        for section in details.sections
        if cut <= section.offset < cut + length
    ]
    return replace(details, sections=tuple(sections))
