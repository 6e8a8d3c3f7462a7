"""A little room kept back on the disk of a store, so that `crawlctl gc` can work when the disk is full.

To delete anything gc takes the lease, and a record of the lease is a file, for which a full disk has no
block. So some files of one block are kept in the folder of the lease. On a full disk gc writes its record
over the content of one of them and links it under the number of the record: no new block is wanted, nobody
else can take the room in between, and of several processes one succeeds, as with every record. There are
several, because the first gc may free nothing and the next one, told to keep less, is to work as well.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from crawlctl.pipeline.store.local.disk import (
    TEMPORARY,
    link_new,
    open_new,
    sync_file,
    sync_folders,
    write_all,
)

if TYPE_CHECKING:
    from pathlib import Path

SPARE = ".spare-"
SPARES = 8  # a gc takes one for its record and one to give the lease back
SPARE_BYTES = 4096  # a block; a record of the lease has some 400 bytes


def keep_spare(folder: Path) -> None:
    """See to it that the spare files are there."""
    for number in range(SPARES):
        spare = folder / f"{SPARE}{number}"
        if not spare.exists():
            _make(spare)


def _make(spare: Path) -> None:
    temporary = spare.with_name(TEMPORARY + os.urandom(8).hex())
    descriptor = open_new(temporary)
    try:
        try:
            write_all(descriptor, b" " * SPARE_BYTES)
            sync_file(descriptor)
        finally:
            os.close(descriptor)
        temporary.rename(spare)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def _take(folder: Path) -> Path:
    """Give one of the spare files a name of our own; of several processes one succeeds with each."""
    taken = folder / (TEMPORARY + os.urandom(8).hex())
    for number in range(SPARES):
        with suppress(FileNotFoundError):
            return (folder / f"{SPARE}{number}").rename(taken)
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(folder / SPARE))


def create_from_spare(path: Path, data: bytes, root: Path) -> bool:
    """Write a file as `create_whole` does, in place of a spare file; FileNotFoundError if there is none."""
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
    sync_folders(path.parent, root)
    return True
