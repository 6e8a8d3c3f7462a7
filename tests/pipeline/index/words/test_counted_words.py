from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.arrays.byte_strings import strings_of
from crawlctl.pipeline.index.segment.dictionary import decode_term_infos
from crawlctl.pipeline.index.segment.postings.plain_lists import PackedList
from crawlctl.pipeline.index.segment.term_info import pack_term_infos
from crawlctl.pipeline.index.words.counted_words import CountedWords, documents_of


def value_of(counts: list[int]) -> bytes:
    """Return a value of the dictionary with a term info per segment, in both of its forms."""
    infos = [pack_term_infos([PackedList(count, 9, b"d" * min(count, 9), b"p")], 7)[0][0] for count in counts]
    return b"".join(number.to_bytes(2, "big") + info for number, info in enumerate(infos))


@given(st.lists(st.lists(st.integers(1, 70_000), max_size=4), max_size=6))
def test_the_documents_of_all_segments_are_counted(counts: list[list[int]]) -> None:
    values = [value_of(some) for some in counts]
    assert documents_of(strings_of(values)).tolist() == [sum(some) for some in counts]
    assert [sum(info.count for info in decode_term_infos(value)) for value in values] == list(
        map(sum, counts)
    )


def test_only_words_as_they_are_written_count_in_all_languages_together() -> None:
    rows = {
        b"\x01in\x01name\x01ann\x02en": 1,  # a keyword
        b"1990": 2,
        b"show": 4,  # in documents of an unknown language
        b"show\x01en": 8,  # a stem
        b"show\x02en": 16,
        b"show\x02fr": 32,
        b"utf8\x01en": 64,
        "\u00fcber\x02de".encode(): 128,
    }
    words = CountedWords()
    words.add(strings_of(list(rows)), strings_of([value_of([count]) for count in rows.values()]))
    assert words.documents == {"show": 52, "über": 128}
