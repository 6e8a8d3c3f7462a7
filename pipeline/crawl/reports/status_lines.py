"""The state of a crawl as people read it, in lines that fit the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.crawl.live.live_lines import death_sentence, now_doing, silence_sentence
from crawlctl.pipeline.crawl.reports.run_summary import due_sentence
from crawlctl.pipeline.fetch.failure_words import in_words, kind_in_words
from crawlctl.pipeline.terminal.counted import by_number, counted, sized
from crawlctl.pipeline.terminal.tables import fields, figures
from crawlctl.pipeline.terminal.utc import utc
from crawlctl.pipeline.terminal.wrapping import wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.crawl.reports.crawl_status import CrawlStatus

# Each status in one or two words, and its meaning; in the order in which a newcomer asks.
_WORDS = {
    "fetched": ("new or changed", "can be searched; new or changed at the last visit"),
    "unchanged": ("unchanged", "can be searched; as before at the last visit"),
    "duplicate": ("duplicates", "another page with the same content is searched"),
    "unfetched": ("not fetched", "known by links or seeds; not asked for yet, or failed so far"),
    "redirected": ("redirects", "lead to another URL"),
    "gone": ("gone", "status 404 or 410"),
    "forbidden": ("forbidden", "by the host or its robots.txt"),
    "excluded": ("kept out", "by the rules of the crawl, a noindex, or their type"),
    "failed": ("given up", "after several failures; tried again later"),
}
_INDENT = "  "


def status_lines(status: CrawlStatus, room: int, now: float) -> Iterator[str]:
    """Yield the lines of `crawlctl status`."""
    yield from fields(list(_summary(status)), room)
    if status.statuses:
        yield ""
        yield from figures(list(_pages(status)), room)
    if status.trouble:
        kinds = ", ".join(
            f"{hosts:,} with {kind_in_words(kind)}" for kind, hosts in status.failing_hosts.items()
        )
        yield from ("", *wrapped(f"hosts with trouble{f' ({kinds})' if kinds else ''}", room, _INDENT))
        for left in status.trouble:
            urls = f", {counted(left.urls, 'URL')} not asked for" if left.urls else ""
            wait = f", left alone until {utc(left.not_before)}" if left.not_before > now else ""
            yield from wrapped(f"{left.host}: {in_words(left.reason)}{urls}{wait}", room, _INDENT)


def _summary(status: CrawlStatus) -> Iterator[tuple[str, str]]:
    yield "store", status.store
    if status.holder:
        yield "in use", f"by {status.holder}"
        if status.live and status.is_suspended:
            yield "suspended", silence_sentence(status.live)
        elif status.live:
            yield "now", f"{now_doing(status.live)}; `crawlctl status --watch` follows it"
    elif status.live and status.has_died:
        yield "died", death_sentence(status.live)
    if status.open_round:
        saved = counted(status.open_round.pages, "page")
        doing = "is being fetched" if status.holder else "was begun and not finished"
        yield f"round {status.open_round.round}", f"{doing}, {saved} saved so far"
    if status.rounds_left and not status.holder:
        rounds, them = counted(status.rounds_left, "round"), by_number(status.rounds_left, "it", "them")
        yield "interrupted", f"{rounds} left of `crawlctl run --iterations`; `crawlctl run` finishes {them}"
    yield "last commit", f"{utc(status.committed)}, round {status.round:,}, snapshot {status.snapshot:,}"
    older = status.disk_bytes - status.bytes
    spare = f", and {sized(older)} of older or unfinished files" if older > 0 else ""
    yield "size", f"{sized(status.bytes)} in {counted(status.files, 'file')}{spare}"
    yield "searchable", _index(status)
    if status.urls:
        yield "ranks", _ranks(status)
    if status.urls:
        yield "due", due_sentence(status.due, status.next_due)


def _index(status: CrawlStatus) -> str:
    index = status.index
    parts = [counted(index["documents"], "page"), counted(index["terms"], "term")]
    if index["unmerged runs"]:
        parts.append(f"and {counted(index['unmerged runs'], 'run')} that `crawlctl merge` would add")
    return ", ".join(parts)


def _ranks(status: CrawlStatus) -> str:
    ranks = status.ranks
    if not ranks.ranked_round:
        made = "none yet"
    else:
        when = f", {utc(ranks.ranked_at)}" if ranks.ranked_at else ""
        made = f"made after round {ranks.ranked_round:,}{when}"
    if not ranks.rounds:
        return made
    return f"{made}; {f'the next run ranks: {status.why_rank}' if status.rank_due else status.why_rank}"


def _pages(status: CrawlStatus) -> Iterator[tuple[str, int, str]]:
    yield "known URLs", status.urls, f"on {counted(status.hosts, 'host')}"
    for name, (words, meaning) in _WORDS.items():
        if number := status.statuses.get(name):
            yield f"  {words}", number, meaning
