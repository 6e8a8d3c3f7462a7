"""Strategies for the records, registered so that `st.from_type` finds them.

Times and texts come from small ranges on purpose: ties are where a merge goes wrong.
"""

from __future__ import annotations

from hypothesis import strategies as st

from crawlctl.pipeline.webdb.records import Fresh, Kind, Outcome, Status, WebEntry, sample_anchors

times = st.integers(0, 6)
words = st.sampled_from(["", "a", "b", "zürich"])
scores = st.sampled_from([0.0, 0.5, 1.0])
anchors = st.lists(st.text(max_size=3), max_size=40).map(sample_anchors)

st.register_type_strategy(
    WebEntry,
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
        anchors=anchors,
        reason=words,
        redirect_to=words,
        canonical=words,
        source=words,
    ),
)
st.register_type_strategy(
    Fresh,
    st.builds(Fresh, seen=times, depth=st.integers(0, 3), score=scores, anchors=anchors, source=words),
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
    ),
)
