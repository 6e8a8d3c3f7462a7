"""Uploads packed files to HDFS or S3, each content once, under a name made from it."""

from __future__ import annotations

import logging
import shutil
from typing import TYPE_CHECKING, Any

from crawlctl.pipeline.errors import MissingFile, StoreError
from crawlctl.pipeline.store.open import open_store

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.store.base import Store

# A warning without a handler reaches the user as a plain line; an upload is announced so.
log = logging.getLogger(__name__)

MEGABYTE = 1e6


def place(path: Path, folder: str) -> str:
    """Return the URI of a file in a folder of HDFS or S3; upload it if it is missing."""
    store, uri = open_store(folder), _uri(path, folder)
    if not _is_there(store, path.name):
        _tell(path, uri)
        try:
            with store.write(path.name) as sink, path.open("rb") as source:
                shutil.copyfileobj(source, sink, 1 << 20)
        except StoreError:
            if not _is_there(store, path.name):  # otherwise another run uploaded the same content first
                raise
    return uri


def place_by_program(path: Path, folder: str, hadoop: Any) -> str:
    """Upload a file with the program `hadoop`, which renames the file when it is complete."""
    uri = _uri(path, folder)
    if not hadoop.exists(uri):
        _tell(path, uri)
        hadoop.mkdir(folder)
        hadoop.put(str(path), uri)
    return uri


def _uri(path: Path, folder: str) -> str:
    return f"{folder.rstrip('/')}/{path.name}"


def _is_there(store: Store, name: str) -> bool:
    try:
        return store.size(name) > 0
    except MissingFile:
        return False


def _tell(path: Path, uri: str) -> None:
    log.warning("shipping %.0f MB to %s, where later jobs find it", path.stat().st_size / MEGABYTE, uri)
