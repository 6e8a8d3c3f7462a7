"""The life of a URL: one pure function that makes the next entry from an entry and an outcome.

    what the fetch reported            status becomes             looked at again after
    ───────────────────────────────────────────────────────────────────────────────────────────────
    content, first or changed          FETCHED                    initial interval; interval × shrink
    content as before, 304             UNCHANGED                  interval × grow
    content another URL has            DUPLICATE                  as content: initial, × shrink or × grow
    content with noindex               EXCLUDED                   as content: initial, × shrink or × grow
    304 to a duplicate or a noindex    as it was                  interval × grow
    content with links left over       as for the content         at once, see fetch/pages/discovery.py
    temporary redirect                 REDIRECTED                 as content, by whether the target changed
    permanent redirect                 REDIRECTED                 a rest
    401, 403, 404, 451 on a live page  as it was, tries + 1       confirm_after
    … the same code a second time      GONE, FORBIDDEN            a rest
    410 on a live page                 GONE                       a rest
    401, 403, 404, 410, 451, not live  GONE, FORBIDDEN            a rest
    robots.txt says no                 FORBIDDEN                  a rest
    our rules say no                   EXCLUDED                   a rest
    our rules say no to an import      as it was                  a rest
    time-out, DNS, 429, 5xx…           as it was, tries + 1       the back-off for that many tries
    … for the retry_limit-th time      FAILED                     a rest

    what a repair reported
    ───────────────────────────────────────────────────────────────────────────────────────────────
    the document is lost               UNFETCHED                  at once, without validators
    it is no longer in the archive     as it was                  at once, without validators

    verdict of the merge (review.py)
    ───────────────────────────────────────────────────────────────────────────────────────────────
    the page it names leads it         DUPLICATE                  as before
    a duplicate has lost its leader    DUPLICATE without leader   at once, without validators

    change of the scope (webdb/revision), or a command of the user
    ───────────────────────────────────────────────────────────────────────────────────────────────
    the scope now excludes it          EXCLUDED                   never, until the scope changes again
    … but it was imported              as it was                  never, until the scope changes again
    the scope now includes it          UNFETCHED, or as it was    at once, without validators
                                       if it was imported         at once
    `crawlctl refresh`                 as it was                  at once

If the scope excludes a URL, its reason begins with the name of the setting (scope.is_of_scope). A page can be
excluded for other reasons too, such as a noindex of its own. A change of the scope leaves these pages alone.

A rest is 14 days and grows while the status stays. FETCHED and UNCHANGED are the live statuses: their
document is in the index. A page that fails for a while keeps its document and its interval. When a page
leaves the live statuses, its document leaves the index; when it comes back, it starts at the initial
interval. Retry-After is obeyed with every answer, up to the longest rest.

Validators are sent if a 304 is enough (WebEntry.confirmable): for live pages; for pages with a noindex of
their own, which a 304 renews; and for duplicates while their leader is live. Without a live leader they are
fetched without validators and get a document of their own. A temporary redirect sends no validators: those we
know belong to the content that was there before, which the index has dropped, and a redirect has no body to
save. A 304 to any other page is a failure.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from msgspec.structs import replace

from crawlctl.pipeline.urls.hosts import host_of_key
from crawlctl.pipeline.webdb.records import NEVER, Kind, Outcome, Status, WebEntry
from crawlctl.pipeline.webdb.recrawl_schedule import adapt, back_off, first_interval, pace_of, rest_of, spread

if TYPE_CHECKING:
    from crawlctl.pipeline.config.settings import RecrawlSettings

# A server may send texts of any length; texts longer than this are not worth copying in every merge.
MAX_VALIDATOR_CHARS = 500
MAX_REASON_CHARS = 200
CODE_GONE_FOR_GOOD = 410

LOST = frozenset({Kind.DOCUMENT_LOST, Kind.RECORD_LOST})
VISITED = frozenset({Status.FETCHED, Status.UNCHANGED, Status.DUPLICATE})
CONTENT_STATUS = {
    Kind.FETCHED: Status.FETCHED,
    Kind.DUPLICATE: Status.DUPLICATE,
    Kind.NOINDEX: Status.EXCLUDED,
}
REST_STATUS = {
    Kind.MOVED: Status.REDIRECTED,
    Kind.GONE: Status.GONE,
    Kind.FORBIDDEN: Status.FORBIDDEN,
    Kind.DISALLOWED: Status.FORBIDDEN,
    Kind.EXCLUDED: Status.EXCLUDED,
}


class Verdict(Enum):
    """What the state of other pages means for a page, besides its own outcomes."""

    GIVES_WAY = 1  # the page that it names as canonical leads it
    LEADER_LOST = 2  # its leader has left the index, or now has other content


def next_state(
    entry: WebEntry, outcome: Outcome, now: int, settings: RecrawlSettings, key: bytes
) -> WebEntry:
    """Return the entry of the WebDB key `key` after `outcome`.

    An outcome that is not newer than the last one changes nothing, so an outcome may be applied twice. An
    outcome later than `now`, of a task whose clock is fast, counts as one at `now`: otherwise the page would
    ignore outcomes until then.
    """
    when = min(outcome.fetched_at, now)
    if when <= entry.last_tried:
        return entry
    changed, wait = _react(entry, outcome, when, settings, key)
    wait = max(spread(settings, wait, key), min(outcome.retry_after, settings.rest_maximum.whole))
    return replace(
        changed,
        last_tried=_again(entry) if outcome.kind is Kind.DOCUMENT_LOST and outcome.imported else when,
        next_due=NEVER if outcome.is_outside else when + wait,
        code=outcome.code,
        reason=_reason(entry, outcome),
        source=outcome.imported or entry.source,
    )


def _again(entry: WebEntry) -> int:
    """Return a time before the last answer of an imported page, so that the same answer is applied again."""
    return max(0, min(entry.last_tried, entry.last_fetched) - 1)


def shut_out(entry: WebEntry, reason: str, now: int) -> WebEntry:
    """Return the entry after a change of the scope that excludes it; it is not due until the next change.

    Outcomes of a round that is still open are older than `now`, so they change nothing. Validators are
    dropped: the document leaves the index, so a 304 would not be enough when the page comes back.
    """
    return replace(
        entry,
        status=Status.EXCLUDED,
        next_due=NEVER,
        last_tried=max(now, entry.last_tried),
        interval=0,
        tries=0,
        code=0,
        etag="",
        last_modified="",
        reason=reason[:MAX_REASON_CHARS],
        redirect_to="",
        links_taken=0,
    )


def let_in(entry: WebEntry, now: int) -> WebEntry:
    """Return the entry after a change of the scope that includes it again: as if it had just been found.

    Outcomes from before the change do not count. A fetch in the same second counts.
    """
    return WebEntry(
        Status.UNFETCHED,
        next_due=now,
        score=entry.score,
        depth=entry.depth,
        first_seen=entry.first_seen,
        last_tried=now - 1,
        anchors=entry.anchors,
        source=entry.source,
        anchor_weights=entry.anchor_weights,
        hops=entry.hops,
        lastmod=entry.lastmod,
        published=entry.published,
    )


def made_due(entry: WebEntry, now: int) -> WebEntry:
    """Return the entry, due now if it was not due yet; a visit in this very second counts as a new one."""
    if entry.next_due <= now:
        return entry
    return replace(entry, next_due=now, last_tried=min(entry.last_tried, max(now - 1, 0)))


def without_validators(entry: WebEntry) -> WebEntry:
    """Return the entry without ETag and Last-Modified: its page is fetched even if it has not changed."""
    return replace(entry, etag="", last_modified="") if entry.etag or entry.last_modified else entry


def left_alone(entry: WebEntry) -> WebEntry:
    """Return the entry of an imported page outside the scope: it keeps its document and is never due."""
    return entry if entry.next_due == NEVER else replace(entry, next_due=NEVER)


def judged(entry: WebEntry, verdict: Verdict, now: int) -> WebEntry:
    """Return the entry after a verdict, the same object if nothing changes.

    A duplicate without a leader has no document in the index, so it is due at once and is fetched without
    validators. This happens once: its `canonical` becomes empty, and while it fails it waits like any other
    page that fails. A visit in this very second counts as a new one.
    """
    if verdict is Verdict.GIVES_WAY and entry.names and (entry.live or entry.status is Status.DUPLICATE):
        return replace(entry, status=Status.DUPLICATE, canonical=entry.names)
    if verdict is Verdict.LEADER_LOST and entry.status is Status.DUPLICATE and entry.canonical:
        due = entry.next_due if entry.tries else min(entry.next_due, now)
        tried = min(entry.last_tried, max(now - 1, 0))
        return replace(entry, canonical="", etag="", last_modified="", next_due=due, last_tried=tried)
    return entry


def has_same_text(entry: WebEntry, outcome: Outcome) -> bool:
    """Return whether the content of a page has the same words as before; False if it has no words."""
    return outcome.signature != b"" and outcome.signature == entry.signature


def _reason(entry: WebEntry, outcome: Outcome) -> str:
    # A 304 confirms the reason that the content gave: a noindex, or that only its beginning is indexed.
    if outcome.kind is Kind.NOT_MODIFIED and (
        entry.status is Status.EXCLUDED or (entry.confirmable and not entry.tries)
    ):
        return entry.reason
    return outcome.reason[:MAX_REASON_CHARS]


def _react(
    entry: WebEntry, outcome: Outcome, when: int, settings: RecrawlSettings, key: bytes
) -> tuple[WebEntry, int]:
    """Return the changed entry and the seconds to wait."""
    kind = outcome.kind
    if kind is Kind.KEPT:
        return entry, settings.rest.whole
    if kind in LOST:
        return _lost(entry, kind), 0
    if kind is Kind.FAILED or (kind is Kind.NOT_MODIFIED and not entry.confirmable):
        return _failed(entry, settings)
    if kind in (Kind.GONE, Kind.FORBIDDEN) and entry.live and not _confirmed(entry, outcome):
        return _failed(entry, settings, settings.confirm_after.whole)
    if kind in REST_STATUS:
        return _at_rest(entry, REST_STATUS[kind], settings, outcome.target)
    if kind is Kind.NOT_MODIFIED:
        visited = _not_modified(entry, outcome, when)
    elif kind is Kind.FOUND:
        visited = replace(entry, status=Status.REDIRECTED, tries=0, redirect_to=outcome.target, links_taken=0)
    else:
        visited = _content(entry, outcome, when)
    interval = _interval(entry, visited, settings, key)
    return replace(visited, interval=interval), 0 if outcome.links_taken else interval


def _lost(entry: WebEntry, kind: Kind) -> WebEntry:
    """Return an entry whose page must be fetched as a whole, because a repair found it damaged."""
    if kind is Kind.RECORD_LOST or not entry.live:
        return replace(entry, etag="", last_modified="")
    unknown = replace(entry, status=Status.UNFETCHED, tries=0, interval=0, links_taken=0)
    return replace(unknown, signature=b"", etag="", last_modified="")


def _failed(entry: WebEntry, settings: RecrawlSettings, wait: int | None = None) -> tuple[WebEntry, int]:
    tries = entry.tries + 1
    if tries < settings.retry_limit:
        return replace(entry, tries=tries), wait or back_off(settings, tries)
    resting, rest = _at_rest(entry, Status.FAILED, settings)
    return replace(resting, tries=tries), rest


def _confirmed(entry: WebEntry, outcome: Outcome) -> bool:
    """Return whether a live page now counts as gone: servers sometimes answer 404 or 403 by mistake."""
    return outcome.code == CODE_GONE_FOR_GOOD or (entry.tries > 0 and entry.code == outcome.code)


def _at_rest(
    entry: WebEntry, status: Status, settings: RecrawlSettings, target: str = ""
) -> tuple[WebEntry, int]:
    rest = rest_of(settings, entry, status)
    return replace(entry, status=status, interval=rest, tries=0, redirect_to=target, links_taken=0), rest


def _not_modified(entry: WebEntry, outcome: Outcome, when: int) -> WebEntry:
    return replace(
        entry,
        status=Status.UNCHANGED if entry.live else entry.status,
        tries=0,
        last_fetched=when,
        etag=_bounded(outcome.etag) or entry.etag,
        last_modified=_bounded(outcome.last_modified) or entry.last_modified,
    )


def _content(entry: WebEntry, outcome: Outcome, when: int) -> WebEntry:
    same = has_same_text(entry, outcome)
    status = CONTENT_STATUS[outcome.kind]
    return replace(
        entry,
        status=Status.UNCHANGED if same and entry.live and status is Status.FETCHED else status,
        tries=0,
        last_fetched=when,
        last_changed=entry.last_changed if same else when,
        signature=outcome.signature,
        etag=_bounded(outcome.etag),
        last_modified=_bounded(outcome.last_modified),
        redirect_to="",
        canonical=outcome.canonical,
        links_taken=outcome.links_taken,
        named=outcome.named or outcome.target,
    )


def _interval(entry: WebEntry, visited: WebEntry, settings: RecrawlSettings, key: bytes) -> int:
    pace = pace_of(settings, host_of_key(key)) if settings.hosts else settings.pace
    if entry.status not in VISITED and entry.status is not visited.status:
        return first_interval(pace)
    if entry.links_taken:
        return entry.interval  # this visit was only for remaining links: too soon to learn about changes
    leads_elsewhere = (visited.redirect_to, visited.named) != (entry.redirect_to, entry.named)
    changed = visited.last_changed > entry.last_changed or leads_elsewhere
    return adapt(pace, entry.interval, changed)


def _bounded(validator: str) -> str:
    # A validator that was cut off would be wrong.
    return validator if len(validator) <= MAX_VALIDATOR_CHARS else ""
