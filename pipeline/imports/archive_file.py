"""Opens web archives: files of this machine, of HDFS or of S3."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import ConfigError, MissingFile, StoreUnavailable
from crawlctl.pipeline.formats.source import PathSource
from crawlctl.pipeline.state.manifest import require_size
from crawlctl.pipeline.store.open import open_store

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawlctl.pipeline.formats.source import RangedSource

_REMOTE = ("s3://", "hdfs://")


def absolute(name: str) -> str:
    """Return the absolute name of an archive, because tasks run in other folders."""
    return name if "://" in name else str(Path(name).absolute())


def open_own_archive(name: str, sizes: Mapping[str, int]) -> RangedSource:
    """Open an archive; raise an error unless it has its size in bytes, where `sizes` names it."""
    source = open_archive(name)
    require_size(source, sizes.get(name, source.size))
    return source


def open_archive(name: str) -> RangedSource:
    """Open the archive at a path, hdfs:// or s3:// URI; raise an error if it does not exist."""
    if name.startswith(_REMOTE):
        folder, _, key = name.rpartition("/")
        try:
            return open_store(folder).open(key)
        except MissingFile as err:
            raise _missing(name) from err
        except ValueError as err:
            raise ConfigError(f"{name} cannot name an archive: {err}") from err
    if "://" in name:
        raise ConfigError(
            f"{name}: archives are read from paths and hdfs:// and s3:// URIs; download it first"
        )
    try:
        with Path(name).open("rb"):  # a folder has a size too, but is no archive
            return PathSource(Path(name))
    except FileNotFoundError as err:
        raise _missing(name) from err
    except OSError as err:
        raise StoreUnavailable(f"{name}: {err.strerror}; check the path and its permissions") from err


def _missing(name: str) -> MissingFile:
    return MissingFile(f"{name} is not there; give the path or URI of a WARC file")
