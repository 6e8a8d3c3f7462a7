"""Documents as they are handed to the index, and as the `docs` file of a run keeps them.

The text lies in the record as it is, and the block of the file is compressed as a whole: that takes less room
than compressing each text by itself, `hadoop fs -text` shows it, and inflating the block of one document
takes a third of a millisecond (bench/bench_index.py).
"""

from __future__ import annotations

import msgspec

from crawlctl.pipeline.errors import CorruptFile

PREVIEW_CHARACTERS = 240


class Document(msgspec.Struct, frozen=True):
    """A page to be indexed; times are whole UTC seconds, 0 means unknown."""

    url: str
    title: str = ""
    headings: tuple[str, ...] = ()
    text: str = ""
    language: str = ""
    links: tuple[tuple[str, str, bool], ...] = ()  # URL, anchor, nofollow
    fetched_at: int = 0
    last_modified: int = 0
    signature: bytes = b""
    similarity: bytes = b""  # the sketch of text.duplicates
    canonical: str = ""


class Lengths(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The number of words of each field that are in the postings."""

    body: int = 0
    heading: int = 0
    title: int = 0
    url: int = 0


class DocRecord(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What is known of an indexed document; the text comes last, so that a shorter struct can leave it."""

    url: str
    title: str
    headings: tuple[str, ...]
    lengths: Lengths
    language: str
    fetched_at: int
    last_modified: int
    signature: bytes
    similarity: bytes
    canonical: str
    unused: str  # a URL in stores of before, when documents named those of their partition they resemble
    text: str

    @property
    def preview(self) -> str:
        """The beginning of the text in one line, cut between two words."""
        words = self.text[: PREVIEW_CHARACTERS + 1].split()
        if len(self.text) > PREVIEW_CHARACTERS and len(words) > 1:
            del words[-1]
        return " ".join(words)[:PREVIEW_CHARACTERS]


class DocHead(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What a merge has to know of a document; it lies apart, so that no text is inflated for it."""

    url: str
    lengths: Lengths
    language: str
    fetched_at: int
    last_modified: int
    similarity: bytes


def record_of(document: Document, lengths: Lengths) -> DocRecord:
    """Return what the docs file keeps of a document."""
    return DocRecord(
        document.url,
        document.title,
        document.headings,
        lengths,
        document.language,
        document.fetched_at,
        document.last_modified,
        document.signature,
        document.similarity,
        document.canonical,
        "",
        document.text,
    )


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(DocRecord).decode
_decode_head = msgspec.msgpack.Decoder(DocHead).decode


def encode_record(record: DocRecord) -> bytes:
    """Return the packed record; half a surrogate pair, which no file can hold, becomes a question mark."""
    try:
        return _encode(record)
    except UnicodeEncodeError:
        return _encode(_whole(msgspec.to_builtins(record, builtin_types=(bytes,))))


def decode_record(value: bytes, name: str = "docs", offset: int = 0) -> DocRecord:
    """Return the record packed in `value`, which lies in the block at `offset` of the file `name`."""
    try:
        return _decode(value)
    except (msgspec.MsgspecError, UnicodeDecodeError) as err:
        raise CorruptFile(name, offset, f"not a record of a document ({err})") from err


def encode_head(record: DocRecord) -> bytes:
    """Return the packed head of a document."""
    head = DocHead(
        record.url,
        record.lengths,
        record.language,
        record.fetched_at,
        record.last_modified,
        record.similarity,
    )
    try:
        return _encode(head)
    except UnicodeEncodeError:
        return _encode(_whole(msgspec.to_builtins(head, builtin_types=(bytes,))))


def decode_head(value: bytes, name: str = "heads", offset: int = 0) -> DocHead:
    """Return the head packed in `value`, which lies in the block at `offset` of the file `name`."""
    try:
        return _decode_head(value)
    except (msgspec.MsgspecError, UnicodeDecodeError) as err:
        raise CorruptFile(name, offset, f"not the head of a document ({err})") from err


def _whole(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    return [_whole(part) for part in value] if isinstance(value, (list, tuple)) else value
