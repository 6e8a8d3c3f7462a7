"""Reserved disk space, so that `crawlctl gc` can work when the disk is full.

Before gc deletes anything it takes the lease. The record of a lease is a file, and a full disk has no block
for it. So some spare files of one block each are kept in the folder of the lease. On a full disk gc writes
its record over the content of a spare file and links that file under the name of the record. This needs no
new block, no other process can take the space in between, and if several processes try, one succeeds, as with
every record. There are several spare files because the first gc may free nothing, and a second gc, which
keeps fewer snapshots, must work too.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from crawlctl.pipeline.store.local.disk import (
    TEMPORARY,
    link_new,
    replace_whole,
    sync_file,
    sync_names,
    write_all,
)

if TYPE_CHECKING:
    from pathlib import Path

SPARE = ".spare-"
SPARES = 8  # files; a gc uses two: one to take the lease and one to release it
SPARE_BYTES = 4096  # one block of the disk; a lease record has about 400 bytes


def keep_spare(folder: Path) -> None:
    """Make the spare files that are missing in a folder."""
    for number in range(SPARES):
        spare = folder / f"{SPARE}{number}"
        if not spare.exists():
            replace_whole(spare, b" " * SPARE_BYTES, sync=True)


def _take(folder: Path) -> Path:
    """Rename a spare file to a new name; only one of several processes succeeds with each file."""
    taken = folder / (TEMPORARY + os.urandom(8).hex())
    for number in range(SPARES):
        with suppress(FileNotFoundError):
            return (folder / f"{SPARE}{number}").rename(taken)
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(folder / SPARE))


def create_from_spare(path: Path, data: bytes, root: Path) -> bool:
    """Write a file as `create_whole` does, over a spare file; raise FileNotFoundError if none is left."""
    if len(data) > SPARE_BYTES:
        raise ValueError(f"{len(data)} bytes do not fit into the spare file")
    taken = _take(path.parent)
    try:
        descriptor = os.open(taken, os.O_WRONLY | os.O_CLOEXEC)
        try:
            write_all(descriptor, data)
            os.ftruncate(descriptor, len(data))
            sync_file(descriptor)
        finally:
            os.close(descriptor)
        if not link_new(taken, path):
            return False
    finally:
        with suppress(OSError):  # `crawlctl gc` finds it later
            taken.unlink()
    sync_names(path, root)
    return True
