"""`crawlctl explain`: print what is known about a URL, and why it was or was not fetched."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from crawlctl.pipeline.commands.shared.common import (
    CrawlctlCommand,
    Session,
    json_option,
    pass_session,
    print_fields,
    print_json,
)
from crawlctl.pipeline.terminal.counted import counted
from crawlctl.pipeline.terminal.utc import utc

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.crawl.reports.neighbours import Neighbours
    from crawlctl.pipeline.crawl.reports.url_explanation import RobotsVerdict, StandIn, UrlExplanation
    from crawlctl.pipeline.politeness.host_state import HostState, KnownSitemaps
    from crawlctl.pipeline.rank.publish.rank_explanation import RankExplanation
    from crawlctl.pipeline.webdb.records import WebEntry

TIMES = ("next_due", "first_seen", "last_tried", "last_fetched", "last_changed")


@click.command("explain", cls=CrawlctlCommand)
@click.argument("url")
@click.option("--no-links", is_flag=True, help="Do not search all links for pages that link to it.")
@json_option
@pass_session
def command(session: Session, *, url: str, no_links: bool, as_json: bool) -> None:
    """Explain why a URL was or was not fetched, and its state.

    `crawlctl show URL` prints the page itself, `crawlctl errors` groups all pages that failed by reason.

    \b
    Example:
      crawlctl explain https://docs.python.org/3/library/
    """
    from crawlctl.pipeline.crawl.reports.url_explanation import explain_url
    from crawlctl.pipeline.rank.publish.rank_explanation import explain_rank
    from crawlctl.pipeline.state.snapshots import load_current
    from crawlctl.pipeline.text.details.site_report import site_report
    from crawlctl.pipeline.urls.canonical import canonical

    config, store, now = session.config, session.store(), time.time()
    wanted = canonical(url, config.urls.strip_parameters)
    snapshot = load_current(store)
    explanation = explain_url(store, snapshot, config, wanted, now, look_around=not no_links)
    rank = explain_rank(store, snapshot, wanted)
    document = explanation.neighbours.document if explanation.neighbours else None
    details = document.details if document else None
    site = site_report(config.sites, wanted, details, is_looked_up=not no_links)
    if as_json:
        print_json({**_plain(explanation), "site_rules": site, "rank": rank})
    else:
        of_site = {"site rules": site.line()} if site else {}
        print_fields({**_lines(explanation, now), **of_site, **_lines_of_rank(rank)})


def _plain(explanation: UrlExplanation) -> dict[str, Any]:
    """Return all facts about the URL, for JSON."""
    from msgspec.structs import asdict

    entry, host, robots = explanation.entry, explanation.host, explanation.robots
    known = None if entry is None else {**asdict(entry), "status": entry.status.name.lower()}
    if entry is not None and known is not None:
        known["signature"] = entry.signature.hex()
        known["anchors"] = _plain_anchors(entry)
        del known["anchor_weights"]
    return {
        "url": explanation.url,
        "why": explanation.why,
        "partition": explanation.partition,
        "known": known is not None,
        **(known or {}),
        "exclusion": explanation.exclusion,
        "stands_in": _plain_stand_in(explanation.stand_in),
        "robots": None if robots is None else vars(robots),
        "host": None
        if host is None
        else {**asdict(host), "robots": sorted(host.robots), "sitemaps": asdict(host.sitemaps)},
        **(_plain_neighbours(explanation.neighbours) if explanation.neighbours else {}),
    }


def _plain_stand_in(stand_in: StandIn | None) -> dict[str, str] | None:
    return None if stand_in is None else {"url": stand_in.url, "status": stand_in.status}


def _plain_anchors(entry: WebEntry) -> list[dict[str, Any]]:
    from crawlctl.pipeline.webdb.anchors import OUTSIDE, Anchors, pages_of, weights_of

    weights = weights_of(Anchors(entry.anchors, entry.anchor_weights))
    return [
        {"text": text, "pages": pages_of(weight), "of_other_hosts": weight > OUTSIDE}
        for text, weight in weights.items()
    ]


def _plain_neighbours(neighbours: Neighbours) -> dict[str, Any]:
    from msgspec.structs import asdict

    from crawlctl.pipeline.text.details.shown_details import shown_details

    record = neighbours.document
    document = record and {
        "title": record.title,
        "words": asdict(record.lengths),
        "language": record.language,
        "fetched_at": record.fetched_at,
        "last_modified": record.last_modified,
        "details": shown_details(record.details, record.last_modified, record.fetched_at),
    }
    return {
        "document": document,
        "linked_from": [vars(page) for page in neighbours.linked_from],
        "duplicates": {"canonical": neighbours.canonical, "others": neighbours.duplicates},
        "similar": neighbours.similar,
    }


def _lines(explanation: UrlExplanation, now: float) -> dict[str, object]:
    """Return the fields to print, without empty ones."""
    host, entry = explanation.host, explanation.entry
    lines: dict[str, object] = {"url": explanation.url, "why": explanation.why}
    if entry is not None:
        lines |= _lines_of_entry(entry, now)
    lines["scope"] = explanation.exclusion or "inside"
    lines["robots.txt"] = _line_of_robots(explanation.robots)
    if host is not None:
        lines["host"] = _line_of_host(host, now)
        if sitemaps := _line_of_sitemaps(host.sitemaps):
            lines["sitemaps"] = sitemaps
    if explanation.neighbours is not None:
        lines |= _lines_of_neighbours(explanation.neighbours)
    return {name: str(value) for name, value in lines.items()}


def _lines_of_entry(entry: WebEntry, now: float) -> dict[str, object]:
    from crawlctl.pipeline.fetch.failure_words import in_words
    from crawlctl.pipeline.scope.belonging import archive_of

    archive = archive_of(entry.source)
    lines: dict[str, object] = {
        "status": entry.status.name.lower(),
        **_lines_of_times(entry, now),
        "depth": entry.depth,
        "source": f"imported from {archive}" if archive else entry.source or "a seed",
    }
    if entry.anchors:
        lines["anchors"] = "\n".join(entry.anchors)
    details = ("code", "reason", "tries", "hops", "redirect_to", "canonical", "named")
    lines |= {name: getattr(entry, name) for name in details if getattr(entry, name)}
    if entry.reason:
        lines["reason"] = in_words(entry.reason)
    if entry.links_taken:
        lines["links"] = f"the first {entry.links_taken} are taken up, the next visit takes up more"
    return lines


def _lines_of_times(entry: WebEntry, now: float) -> dict[str, str]:
    from crawlctl.pipeline.webdb.records import NEVER

    lines = {name: utc(getattr(entry, name)) for name in TIMES if getattr(entry, name)}
    if entry.is_due(now):
        lines["next_due"] = f"{lines.get('next_due', '')} (due now)".strip()
    if entry.next_due == NEVER:
        lines["next_due"] = "never, unless the scope changes"
    return lines


def _line_of_robots(robots: RobotsVerdict | None) -> str:
    from crawlctl.pipeline.crawl.reports.url_explanation import NOT_READ

    if robots is None:
        return NOT_READ
    verdict = "allowed" if robots.allowed else "forbidden"
    place = f", line {robots.line}" if robots.line else ""
    return f"{verdict} ({robots.rule}{place}; read {utc(robots.read_at)})"


def _line_of_host(host: HostState, now: float) -> str:
    from crawlctl.pipeline.fetch.failure_words import in_words

    said = f"{counted(host.pages, 'page')} answered, {counted(host.failures, 'failure')} in a row"
    if host.reason:
        said += f"; the last request failed: {in_words(host.reason)}"
    if host.not_before > now:
        said += f"; not to be asked before {utc(host.not_before)}"
    return said


def _line_of_sitemaps(sitemaps: KnownSitemaps) -> str:
    said = [f"read {utc(sitemaps.read_at)}"] if sitemaps.read_at else []
    if sitemaps.feeds:
        said.append(f"with {counted(len(sitemaps.feeds), 'feed')} ({', '.join(sitemaps.feeds)})")
    if sitemaps.waiting:
        said.append(f"{len(sitemaps.waiting)} to be read")
    return "; ".join([*said, *([sitemaps.problem] if sitemaps.problem else [])])


def _lines_of_rank(rank: RankExplanation | None) -> dict[str, object]:
    if rank is None:
        return {}
    said = f"{rank.rank:.3e}, {rank.multiple:.1f} times the average, by {counted(rank.links, 'page')}"
    return {"rank": "\n".join([said, *(f"{giver.share:.1%} by {giver.url}" for giver in rank.givers)])}


def _lines_of_neighbours(neighbours: Neighbours) -> dict[str, str]:
    from crawlctl.pipeline.commands.shared.detail_lines import detail_lines

    lines: dict[str, str] = {}
    if record := neighbours.document:
        words = counted(record.lengths.body, "word") + (f" in {record.language}" if record.language else "")
        lines["document"] = f"{record.title or 'without a title'} ({words}, fetched {utc(record.fetched_at)})"
        lines |= detail_lines(record)
    pages = [f"{page.url} (nofollow)" if page.nofollow else page.url for page in neighbours.linked_from]
    lines["linked from"] = _listed(pages) or "no page of the index"
    if neighbours.duplicates:
        lines["duplicates"] = _listed(neighbours.duplicates)
    if neighbours.similar:
        lines["similar"] = _listed(neighbours.similar)
    return lines


def _listed(urls: Iterable[str]) -> str:
    """Return the URLs as lines; if the list is full, a last line … says that there may be more."""
    from crawlctl.pipeline.crawl.reports.neighbours import MAX_SHOWN

    shown = list(urls)
    return "\n".join([*shown, "…"] if len(shown) == MAX_SHOWN else shown)
