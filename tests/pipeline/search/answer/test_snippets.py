from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.search.answer import text_hits as occurrences
from crawlctl.pipeline.search.answer.snippets import (
    ELLIPSIS,
    SNIPPET_BYTES,
    MarkedText,
    Marker,
)
from crawlctl.pipeline.search.query.grammar import parse

if TYPE_CHECKING:
    from crawlctl.pipeline.search.query.tree import Node

FILLER = "Nothing of note is said here, and then some more of it. " * 40


def shown(text: str, query: str, language: str = "en") -> str:
    return brackets(snippet(text, parse(query).tree, language))


def snippet(text: str, tree: Node, language: str = "", length: int = SNIPPET_BYTES) -> MarkedText:
    return Marker(tree).snippet(text.encode("utf-8", "replace"), language, length)


def brackets(found: MarkedText) -> str:
    text = found.text
    for start, end in reversed(found.spans):
        text = f"{text[:start]}[{text[start:end]}]{text[end:]}"
    return text


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("An event loop runs.", "loop", "An event [loop] runs."),
        ("Running, runs and RAN; the runner.", "run", "[Running], [runs] and RAN; the runner."),
        ("Happiness makes happy.", "happy", "[Happiness] makes [happy]."),
        ("Event loops and loop events.", '"event loop"', "[Event loops] and loop events."),
        ("Send an e-mail, not a mail.", "e-mail", "Send an [e-mail], not a mail."),
        ("async, asyncio, casync", "async*", "[async], [asyncio], casync"),
        ("In 1989, 1995 and 20001.", "1990..2000", "In 1989, [1995] and 20001."),
        ("The art of the loop.", "the loop", "The art of the [loop]."),
        ("To be or not to be.", '"to be"', "[To be] or not [to be]."),
        ("the of", "the", "[the] of"),
        ("Use read_csv, not csv.", "read_csv", "Use [read_csv], not csv."),
        ("the __init__ method", "init", "the __[init]__ method"),
        ("Wanted, not unwanted", "wanted -unwanted", "[Wanted], not unwanted"),
        ("title here", "title:title here", "title [here]"),
        ("a\n\n  b \t loop\n c", "loop", "a b [loop] c"),
        ("“Loops” – ‘loop’…", "loop", "“[Loops]” – ‘[loop]’…"),
        ("ÉTÉ, Été et été", "été", "[ÉTÉ], [Été] et [été]"),
        ("eine Straße", "strasse", "eine [Straße]"),
        ("全文検索エンジンの検索", "検索", "全文[検索]エンジンの[検索]"),
        ("Python入門と入門書", "python入門", "[Python入門]と入門書"),
        ("हिन्दी में खोज", "हिन्दी", "[हिन्दी] में खोज"),
        ("", "loop", ""),
        ("nothing at all", "loop", "nothing at all"),
    ],
)
def test_words_are_marked_as_the_index_finds_them(text: str, query: str, expected: str) -> None:
    assert shown(text, query) == expected


def test_stems_are_those_of_the_language_of_the_page() -> None:
    assert shown("Die Häuser und das Haus", "häusern", "de") == "Die [Häuser] und das [Haus]"


@pytest.mark.parametrize("query", ["reseau apache", '"reseau" apache', "oeuvre apache"])
def test_a_word_without_its_accents_is_marked_beside_others_wherever_it_stands(query: str) -> None:
    found = shown(f"{FILLER * 3}Une œuvre : le RÉSEAU d'Apache. {FILLER}", query, "fr")
    assert "[Apache]" in found
    assert "[RÉSEAU]" in found or "[œuvre]" in found


def test_a_word_in_quotes_is_marked_behind_many_others_that_begin_like_it() -> None:
    found = shown(f"{'A window was where we went. ' * 500}Two windows.", '"windows"')
    assert found.endswith("Two [windows].")


def test_the_best_place_is_shown() -> None:
    text = f"{FILLER}A loop alone. {FILLER}Here the event meets its loop. {FILLER}"
    assert "[event] meets its [loop]" in shown(text, "event loop")


def test_two_places_are_shown_where_no_one_has_all_words() -> None:
    text = f"{FILLER}Asyncio is here. {FILLER}Trio is there. {FILLER}"
    found = shown(text, "asyncio trio")
    assert "[Asyncio] is here" in found
    assert "[Trio] is there" in found
    assert found.count(ELLIPSIS) == 3


def test_a_snippet_begins_with_a_sentence_and_ends_with_a_word() -> None:
    found = shown(f"{FILLER}An event loop runs. {FILLER}", "loop")
    assert found.startswith(f"{ELLIPSIS} An event [loop] runs.")
    assert found.removesuffix(f" {ELLIPSIS}").split()[-1].strip(".,") in {
        *FILLER.replace(",", "").split(),
        "it",
    }


def test_without_a_match_the_beginning_is_shown() -> None:
    found = snippet(FILLER, parse("loop").tree, "en")
    assert found.spans == ()
    assert found.text.startswith("Nothing of note")
    assert len(found.text) <= SNIPPET_BYTES + 2


@pytest.mark.parametrize("query", ["a", "aa", '"a a a"', "a*", "1..9", "loop", "検"])
@pytest.mark.timeout(5)
@pytest.mark.parametrize("unit", ["a", "a ", "loop", "_", "検", "é", "\x00", "loop-", "9"])
def test_texts_of_any_make_take_bounded_time(unit: str, query: str) -> None:
    found = snippet(unit * (500_000 // len(unit)), parse(query).tree, "en")
    assert len(found.text) <= 2 * SNIPPET_BYTES


@given(st.text("aé — \n", max_size=200), st.text("aé — \n", max_size=200))
def test_a_snippet_is_located_by_its_first_marked_word(before: str, after: str) -> None:
    text = f"{before} Needle {after} needle {before}"
    data = text.encode()
    found, at = Marker(parse("needle").tree).located_snippet(data, "en", 60)
    assert at is not None
    start, end = found.spans[0]
    assert data[at:].startswith(found.text[start:end].encode())
    assert Marker(parse("absent").tree).located_snippet(data)[1] is None


def test_titles_are_shown_whole() -> None:
    marker = Marker(parse("title:loop body:event").tree)
    assert brackets(marker.title("The event loop", "en")) == "The event [loop]"


ALPHABET = st.sampled_from(
    ["loop", "Loops", "event", "é", "検索", " ", "  ", ". ", "\n", "-", "_", "“", "1995", "\ud800", "\u0301"]
)
TEXTS = st.lists(ALPHABET, max_size=200).map("".join)
QUERIES = st.sampled_from(["loop", '"event loop"', "loop 検索", "1990..2000 é", "ev*", "loop-event"])


@given(TEXTS, QUERIES, st.integers(20, 300))
def test_any_text_gives_a_line_with_spans_in_order(text: str, query: str, width: int) -> None:
    found = snippet(text, parse(query).tree, "en", width)
    assert "\n" not in found.text
    assert "  " not in found.text
    ends = [0, *(end for _, end in found.spans)]
    assert all(
        before <= start < end <= len(found.text)
        for before, (start, end) in zip(ends, found.spans, strict=False)
    )
    clean = " ".join(text.encode("utf-8", "replace").decode().split())
    for piece in found.text.split(ELLIPSIS):
        assert piece.strip() in clean


@given(st.text(alphabet=st.characters(max_codepoint=0x2FF) | st.sampled_from("–’…→ﬁ漢์я")))
def test_the_short_pattern_finds_the_words_of_the_long_one(text: str) -> None:
    found = [match.span() for match in occurrences._words_pattern(text).finditer(text)]
    assert found == [match.span() for match in occurrences._words().finditer(text)]


def test_words_that_stand_far_apart_are_all_shown() -> None:
    gap = " and then some words that nobody asked for" * 20
    text = f"The rake.{gap} A spade.{gap} One hoe.{gap} My fork.{gap}"
    found = snippet(text, parse("rake spade hoe fork").tree, "en")
    assert {found.text[start:end] for start, end in found.spans} == {"rake", "spade", "hoe", "fork"}
    assert len(found.text) < 2 * SNIPPET_BYTES


def test_signs_that_link_to_a_heading_are_not_shown() -> None:
    found = snippet("Usage\u00b6\nCall it\u00b6 so.", parse("call").tree, "en")
    assert found.text == "Usage Call it so."
    assert [found.text[start:end] for start, end in found.spans] == ["Call"]


def test_a_chunk_that_was_judged_before_is_marked_at_its_new_place() -> None:
    text = "The SQL of curve_fit, SQL again; curve_fit and münchen_fit."
    expected = "The SQL of curve_[fit], SQL again; curve_[fit] and münchen_fit."
    assert shown(text, "fit") == shown(text, "fit") == expected
    assert shown("See SQL: " + text, "sql") == "See [SQL]: " + text.replace("SQL", "[SQL]")
    assert shown(text, "sql") == text.replace("SQL", "[SQL]")
