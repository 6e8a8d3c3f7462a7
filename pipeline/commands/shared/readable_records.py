"""Makes records of files readable: values of crawlctl's tables, and of Hadoop's classes."""

from __future__ import annotations

from base64 import b64encode
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import msgspec

from crawlctl.pipeline.captures.capture_record import decode_captures
from crawlctl.pipeline.commands.shared.output import json_of
from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.sequencefile.writables import LONG, TEXT, unpack_long
from crawlctl.pipeline.index.keywords import split_keyword
from crawlctl.pipeline.index.runs.run_files import DOCUMENTS_KEY
from crawlctl.pipeline.index.segment.dictionary import decode_term_infos
from crawlctl.pipeline.index.segment.stored_documents import decode_head, decode_record
from crawlctl.pipeline.index.segment.stored_links import decode_links
from crawlctl.pipeline.index.segment.term_info import decode_term_info
from crawlctl.pipeline.robots.robots import Robots
from crawlctl.pipeline.state.kinds import CAPTURES, DICTIONARY
from crawlctl.pipeline.state.layout import KIND_KEY
from crawlctl.pipeline.terminal.printable import escaped
from crawlctl.pipeline.text.words.stems import FORM_MARK, STEM_MARK
from crawlctl.pipeline.webdb.records import decode_entry, decode_fresh, decode_outcome
from crawlctl.pipeline.webdb.repeated.block_sample import decode_sample
from crawlctl.pipeline.webdb.row_files import decode_host

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from crawlctl.pipeline.crawl.reports.dumped_files import Records
    from crawlctl.pipeline.formats.sequencefile.header import Header

DECODERS: dict[str, Callable[[bytes], Any]] = {
    "webdb": decode_entry,
    "outcomes": decode_outcome,
    "fresh": decode_fresh,
    "hosts": decode_host,
    "blocks": decode_sample,
    "docs": decode_record,
    "heads": decode_head,
    "links": decode_links,
    "terms": lambda value: decode_term_info(value)[0],
}


# Tables in which one value has several records.
_LISTS: dict[str, Callable[[bytes], Iterable[Any]]] = {
    DICTIONARY: decode_term_infos,
    CAPTURES: decode_captures,
}


_TERM_TABLES = frozenset({"terms", DICTIONARY})


def header_line(header: Header) -> str:
    """Return the header of a file as a line of JSON."""
    plain = {
        "key_class": header.key_class,
        "value_class": header.value_class,
        "compression": header.compression,
        "codec": header.codec,
        "metadata": dict(header.metadata),
    }
    return json_of(plain)


def record_lines(readers: Iterable[Records], as_json: bool) -> Iterator[str]:
    """Yield a line per record: key, TAB and value, or a JSON object."""
    for reader in readers:
        try:
            yield from _lines(reader, as_json)
        except (msgspec.MsgspecError, ValueError) as err:
            raise CorruptFile(reader.name, 0, f"not a file of the table it names ({err})") from err


def _lines(reader: Records, as_json: bool) -> Iterator[str]:
    has_terms = reader.header.metadata.get(KIND_KEY, "") in _TERM_TABLES
    show_key = readable_term if has_terms else _shower(reader.header.key_class)
    show_value = _value_shower(reader.header)
    for key, value in reader:
        try:
            shown_key, shown_value = show_key(key), show_value(value)
        except CorruptFile as err:  # decoders do not know in which file a value is; readers do
            raise type(err)(reader.name, err.offset, err.reason) from err
        if as_json:
            yield json_of({"key": shown_key, "value": shown_value})
        else:
            yield f"{_one_line(shown_key)}\t{_one_line(shown_value)}"


def _value_shower(header: Header) -> Callable[[bytes], Any]:
    kind = header.metadata.get(KIND_KEY, "")
    if kind == "postings":
        documents = header.metadata.get(DOCUMENTS_KEY, "")
        if not documents.isdecimal():
            raise ValueError(f"its metadata lack {DOCUMENTS_KEY}, the number of its documents")
        return lambda payload: _show_postings(payload, int(documents))
    if kind in _LISTS:
        decode_list = _LISTS[kind]
        return lambda payload: [_plain(record) for record in decode_list(payload)]
    if kind in DECODERS:
        decode = DECODERS[kind]
        return lambda payload: _plain(decode(payload))
    return _shower(header.value_class)


def _shower(class_name: str) -> Callable[[bytes], Any]:
    if class_name == LONG:
        return unpack_long
    if class_name == TEXT:
        return _text
    return _show_bytes


def _show_postings(payload: bytes, documents: int) -> dict[str, Any]:
    from crawlctl.pipeline.index.runs.posting_slices import decode_slice, plain_lists  # needs numpy

    terms, lists = decode_slice(payload, documents)
    return {
        readable_term(term): found._asdict() for term, found in zip(terms, plain_lists(lists), strict=True)
    }


def readable_term(term: bytes) -> str:
    """Return an index term without control characters: `loop [en stem]`, `loops [en form]`, `type:html`.

    The brackets show the mark behind a word (text/words/stems.py): its language, and whether it is a stem or
    a form. No word has a space, so two terms never look the same.
    """
    if term.startswith(STEM_MARK):
        return ":".join(split_keyword(term))
    for mark, name in ((STEM_MARK, "stem"), (FORM_MARK, "form")):
        word, found, language = term.partition(mark)
        if found:
            return f"{_text(word)} [{_text(language)} {name}]"
    return _text(term)


def _text(payload: bytes) -> str:
    return payload.decode("utf-8", "backslashreplace")


def _plain(record: Any) -> dict[str, Any]:
    """Return a record as a dictionary, with enumerations by name and bytes in hex."""
    fields = msgspec.structs.asdict(record) if isinstance(record, msgspec.Struct) else record._asdict()
    return {name: _plain_value(value) for name, value in fields.items()}


def _plain_value(value: Any) -> Any:
    if isinstance(value, IntEnum):
        return value.name.lower()
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Robots):
        return {**_plain(value), "rules": [[rule.allow, rule.pattern, rule.line] for rule in value.listed()]}
    if isinstance(value, msgspec.Struct):
        return _plain(value)
    if isinstance(value, dict):
        return {key: _plain_value(inner) for key, inner in value.items()}
    return [_plain_value(inner) for inner in value] if isinstance(value, tuple) else value


def _show_bytes(payload: bytes) -> str:
    try:
        text = payload.decode()
    except UnicodeDecodeError:
        return b64encode(payload).decode()
    return text if text.isprintable() else b64encode(payload).decode()


def _one_line(shown: Any) -> str:
    """Return a value as text on one line that cannot control a terminal."""
    return escaped(shown) if isinstance(shown, str) else json_of(shown)
