"""Two entries of one URL become one, and nothing is lost.

The merge is a join of semilattices: commutative, associative and idempotent, so entries may meet in any
order and any number of times (a retried task, two crawls copied into one store) with the same result. To be
that, an entry is taken apart into groups that each follow one rule:

    state      status, due, interval, tries, code, reason, redirect, links taken   of the later outcome
    document   last fetched and changed, signature, validators, canonical, named   of the later fetch
    origin     depth, source   of the one nearer to a seed, then of the first by URL: time is up to chance
    first seen the earlier
    hops       the fewest: what a page links to is not at the end of a chain of redirects
    score      the greater; what the pages of one round give adds up before (merge_fresh), over rounds a page
               that is fetched again would count twice
    anchors    the heaviest, see anchors.py

The later outcome decides the state even if the other entry was fetched later: that a page is gone today is
news about a page fetched yesterday.
"""

from __future__ import annotations

from msgspec.structs import replace

from crawlctl.pipeline.webdb.anchors import MAX_ANCHORS, Anchors, add_up, keep_greater
from crawlctl.pipeline.webdb.records import Fresh, Outcome, Status, WebEntry


def merge_entries(one: WebEntry, other: WebEntry) -> WebEntry:
    """Return what the two entries of a URL know together."""
    state = max(one, other, key=_state)
    document = max(one, other, key=_document)
    origin = min(one, other, key=_origin)
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
        first_seen=min(one.first_seen, other.first_seen),
        depth=origin.depth,
        source=origin.source,
        score=max(one.score, other.score),
        anchors=anchors.texts,
        anchor_weights=anchors.weights,
    )


def _state(entry: WebEntry) -> tuple[int, int, int, int, int, int, str, str, int]:
    # Behind the time any fixed order will do, as long as it is total; of two new entries the sooner due wins.
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


def merge_fresh(one: Fresh, other: Fresh) -> Fresh:
    """Return what different pages of a round tell of a URL.

    Merging both into an entry would leave the same there, but for scores and weights of anchors, which add
    up.
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
    )


def _anchors(record: WebEntry | Fresh) -> Anchors:
    return Anchors(record.anchors, record.anchor_weights)


def first_entry(heard: Fresh | Outcome, now: int) -> WebEntry:
    """Return the entry of a URL not known so far: due since we first heard of it.

    An outcome may come unannounced, as that of the target of a redirect does; it still has to be applied.
    """
    if isinstance(heard, Outcome):
        seen = min(heard.fetched_at, now)
        return WebEntry(Status.UNFETCHED, next_due=seen, score=0.0, depth=heard.depth, first_seen=seen)
    seen = min(heard.seen, now)
    return WebEntry(
        Status.UNFETCHED,
        next_due=seen,
        score=heard.score,
        depth=heard.depth,
        first_seen=seen,
        anchors=heard.anchors[:MAX_ANCHORS],
        source=heard.source,
        anchor_weights=heard.anchor_weights[:MAX_ANCHORS],
        hops=heard.hops,
    )


def discover(entry: WebEntry, fresh: Fresh, now: int) -> WebEntry:
    """Return the known entry after its URL was found again, the same object if that tells nothing new.

    Being linked does not make a known URL due: a page that is gone stays at rest however often it is linked.
    The result is that of merging the entry with a first one, without the cost.
    """
    seen = min(fresh.seen, now)
    if entry.status is Status.UNFETCHED and not entry.last_tried and seen < entry.next_due:
        return merge_entries(entry, first_entry(fresh, now))
    first_seen = min(entry.first_seen, seen)
    depth, source = min(_origin(entry), _origin(fresh))
    score = max(entry.score, fresh.score)
    known = _anchors(entry)
    anchors = keep_greater(known, _anchors(fresh)) if fresh.anchors else known
    hops = min(entry.hops, fresh.hops)
    if (first_seen, depth, source, score, anchors, hops) == (
        entry.first_seen,
        *_origin(entry),
        entry.score,
        known,
        entry.hops,
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
    )
