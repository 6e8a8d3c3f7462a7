"""All errors a user can meet; each message says what is wrong and what to do about it.

    CrawlctlError                  exit code 1
    ├── ConfigError                a setting is unknown or ill-typed            (2)
    ├── SeedError                  lines of a seed file that cannot be used     (2)
    ├── QueryError                 a query that cannot be understood            (2)
    ├── NothingFetched             pages were due, and a run could fetch none    (3)
    ├── UrlError                   not an http(s) URL
    ├── NothingMatched             the crawl has no page that the user names
    ├── CorruptFile                a file is not what its format demands
    │   ├── DamagedSnapshot        … a snapshot; there may be an earlier one
    │   ├── CorruptLease           … the record of which process may write to the crawl
    │   ├── DamagedSettings        … the crawl's own settings; they can be written anew
    │   └── UnsupportedFile        … or it has a version or kind that we cannot read
    ├── ServerFailed               a worker process of a server cannot start
    ├── JobFailed                  a task of a job raised; carries its traceback
    └── StoreError
        ├── StoreUnavailable       the disk, network or service does not answer
        │   └── StoreFull          … or the disk is full
        ├── MissingFile            a file that should exist does not
        ├── NotACrawl              the store has not been initialised
        ├── StoreBusy              another run holds the lease                  (75)
        └── CommitConflict         another writer committed first               (75)

Exceptions of libraries (botocore, OSError, mrjob, msgspec) are turned into these where they occur.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

EXIT_ERROR = 1
EXIT_USAGE = 2
EXIT_NOTHING_FETCHED = 3
EXIT_INTERRUPTED = 130  # 128 and the number of SIGINT, as in shells
EXIT_BUSY = 75  # EX_TEMPFAIL of sysexits.h: cron wrappers know it as "try again later"


class CrawlctlError(Exception):
    """The base class of all errors that can be explained to the user in one line."""

    exit_code = EXIT_ERROR


class ConfigError(CrawlctlError):
    """A setting is unknown or has a value of the wrong type."""

    exit_code = EXIT_USAGE


class SeedError(CrawlctlError):
    """A seed file has lines that name no page."""

    exit_code = EXIT_USAGE


class QueryError(CrawlctlError):
    """A query cannot be understood; the message shows the query with a caret at the error."""

    exit_code = EXIT_USAGE


class NothingFetched(CrawlctlError):
    """Pages were due, and a run could not fetch a single one; the message names the commonest reason."""

    exit_code = EXIT_NOTHING_FETCHED


class UrlError(CrawlctlError):
    """A string is not a URL we could fetch."""


class NothingMatched(CrawlctlError):
    """The crawl has none of the pages or hosts that a command names."""


class CorruptFile(CrawlctlError):
    """A file breaks the rules of its format at a known offset."""

    finding = "damaged"
    remedy = "`crawlctl check --repair` rebuilds the files of a crawl; take any other file from a copy"

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
    """A snapshot is damaged; the files that it lists may be sound."""

    remedy = "`crawlctl check` says which older snapshot is whole and how to go back to it"


class CorruptLease(CorruptFile):
    """A lease record cannot be read; no file refers to it, so it may be deleted while no process works."""

    remedy = "remove it if no other process works on this crawl, and run the command again"


class DamagedSettings(CorruptFile):
    """The file of the crawl's own settings is damaged or missing; all other files may be sound."""

    remedy = (
        "`crawlctl check --repair` looks for the settings in older snapshots; or write them anew from your "
        "settings file and the defaults: `crawlctl config set --anew`"
    )


class UnsupportedFile(CorruptFile):
    """A file has a version or kind that we cannot read, or is damaged so that it looks like that."""

    finding = "of an unknown kind"
    remedy = "write it again in a form that we read; `crawlctl check --repair` rebuilds the files of a crawl"


class JobFailed(CrawlctlError):
    """A task of a job raised an exception; `task_traceback` is the traceback in the task."""

    def __init__(self, message: str, task_traceback: str = "") -> None:
        super().__init__(message)
        self.task_traceback = task_traceback


class ServerFailed(CrawlctlError):
    """A worker process of a server cannot start; another try would fail too."""


class StoreError(CrawlctlError):
    """An error of the store."""


class StoreUnavailable(StoreError):
    """The disk, network or service behind the store does not answer or refuses us."""


class StoreFull(StoreUnavailable):
    """The disk of the store is full."""


class MissingFile(StoreError):
    """A file that a snapshot or the user names is not in the store."""


class NotACrawl(StoreError):
    """The store holds no crawl yet."""


class StoreBusy(StoreError):
    """Another run holds the lease of the store."""

    exit_code = EXIT_BUSY


class CommitConflict(StoreError):
    """Another writer committed this snapshot number first."""

    exit_code = EXIT_BUSY
