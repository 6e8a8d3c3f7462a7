from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.config.settings import ParseSettings
from crawlctl.pipeline.text.details.json_ld import MAX_AUTHORS
from crawlctl.pipeline.text.details.metadata import MAX_DESCRIPTION
from crawlctl.pipeline.text.documents.page import Page, PageDate, PageDetails
from crawlctl.pipeline.text.html.html import parse_html

URL = "https://a.example/news/story"
FETCHED = 1_794_000_000
MAY = 1_714_521_600  # 2024-05-01
LD = '<script type="application/ld+json">{"@type": "Article", %s}</script>'
META = '<meta property="article:published_time" content="2023-01-01">'
ITEM = '<meta itemprop="datePublished" content="{}">'
TIME = '<time datetime="2024-05-01">May</time>'


def page(html: str) -> Page:
    return parse_html(html, URL, ParseSettings(), fetched_at=FETCHED)


def details(html: str) -> PageDetails:
    return page(html).details


def test_open_graph_and_its_kin() -> None:
    found = details(
        '<head><base href="/img/"><meta name=Description content=" What   it says ">'
        '<meta property="og:description" content="else"><meta property="og:site_name" content="The site">'
        '<meta property="og:image" content="a b.png#x"></head>'
    )
    assert found == PageDetails("What it says", "The site", "https://a.example/img/a%20b.png")


@pytest.mark.parametrize(
    "link", ["data:image/png;base64,x", "javascript:alert(1)", "ftp://a.example/i.png", "http://[", " "]
)
def test_an_image_is_a_page_of_the_web_or_none(link: str) -> None:
    assert details(f'<meta property="og:image" content="{link}">').image == ""


@pytest.mark.parametrize(
    ("html", "names"),
    [
        ('<meta name=Author content=" Ann  Lee "><meta name=author content="ann lee">', ["ann lee"]),
        ('<meta name=citation_author content="A"><meta name=citation_author content="B">', ["A", "B"]),
        ('<meta property="article:author" content="https://a.example/ann">', []),
        (LD % '"author": "Bo"' + "<meta name=author content=Ann>", ["Bo"]),
        (LD % '"author": [{"name": "Bo"}, {"name": ["Cy"]}, {"url": "/"}, 7, null]', ["Bo", "Cy"]),
        (LD % '"author": []' + "<meta name=author content=>", []),
    ],
)
def test_authors_are_values_of_a_field(html: str, names: list[str]) -> None:
    assert details(html).fields == tuple(("author", name) for name in names)


def test_authors_are_bounded() -> None:
    many = "".join(f'<meta name=citation_author content="{number}">' for number in range(99))
    assert len(details(many).fields) == MAX_AUTHORS


def test_json_ld_is_believed_before_meta_and_meta_before_time() -> None:
    json_ld = LD % '"datePublished": "2022-02-02", "dateModified": "2022-02-03"'
    assert details(json_ld + META + TIME).published == PageDate(1_643_760_000, "json-ld")
    assert details(META + TIME).published == PageDate(1_672_531_200, "article:published_time")
    assert details(f"<h1>t</h1>{TIME}").published == PageDate(MAY, "time")
    assert details(LD % '"datePublished": "soon"' + META).published == PageDate(
        1_672_531_200, "article:published_time"
    )


@pytest.mark.parametrize("stated", ["1970-01-01", "2026-11-06T21:20:00Z", "2030-01-01", "never"])
def test_a_date_that_cannot_be_true_is_not_shown(stated: str) -> None:
    for html in (LD % f'"datePublished": "{stated}"', f'<meta name=date content="{stated}">'):
        assert details(html) == PageDetails()


@pytest.mark.parametrize(
    ("html", "published", "modified"),
    [
        (f"<h1>t</h1>{TIME}<h2>u</h2>", MAY, None),
        (f"{TIME}<h1>t</h1>{TIME}", MAY, None),
        (f'<h1>t</h1>{TIME}<time datetime="2024-05-02">', None, None),
        (f"<h1>t</h1><h2>u</h2>{TIME}", None, None),
        ('<h1>t</h1><time pubdate datetime="2024-05-01"></time><time datetime="2020-05-02">', MAY, None),
        ('<time class="entry-date x" datetime="2024-05-01"></time><time datetime="2020-05-02">', MAY, None),
        ('<h1>t</h1><time class="updated" datetime="2024-05-01"></time>', None, MAY),
        ('<time itemprop="dateModified" datetime="2024-05-01"></time>', None, MAY),
        ('<time class="updated published" datetime="2024-05-01"></time><h1>t</h1><h2>u</h2>', MAY, None),
        ('<h1>t</h1><time datetime="PT5M">5 min</time>', None, None),
        ("<h1>t</h1><time>1 May</time>", None, None),
        (ITEM.format("2024-05-01"), MAY, None),
        (ITEM.format("2024-05-01") * 2, MAY, None),
        (ITEM.format("2024-05-01") + ITEM.format("2023-05-01"), None, None),
        ('<meta property="og:updated_time" content="1714521600">', None, MAY),
        ('<meta name="DC.date.issued" content="2024-05-01">', MAY, None),
    ],
)
def test_dates_of_elements(html: str, published: int | None, modified: int | None) -> None:
    found = details(html)
    assert (found.published and found.published.seconds, found.modified and found.modified.seconds) == (
        published,
        modified,
    )


def test_a_title_and_language_are_taken_where_the_usual_elements_are_missing() -> None:
    head = '<meta property="og:title" content="Shared"><meta property="og:locale" content="de_DE">'
    assert (page(head).title, page(head).language) == ("Shared", "de")
    usual = page(f"<html lang=en><title>Own</title>{head}")
    assert (usual.title, usual.language) == ("Own", "en")
    named = page(f'{head}<meta http-equiv="content-language" content="fr">')
    assert named.language == "fr", "content-language is meant for the page, og:locale for a button"


def test_details_are_bounded_and_can_be_stored() -> None:
    found = details(f'<meta name=description content="{"long " * 9999}">')
    assert len(found.description) <= MAX_DESCRIPTION
    half = details(LD % '"headline": "x", "description": "half \\ud800 pair"').description
    assert half == "half ? pair"
    many = details(f"<h1>t</h1>{TIME * 99}")
    assert many == PageDetails(), "so many dates are a list"


@given(st.text("<>\"'=/ metanohpropicdwuls:019-{}[]@", max_size=200))
def test_any_head_is_read(html: str) -> None:
    assert isinstance(
        details(f"<meta property=og:image content={html}><time datetime={html}><h1>{html}"), PageDetails
    )
