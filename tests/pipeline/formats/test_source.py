from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.formats.source import PathSource
from crawlctl.tests.bytes_source import BytesSource

if TYPE_CHECKING:
    from pathlib import Path


def test_a_path_and_its_bytes_read_alike(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    on_disk, in_memory = PathSource(path), BytesSource(b"0123456789", str(path))
    assert (on_disk.name, on_disk.size) == (in_memory.name, in_memory.size)
    for start, length in [(0, 10), (3, 4), (8, 9), (10, 1), (20, 1), (5, 0)]:
        assert on_disk.read(start, length) == in_memory.read(start, length)
