"""The WARC file of a run, written straight to the store and there only when the run is saved."""

from __future__ import annotations

from contextlib import ExitStack, nullcontext
from typing import TYPE_CHECKING

from crawlctl import __version__
from crawlctl.pipeline.fetch.save.archive_records import capture_of
from crawlctl.pipeline.formats.warc.warc_writer import Original, WarcWriter
from crawlctl.pipeline.http.curl_options import user_agent
from crawlctl.pipeline.http.exchange import ErrorKind
from crawlctl.pipeline.state.layout import data_name
from crawlctl.pipeline.state.manifest import FileEntry
from crawlctl.pipeline.webdb.records import Kind

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from crawlctl.pipeline.config.settings import FetchSettings
    from crawlctl.pipeline.fetch.pages.page_reader import Visit
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.store.writer import StoreWriter

PAGES = "pages"
# Counters of a file: pages in it that were not parsed when it was saved, and where the first of them lies.
UNPARSED, FIRST_UNPARSED = "unparsed", "first unparsed"
_SUFFIX = ".warc.gz"


class Archive:
    """Keeps the exchanges of pages that were answered; a file is begun with the first one.

    Within `own_work` bytes are passed to the store, which may take its time.
    """

    def __init__(
        self,
        store: Store,
        settings: FetchSettings,
        partition: int,
        round_number: int,
        own_work: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._store = store
        self._settings = settings
        self._partition = partition
        self._round = round_number
        self._own_work = own_work
        self._stack = ExitStack()
        self._sink: StoreWriter | None = None
        self._writer: WarcWriter | None = None

    def keep(self, visit: Visit, kind: Kind) -> int | None:
        """Archive what was asked and answered, if it was, and return where the answer lies in the file."""
        answer = visit.answer
        if not answer.status or (answer.error and answer.error.kind is ErrorKind.UNWANTED_TYPE):
            return None
        capture = capture_of(answer, self._settings)
        with self._own_work():
            writer = self._writer or self._begin()
            if kind is Kind.NOT_MODIFIED:
                return writer.not_modified(capture, Original(visit.url, visit.entry.last_fetched)).offset
            return writer.capture(capture).offset

    def save(self) -> FileEntry | None:
        """Let the file exist and return it; the next exchange begins another one."""
        sink, writer = self._sink, self._writer
        if sink is None or writer is None:
            return None
        self._stack.close()
        self._sink = self._writer = None
        return FileEntry(PAGES, self._partition, sink.name, sink.bytes, writer.records, sink.checksum)

    def abandon(self, error: BaseException) -> None:
        """Leave nothing of an unsaved file behind."""
        if self._sink is not None:
            self._sink = self._writer = None
            self._stack.__exit__(type(error), error, error.__traceback__)

    def _begin(self) -> WarcWriter:
        name = data_name(PAGES, self._partition, self._round, _SUFFIX)
        self._sink = self._stack.enter_context(self._store.write(name))
        about = {
            "software": f"crawlctl/{__version__}",
            "http-header-user-agent": user_agent(self._settings),
            "robots": "https://www.rfc-editor.org/rfc/rfc9309",
        }
        self._writer = WarcWriter(self._sink, name.rpartition("/")[2], about)
        return self._writer
