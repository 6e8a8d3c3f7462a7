from __future__ import annotations

from string import ascii_lowercase
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.index.words.word_table import WordTable, deletions, write_words
from crawlctl.tests.pipeline.search.memory_store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Mapping

words = st.text(alphabet="abcdeé日", min_size=1, max_size=6)


def table_of(documents: Mapping[str, int], limit: int = 100) -> WordTable:
    store = MemoryStore()
    entry = write_words(store, "dictionary/00000/00000001-a", 0, documents, limit=limit)
    return WordTable(store.read(entry.name), entry.name)


@given(st.dictionaries(words, st.integers(1, 199)))
def test_a_table_knows_the_documents_of_its_words(documents: dict[str, int]) -> None:
    table = table_of(documents)
    assert len(table) == len(documents)
    assert {word: table.documents(word) for word in (*documents, "zzz")} == {**documents, "zzz": 0}


@given(st.dictionaries(words, st.integers(1, 199)), st.sampled_from(["", "a", "ab", "é"]))
def test_words_are_found_by_their_beginning_the_most_frequent_first(
    documents: dict[str, int], prefix: str
) -> None:
    found = table_of(documents).beginning_with(prefix, 3)
    counts = sorted((count for word, count in documents.items() if word.startswith(prefix)), reverse=True)
    assert [count for count, _ in found] == counts[:3]
    assert all(documents[word] == count for count, word in found)


def slips(word: str) -> set[str]:
    """All texts that are one slip away from a word."""
    cuts = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    changed = {one + letter + other[1:] for one, other in cuts if other for letter in ascii_lowercase}
    added = {one + letter + other for one, other in cuts for letter in ascii_lowercase}
    swapped = {one + other[1] + other[0] + other[2:] for one, other in cuts if len(other) > 1}
    return {*deletions(word), *changed, *added, *swapped}


@pytest.mark.parametrize("word", ["python", "aa", "über"])
def test_a_word_is_found_from_every_text_that_is_one_slip_away(word: str) -> None:
    table = table_of({word: 7, "other": 1})
    for text in slips(word):
        assert (word, 7) in table.sharing([text, *deletions(text)])


def test_words_of_hardly_any_document_are_left_out_of_a_larger_index() -> None:
    assert table_of({"the": 199, "teh": 1}).documents("teh") == 1
    assert table_of({"the": 200, "teh": 1, "they": 2}).documents("teh") == 0
    assert table_of({"the": 200, "teh": 1, "they": 2}).documents("they") == 2


def test_of_too_many_words_the_most_frequent_are_kept() -> None:
    table = table_of({"a": 1, "b": 3, "c": 2}, limit=2)
    assert list(table.words) == [b"b", b"c"]


@given(st.data())
def test_damage_is_found(data: st.DataObject) -> None:
    store = MemoryStore()
    entry = write_words(store, "dictionary/00000/00000001-a", 0, {"tree": 3, "house": 4})
    good = store.read(entry.name)
    at = data.draw(st.integers(0, len(good) - 1))
    bad = good[:at] + bytes((good[at] ^ 1 << data.draw(st.integers(0, 7)),)) + good[at + 1 :]
    with pytest.raises(CorruptFile):
        WordTable(bad, entry.name)
    with pytest.raises(CorruptFile):
        WordTable(good[:at], entry.name)
