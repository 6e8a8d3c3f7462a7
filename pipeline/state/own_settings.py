"""The crawl's own settings: one small file of JSON that the snapshot names, with one line per setting.

    {
     "version": 1,
     "settings": {
      "scope.include": ["docs.python.org"],
      "scope.max_depth": 3
     }
    }

The file never changes: a new value makes a new file and a new snapshot. So an older snapshot keeps the
settings that it was made with. The file holds only values that differ from the defaults. If a new release has
better defaults, they apply to each crawl that did not choose its own value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from crawlctl.pipeline.errors import DamagedSettings, MissingFile
from crawlctl.pipeline.state.format_versions import check_version
from crawlctl.pipeline.state.kinds import SETTINGS
from crawlctl.pipeline.state.layout import data_name
from crawlctl.pipeline.state.manifest import FileEntry, file_entry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store

FORMAT_VERSION = 1


class _Stored(msgspec.Struct, forbid_unknown_fields=True):
    version: int
    settings: dict[str, Any]


def settings_entry(snapshot: Snapshot) -> FileEntry | None:
    """Return the file of a crawl's own settings; crawls of older releases have none."""
    return next(iter(snapshot.files_of(SETTINGS)), None)


def read_own_settings(store: Store, snapshot: Snapshot) -> dict[str, Any] | None:
    """Return the own settings of a crawl as plain values by key; None if it has none yet."""
    entry = settings_entry(snapshot)
    if entry is None:
        return None
    located = store.locate(entry.name)
    try:
        data = store.read(entry.name)
    except MissingFile as err:
        raise DamagedSettings(located, 0, "the file is missing") from err
    _verify(data, entry, located)
    return decode_own_settings(data, located)


def write_own_settings(store: Store, values: Mapping[str, Any], round_number: int) -> FileEntry:
    """Write plain values by key as a new file, and return its entry for the next snapshot."""
    with store.write(data_name(SETTINGS, 0, round_number, ".json")) as file:
        file.write(encode_own_settings(values))
    return file_entry(file, SETTINGS, 0, records=len(values))


def encode_own_settings(values: Mapping[str, Any]) -> bytes:
    """Return the content of the file, sorted by key, for grep and diff."""
    encode = msgspec.json.Encoder(order="deterministic").encode
    lines = b",".join(b"\n  " + encode(key) + b": " + encode(values[key]) for key in sorted(values))
    return b'{\n "version": %d,\n "settings": {%s\n }\n}\n' % (FORMAT_VERSION, lines)


def decode_own_settings(data: bytes, name: str) -> dict[str, Any]:
    """Return the values in a file; errors call it `name`."""
    try:
        check_version(data, name, FORMAT_VERSION)
        return msgspec.json.decode(data, type=_Stored).settings
    except (msgspec.DecodeError, UnicodeDecodeError) as err:
        raise DamagedSettings(name, 0, f"these are not the settings of a crawl: {err}") from err


def _verify(data: bytes, entry: FileEntry, name: str) -> None:
    """Raise unless the file has the size and the SHA-256 that the snapshot says."""
    from hashlib import sha256

    if len(data) != entry.bytes:
        raise DamagedSettings(name, len(data), f"it should have {entry.bytes} bytes")
    if sha256(data).hexdigest() != entry.checksum:
        raise DamagedSettings(name, 0, "its SHA-256 is not the one in the snapshot")
