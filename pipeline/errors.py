"""Every error a user can meet; the message says what is wrong and what to do about it.

    CrawlctlError                  exit code 1
    ├── ConfigError                a setting is unknown or ill-typed            (2)
    ├── SeedError                  lines of a seed file that cannot be used     (2)
    ├── QueryError                 a query that cannot be understood            (2)
    ├── UrlError                   not an http(s) URL
    ├── CorruptFile                a file is not what its format demands
    │   ├── DamagedSnapshot        … a snapshot, to which there is one before
    │   ├── CorruptLease           … the record of who works on the crawl
    │   └── UnsupportedFile        … or is of a version or kind we cannot read
    ├── JobFailed                  a task of a job raised; carries its traceback
    └── StoreError
        ├── StoreUnavailable       the disk, network or service does not answer
        │   └── StoreFull          … or the disk has no room
        ├── MissingFile            a named file is not there
        ├── NotACrawl              the store has not been initialised
        ├── StoreBusy              another run holds the lease                  (75)
        └── CommitConflict         another writer committed first               (75)

Exceptions of libraries (botocore, OSError, mrjob, msgspec) are turned into these where they are met.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

EXIT_ERROR = 1
EXIT_USAGE = 2
EXIT_BUSY = 75  # EX_TEMPFAIL of sysexits.h: cron wrappers know it as "try again later"


class CrawlctlError(Exception):
    """Anything we can explain to the user in one line."""

    exit_code = EXIT_ERROR


class ConfigError(CrawlctlError):
    """A setting is unknown or has a value of the wrong type."""

    exit_code = EXIT_USAGE


class SeedError(CrawlctlError):
    """A seed file has lines that name no page."""

    exit_code = EXIT_USAGE


class QueryError(CrawlctlError):
    """A query cannot be understood; below the message stands the query, with a caret at the place."""

    exit_code = EXIT_USAGE


class UrlError(CrawlctlError):
    """A string is not a URL we could fetch."""


class CorruptFile(CrawlctlError):
    """A file breaks the rules of its format at a known offset."""

    finding = "damaged"
    remedy = "restore the file from a copy, or remove what names it and run the step again"

    def __init__(self, name: str, offset: int, reason: str) -> None:
        super().__init__(f"{name}: {self.finding} at byte {offset}: {reason}; {self.remedy}")
        self.name = name
        self.offset = offset
        self.reason = reason

    def __reduce__(self) -> tuple[type[CorruptFile], tuple[str, int, str]]:
        return type(self), (self.name, self.offset, self.reason)


@contextmanager
def damage_in(name: str, offset: int = 0) -> Iterator[None]:
    """Turn a ValueError of a decoder, which knows no file names, into a CorruptFile that names the file."""
    try:
        yield
    except ValueError as err:
        raise CorruptFile(name, offset, str(err)) from err


class DamagedSnapshot(CorruptFile):
    """A snapshot is damaged; what it names may be whole."""

    remedy = (
        "restore it from a copy of the store, or delete this file: the crawl is then what it was one "
        "snapshot earlier, if `crawlctl gc` has left that one"
    )


class CorruptLease(CorruptFile):
    """The record of who works on a crawl cannot be read; nothing names it, so it may go when nobody does."""

    remedy = "remove it if nobody works on this crawl, and run the command again"


class UnsupportedFile(CorruptFile):
    """A file is of a version or kind that we cannot read, or is damaged so that it looks like one."""

    finding = "of an unknown kind"
    remedy = "write it again in a form that we read"


class JobFailed(CrawlctlError):
    """A task of a job raised; `task_traceback` is the traceback as the task saw it."""

    def __init__(self, message: str, task_traceback: str = "") -> None:
        super().__init__(message)
        self.task_traceback = task_traceback


class StoreError(CrawlctlError):
    """Something about the place the crawl is kept."""


class StoreUnavailable(StoreError):
    """The disk, network or service behind the store does not answer or refuses us."""


class StoreFull(StoreUnavailable):
    """The disk of the store has no room for what is to be written."""


class MissingFile(StoreError):
    """A file that was named is not in the store."""


class NotACrawl(StoreError):
    """The store holds no crawl yet."""


class StoreBusy(StoreError):
    """Another run holds the lease of the store."""

    exit_code = EXIT_BUSY


class CommitConflict(StoreError):
    """Another writer committed this snapshot number first."""

    exit_code = EXIT_BUSY
