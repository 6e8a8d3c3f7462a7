"""The title table of a segment: its titles and headings in the order of their words, to complete searches.

    keys      the folded words of each title or heading, in byte order (lines)
    texts     the title or heading as it is shown (lines)
    anchors   of a heading: `#` and its anchor in the page, if known; of a title: nothing (lines)
    urls      of the documents, by ordinal; nothing for a document without an entry (lines)
    ordinals  the document of each entry (4 bytes)

The frame is that of checked_blocks.py. Entries are ranked by the priors of their documents. Priors change and
segments do not, so priors are not in this table. Only a few entries with the same words (such as `see also`)
are kept, and per page its title and first headings. If there are still too many entries, the last headings of
pages are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.index.segment.segment_files import TITLES
from crawlctl.pipeline.index.words.checked_blocks import (
    join_blocks,
    lines_block,
    numbers_block,
    numbers_in,
    split_blocks,
)
from crawlctl.pipeline.index.words.packed_lines import PackedLines
from crawlctl.pipeline.state.kinds import SEGMENTS
from crawlctl.pipeline.state.manifest import file_entry
from crawlctl.pipeline.text.words.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlctl.pipeline.index.segment.stored_documents import DocRecord
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

MAX_ENTRIES = 1 << 16

_MAX_HEADINGS = 12  # the most headings per page
_MAX_SAME = 4  # the most entries with the same words
_MAX_CHARACTERS = 100  # the most characters of an entry; longer titles are sentences that nobody types


class TitleEntry(NamedTuple):
    """A title or heading of a document."""

    key: str  # its folded words, with a space between
    place: int  # 0: the title of the page; 1: its first heading, and so on
    url: str
    text: str
    anchor: str
    ordinal: int


def entries_of(record: DocRecord, ordinal: int) -> Iterator[TitleEntry]:
    """Yield the entries of a document."""
    anchors = {section.title: section.anchor for section in reversed(record.details.sections)}
    texts = dict.fromkeys((record.title, *record.headings[:_MAX_HEADINGS]))
    for place, text in enumerate(texts):
        shown = " ".join(text.split())
        key = " ".join(tokens(shown))
        if key and len(shown) <= _MAX_CHARACTERS:
            anchor = f"#{''.join(anchors.get(text, '').split())}" if place else ""
            yield TitleEntry(key, place, record.url, shown, anchor, ordinal)


def write_titles(
    store: Store, segment: str, partition: int, found: Iterable[TitleEntry], documents: int
) -> FileEntry:
    """Write the title table of a segment; `documents` is the number of its documents."""
    chosen = _chosen(found)
    urls = [""] * documents
    for entry in chosen:
        urls[entry.ordinal] = entry.url
    blocks = (
        lines_block(entry.key for entry in chosen),
        lines_block(entry.text for entry in chosen),
        lines_block(entry.anchor for entry in chosen),
        lines_block(urls),
        numbers_block("I", (entry.ordinal for entry in chosen)),
    )
    with store.write(f"{segment}/{TITLES}") as sink:
        sink.write(join_blocks(len(chosen), blocks))
    return file_entry(sink, SEGMENTS, partition)


def _chosen(found: Iterable[TitleEntry]) -> list[TitleEntry]:
    """Return the entries to keep, in the order of their keys."""
    kept: list[TitleEntry] = []
    key, same = "", 0
    for entry in sorted(found, key=lambda entry: (entry.key.encode(), entry.place > 0, len(entry.url))):
        same = same + 1 if entry.key == key else 1
        key = entry.key
        if same <= _MAX_SAME:
            kept.append(entry)
    if len(kept) > MAX_ENTRIES:
        last = sorted(entry.place for entry in kept)[MAX_ENTRIES]
        kept = [entry for entry in kept if entry.place < last or not last][:MAX_ENTRIES]
    return kept


class TitleTable:
    """A table in memory; damage is a CorruptFile."""

    def __init__(self, data: bytes, documents: int, name: str) -> None:
        self._name = name
        self._count, (keys, texts, anchors, urls, ordinals) = split_blocks(data, 5, name)
        self._keys, self._texts, self._anchors = (
            PackedLines(block, self._count, name) for block in (keys, texts, anchors)
        )
        self._urls = PackedLines(urls, documents, name)
        self.ordinals = numbers_in("I", ordinals, self._count, name)
        if max(self.ordinals, default=-1) >= documents:
            raise CorruptFile(name, 0, "the title table names a document that the segment does not have")

    def beginning_with(self, prefix: str) -> range:
        """Return the entries whose words begin with a prefix; the prefix must be folded like the words."""
        start = prefix.encode("utf-8", "replace")
        return range(self._keys.first_from(start), self._keys.first_from(start + b"\xff"))

    def entry(self, index: int) -> TitleEntry:
        """Return an entry; the place of a heading is 1."""
        ordinal = self.ordinals[index]
        anchor = self._anchors[index].decode("utf-8", "replace")
        return TitleEntry(
            self._keys[index].decode("utf-8", "replace"),
            int(bool(anchor)),
            self._urls[ordinal].decode("utf-8", "replace"),
            self._texts[index].decode("utf-8", "replace"),
            anchor,
            ordinal,
        )
