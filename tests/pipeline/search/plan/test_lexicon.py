from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.pipeline.search.answer.find import find
from crawlctl.pipeline.search.open.open_index import open_index
from crawlctl.pipeline.search.plan.lexicon import OLDER_PAGES, Lexicon, WordTerms
from crawlctl.pipeline.search.plan.planner import plan_query
from crawlctl.pipeline.search.query.grammar import parse
from crawlctl.pipeline.store.parallel_reads import ParallelReads
from crawlctl.tests.pipeline.search.answers import agreed_answers
from crawlctl.tests.pipeline.search.brute_force import Page
from crawlctl.tests.pipeline.search.small_index import write_index

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crawlctl.pipeline.store.local.store import LocalStore

ENGLISH = Page("http://a.example/en", text="we show the notes")
FRENCH = Page("http://a.example/fr", text="un shower des notes", language="fr")
UNKNOWN = Page("http://a.example/x", text="shower notes", language="")


def test_a_word_stands_for_itself_and_its_stem_in_each_language_of_the_index() -> None:
    both = WordTerms({"en": 50, "de": 50})
    assert both.terms("houses") == (b"houses", b"hous\x01de", b"hous\x01en")
    assert both.terms("häuser") == ("häuser".encode(), b"haus\x01de", "häuser\x01en".encode())
    assert both.terms("1990") == (b"1990",)


def test_in_pages_of_an_unknown_language_a_word_is_also_its_stem_in_the_main_language() -> None:
    assert WordTerms({"en": 9, "fr": 1, "": 5}).terms("notes")[:2] == (b"notes", b"note")
    assert WordTerms({"en": 5, "fr": 5}).terms("notes") == (b"notes", b"note\x01en", b"not\x01fr")


def test_each_language_of_the_index_counts_however_few_documents_have_it() -> None:
    assert WordTerms({"en": 9999, "de": 1}).stemmed == ("de", "en")


def test_in_older_segments_stems_have_no_marks_and_languages_of_few_documents_do_not_count() -> None:
    assert WordTerms({"en": 50, "de": 50}).terms_without_marks("häuser") == ("häuser".encode(), b"haus")
    assert WordTerms({"en": 991, "de": 9}).terms_without_marks("häuser") == ("häuser".encode(),)


def test_languages_without_a_stemmer_and_unknown_ones_leave_words_as_they_are() -> None:
    assert WordTerms({"zh": 90, "": 10}).terms("houses") == (b"houses",)
    assert WordTerms({}).terms("houses") == (b"houses",)


@pytest.mark.parametrize(
    ("languages", "word", "is_telling"),
    [
        ({"en": 10}, "the", False),
        ({"en": 10}, "tree", True),
        ({"en": 90, "de": 10}, "die", True),  # what the German article means to most documents
        ({"en": 10, "de": 90}, "die", False),
        ({"": 10}, "the", True),
        ({"en": 10, "": 90}, "the", False),
    ],
)
def test_function_words_of_most_documents_tell_nothing(
    languages: dict[str, int], word: str, is_telling: bool
) -> None:
    assert WordTerms(languages).is_telling(word) is is_telling


def test_single_characters_tell_something_unless_they_are_function_words() -> None:
    wording = WordTerms({"en": 10})
    assert [wording.is_telling(word) for word in ("a", "x", "7", "c", "東")] == [
        False,
        True,
        True,
        True,
        True,
    ]


def found(store: LocalStore, query: str) -> set[str]:
    urls = agreed_answers(open_index(store), parse(query).tree)
    return {url.rpartition("/")[2] for url in urls}


def test_a_word_counts_in_a_page_only_as_the_stem_of_the_language_of_the_page(store: LocalStore) -> None:
    write_index(store, [[ENGLISH, FRENCH, UNKNOWN]])  # to French, shower is a form of show
    assert found(store, "shower") == {"fr", "x"}
    assert found(store, "show") == {"en", "fr"}
    assert found(store, "note") == {"en", "fr"}
    assert found(store, "notes") == {"en", "fr", "x"}


def test_segments_of_an_older_version_answer_as_they_did_beside_newer_ones(store: LocalStore) -> None:
    newer = Page("http://a.example/new", text="a show")
    write_index(store, [[ENGLISH, FRENCH], [newer]], older=1)
    assert found(store, "shower") == {"en", "fr"}
    assert found(store, "show") == {"en", "fr", "new"}
    assert found(store, "notes") == {"en", "fr"}


def test_a_prefix_is_of_words_as_they_are_written(store: LocalStore) -> None:
    pages = {"a": "a configuration", "b": "configured", "c": "happy", "d": "Häuser"}
    write_index(store, [[Page(f"http://a.example/{name}", text=text) for name, text in pages.items()]])
    assert found(store, "configurati*") == found(store, '"configuration"') == {"a"}
    assert found(store, "configur*") == {"a", "b"}
    assert found(store, "body:happi*") == set()  # the stem of `happy`, which nobody has written
    assert found(store, "hau*") == {"d"}  # as `hauser` finds it


def test_a_word_in_quotes_is_found_as_it_is_written_and_no_other_form_of_it(store: LocalStore) -> None:
    one = Page("http://a.example/one", title="The window")
    several = Page("http://a.example/several", text="windows, Window", language="")
    both = Page("http://a.example/both", text="Windows and a window", anchors=("windowed",))
    write_index(store, [[one], [several, both]])
    assert found(store, '"windows"') == {"several", "both"}
    assert found(store, '"window"') == {"one", "several", "both"}
    assert found(store, '"windowed"') == found(store, 'anchor:"windowed"') == {"both"}
    assert found(store, 'title:"windows"') == found(store, '"windowing"') == set()
    assert found(store, "windows") == {"one", "several", "both"}


def test_pages_with_a_word_in_quotes_come_by_how_well_they_have_this_form(store: LocalStore) -> None:
    other = Page("http://a.example/other", title="Window", text="window window window windows")
    this = Page("http://a.example/this", title="Windows", text="these are windows")
    write_index(store, [[other, this]])
    first, second = find(open_index(store), parse('"windows"')).hits
    assert (first.url, second.url) == (this.url, other.url)


def test_segments_without_forms_are_asked_for_stems_with_a_notice(store: LocalStore) -> None:
    newer = Page("http://a.example/new", text="configuration")
    write_index(store, [[Page("http://a.example/old", text="configured")], [newer]], older=1)
    assert found(store, "configur*") == {"old", "new"}
    assert found(store, "configurati*") == {"new"}
    assert found(store, '"configuration"') == {"old", "new"}
    for query in ("configur*", '"configuration"'):
        (notice,) = plan_query(parse(query), open_index(store)).notices
        assert notice == OLDER_PAGES


def test_a_word_in_quotes_is_looked_up_once_as_long_as_the_index_is_open(
    store: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_index(store, [[Page("http://a.example/", text="circuits")]])
    lexicon = open_index(store).lexicon
    first = lexicon.exact_entry("circuits")
    monkeypatch.setattr(lexicon, "find", None)
    assert lexicon.exact_entry("circuits") is first
    assert first.postings == 1


class CountedReads(ParallelReads):
    """Counts how many things are read at once."""

    def __init__(self) -> None:
        super().__init__(remote=True)
        self.trips: list[int] = []

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        items = list(items)
        self.trips += [len(items)] if items else []
        return list(map(function, items))


def test_from_a_remote_store_words_and_names_are_read_at_once(store: LocalStore) -> None:
    write_index(store, [[ENGLISH, Page("http://a.example/x", title="show.notes", text="all of it")]])
    local, reads = open_index(store).lexicon, CountedReads()
    lexicon = Lexicon(local._dictionary, local.words, reads)
    lexicon.look_up(["show", "notes"], ["shownotes", "shownote"])
    assert reads.trips == [5]  # show, notes, note, and two names
    assert lexicon.entries(["show", "notes"]) == local.entries(["show", "notes"])
    assert lexicon.name_entries(["shownotes", "shownote"]) == local.name_entries(["shownotes", "shownote"])
    assert reads.trips == [5]  # show, notes, note, and two names
