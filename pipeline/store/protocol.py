"""The mrjob protocol of a job whose output is its manifest."""

from __future__ import annotations

from crawlctl.pipeline.store.manifest import FileEntry, decode_entry, encode_entry


class ManifestProtocol:
    """Lines of files without keys, as (None, FileEntry)."""

    def read(self, line: bytes) -> tuple[None, FileEntry]:
        """Return the file that a line of output is about."""
        return None, decode_entry(line, "the output of a job")

    def write(self, _key: None, entry: FileEntry) -> bytes:
        """Return the line of a file, without its end."""
        return encode_entry(entry)
