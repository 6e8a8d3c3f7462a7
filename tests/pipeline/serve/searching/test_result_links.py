"""Where the parts of a result lead."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.search.answer.snippets import Marker
from crawlctl.pipeline.search.query.grammar import parse
from crawlctl.pipeline.serve.searching.result_links import SectionLink, breadcrumb, safe_link, section_link
from crawlctl.pipeline.text.documents.page import Section

TEXT = (
    "Beginning\nSome words.\nSetup\nTo install, type\n  pip install.\nUse\nType a query. Then install more."
)
SECTIONS = (Section("setup", "Setup", TEXT.index("Setup")), Section("ü b", "Use", TEXT.index("Use\n")))


def section_of(query: str, url: str = "http://a.org/x#old") -> SectionLink | None:
    return section_link(url, SECTIONS, Marker(parse(query).tree).located_snippet(TEXT.encode(), length=30)[1])


def test_a_snippet_leads_into_its_section() -> None:
    assert section_of('"type pip install"') == SectionLink("Setup", "http://a.org/x#setup")
    assert section_of("query") == SectionLink("Use", "http://a.org/x#%C3%BC%20b")


def test_words_before_the_first_section_or_in_no_text_lead_to_the_page_alone() -> None:
    assert section_of("words") is None
    assert section_of("absent") is None
    assert section_of("query", "javascript:alert(1)") is None
    assert section_link("http://a.org/", (), 3) is None


def test_a_heading_that_is_cut_says_so() -> None:
    long, exact = (Section("a", "word " * 30, 0),), (Section("a", "x" * 80, 0),)
    shown = section_link("http://a.org/", long, 0)
    assert shown is not None and shown.title == "word " * 15 + "word…"
    assert section_link("http://a.org/", exact, 0) == SectionLink("x" * 80, "http://a.org/#a")


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "//a.org", "HTTP://a.org", ""])
def test_only_canonical_web_addresses_are_links(url: str) -> None:
    assert safe_link(url) == ""


@pytest.mark.parametrize(
    ("url", "crumbs"),
    [
        ("https://a.org/", ["a.org"]),
        ("http://a.org:8080/b/c%20d", ["a.org:8080", "b", "c d"]),
        ("http://a.org/1/2/3/4/5/6", ["a.org", "1", "2", "…", "6"]),
        ("http://a.org/%E2%80%AEgnp.exe", ["a.org", " gnp.exe"]),
        (f"http://a.org/{'x' * 99}", ["a.org", "x" * 39 + "…"]),
    ],
)
def test_breadcrumbs_show_the_host_and_the_way_to_the_page(url: str, crumbs: list[str]) -> None:
    assert breadcrumb(url) == crumbs


@given(st.text())
def test_any_text_has_breadcrumbs_that_can_be_shown(url: str) -> None:
    assert all(crumb.isprintable() or "\u200c" in crumb or "\u200d" in crumb for crumb in breadcrumb(url))
