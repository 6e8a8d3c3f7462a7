"""The end of a run as people read it, and as JSON."""

from __future__ import annotations

import time
from shlex import join
from typing import TYPE_CHECKING, Any

from crawlctl.pipeline.crawl.reports.left_over import SHOWN
from crawlctl.pipeline.crawl.reports.page_counts import failures, page_counts, received
from crawlctl.pipeline.crawl.reports.round_report import round_table
from crawlctl.pipeline.fetch.failure_words import kind_in_words
from crawlctl.pipeline.terminal.counted import by_number, counted, sized
from crawlctl.pipeline.terminal.tables import Column, figures, table
from crawlctl.pipeline.terminal.utc import utc
from crawlctl.pipeline.terminal.wrapping import wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawlctl.pipeline.crawl.reports.page_counts import PageCounts
    from crawlctl.pipeline.crawl.reports.run_report import RunEnd, RunReport
    from crawlctl.pipeline.webdb.due import DueCounts

_JSON_HOSTS = 1000
_INDENT = "  "


def summary_lines(
    report: RunReport, end: RunEnd, room: int, following: str = "", *, now: float | None = None
) -> Iterator[str]:
    """Yield the lines of the summary; `following` is the command to type next."""
    if report.rounds:
        yield from (*round_table(report.rounds, room), "")
    yield from _page_lines(report, room)
    if report.hosts:
        yield from ("", *_host_table(report, room))
    sentences = [
        *report.left.lines(time.time() if now is None else now),
        *_earlier(report),
        *_unfinished(end),
        *([due_sentence(end.due, end.next_due)] if end.urls else []),
        *_ranks(report),
        *([f"next: {following}"] if following else []),
    ]
    for number, sentence in enumerate(sentences):
        yield from ([""] if number == 0 else [])
        yield from wrapped(sentence, room, _INDENT)


def summary_json(report: RunReport, end: RunEnd, following: str = "") -> dict[str, Any]:
    """Return all figures of a run under the names that docs/operations.md lists."""
    hosts = report.hosts.most_common(_JSON_HOSTS)
    pages = page_counts(report.counters)
    shown = sum(number for _, number in hosts)
    return {
        "rounds": report.rounds,
        "pages": pages,
        "bytes": received(report.counters),
        "failures": failures(report.counters),
        "hosts": [{"host": host, "pages": number} for host, number in hosts],
        "pages_of_other_hosts": max(0, pages.fetched - shown),
        "left": {
            "urls": report.left.urls,
            "hosts": report.left.by_size()[:_JSON_HOSTS],
        },
        "due": end.due,
        "next_due": end.next_due,
        "earlier": report.earlier,
        "open_round": end.open_round,
        "ranked": report.ranks.is_due if report.ranks else False,
        "why_ranked": report.ranks.why if report.ranks else "",
        "next": following,
    }


def next_command(end: RunEnd, options: Sequence[str], store: Sequence[str], *, is_stopped: bool) -> str:
    """Return what to type next: the rest of a stopped run, another round, or a query.

    Where nothing can be searched it is the list of errors, which says why.
    `options` are those that set the number of rounds, `store` those that name the store.
    """
    if is_stopped:
        return join(["crawlctl", "run", *options, *store]) + _of_goal(end)
    if end.due.now:
        until_empty = [option for option in options if option == "--until-empty"]
        return join(["crawlctl", "run", *until_empty, *store])
    if not end.urls:
        return join(["crawlctl", "inject", "FILE", *store])
    if not end.has_pages:
        return join(["crawlctl", "errors", *store])
    return join(["crawlctl", "query", *store, "WORDS"])


def due_sentence(due: DueCounts, first: int | None) -> str:
    """Return a sentence about the URLs that are due, and those that fall due soon."""
    day = [f"{due.day:,} more within a day"] if due.day else []
    week = [f"{due.week:,} more within a week"] if due.week > due.day else []
    if due.now:
        return ", ".join([counted(due.now, "URL is due now", "URLs are due now"), *day, *week])
    more = ", ".join([*day, *week]).replace(" more", "")
    when = f"; the next URL falls due at {utc(first)}" if first else ""
    return f"nothing is due now{when}" + (f" ({more})" if more else "")


def _page_lines(report: RunReport, room: int) -> Iterator[str]:
    counts = page_counts(report.counters)
    rows = [("pages fetched", counts.fetched, f"{sized(received(report.counters))} received")]
    rows += [row for row in _other_rows(counts, failures(report.counters)) if row[1]]
    yield from figures(rows, room)


def _other_rows(counts: PageCounts, causes: dict[str, int]) -> Iterator[tuple[str, int, str]]:
    sorted_causes = sorted(causes.items(), key=lambda cause: (-cause[1], cause[0]))
    why = ", ".join(f"{number:,} with {kind_in_words(cause)}" for cause, number in sorted_causes)
    yield "  new", counts.new, ""
    yield "  changed", counts.changed, ""
    yield "  unchanged", counts.unchanged, ""
    yield "redirected", counts.redirected, ""
    yield "gone", counts.gone, "status 404 or 410"
    yield "forbidden", counts.forbidden, "by the host or its robots.txt"
    yield "kept out", counts.excluded, "by the rules of the crawl, a noindex, or their type"
    yield "failed", counts.failed, f"{why}; `crawlctl errors` lists {by_number(counts.failed, 'it', 'them')}"
    yield "not asked", counts.not_asked, f"because {by_number(counts.not_asked, 'its', 'their')} host fails"


def _host_table(report: RunReport, room: int) -> Iterator[str]:
    hosts = report.hosts.most_common(SHOWN)
    others = page_counts(report.counters).fetched - sum(number for _, number in hosts)
    names, numbers = [host for host, _ in hosts], [f"{number:,}" for _, number in hosts]
    if others > 0:
        more = len(report.hosts) - len(hosts)
        names.append(counted(more, "more host") if more else "other hosts")
        numbers.append(f"{others:,}")
    return table((Column("host", names, is_text=True, narrowest=1), Column("pages", numbers)), room)


def _earlier(report: RunReport) -> Iterator[str]:
    if report.earlier:
        pages, are = counted(report.earlier, "page"), by_number(report.earlier, "is", "are")
        yield f"an earlier run had already saved {pages}, which {are} not counted above"


def _ranks(report: RunReport) -> Iterator[str]:
    """Yield why the pages were not ranked at the end; if they were, yield nothing."""
    if report.rounds and report.ranks and not report.ranks.is_due:
        yield report.ranks.why


def _unfinished(end: RunEnd) -> Iterator[str]:
    if end.open_round is not None:
        pages = counted(end.open_round.pages, "page of it is saved", "pages of it are saved")
        yield f"round {end.open_round.round} is not finished; {pages}"


def _of_goal(end: RunEnd) -> str:
    if end.goal is None:
        return ""
    left = end.goal.left(end.next_round)
    return f" ({left:,} of its {counted(end.goal.asked, 'round')} {by_number(left, 'is', 'are')} left)"
