"""Documents as the index receives them, and as the `docs` and `heads` files keep them.

The text lies in the record uncompressed, and the block of the file is compressed as a whole: that takes less
room than compressing each text by itself, `hadoop fs -text` shows it, and reading one document with its block
takes a twentieth of a millisecond.
"""

from __future__ import annotations

from typing import Any

import msgspec

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.text.details.shown_details import latest_date
from crawlctl.pipeline.text.documents.page import PageDetails


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
    sketch: bytes = b""
    canonical: str = ""
    details: PageDetails = PageDetails()
    blocks: bytes = b""  # the hashes of its blocks (page_blocks.py): saved with the run, not with the index


class Lengths(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The number of words of each field that are in the postings."""

    body: int = 0
    heading: int = 0
    title: int = 0
    url: int = 0


class _DocFields(msgspec.Struct, frozen=True, array_like=True, gc=False):
    url: str
    title: str
    headings: tuple[str, ...]
    lengths: Lengths
    language: str
    fetched_at: int
    last_modified: int
    signature: bytes
    canonical: str
    details: PageDetails


class DocRecord(_DocFields, frozen=True, array_like=True, gc=False):
    """What a segment keeps of a document; the text comes last, so that a shorter struct can leave it out."""

    text: str


class PackedRecord(_DocFields, frozen=True, array_like=True, gc=False):
    """The same with the text as it is packed: a search shows only a few words of it."""

    packed_text: msgspec.Raw

    @property
    def text_bytes(self) -> bytes:
        """The text in UTF-8."""
        packed = memoryview(self.packed_text)
        return bytes(packed[_HEAD_BYTES[packed[0]] :])


class _RecordUrl(msgspec.Struct, frozen=True, array_like=True, gc=False):
    url: str


class _RecordWithoutDetails(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A record of the version before details were kept; merges copy it to new segments as it is."""

    url: str
    title: str
    headings: tuple[str, ...]
    lengths: Lengths
    language: str
    fetched_at: int
    last_modified: int
    signature: bytes
    canonical: str
    text: str


class _RecordWithSketch(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A record of still earlier versions, with a sketch and an unused field."""

    url: str
    title: str
    headings: tuple[str, ...]
    lengths: Lengths
    language: str
    fetched_at: int
    last_modified: int
    signature: bytes
    sketch: bytes
    canonical: str
    unused: str
    text: str


class DocHead(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What a run says about a document without its text.

    `heads` is a file of its own, so that no text must be inflated for a head.
    """

    url: str
    lengths: Lengths
    language: str
    fetched_at: int
    latest_date: int  # the latest date of publishing or change that any source names; 0 if none does
    sketch: bytes
    signature: bytes = b""  # not in runs of earlier versions
    explicit: int = 0  # of the details; also not in runs of earlier versions
    signs: int = 0  # of the details; also not in runs of earlier versions
    links: int = 0  # of the details; also not in runs of earlier versions


_encode = msgspec.msgpack.Encoder().encode
_decode_record = msgspec.msgpack.Decoder(DocRecord).decode
_decode_packed = msgspec.msgpack.Decoder(PackedRecord).decode
# How many bytes stand before a text in msgpack, by the first of them; no other value begins with these.
_HEAD_BYTES = {**dict.fromkeys(range(0xA0, 0xC0), 1), 0xD9: 2, 0xDA: 3, 0xDB: 5}
_decode_url = msgspec.msgpack.Decoder(_RecordUrl).decode
_decode_head = msgspec.msgpack.Decoder(DocHead).decode
_decode_older = {
    # The first byte of an array of that length in msgpack tells the versions apart.
    0x90 | len(older.__struct_fields__): msgspec.msgpack.Decoder(older).decode
    for older in (_RecordWithoutDetails, _RecordWithSketch)
}
_NO_DETAILS = PageDetails()


def record_of(document: Document, lengths: Lengths) -> DocRecord:
    """Return what the `docs` file keeps of a document."""
    return DocRecord(
        document.url,
        document.title,
        document.headings,
        lengths,
        document.language,
        document.fetched_at,
        document.last_modified,
        document.signature,
        document.canonical,
        document.details,
        document.text,
    )


def head_of(record: DocRecord, sketch: bytes) -> DocHead:
    """Return what the `heads` file keeps of a document."""
    return DocHead(
        record.url,
        record.lengths,
        record.language,
        record.fetched_at,
        latest_date(record.details, record.last_modified, record.fetched_at),
        sketch,
        record.signature,
        record.details.explicit,
        record.details.signs,
        record.details.links,
    )


def encode_document(stored: DocRecord | DocHead) -> bytes:
    """Return a packed record or head.

    Half a surrogate pair, which no file can hold, becomes a question mark.
    """
    try:
        return _encode(stored)
    except UnicodeEncodeError:
        return _encode(_whole(msgspec.to_builtins(stored, builtin_types=(bytes,))))


def decode_record(value: bytes, name: str = "docs", offset: int = 0) -> DocRecord:
    """Return the record packed in `value`, which lies in the block at `offset` of the file `name`."""
    try:
        return _of_older(value) if value and value[0] in _decode_older else _decode_record(value)
    except (msgspec.MsgspecError, UnicodeDecodeError) as err:
        raise CorruptFile(name, offset, f"not a record of a document ({err})") from err


def decode_packed(value: bytes, name: str = "docs", offset: int = 0) -> PackedRecord:
    """Return the record packed in `value` with its text still packed."""
    if value and value[0] in _decode_older:
        older = decode_record(value, name, offset)
        fields: list[Any] = [getattr(older, field) for field in DocRecord.__struct_fields__[:-1]]
        fields.append(msgspec.Raw(_encode(older.text)))
        return PackedRecord(*fields)
    try:
        record = _decode_packed(value)
    except (msgspec.MsgspecError, UnicodeDecodeError) as err:
        raise CorruptFile(name, offset, f"not a record of a document ({err})") from err
    if memoryview(record.packed_text)[0] not in _HEAD_BYTES:
        raise CorruptFile(name, offset, "not a record of a document (its text is no text)")
    return record


def decode_url(value: bytes, name: str = "docs", offset: int = 0) -> str:
    """Return the URL of the record packed in `value`; in all versions it comes first."""
    try:
        return _decode_url(value).url
    except (msgspec.MsgspecError, UnicodeDecodeError) as err:
        raise CorruptFile(name, offset, f"not a record of a document ({err})") from err


def decode_head(value: bytes, name: str = "heads", offset: int = 0) -> DocHead:
    """Return the head packed in `value`, which lies in the block at `offset` of the file `name`."""
    try:
        return _decode_head(value)
    except (msgspec.MsgspecError, UnicodeDecodeError) as err:
        raise CorruptFile(name, offset, f"not the head of a document ({err})") from err


def _of_older(value: bytes) -> DocRecord:
    older: Any = _decode_older[value[0]](value)
    fields: list[Any] = [getattr(older, field, _NO_DETAILS) for field in DocRecord.__struct_fields__]
    return DocRecord(*fields)


def _whole(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    return [_whole(item) for item in value] if isinstance(value, (list, tuple)) else value
