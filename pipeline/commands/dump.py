"""`crawlctl dump`: records as lines, from a table of the crawl or from any SequenceFile or MapFile."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from crawlctl.pipeline.commands.common import Session, json_option, pass_session, store_option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawlctl.pipeline.formats.sequencefile import SequenceFileReader
    from crawlctl.pipeline.formats.sequenceheader import Header
    from crawlctl.pipeline.formats.source import RangedSource

TABLES = ("webdb",)
MAPFILE_DATA = "data"


@click.command("dump")
@click.argument("what", metavar="TABLE|FILE")
@click.option("--partition", type=click.IntRange(min=0), help="Only this partition of a table.")
@click.option("--limit", type=click.IntRange(min=0), help="Stop after so many records.")
@click.option("--header", is_flag=True, help="Print the header of a file instead of its records.")
@store_option
@json_option
@pass_session
def command(
    session: Session, *, what: str, partition: int | None, limit: int | None, header: bool, as_json: bool
) -> None:
    """Print the records of a table or a file, one a line.

    The table is webdb. A file is a SequenceFile, or a MapFile by the folder that holds its data and index,
    given as a path or an s3:// URI. Keys and values are parted by a TAB; what is not text is shown in base64.

    \b
    Example:
      crawlctl dump webdb --limit 10
      crawlctl dump --json part-r-00000
    """
    if what in TABLES and not Path(what).exists():
        readers = _table(session, what, partition)
    else:
        readers = iter([_open_file(what)])
    lines = (_header_line(reader.header) for reader in readers) if header else _records(readers, as_json)
    for line in islice(lines, limit):
        click.echo(line)


def _table(session: Session, kind: str, partition: int | None) -> Iterator[SequenceFileReader]:
    from crawlctl.pipeline.formats.sequencefile import SequenceFileReader
    from crawlctl.pipeline.store.snapshots import load_current

    store = session.store()
    for entry in load_current(store).files_of(kind, partition):
        if entry.name.endswith(f"/{MAPFILE_DATA}"):
            yield SequenceFileReader(store.open(entry.name))


def _open_file(target: str) -> SequenceFileReader:
    from crawlctl.pipeline.formats.sequencefile import SequenceFileReader

    return SequenceFileReader(_remote_source(target) if "://" in target else _local_source(Path(target)))


def _local_source(path: Path) -> RangedSource:
    from crawlctl.pipeline.formats.source import PathSource

    return PathSource(path / MAPFILE_DATA if path.is_dir() else path)


def _remote_source(uri: str) -> RangedSource:
    from crawlctl.pipeline.errors import MissingFile
    from crawlctl.pipeline.store.open import open_store

    folder, _, name = uri.rstrip("/").rpartition("/")
    store = open_store(folder)
    try:
        return store.open(name)
    except MissingFile:
        return store.open(f"{name}/{MAPFILE_DATA}")


def _header_line(header: Header) -> str:
    import msgspec

    plain = {
        "key_class": header.key_class,
        "value_class": header.value_class,
        "compression": header.compression,
        "codec": header.codec,
        "metadata": dict(header.metadata),
    }
    return msgspec.json.encode(plain).decode()


def _records(readers: Iterator[SequenceFileReader], as_json: bool) -> Iterator[str]:
    import msgspec

    from crawlctl.pipeline.webdb.part import KIND_KEY

    for reader in readers:
        show_key = _shower(reader.header.key_class)
        show_value = _shower(reader.header.value_class, reader.header.metadata.get(KIND_KEY))
        for key, value in reader:
            if as_json:
                yield msgspec.json.encode({"key": show_key(key), "value": show_value(value)}).decode()
            else:
                yield f"{_one_line(show_key(key))}\t{_one_line(show_value(value))}"


def _shower(class_name: str, kind: str | None = None) -> Callable[[bytes], Any]:
    """Return the function that makes a payload of a Hadoop class, or of a table of ours, readable."""
    from crawlctl.pipeline.formats.writables import LONG, TEXT, unpack_long

    if kind == "webdb":
        return _show_entry
    if class_name == LONG:
        return unpack_long
    if class_name == TEXT:
        return lambda payload: payload.decode("utf-8", "backslashreplace")
    return _show_bytes


def _show_entry(payload: bytes) -> dict[str, Any]:
    import msgspec

    from crawlctl.pipeline.webdb.records import decode_entry

    entry = decode_entry(payload)
    fields = msgspec.structs.asdict(entry)
    return {**fields, "status": entry.status.name.lower(), "signature": entry.signature.hex()}


def _show_bytes(payload: bytes) -> str:
    from base64 import b64encode

    try:
        text = payload.decode()
    except UnicodeDecodeError:
        text = "\0"
    return text if text.isprintable() else b64encode(payload).decode()


def _one_line(shown: Any) -> str:
    """Return a value as text that breaks no line and cannot steer a terminal."""
    import msgspec

    if not isinstance(shown, str):
        return msgspec.json.encode(shown).decode()
    if shown.isprintable():
        return shown
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in shown)
