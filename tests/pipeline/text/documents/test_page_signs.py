"""Made-up hostile pages have signs; pages of documentation that look a little like them have none."""

from __future__ import annotations

import pytest

from crawlctl.pipeline.text.documents.document import FetchedDocument, ParseRules, parse_document
from crawlctl.pipeline.text.documents.page import (
    LINKS_AWAY,
    OTHER_LANGUAGE,
    REPEATED,
    STUFFED,
    WORD_LIST,
)

URL = "http://docs.example.com/guide/page.html"
PROSE = (
    "The reader is given the name of a file, and it returns the frames that are in it. If there is no such "
    "file, an error is raised before anything has been written, so you can try again with another name. "
)
GERMAN = "Das ist ein Text, und er ist in der deutschen Sprache geschrieben, damit man ihn auch erkennt. " * 8
WORDS = "loan casino insurance mortgage poker hotel ringtone lottery diet watches shoes handbag credit"
THINGS = WORDS.split()
OWN_WORDS = [f"{one}{other}" for one in THINGS for other in THINGS]  # 169 different words


def signs(body: str, title: str = "A page", lang: str = "en") -> int:
    html = f"<html lang={lang}><title>{title}</title><main>{body}</main></html>"
    found = parse_document(FetchedDocument(URL, html.encode(), "text/html; charset=utf-8"), ParseRules())
    return found.page.details.signs


def links(count: int, site: str, around: str = "") -> str:
    items = [
        f"<li><a href=http://{site.format(at)}/{at}>Cheap offers number {at}</a> {around}"
        for at in range(count)
    ]
    return f"<ul>{''.join(items)}</ul>"


def test_prose_has_no_signs() -> None:
    assert signs("".join(f"<p>{PROSE} Number {number} follows.</p>" for number in range(9))) == 0


def test_a_link_farm_leads_to_the_sites_of_others() -> None:
    assert signs(links(60, "shop{}.test")) == LINKS_AWAY


@pytest.mark.parametrize("site", ["docs.example.com/reference", "www.example.com/{}"])
def test_a_table_of_contents_leads_to_its_own_site(site: str) -> None:
    assert signs(links(60, site)) == 0


def test_a_list_of_other_sites_that_says_what_they_are_is_no_link_farm() -> None:
    assert (
        signs(links(60, "shop{}.test", "a shop that was founded in the year of the flood, and still is."))
        == 0
    )


def test_a_few_links_are_no_link_farm() -> None:
    assert signs(links(8, "shop{}.test")) == 0


def test_a_list_of_words_has_no_function_words() -> None:
    assert signs(", ".join(OWN_WORDS)) == WORD_LIST


def test_an_interface_has_hardly_any_function_words_and_is_no_list_of_words() -> None:
    lines = [f"<dt>int {word}_{number}(size_t n{number}, void *p)" for number, word in enumerate(OWN_WORDS)]
    assert signs(f"<dl>{''.join(lines)}</dl>") == 0


def test_a_table_of_numbers_is_no_list_of_words() -> None:
    rows = [f"<tr><td>{word}<td>{number * 7919}" for number, word in enumerate(OWN_WORDS)]
    assert signs(f"<table>{''.join(rows)}</table>") == 0


def test_words_in_a_language_that_we_do_not_know_are_no_list_of_words() -> None:
    # Cherokee: none of its function words is known.
    assert (
        signs(" ".join("\u13a0\u13b9" + chr(0x13A0 + at % 80) + chr(0x13A0 + at // 3) for at in range(200)))
        == 0
    )


def test_one_word_again_and_again_is_stuffing() -> None:
    assert signs(" ".join(f"casino {word}" for word in OWN_WORDS)) & STUFFED
    assert signs(", ".join(["casino"] * 400)) & STUFFED
    told = [f"The casino {word} is the best casino in a casino, casino or not." for word in OWN_WORDS]
    assert signs(" ".join(told)) & STUFFED


def test_a_word_that_is_a_part_of_names_is_no_stuffing() -> None:
    names = [f"<li><a href=/{word}>shop.{word}</a>" for word in OWN_WORDS]
    assert not signs(f"<ul>{''.join(names)}</ul> It is in the list that you see here.") & STUFFED


def test_the_word_that_prose_is_about_is_no_stuffing() -> None:
    told = [f"<p>The frame of the {word} is a frame, and a frame can be read again." for word in OWN_WORDS]
    assert not signs("".join(told)) & STUFFED


@pytest.mark.parametrize("title", ["Casino, casino bonus, best casino, casino online", "loan loan loan loan"])
def test_one_word_again_and_again_in_the_title_is_stuffing(title: str) -> None:
    assert signs(PROSE, title) == STUFFED


@pytest.mark.parametrize(
    "title",
    [
        "std::optional, std::make_optional, std::bad_optional_access, std::optional_hash",
        "How to read a file, a folder, and a name of a file",
        "for, for each, for in, and while",
        "Growth factor one, growth factor two and the tumour growth factor in the growth of mice",
    ],
)
def test_names_in_a_title_are_no_stuffing(title: str) -> None:
    assert signs(PROSE, title) == 0


def test_a_text_that_repeats_its_phrases_says_so() -> None:
    assert signs(f"<p>{PROSE}</p>" * 40) == REPEATED


def test_a_table_whose_rows_look_alike_does_not_repeat_itself() -> None:
    rows = [
        f"<tr><td>{word}<td>int<td>yes<td>the default is {number}" for number, word in enumerate(OWN_WORDS)
    ]
    assert not signs(f"<table>{''.join(rows)}</table>") & REPEATED


def test_a_text_in_another_language_than_the_page_declares() -> None:
    assert signs(GERMAN, lang="fr") == OTHER_LANGUAGE
    assert signs(GERMAN, lang="de-AT") == 0
    assert signs(GERMAN, lang="") == 0


def test_templates_declare_english_for_any_text() -> None:
    assert signs(GERMAN, lang="en") == 0


@pytest.mark.parametrize("body", ["", "casino", "\u4eca\u65e5\u306f" * 400, "<p>1 2 3" * 300])
def test_short_texts_and_texts_without_words_have_no_signs(body: str) -> None:
    assert not signs(body) & (LINKS_AWAY | WORD_LIST | STUFFED)
