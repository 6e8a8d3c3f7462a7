"""Two entries of one URL become one, and nothing is lost.

The merge is a join of semilattices: commutative, associative and idempotent, so entries may meet in any
order and any number of times (a retried task, two crawls copied into one store) with the same result. To be
that, an entry is taken apart into groups that each follow one rule:

    state      status, due, interval, tries, code, reason, redirect   of the later outcome
    document   last fetched and changed, signature, validators, canonical   of the later fetch
    origin     first seen, source   of the earlier one
    depth      the smaller
    score      the greater; adding scores up would count a retried task twice
    anchors    a sample of the union

The later outcome decides the state even if the other entry was fetched later: that a page is gone today is
news about a page fetched yesterday.
"""

from __future__ import annotations

from msgspec.structs import replace

from crawlctl.pipeline.webdb.records import Fresh, Outcome, Status, WebEntry, sample_anchors


def merge_entries(one: WebEntry, other: WebEntry) -> WebEntry:
    """Return what the two entries of a URL know together."""
    state = max(one, other, key=_state)
    document = max(one, other, key=_document)
    origin = min(one, other, key=_origin)
    return replace(
        state,
        last_fetched=document.last_fetched,
        last_changed=document.last_changed,
        signature=document.signature,
        etag=document.etag,
        last_modified=document.last_modified,
        canonical=document.canonical,
        first_seen=origin.first_seen,
        source=origin.source,
        depth=min(one.depth, other.depth),
        score=max(one.score, other.score),
        anchors=_both_anchors(one.anchors, other.anchors),
    )


def _state(entry: WebEntry) -> tuple[int, int, int, int, int, int, str, str]:
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
    )


def _document(entry: WebEntry) -> tuple[int, int, bytes, str, str, str]:
    return (
        entry.last_fetched,
        entry.last_changed,
        entry.signature,
        entry.etag,
        entry.last_modified,
        entry.canonical,
    )


def _origin(entry: WebEntry) -> tuple[int, str]:
    return entry.first_seen, entry.source


def merge_fresh(one: Fresh, other: Fresh) -> Fresh:
    """Return what two finds of a URL tell together: what merging both into an entry would leave there."""
    first = min(one, other, key=_found)
    return Fresh(
        first.seen,
        min(one.depth, other.depth),
        max(one.score, other.score),
        sample_anchors((*one.anchors, *other.anchors)),
        first.source,
    )


def _found(fresh: Fresh) -> tuple[int, str]:
    return fresh.seen, fresh.source


def _both_anchors(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return one if set(other) <= set(one) else sample_anchors((*one, *other))


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
        anchors=sample_anchors(heard.anchors),
        source=heard.source,
    )


def discover(entry: WebEntry, fresh: Fresh, now: int) -> WebEntry:
    """Return the known entry after its URL was found again, the same object if that tells nothing new.

    Being linked does not make a known URL due: a page that is gone stays at rest however often it is linked.
    The result is that of merging the entry with a first one, without the cost.
    """
    seen = min(fresh.seen, now)
    if entry.status is Status.UNFETCHED and not entry.last_tried and seen < entry.next_due:
        return merge_entries(entry, first_entry(fresh, now))
    first_seen, source = min(_origin(entry), (seen, fresh.source))
    depth = min(entry.depth, fresh.depth)
    score = max(entry.score, fresh.score)
    anchors = _both_anchors(entry.anchors, fresh.anchors)
    if (first_seen, source, depth, score, anchors) == (
        *_origin(entry),
        entry.depth,
        entry.score,
        entry.anchors,
    ):
        return entry
    return replace(entry, first_seen=first_seen, source=source, depth=depth, score=score, anchors=anchors)
