"""Merges two entries of one URL into one entry.

The merge is a join of semilattices: commutative, associative and idempotent. So entries may be merged in any
order and any number of times (a task that is tried again, two crawls copied into one store) with the same
result. For that, the fields of an entry are divided into groups, and each group follows one rule:

    state       status, due time, interval, tries, code, reason, redirect, links taken: of the later outcome
    document    last fetched and changed, signature, validators, canonical, named: of the later fetch
    origin      depth and source: of the entry nearer to a seed, then the first source in URL order, because
                the time of a discovery depends on chance; an archive that a page was imported from stays the
                source of the page
    first seen  the earlier time
    hops        the smaller number: a URL that a page links to is not the end of a chain of redirects
    lastmod     the later time
    published   the earlier time that is known
    score       the greater score; within a round the scores that pages give are added before (merge_fresh),
                but over rounds a page that is fetched again would count twice
    anchors     the heaviest texts, see anchors.py

The later outcome decides the state even if the other entry was fetched later: a page that is gone today was
perhaps fetched yesterday.
"""

from __future__ import annotations

from msgspec.structs import replace

from crawlctl.pipeline.scope.belonging import is_imported
from crawlctl.pipeline.webdb.anchors import MAX_ANCHORS, Anchors, add_up, keep_greater
from crawlctl.pipeline.webdb.records import Fresh, Outcome, Status, WebEntry, earliest


def merge_entries(one: WebEntry, other: WebEntry) -> WebEntry:
    """Return one entry with everything that two entries of a URL know."""
    state = max(one, other, key=_state)
    document = max(one, other, key=_document)
    depth, source = _nearest(one, other)
    anchors = keep_greater(_anchors(one), _anchors(other))
    return replace(
        state,
        last_fetched=document.last_fetched,
        last_changed=document.last_changed,
        signature=document.signature,
        etag=document.etag,
        last_modified=document.last_modified,
        canonical=document.canonical,
        named=document.named,
        hops=min(one.hops, other.hops),
        lastmod=max(one.lastmod, other.lastmod),
        published=earliest(one.published, other.published),
        first_seen=min(one.first_seen, other.first_seen),
        depth=depth,
        source=source,
        score=max(one.score, other.score),
        anchors=anchors.texts,
        anchor_weights=anchors.weights,
    )


def _state(entry: WebEntry) -> tuple[int, int, int, int, int, int, str, str, int]:
    # The other fields only break ties, in any fixed total order. Of two new entries, the entry that is due
    # sooner wins.
    return (
        entry.last_tried,
        entry.status,
        -entry.next_due,
        entry.interval,
        entry.tries,
        entry.code,
        entry.reason,
        entry.redirect_to,
        entry.links_taken,
    )


def _document(entry: WebEntry) -> tuple[int, int, bytes, str, str, str, str]:
    return (
        entry.last_fetched,
        entry.last_changed,
        entry.signature,
        entry.etag,
        entry.last_modified,
        entry.canonical,
        entry.named,
    )


def _origin(record: WebEntry | Fresh) -> tuple[int, str]:
    return record.depth, record.source


def _nearest(one: WebEntry, other: WebEntry | Fresh) -> tuple[int, str]:
    """Return the depth and source of a URL that two records know."""
    depth, source = min(_origin(one), _origin(other))
    archives = [known for known in (one.source, other.source) if is_imported(known)]
    return depth, min(archives) if archives else source


def merge_fresh(one: Fresh, other: Fresh) -> Fresh:
    """Return one discovery of a URL from two discoveries on different pages of a round.

    Merging both discoveries into an entry one by one would give the same entry, except that scores and
    weights of anchors are added here.
    """
    origin = min(one, other, key=_origin)
    anchors = add_up(_anchors(one), _anchors(other))
    return Fresh(
        min(one.seen, other.seen),
        origin.depth,
        one.score + other.score,
        anchors.texts,
        origin.source,
        anchors.weights,
        min(one.hops, other.hops),
        max(one.lastmod, other.lastmod),
        earliest(one.published, other.published),
    )


def _anchors(record: WebEntry | Fresh) -> Anchors:
    return Anchors(record.anchors, record.anchor_weights)


def first_entry(found: Fresh | Outcome, now: int) -> WebEntry:
    """Return the entry of a URL that was not known so far; it is due since it was found.

    The target of a redirect may have an outcome without having been discovered. The entry then does not
    contain the outcome yet: the caller has to apply it.
    """
    if isinstance(found, Outcome):
        seen = min(found.fetched_at, now)
        return WebEntry(Status.UNFETCHED, next_due=seen, score=0.0, depth=found.depth, first_seen=seen)
    seen = min(found.seen, now)
    return WebEntry(
        Status.UNFETCHED,
        next_due=seen,
        score=found.score,
        depth=found.depth,
        first_seen=seen,
        anchors=found.anchors[:MAX_ANCHORS],
        source=found.source,
        anchor_weights=found.anchor_weights[:MAX_ANCHORS],
        hops=found.hops,
        lastmod=found.lastmod,
        published=found.published,
    )


def discover(entry: WebEntry, fresh: Fresh, now: int) -> WebEntry:
    """Return a known entry after its URL was found again; the same object if nothing changes.

    A new link does not make a known URL due: a page that is gone is not fetched sooner because of links. The
    result is the same as merging the entry with the first entry of the discovery, but takes less time.
    """
    seen = min(fresh.seen, now)
    if entry.status is Status.UNFETCHED and not entry.last_tried and seen < entry.next_due:
        return merge_entries(entry, first_entry(fresh, now))
    first_seen = min(entry.first_seen, seen)
    depth, source = _nearest(entry, fresh)
    score = max(entry.score, fresh.score)
    known = _anchors(entry)
    anchors = keep_greater(known, _anchors(fresh)) if fresh.anchors else known
    hops, lastmod = min(entry.hops, fresh.hops), max(entry.lastmod, fresh.lastmod)
    published = earliest(entry.published, fresh.published)
    if (first_seen, depth, source, score, anchors, hops, lastmod, published) == (
        entry.first_seen,
        *_origin(entry),
        entry.score,
        known,
        entry.hops,
        entry.lastmod,
        entry.published,
    ):
        return entry
    return replace(
        entry,
        first_seen=first_seen,
        source=source,
        depth=depth,
        score=score,
        anchors=anchors.texts,
        anchor_weights=anchors.weights,
        hops=hops,
        lastmod=lastmod,
        published=published,
    )


def with_listed_dates(entry: WebEntry, changed: int = 0, published: int = 0) -> WebEntry:
    """Return an entry with the dates of a sitemap or feed as well."""
    return replace(entry, lastmod=max(entry.lastmod, changed), published=earliest(entry.published, published))
