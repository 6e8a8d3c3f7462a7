"""`crawlctl show`: print a stored page as text, as Markdown, or as it was received."""

from __future__ import annotations

import sys
import time
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from crawlctl.pipeline.commands.shared.common import (
    CrawlctlCommand,
    Session,
    json_option,
    pass_session,
    print_json,
    say,
)
from crawlctl.pipeline.commands.shared.listing_options import print_table, reading_sign
from crawlctl.pipeline.commands.shared.output import write_bytes
from crawlctl.pipeline.terminal.counted import counted
from crawlctl.pipeline.terminal.printable import blanked
from crawlctl.pipeline.terminal.utc import utc

if TYPE_CHECKING:
    from crawlctl.pipeline.captures.capture_record import CaptureRecord
    from crawlctl.pipeline.config.settings import Config
    from crawlctl.pipeline.crawl.listings.archive_search import ArchiveSearch
    from crawlctl.pipeline.crawl.listings.page_captures import ArchivedAnswer, PageArchive
    from crawlctl.pipeline.crawl.reports.url_explanation import UrlExplanation
    from crawlctl.pipeline.index.segment.stored_documents import DocRecord
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store

# Control characters that are usual in texts and cannot control a terminal.
_OF_TEXTS = b"\t\n\r\f"


def _moment(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    from crawlctl.pipeline.crawl.listings.page_captures import timestamp_of

    try:
        return None if value is None else timestamp_of(value)
    except ValueError as err:
        raise click.BadParameter(str(err), ctx, parameter) from None


@click.command("show", cls=CrawlctlCommand)
@click.argument("url")
@click.option(
    "--markdown", is_flag=True, help="Print the archived answer as Markdown: headings, lists, tables, links."
)
@click.option("--raw", is_flag=True, help="Write the body of the archived answer, byte for byte.")
@click.option(
    "--headers", is_flag=True, help="Print the headers of the archived answer; with -v the request too."
)
@click.option("--captures", is_flag=True, help="List all archived answers of the page.")
@click.option(
    "--at",
    callback=_moment,
    metavar="TIME",
    help="Read the newest archived answer until a time in UTC, such as 2026-05-09.",
)
@json_option
@pass_session
def command(
    session: Session,
    *,
    url: str,
    markdown: bool,
    raw: bool,
    headers: bool,
    captures: bool,
    at: str | None,
    as_json: bool,
) -> None:
    """Print a stored page as text.

    The text is the one that queries search. --markdown, --raw and --headers read an answer of the server from
    the archives (WARC files), by default the newest one; with --raw and --headers the whole answer is
    written. If the page was unchanged at the last visit, this is the answer of an earlier visit. The text is
    read from there too with --at, and if the page is not in the index. `crawlctl explain URL` says why it is
    not, `crawlctl pages` lists pages, and `crawlctl dump docs` prints the records.

    \b
    Example:
      crawlctl show https://docs.python.org/3/
      crawlctl show --markdown https://docs.python.org/3/
      crawlctl show --raw https://docs.python.org/3/ > page.html
      crawlctl show --raw --at 2026-05-09 https://docs.python.org/3/
    """
    forms = {"--markdown": markdown, "--raw": raw, "--headers": headers}
    _refuse_odd_options(forms, captures=captures, at=at, as_json=as_json)
    from crawlctl.pipeline.crawl.listings.archive_search import ArchiveSearch
    from crawlctl.pipeline.crawl.listings.page_captures import PageArchive
    from crawlctl.pipeline.crawl.listings.stored_page import refuse_forgotten
    from crawlctl.pipeline.crawl.reports.url_explanation import explain_url
    from crawlctl.pipeline.state.snapshots import load_current
    from crawlctl.pipeline.urls.canonical import canonical

    config, store = session.config, session.store()
    snapshot = load_current(store)
    explanation = explain_url(
        store, snapshot, config, canonical(url, config.urls.strip_parameters), time.time()
    )
    refuse_forgotten(explanation)
    search = ArchiveSearch(store, snapshot, reading_sign("archives"))
    wants_newest_text = not (captures or at or any(forms.values()))
    if wants_newest_text and _show_stored(store, snapshot, explanation, search, as_json=as_json):
        return
    if captures:
        _show_captures(store, snapshot, search, explanation, as_json=as_json)
        return
    page = PageArchive(store, snapshot, search, explanation.url)
    with_request = headers and session.is_verbose
    answer = _archived(page, search, explanation, config, at=at, with_request=with_request)
    if markdown:
        _print_markdown(store, snapshot, config, answer, explanation.url, as_json=as_json)
    elif raw:
        _write_raw(answer, explanation.url, with_head=headers)
    elif headers:
        _print_headers(answer, explanation.url, as_json=as_json)
    else:
        _show_text(store, snapshot, config, answer, explanation.url, as_json=as_json)


def _show_stored(
    store: Store,
    snapshot: Snapshot,
    explanation: UrlExplanation,
    search: ArchiveSearch,
    *,
    as_json: bool,
) -> bool:
    """Print the text that the index has of a page.

    Return False if it has none but the archives have; if neither has, raise an error that says why.
    """
    from crawlctl.pipeline.crawl.listings.stored_page import has_text_elsewhere, not_stored, stored_document

    document = stored_document(store, snapshot, explanation)
    if document is not None:
        print_json(_plain(document)) if as_json else _print(document)
        return True
    if not has_text_elsewhere(store, snapshot, explanation):
        raise not_stored(explanation, search)
    say(
        f"{explanation.url} is not in the index: {explanation.why}; this is what its archived answer says",
        err=True,
    )
    return False


def _show_text(
    store: Store, snapshot: Snapshot, config: Config, answer: ArchivedAnswer, url: str, *, as_json: bool
) -> None:
    from crawlctl.pipeline.crawl.listings.archived_page import archived_text

    document = archived_text(store, snapshot, url, answer, config)
    print_json(_plain(document)) if as_json else _print(document)


def _archived(
    page: PageArchive,
    search: ArchiveSearch,
    explanation: UrlExplanation,
    config: Config,
    *,
    at: str | None,
    with_request: bool,
) -> ArchivedAnswer:
    """Return the archived answer to show, and say on standard error how it was found."""
    from crawlctl.pipeline.crawl.listings.stored_page import require_captures

    found = page.captures(at)
    require_captures(found, search, explanation, at)
    answer = page.answer(found, with_request=with_request, strip=config.urls.strip_parameters)
    _note(answer, search)
    return answer


def _refuse_odd_options(forms: dict[str, bool], *, captures: bool, at: str | None, as_json: bool) -> None:
    given = [form for form, is_given in forms.items() if is_given]
    if "--markdown" in given and len(given) > 1:
        raise click.UsageError("--markdown is another form than --raw and --headers; give one of them")
    if "--raw" in given and as_json:
        raise click.UsageError("--raw writes bytes, which JSON cannot hold; leave out --raw or --json")
    if captures and (given or at):
        raise click.UsageError(f"--captures lists all answers; leave out {', '.join(forms)} and --at")


def _show_captures(
    store: Store, snapshot: Snapshot, search: ArchiveSearch, explanation: UrlExplanation, *, as_json: bool
) -> None:
    from crawlctl.pipeline.crawl.listings.page_captures import page_captures
    from crawlctl.pipeline.crawl.listings.stored_page import require_captures

    found = page_captures(store, snapshot, search, explanation.url)
    require_captures(found, search, explanation)
    print_json([_plain_capture(one) for one in found]) if as_json else _print_captures(found)


def _note(answer: ArchivedAnswer, search: ArchiveSearch) -> None:
    """Print on standard error what the answer itself does not show, such as its date."""
    if answer.seen is not answer.capture:
        seen, capture = utc(answer.seen.time), utc(answer.capture.time)
        say(f"unchanged when it was visited at {seen}: this is the answer of {capture}", err=True)
    if search.searched:
        archives = counted(search.files, "archive")
        say(
            f"crawlctl: {archives} from before there was a table of captures had to be searched; "
            "`crawlctl check --repair` lists them, and pages are found at once",
            err=True,
        )


def _plain_capture(capture: CaptureRecord) -> dict[str, Any]:
    return {
        "time": capture.time,
        "status": capture.status,
        "mime": capture.mime,
        "digest": capture.digest,
        "is_revisit": capture.is_revisit,
        "file": capture.file,
        "offset": capture.offset,
        "length": capture.length,
    }


def _print_captures(captures: list[CaptureRecord]) -> None:
    headings = ("time", "status", "type", "bytes", "archive")
    rows = [
        (
            utc(one.time),
            str(one.status),
            "unchanged" if one.is_revisit else blanked(one.mime),
            f"{one.length:,}",
            f"{one.file} at {one.offset:,}",
        )
        for one in captures
    ]
    print_table(headings, rows)


def _plain(document: DocRecord) -> dict[str, Any]:
    from crawlctl.pipeline.text.details.shown_details import shown_details

    return {
        "url": document.url,
        "title": document.title,
        "fetched_at": document.fetched_at,
        "last_modified": document.last_modified,
        "language": document.language,
        "details": shown_details(document.details, document.last_modified, document.fetched_at),
        "headings": document.headings,
        "text": document.text,
    }


def _print(document: DocRecord) -> None:
    from crawlctl.pipeline.commands.shared.detail_lines import detail_lines

    say(blanked(document.title) or "(no title)")
    say(blanked(document.url))
    language = f", in {document.language}" if document.language else ""
    say(f"visited {utc(document.fetched_at)}{language}")
    for name, said in detail_lines(document).items():
        say(said if name == "dates" else f"{name}: {said}")
    say()
    say(document.text or "(no text)")


def _print_markdown(
    store: Store, snapshot: Snapshot, config: Config, answer: ArchivedAnswer, url: str, *, as_json: bool
) -> None:
    from crawlctl.pipeline.crawl.listings.archived_page import archived_document, archived_markdown
    from crawlctl.pipeline.formats.warc.warc_date import warc_date

    page = archived_markdown(store, snapshot, archived_document(url, answer.head, answer.body), config)
    if as_json:
        date = warc_date(answer.capture.time)
        print_json({"url": url, "date": date, "title": page.title, "markdown": page.text})
    else:
        say(page.text or "(no text)")


def _write_raw(answer: ArchivedAnswer, url: str, *, with_head: bool) -> None:
    from crawlctl.pipeline.errors import NothingMatched

    body = answer.body
    written = answer.head + body if with_head else body
    if sys.stdout.isatty() and not _is_text(written):
        raise NothingMatched(
            f"{url} has {len(body):,} bytes that are no text and could disturb the terminal; "
            f"write them to a file: `crawlctl show --raw {quote(url)} > FILE`"
        )
    write_bytes(written)


def _is_text(data: bytes) -> bool:
    """Return whether bytes are safe for a terminal: UTF-8 without control characters."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    return all(one.isprintable() or one in _OF_TEXTS.decode() for one in text)


def _print_headers(answer: ArchivedAnswer, url: str, *, as_json: bool) -> None:
    from crawlctl.pipeline.formats.warc.warc_date import warc_date

    date, file = warc_date(answer.capture.time), answer.capture.file
    lines, asked = _lines(answer.head), _lines(answer.request)
    if as_json:
        print_json({"url": url, "date": date, "file": file, "answer": lines, "request": asked})
        return
    say(f"asked at {date}, in {file}")
    say()
    for line in (*asked, *([""] if asked else []), *lines):
        say(blanked(line))


def _lines(head: bytes) -> list[str]:
    return head.decode("utf-8", "replace").replace("\r\n", "\n").rstrip("\n").split("\n") if head else []
