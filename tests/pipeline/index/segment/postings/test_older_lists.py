from __future__ import annotations

from collections import defaultdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.arrays.byte_strings import are_rising, strings_of
from crawlctl.pipeline.index.runs.posting_slices import PostingList, plain_lists
from crawlctl.pipeline.index.segment.columns import pack_language
from crawlctl.pipeline.index.segment.postings.older_lists import with_marks
from crawlctl.pipeline.index.segment.postings.posting_arrays import Lists
from crawlctl.pipeline.text.words.stems import marked_stem

LANGUAGES = ("en", "fr", "zh", "")

positions = st.lists(st.integers(0, 99), min_size=1, max_size=3, unique=True).map(sorted)
postings = st.dictionaries(st.integers(0, 5), positions, min_size=1)
slices = st.dictionaries(st.sampled_from([b"1990", b"show", b"showa", b"\xc3\xa9t"]), postings, min_size=1)


def lists_of(found: dict[bytes, dict[int, list[int]]]) -> Lists:
    documents = [dict(sorted(found[term].items())) for term in sorted(found)]
    held = [one for some in documents for one in some.values()]
    return Lists(
        np.array([len(some) for some in documents]),
        np.array([ordinal for some in documents for ordinal in some]),
        np.array([len(one) for one in held]),
        np.array([position for one in held for position in one]),
    )


@given(slices, st.lists(st.sampled_from(LANGUAGES), min_size=6, max_size=6))
def test_each_posting_goes_to_the_term_of_the_language_of_its_document(
    found: dict[bytes, dict[int, list[int]]], languages: list[str]
) -> None:
    expected: defaultdict[bytes, dict[int, list[int]]] = defaultdict(dict)
    for term, some in found.items():
        for ordinal, held in sorted(some.items()):
            expected[marked_stem(term, languages[ordinal])][ordinal] = held
    lists = lists_of(found)
    rated = lists._replace(ratings=(lists.documents.astype(np.uint8),))
    codes = np.array([pack_language(language) for language in languages], np.uint32)
    ((terms, marked),) = with_marks([(strings_of(sorted(found)), rated)], codes)
    assert are_rising(terms)
    assert dict(zip(terms.tolist(), plain_lists(marked), strict=True)) == {
        term: PostingList(list(some), list(some.values())) for term, some in expected.items()
    }
    assert marked.ratings[0].tolist() == marked.documents.tolist()
