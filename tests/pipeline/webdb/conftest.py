"""Strategies for the records, registered so that `st.from_type` finds them.

Times and texts come from small ranges on purpose: ties are where a merge goes wrong.
"""

from __future__ import annotations

from hypothesis import strategies as st
from msgspec.structs import replace

from crawlctl.pipeline.webdb.anchors import MAX_ANCHORS, MAX_GATHERED, OUTSIDE, heaviest
from crawlctl.pipeline.webdb.records import Fresh, Kind, Outcome, Status, WebEntry

times = st.integers(0, 6)
words = st.sampled_from(["", "a", "b", "zürich"])
scores = st.sampled_from([0.0, 0.5, 1.0])
weights = st.one_of(st.integers(1, 3), st.integers(OUTSIDE + 1, OUTSIDE + 3))
anchors = st.dictionaries(st.text(min_size=1, max_size=2), weights, max_size=30)


def with_anchors(record: WebEntry | Fresh, table: dict[str, int]) -> WebEntry | Fresh:
    limit = MAX_ANCHORS if isinstance(record, WebEntry) else MAX_GATHERED
    texts, weights = heaviest(table, limit)
    return replace(record, anchors=texts, anchor_weights=weights)


st.register_type_strategy(
    WebEntry,
    st.builds(
        with_anchors,
        st.builds(
            WebEntry,
            status=st.sampled_from(Status),
            next_due=times,
            score=scores,
            depth=st.integers(0, 3),
            first_seen=times,
            last_tried=times,
            last_fetched=times,
            last_changed=times,
            interval=times,
            tries=st.integers(0, 2),
            code=st.sampled_from([0, 200, 404]),
            signature=st.binary(max_size=1),
            etag=words,
            last_modified=words,
            reason=words,
            redirect_to=words,
            canonical=words,
            source=st.one_of(words, st.sampled_from(["warc:a", "warc:b"])),
            links_taken=st.integers(0, 1),
            hops=st.integers(0, 2),
            named=words,
            lastmod=times,
            published=times,
        ),
        anchors,
    ),
)
st.register_type_strategy(
    Fresh,
    st.builds(
        with_anchors,
        st.builds(
            Fresh,
            seen=times,
            depth=st.integers(0, 3),
            score=scores,
            source=words,
            hops=st.integers(0, 2),
            lastmod=times,
            published=times,
        ),
        anchors,
    ),
)
st.register_type_strategy(
    Outcome,
    st.builds(
        Outcome,
        kind=st.sampled_from(Kind),
        fetched_at=times,
        code=st.sampled_from([0, 200, 404, 410]),
        signature=st.binary(max_size=1),
        etag=words,
        last_modified=words,
        retry_after=st.sampled_from([0, 60, 10**12]),
        target=words,
        canonical=words,
        reason=words,
        depth=st.integers(0, 3),
        links_taken=st.integers(0, 1),
        named=words,
    ),
)
