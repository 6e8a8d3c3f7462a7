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
from crawlctl.pipeline.commands.shared.listing_options import reading_sign
from crawlctl.pipeline.commands.shared.output import write_bytes
from crawlctl.pipeline.terminal.printable import blanked
from crawlctl.pipeline.terminal.utc import utc

if TYPE_CHECKING:
    from crawlctl.pipeline.config.settings import Config
    from crawlctl.pipeline.crawl.listings.archive_search import ArchivedAnswer, ArchiveSearch
    from crawlctl.pipeline.index.segment.stored_documents import DocRecord

# Control characters that a text has and that cannot steer a terminal.
_OF_TEXTS = b"\t\n\r\f"


@click.command("show", cls=CrawlctlCommand)
@click.argument("url")
@click.option(
    "--markdown", is_flag=True, help="Print the archived answer as Markdown: headings, lists, tables, links."
)
@click.option("--raw", is_flag=True, help="Write the body of the archived answer, byte for byte.")
@click.option(
    "--headers", is_flag=True, help="Print the headers of the archived answer; with -v the request too."
)
@json_option
@pass_session
def command(session: Session, *, url: str, markdown: bool, raw: bool, headers: bool, as_json: bool) -> None:
    """Print a stored page as text.

    The text is the one that queries search. --markdown, --raw and --headers read the newest answer of the
    server from the archives (WARC files), which are searched from the newest round on; this takes long in a
    large crawl. With --raw and --headers the whole answer is written. `crawlctl explain URL` says why a page
    is not stored, `crawlctl pages` lists pages, and `crawlctl dump docs` prints the records.

    \b
    Example:
      crawlctl show https://docs.python.org/3/
      crawlctl show --markdown https://docs.python.org/3/
      crawlctl show --raw https://docs.python.org/3/ > page.html
    """
    if markdown and (raw or headers):
        raise click.UsageError("--markdown is another form than --raw and --headers; give one of them")
    if raw and as_json:
        raise click.UsageError("--raw writes bytes, which JSON cannot hold; leave out --raw or --json")
    from crawlctl.pipeline.crawl.listings.archive_search import ArchiveSearch
    from crawlctl.pipeline.crawl.listings.stored_page import archived_answer, stored_document
    from crawlctl.pipeline.crawl.reports.url_explanation import explain_url
    from crawlctl.pipeline.state.snapshots import load_current
    from crawlctl.pipeline.urls.canonical import canonical

    config, store = session.config, session.store()
    snapshot = load_current(store)
    explanation = explain_url(
        store, snapshot, config, canonical(url, config.urls.strip_parameters), time.time()
    )
    if not (markdown or raw or headers):
        document = stored_document(store, snapshot, explanation)
        print_json(_plain(document)) if as_json else _print(document)
        return
    search = ArchiveSearch(store, snapshot, reading_sign("archives"))
    answer = archived_answer(search, explanation)
    if markdown:
        _print_markdown(search, answer, explanation.url, config, as_json=as_json)
    elif raw:
        _write_raw(search, answer, explanation.url, with_head=headers)
    else:
        is_verbose = session.is_verbose
        _print_headers(search, answer, explanation.url, is_verbose=is_verbose, as_json=as_json)


def _plain(document: DocRecord) -> dict[str, Any]:
    return {
        "url": document.url,
        "title": document.title,
        "fetched_at": document.fetched_at,
        "last_modified": document.last_modified,
        "language": document.language,
        "headings": document.headings,
        "text": document.text,
    }


def _print(document: DocRecord) -> None:
    say(blanked(document.title) or "(no title)")
    say(blanked(document.url))
    language = f", in {document.language}" if document.language else ""
    say(f"visited {utc(document.fetched_at)}{language}")
    say()
    say(document.text or "(no text)")


def _print_markdown(
    search: ArchiveSearch, answer: ArchivedAnswer, url: str, config: Config, *, as_json: bool
) -> None:
    from crawlctl.pipeline.crawl.listings.archived_markdown import archived_markdown

    page = archived_markdown(search.record(answer, answer.offset).read(), url, config)
    if as_json:
        print_json({"url": url, "date": answer.date, "title": page.title, "markdown": page.text})
    else:
        say(page.text or "(no text)")


def _write_raw(search: ArchiveSearch, answer: ArchivedAnswer, url: str, *, with_head: bool) -> None:
    from crawlctl.pipeline.errors import NothingMatched
    from crawlctl.pipeline.formats.warc.warc_reader import split_http

    head, body = split_http(search.record(answer, answer.offset).read())
    written = head + body if with_head else body
    if sys.stdout.isatty() and not _is_text(written):
        raise NothingMatched(
            f"{url} has {len(body):,} bytes that are no text and could disturb the terminal; "
            f"write them to a file: `crawlctl show --raw {quote(url)} > FILE`"
        )
    write_bytes(written)


def _is_text(data: bytes) -> bool:
    """Return whether a terminal can be sent some bytes: they are UTF-8 and control nothing."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    return all(one.isprintable() or one in _OF_TEXTS.decode() for one in text)


def _print_headers(
    search: ArchiveSearch, answer: ArchivedAnswer, url: str, *, is_verbose: bool, as_json: bool
) -> None:
    from crawlctl.pipeline.formats.warc.warc_reader import split_http

    head, _ = split_http(search.record(answer, answer.offset).read())
    request = b""
    if is_verbose and answer.request_offset is not None:
        request = search.record(answer, answer.request_offset).read()
    lines, asked = _lines(head), _lines(request)
    if as_json:
        print_json({"url": url, "date": answer.date, "file": answer.file, "answer": lines, "request": asked})
        return
    say(f"asked at {answer.date}, in {answer.file}")
    say()
    for line in (*asked, *([""] if asked else []), *lines):
        say(blanked(line))


def _lines(head: bytes) -> list[str]:
    return head.decode("utf-8", "replace").replace("\r\n", "\n").rstrip("\n").split("\n") if head else []
