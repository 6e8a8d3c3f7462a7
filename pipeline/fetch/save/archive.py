"""Writes the requests and answers of a run to a WARC file in the store, with a table of their places in it.

The file and the table become visible in the store only when the run is saved.
"""

from __future__ import annotations

from contextlib import ExitStack, nullcontext
from typing import TYPE_CHECKING

from crawlctl import __version__
from crawlctl.pipeline.captures.capture_record import CaptureRecord, media_type
from crawlctl.pipeline.captures.capture_table import LISTED, RunCaptures
from crawlctl.pipeline.formats.warc.warc_writer import Capture, Original, WarcWriter
from crawlctl.pipeline.http.curl_options import request_head, user_agent
from crawlctl.pipeline.http.exchange import ErrorKind
from crawlctl.pipeline.state.kinds import PAGES
from crawlctl.pipeline.state.layout import data_name
from crawlctl.pipeline.state.manifest import file_entry
from crawlctl.pipeline.webdb.records import Kind

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from crawlctl.pipeline.config.settings import FetchSettings
    from crawlctl.pipeline.fetch.pages.page_reader import Visit
    from crawlctl.pipeline.formats.warc.warc_writer import Stored
    from crawlctl.pipeline.http.exchange import Answer
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.store.writer import StoreWriter

# Counters of a WARC file: its pages that were not parsed when it was saved, and the offset of the first one.
UNPARSED, FIRST_UNPARSED = "unparsed", "first unparsed"
_SUFFIX = ".warc.gz"


class Archive:
    """Archives the exchanges of one task, one WARC file per run; a file is created for the first exchange.

    Writes happen inside `own_work`: the store may take long, and the supervisor must not kill the task then.
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
        self._captures = RunCaptures()

    @property
    def memory(self) -> int:
        """The bytes that the captures of the run hold, estimated."""
        return self._captures.memory

    def keep(self, visit: Visit, kind: Kind) -> int | None:
        """Archive an exchange; return the offset of the answer in the file, None if it is not archived.

        Nothing is archived without an answer, or if the body was not downloaded because of its type.
        """
        answer = visit.answer
        if not answer.status or (answer.error and answer.error.kind is ErrorKind.UNWANTED_TYPE):
            return None
        capture = capture_of(answer, self._settings)
        is_revisit = kind is Kind.NOT_MODIFIED
        with self._own_work():
            writer = self._writer or self._begin()
            if is_revisit:
                stored = writer.not_modified(capture, Original(visit.url, visit.entry.last_fetched))
            else:
                stored = writer.capture(capture)
        self._list(visit, stored, is_revisit=is_revisit)
        return stored.offset

    def save(self) -> tuple[FileEntry, ...]:
        """Commit the WARC file and its captures; return the files, the WARC file first, or none.

        The next exchange creates another file.
        """
        sink, writer, count = self._sink, self._writer, self._captures.count
        if sink is None or writer is None:
            return ()
        self._stack.close()
        self._sink = self._writer = None
        archive = file_entry(sink, PAGES, self._partition, writer.records, {LISTED: count})
        numbers = {"partition": self._partition, "round_number": self._round}
        return archive, *self._captures.write(self._store, **numbers)

    def abandon(self, error: BaseException) -> None:
        """Remove all traces of an unsaved file."""
        if self._sink is not None:
            self._sink = self._writer = None
            self._captures = RunCaptures()
            self._stack.__exit__(type(error), error, error.__traceback__)

    def _list(self, visit: Visit, stored: Stored, *, is_revisit: bool) -> None:
        """Remember the place of an answer in the WARC file."""
        answer = visit.answer
        capture = CaptureRecord(
            int(answer.started),
            answer.status,
            media_type(answer.content_type),
            stored.payload_digest or "",
            self._sink.name if self._sink else "",
            stored.offset,
            stored.length,
            stored.request,
            is_revisit,
        )
        self._captures.add(visit.key, capture)

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


def capture_of(answer: Answer, settings: FetchSettings) -> Capture:
    """Return the WARC records of an exchange; the answer must have a status."""
    if not answer.status:
        raise ValueError(f"{answer.url} was not answered: there is nothing to archive")
    return Capture(
        url=answer.url,
        date=answer.started,
        request=request_head(answer.url, answer.request, settings),
        head=answer.head,
        body=answer.body,
        ip=answer.ip,
        truncated=answer.truncated and answer.truncated.value,
        protocol="h2" if answer.version == "2" else "",
    )
