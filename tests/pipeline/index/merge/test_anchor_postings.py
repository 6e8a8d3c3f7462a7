from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.index.fields import ANCHOR
from crawlctl.pipeline.index.merge import anchor_postings as anchors
from crawlctl.pipeline.index.merge.anchor_postings import AnchorWords
from crawlctl.pipeline.index.merge.posting_merge import PostingSource, merge_postings
from crawlctl.tests.pipeline.index.merge.reading import forms_at, words_at
from crawlctl.tests.pipeline.index.merge.test_posting_merge import read

if TYPE_CHECKING:
    from crawlctl.tests.pipeline.index.merge.reading import Postings

texts = st.lists(st.sampled_from(["running", "Straße", "l'arbre", "東京都", "—"]), max_size=4).map(" ".join)
pages = st.lists(
    st.tuples(st.sampled_from(["en", "fr", ""]), st.lists(texts, min_size=1, max_size=3)), max_size=6
)


@given(pages, st.integers(1, 60), st.sampled_from([0, 1 << 20]))
def test_anchors_are_the_words_of_a_field(
    pages: list[tuple[str, list[str]]], batch: int, memory: int
) -> None:
    """Whether they are held in memory or set aside on disk, a few at a time."""
    gathered = AnchorWords(memory)
    expected: Postings = {}
    lengths = [0] * len(pages)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(anchors, "_BATCH_BYTES", batch)
        for ordinal, (language, names) in enumerate(pages):
            gathered.add(ordinal, language, names)
            mine: Postings = {}
            words_at(mine, str(ordinal), ANCHOR, names, language)
            lengths[ordinal] = sum(len(places) for found in mine.values() for places in found.values())
            for term, found in mine.items():
                expected.setdefault(term, {}).update(found)
            forms_at(expected, str(ordinal), ANCHOR, names, language)
        assert gathered.lengths(len(pages)).tolist() == lengths
        found_in = [PostingSource(slices) for slices in gathered.sources()]
    gotten: Postings = {}
    for terms, lists in merge_postings(found_in, 1000):
        for term, documents in read(terms, lists).items():
            gotten[term] = {str(ordinal): places for ordinal, places in documents.items()}
    assert gotten == expected
